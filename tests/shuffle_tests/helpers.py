"""Shuffles, fair and faulty ones, and what the battery says of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shoeproof.audit_reports.rows.round_leaves import rule_sets_of
from shoeproof.audit_reports.rows.verified import made_of_verified
from shoeproof.audit_reports.shuffle_tests.battery import Battery, battery_of
from shoeproof.audit_reports.shuffle_tests.counting import Counts
from shoeproof.audit_reports.shuffle_tests.deals import DealCounts
from shoeproof.audit_reports.shuffle_tests.reading import UnfinishedRounds, part_dealt
from shoeproof.audit_reports.shuffle_tests.records import DealtRound
from shoeproof.audit_reports.shuffle_tests.results import ShuffleTest, judge
from shoeproof.audit_reports.shuffle_tests.shoes import ShoeCounts
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.streams import RULES_STREAM
from shoeproof.replay.rounds.catalogue import rules_by_digest

Ints = npt.NDArray[Any]
Random = np.random.Generator


def fair(random: Random, shoes: int, decks: int = 1) -> Ints:
    ordered = np.arange(52 * decks, dtype=np.int16)
    return random.permuted(np.tile(ordered, (shoes, 1)), axis=1)


def swapped(chosen: Ints) -> Ints:
    """Shoes made by swapping place i with place chosen[:, i], for every i in turn."""
    shoes = np.tile(np.arange(chosen.shape[1], dtype=np.int16), (len(chosen), 1))
    every = np.arange(len(chosen))
    for place, other in enumerate(chosen.T):
        kept = shoes[every, other].copy()
        shoes[every, other] = shoes[:, place]
        shoes[:, place] = kept
    return shoes


def of_shoes(shoes: Ints, level: float = 0.01) -> dict[str, ShuffleTest]:
    """The battery of whole shoes by name."""
    counts = ShoeCounts(shoes.shape[1] // 52)
    for part in np.array_split(shoes, 3):
        counts.add(part)
        counts.follow(part)
    return {test.name: test for test in judge(list(counts.results("game")), level)}


def of_deals(deals: Ints, decks: int = 6, level: float = 0.01) -> dict[str, ShuffleTest]:
    """The battery of initial deals, rows of places in the pack, by name."""
    counts = DealCounts(decks)
    for deal in deals.tolist():
        counts.follow([counts.add(deal)])
    return {test.name: test for test in judge(list(counts.results("game")), level)}


def dealt_rounds(ledger: Ledger) -> list[DealtRound]:
    """Every round of a ledger, the open ones last."""
    runs = made_of_verified(ledger, 0, ledger.size(), (), zip)
    parted = part_dealt(leaf for run in runs for leaf in run.made)
    open_rounds = UnfinishedRounds()
    assert not open_rounds.take(parted.pieces)
    return [*parted.whole, *open_rounds.rounds()]


def run_on_rounds(ledger: Ledger, rounds: Sequence[DealtRound]) -> Battery:
    """The battery over rounds under the rules of a ledger."""
    counts = Counts()
    leaves = ledger.store.stream(RULES_STREAM)
    counts.follow(counts.add(rounds, rule_sets_of(leaves)))
    return battery_of(counts, rules_by_digest(ledger))


def rejected(tests: dict[str, ShuffleTest]) -> set[str]:
    return {name for name, test in tests.items() if test.rejected}
