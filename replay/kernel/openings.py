"""How rounds begin: rules, the seats that play and what is staked, read once for each distinct way.

An opening that is refused (unknown rules, stakes or limits that the replayer objects to, amounts
too large for columns) proves none of its rounds.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from shoeproof.replay.engine.round import Seat, check_stakes, insurance_stake_minor
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.errors import StakeRefused
from shoeproof.replay.kernel.symbols import (
    KIND,
    OPENED,
    PLACED,
    REQUESTED,
    SEATS,
    STAKE,
    Vocabulary,
)
from shoeproof.replay.kernel.tables import Ints
from shoeproof.replay.kernel.walk import Openings
from shoeproof.replay.rounds.money_check import check_limits, check_placed

LARGEST_STAKE = 1 << 30


class Opening(NamedTuple):
    """One way to begin: the digest of the rules, and the stakes by seat and bet."""

    digest: str
    rules: Rules
    stakes: Mapping[str, Mapping[str, int]]


def openings_of(
    vocabulary: Vocabulary, rules_by_digest: Mapping[str, Rules], words: Ints, lengths: Ints
) -> tuple[list[Opening | None], Ints]:
    """Return every distinct way the rounds begin, None where refused, and which of them each has.

    The rounds' words are flat, `lengths` of them each. Where a round names its opening, deal or
    placed chips more than once the last counts: whether it may is asked of its course.
    """
    table, starts = vocabulary.table(), np.cumsum(lengths) - lengths
    kind = table[KIND].astype(np.int8).take(words)
    said = np.full((3, len(lengths)), -1)
    for row, each in zip(said, (OPENED, REQUESTED, PLACED), strict=True):
        at = np.flatnonzero(kind == each)
        row[np.searchsorted(starts, at, side="right") - 1] = table[STAKE].take(words[at])
    size = len(vocabulary.stakes) + 1
    key = ((said[0] + 1) * size + said[1] + 1) * size + said[2] + 1
    keys, which = np.unique(key, return_inverse=True)
    found = [
        _opening(
            vocabulary,
            rules_by_digest,
            key // size // size - 1,
            key // size % size - 1,
            key % size - 1,
        )
        for key in keys.tolist()
    ]
    return found, which


def _opening(
    vocabulary: Vocabulary,
    rules_by_digest: Mapping[str, Rules],
    opened: int,
    requested: int,
    placed: int,
) -> Opening | None:
    if opened < 0 or requested < 0:
        return None
    digest = vocabulary.openings.items[opened][0]
    rules, stakes = rules_by_digest.get(digest), vocabulary.stakes[requested]
    if rules is None or any(check_limits(vocabulary.limits(opened), stakes)):
        return None
    if placed >= 0 and any(check_placed(vocabulary.stakes[placed], stakes)):
        return None
    try:
        check_stakes(rules, stakes)
    except StakeRefused:
        return None
    if any(amount >= LARGEST_STAKE for bets in stakes.values() for amount in bets.values()):
        return None
    return Opening(digest, rules, stakes)


def laid(openings: Sequence[Opening], vocabulary: Vocabulary) -> Openings:
    """Return openings of one rule set as columns."""
    rules = openings[0].rules
    names = [vocabulary.names.number(bet) for bet in rules.side_bets]
    place = np.full((len(openings), SEATS), -1)
    stakes = np.zeros((2 + len(names), len(openings), SEATS), np.int64)
    for row, opening in enumerate(openings):
        for number, (name, bets) in enumerate(sorted(opening.stakes.items())):
            seat = int(name[1:])
            place[row, seat] = number
            insurance = insurance_stake_minor(rules, Seat(name, bets))
            beside = (bets.get(bet, 0) for bet in rules.side_bets)
            stakes[:, row, seat] = bets["main"], insurance, *beside
    asked = np.concatenate([place[None] >= 0, stakes > 0]).swapaxes(0, 1)
    forms = [
        vocabulary.forms.number((opening.digest, each.tobytes()))
        for opening, each in zip(openings, asked, strict=True)
    ]
    side = dict(zip(names, stakes[2:], strict=True))
    return Openings(place, stakes[0], stakes[1], side, np.array(forms))
