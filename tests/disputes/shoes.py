"""The shoes of the scenarios: real ones, found by their first cards.

Every scenario plays the same round id on the same server seed, so that the player's seed alone
picks the shoe. To find one for a new scenario, say what its first cards are to be, in the order
they are dealt: a rank, `X` for any ten, a range, `?` for any, a card where the suit matters::

    python -m tests.disputes.shoes nba "X X 6 9 5"
"""

import hashlib
import sys
from collections.abc import Callable, Iterator
from itertools import count

from shoeproof.replay.engine.cards import PACK, VALUE
from shoeproof.replay.engine.rules import rules_digest
from shoeproof.replay.engine.shoe import Shoe, context, keystream_block
from shoeproof.replay.games.published import GAMES

SEED = hashlib.sha256(b"the seed of every disputed round").digest()
ROUND = "01936f3c-7a10-7d15-9b07-7e0000000001"


def shoe_of(game: str, client_seed: bytes) -> Shoe:
    """The shoe that a player's seed picks."""
    rules = GAMES[game].rules
    return Shoe(SEED, ROUND, rules_digest(rules), client_seed, rules.decks)


def fits(pattern: str, card: str) -> bool:
    """Say whether a card is one that a pattern wants."""
    value = VALUE[card]
    if "-" in pattern:
        low, high = map(int, pattern.split("-"))
        return low <= value <= high
    if pattern in ("X", "?"):
        return pattern == "?" or value == 10
    return card == pattern if len(pattern) == 2 else card[0] == pattern


def candidates(game: str, patterns: list[str]) -> Iterator[bytes]:
    """Yield players' seeds under which the first eight cards at most are likely to fit."""
    rules = GAMES[game].rules
    digest, size = rules_digest(rules), 52 * rules.decks
    wanted = [
        {place for place, card in enumerate(PACK) if fits(pattern, card)}
        for pattern in patterns[:8]
    ]
    for number in count():
        client_seed = number.to_bytes(4, "big")
        block = keystream_block(SEED, context(ROUND, digest, client_seed), 0)
        for place, places in enumerate(wanted):
            word = int.from_bytes(block[4 * place : 4 * place + 4])
            # A place that was swapped or rejected is settled by the real shoe.
            if (place + word % (size - place)) % 52 not in places:
                break
        else:
            yield client_seed


def find(
    game: str, pattern: str, also: Callable[[list[str]], bool] = lambda cards: True
) -> tuple[bytes, list[str]]:
    """Return a player's seed, and the first cards, of a shoe that begins as wanted."""
    patterns = pattern.split()
    for client_seed in candidates(game, patterns):
        shoe = shoe_of(game, client_seed)
        cards = [shoe[place] for place in range(max(12, len(patterns)))]
        if all(map(fits, patterns, cards)) and also(cards):
            return client_seed, cards
    raise AssertionError("unreachable")


if __name__ == "__main__":
    found, first = find(sys.argv[1], sys.argv[2])
    print(f'client_seed = "{found.hex()}"\nshoe = "{" ".join(first)}"')
