"""The cards of many shoes at once, and whether each shoe is the one committed to.

Keystream and commitment come from `shoeproof.replay.engine.shoe`, block by block as they are
needed; the swaps of Fisher-Yates are done for all rounds together. A round whose keystream has a
word to reject, about one in ten million cards, is done by itself.
"""

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np

from shoeproof.replay.engine.cards import PACK
from shoeproof.replay.engine.shoe import (
    BLOCK_BYTES,
    BLOCKS,
    Shoe,
    commitment,
    context,
    keystream_block,
)
from shoeproof.replay.errors import ShoeError
from shoeproof.replay.kernel.symbols import CARD, INDEX, SHOWN, SYMBOL, RoundColumns
from shoeproof.replay.kernel.tables import DOWN, NUMBER, Ints
from shoeproof.replay.kernel.walk import RoundBatch

_WORDS_IN_BLOCK = BLOCK_BYTES // 4
_PACK_PLACE = np.tile(np.arange(len(PACK)), 8)
"""Which card of the pack each of a shoe's ordered cards is."""


def committed(rounds: Sequence[RoundColumns], digest: str) -> Ints:
    """Tell of each round whether it has its seeds, and the server's is the one it committed to.

    `digest` is the lower-hex digest of the rules of all rounds.
    """
    return np.array(
        [
            own.has_seeds and commitment(own.round_id, digest, own.seed or b"") == own.commitment
            for own in rounds
        ],
        np.bool_,
    )


def shoes_hold(rounds: Sequence[RoundColumns], digest: str, decks: int, batch: RoundBatch) -> Ints:
    """Tell of each round whether its shoe is the one committed to, and its cards are the shoe's.

    `rounds` are those of the batch, `digest` that of their rules.
    """
    card = np.flatnonzero(batch.kind == CARD)
    number = batch.number[card]
    first = np.searchsorted(card, batch.start)
    ordinal = np.arange(len(card)) - first[number]
    right = committed(rounds, digest)
    right[number[batch.of(INDEX, card) != ordinal]] = False
    shown = np.flatnonzero(batch.kind == SHOWN)
    hole = np.full(len(rounds), -1)
    hole[batch.number[shown]] = batch.of(SYMBOL, shown)
    logged = batch.of(SYMBOL, card)
    logged = np.where(logged == NUMBER[DOWN], hole[number], logged)
    counts = np.diff(first, append=len(card))
    # Rounds whose cards take as many blocks of the keystream are drawn together.
    blocks = -(-counts // _WORDS_IN_BLOCK)
    for block in np.unique(blocks[right]).tolist():
        chosen = np.flatnonzero(right & (blocks == block))
        most = int(counts[chosen].max())
        try:
            cards = first_cards([rounds[n] for n in chosen.tolist()], digest, decks, most)
        except ShoeError:
            right[chosen] = False
            continue
        place = np.full(len(rounds), -1)
        place[chosen] = np.arange(len(chosen))
        mine = place[number] >= 0
        differs = cards[place[number[mine]], ordinal[mine]] != logged[mine]
        right[number[mine][differs]] = False
    return right


def first_cards(rounds: Sequence[RoundColumns], digest: str, decks: int, count: int) -> Ints:
    """Return the first `count` cards of each round's shoe as numbers of symbols, (rounds, count).

    Each round has both its seeds. Raises ShoeError for a shoe that cannot be built or lacks cards.
    """
    size = decks * len(PACK)
    if count > size:
        raise ShoeError(f"a shoe of {size} cards has no {count}")
    if count > BLOCKS * _WORDS_IN_BLOCK:
        raise ShoeError("the keystream has fewer words than that")
    words = _words(rounds, digest, -(-count // _WORDS_IN_BLOCK))
    # Place p holds ordered card p unless a swap put another there: `into[k]` is where swap k put
    # what had stood at place k, and `moved[k]` which card that was.
    into, moved, cards = np.empty((3, count, len(rounds)), np.int16)
    rejected = np.zeros(len(rounds), np.bool_)
    for place in range(count):
        word, remaining = words[place], size - place
        times = word // remaining
        rejected |= times >= (1 << 32) // remaining
        into[place] = word - times * remaining
        into[place] += place
        cards[place] = _standing_at(into[place], into, moved, place)
        moved[place] = _standing_at(np.full_like(into[place], place), into, moved, place)
    found: Ints = _PACK_PLACE.take(cards.T)
    for number in np.flatnonzero(rejected).tolist():
        own = rounds[number]
        shoe = Shoe(own.seed or b"", own.round_id, digest, own.client_seed or b"", decks)
        found[number] = [NUMBER[card] for card in islice(shoe, count)]
    return found


def whole_shoes(rounds: Sequence[RoundColumns], digest: str, decks: int) -> Ints:
    """Return every card of each round's shoe, (rounds, cards), by its place in the ordered shoe.

    `place % 52` is the card's place in `PACK`. Each round has both its seeds. Raises ShoeError for
    a shoe that cannot be built.
    """
    size = decks * len(PACK)
    words = _words(rounds, digest, -(-size // _WORDS_IN_BLOCK))[:size].T.astype(np.int64)
    remaining = size - np.arange(size)
    rejected = (words >= (1 << 32) // remaining * remaining).any(axis=1)
    for number in np.flatnonzero(rejected).tolist():
        all_words = _words([rounds[number]], digest, BLOCKS)[:, 0].tolist()
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


def _words(rounds: Sequence[RoundColumns], digest: str, blocks: int) -> Ints:
    """Return the words of the keystreams, 32 bits each, (words of a round, rounds)."""
    keyed = [
        (own.seed or b"", context(own.round_id, digest, own.client_seed or b"")) for own in rounds
    ]
    stream = b"".join(
        [keystream_block(seed, bound, number) for number in range(blocks) for seed, bound in keyed]
    )
    words = np.frombuffer(stream, ">u4").reshape(blocks, len(rounds), _WORDS_IN_BLOCK)
    found: Ints = words.astype(np.uint32).swapaxes(1, 2).reshape(-1, len(rounds))
    return found
