"""The cards of many shoes at once, and whether each shoe is the one committed to.

Keystream and commitment come from `replay.engine.shoe`, block by block as they are needed; the
swaps of Fisher-Yates are done for all rounds together. A round whose keystream has a word to
reject, about one in ten million cards, is done by itself.
"""

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np

from replay.bulk.tables import NUMBER, Ints
from replay.bulk.words import Own
from replay.engine.cards import PACK
from replay.engine.shoe import BLOCK_BYTES, BLOCKS, Shoe, commitment, context, keystream_block
from replay.errors import ShoeError

_WORDS_IN_BLOCK = BLOCK_BYTES // 4


def committed(rounds: Sequence[Own], digest: str) -> Ints:
    """Tell of each round whether it has its seeds, and the server's is the one it committed to.

    `digest` is the lower-hex digest of the rules of all rounds.
    """
    return np.array(
        [
            own.has_seeds
            and commitment(own.round_id, digest, own.seed or b"").hex() == own.commitment
            for own in rounds
        ],
        np.bool_,
    )


def first_cards(rounds: Sequence[Own], digest: str, decks: int, count: int) -> Ints:
    """Return the first `count` cards of each round's shoe as numbers of symbols, (rounds, count).

    Each round has both its seeds. Raises ShoeError for a shoe that cannot be built or lacks cards.
    """
    size = decks * len(PACK)
    if count > size:
        raise ShoeError(f"a shoe of {size} cards has no {count}")
    if count > BLOCKS * _WORDS_IN_BLOCK:
        raise ShoeError("the keystream has fewer words than that")
    words = _words(rounds, digest, -(-count // _WORDS_IN_BLOCK))[:, :count].astype(np.int64)
    remaining = size - np.arange(count)
    rejected = (words >= (1 << 32) // remaining * remaining).any(axis=1)
    # Place p holds ordered card p unless a swap put another there: `into[k]` is where swap k put
    # what had stood at place k, and `moved[k]` which card that was.
    into = (np.arange(count) + words % remaining).T.copy()
    moved = np.empty_like(into)
    cards = np.empty_like(into)
    for place in range(count):
        cards[place] = _standing_at(into[place], into, moved, place)
        moved[place] = _standing_at(np.full(len(words), place), into, moved, place)
    found = cards.T % len(PACK)
    for number in np.flatnonzero(rejected).tolist():
        own = rounds[number]
        shoe = Shoe(own.seed or b"", own.round_id, digest, own.client_seed or b"", decks)
        found[number] = [NUMBER[card] for card in islice(shoe, count)]
    return found


def whole_shoes(rounds: Sequence[Own], digest: str, decks: int) -> Ints:
    """Return every card of each round's shoe, (rounds, cards), by its place in the ordered shoe.

    `place % 52` is the card's place in `PACK`. Each round has both its seeds. Raises ShoeError for
    a shoe that cannot be built.
    """
    size = decks * len(PACK)
    words = _words(rounds, digest, -(-size // _WORDS_IN_BLOCK))[:, :size].astype(np.int64)
    remaining = size - np.arange(size)
    rejected = (words >= (1 << 32) // remaining * remaining).any(axis=1)
    for number in np.flatnonzero(rejected).tolist():
        (all_words,) = _words([rounds[number]], digest, BLOCKS).tolist()
        words[number] = _accepted(all_words, remaining.tolist())
    chosen = np.arange(size) + words % remaining
    shoes = np.repeat(np.arange(size, dtype=np.int16)[:, None], len(rounds), axis=1)
    every = np.arange(len(rounds))
    for place, other in enumerate(chosen.T):
        shoes[other, every], shoes[place] = shoes[place], shoes[other, every]
    return shoes.T


def _accepted(words: Iterable[int], remaining: Iterable[int]) -> list[int]:
    """Return the word that each draw takes of a keystream, the rejected ones passed over."""
    stream = iter(words)
    accepted = []
    for cards in remaining:
        limit = (1 << 32) // cards * cards
        word = next((word for word in stream if word < limit), None)
        if word is None:
            raise ShoeError(f"the keystream ran out of words with {cards} cards to draw")
        accepted.append(word)
    return accepted


def _standing_at(places: Ints, into: Ints, moved: Ints, swaps: int) -> Ints:
    """Return the card at one place in each shoe after so many swaps; the last one there counts."""
    cards = places.copy()
    for swap in range(swaps):
        np.copyto(cards, moved[swap], where=into[swap] == places)
    return cards


def _words(rounds: Sequence[Own], digest: str, blocks: int) -> Ints:
    numbers = range(blocks)
    stream = []
    for own in rounds:
        bound = context(own.round_id, digest, own.client_seed or b"")
        stream += [keystream_block(own.seed or b"", bound, number) for number in numbers]
    return np.frombuffer(b"".join(stream), ">u4").reshape(len(rounds), -1)
