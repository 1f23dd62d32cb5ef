"""The battery: every test over every round, judged together at one level."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import islice
from typing import Final

import msgspec

from audit_reports import findings as codes
from audit_reports.shuffle_tests.deals import DealCounts
from audit_reports.shuffle_tests.drawn import WrongCards
from audit_reports.shuffle_tests.records import DealtRound, dealt_rounds
from audit_reports.shuffle_tests.repeats import Repeats
from audit_reports.shuffle_tests.results import ShuffleTest, judge
from audit_reports.shuffle_tests.shoes import ShoeCounts
from ledger import Finding, Ledger
from ledger.sharing import Progress
from replay.bulk.shoes import committed, whole_shoes
from replay.bulk.tables import NUMBER
from replay.catalogue import rules_by_digest
from replay.engine.rules import Rules

LEVEL: Final = 0.01
"""GLI-19 has the tests judged together at a confidence of 99%."""

BATCH: Final = 1024

AGES: Final = {
    "less than 1 ms": timedelta(milliseconds=1),
    "less than 10 ms": timedelta(milliseconds=10),
    "less than 100 ms": timedelta(milliseconds=100),
    "less than 1 s": timedelta(seconds=1),
    "less than 10 s": timedelta(seconds=10),
    "less than 1 min": timedelta(minutes=1),
    "1 min and more": timedelta.max,
}
"""Classes of the time between commitment and stakes, each up to a bound."""


class Battery(msgspec.Struct, frozen=True, kw_only=True):
    """What the tests say of a ledger's shuffles.

    `shoes` counts the shoes re-derived and `deals` the complete initial deals. `tests` have all
    tests, also those that had too little to go by; `commitment_ages` counts rounds by the time
    between commitment and first stakes.
    """

    level: float
    rounds: int
    shoes: int
    deals: int
    tests: list[ShuffleTest]
    findings: list[Finding]
    commitment_ages: dict[str, int]

    @property
    def tested(self) -> int:
        """Return how many tests were judged together."""
        return sum(test.p_value is not None for test in self.tests)

    @property
    def rejected(self) -> list[ShuffleTest]:
        """Return the tests that failed, judged together at the battery's level."""
        return [test for test in self.tests if test.rejected]


def run_shuffle_tests(
    ledger: Ledger,
    progress: Progress | None = None,
    size: int | None = None,
) -> Battery:
    """Return the battery over all rounds of a ledger, or of its first `size` leaves.

    Only verified leaves are read: raises LeafRefused for the first that fails, and the ledger's
    errors.
    """
    return run_on_rounds(dealt_rounds(ledger, progress, size), rules_by_digest(ledger))


def run_on_rounds(rounds: Iterable[DealtRound], rules: Mapping[str, Rules]) -> Battery:
    """Return the battery over rounds, with the rules by digest; memory is bounded but for hashes.

    Rounds should come about as they were opened; within a batch they are put in that order, which
    does not depend on the cards as the order of closing does.
    """
    counting = _Counting(rules)
    stream = iter(rounds)
    while batch := list(islice(stream, BATCH)):
        batch.sort(key=lambda each: each.first_leaf)
        counting.add(batch)
    return counting.battery()


class _Counting:
    """Everything that has been counted so far, by the rules of the rounds."""

    def __init__(self, rules: Mapping[str, Rules]) -> None:
        self._rules = rules
        self._shoes: dict[str, ShoeCounts] = {}
        self._deals: dict[str, DealCounts] = {}
        self._rounds = 0
        self._ages = dict.fromkeys(AGES, 0)
        self._findings: list[Finding] = []
        self._wrong_cards = WrongCards()
        self._seeds = Repeats(codes.SEED_REPEATED, "the seed is the one")
        self._orders = Repeats(codes.SHOE_REPEATED, "the shoe is in the order")
        self._commitments = Repeats(codes.COMMITMENT_REPEATED, "the commitment is the one")

    def add(self, rounds: list[DealtRound]) -> None:
        """Count rounds in their order."""
        by_digest: dict[str, list[DealtRound]] = {}
        for each in rounds:
            self._rounds += 1
            self._note(each)
            by_digest.setdefault(each.own.rules_digest or "", []).append(each)
        for digest in by_digest.keys() & self._rules.keys():
            self._count_shoes(digest, by_digest[digest])
            self._count_deals(digest, by_digest[digest])

    def _note(self, each: DealtRound) -> None:
        own = each.own
        if own.seed is not None:
            self._seeds.add(own.seed, each.first_leaf)
        if own.commitment is not None:
            self._commitments.add(own.commitment, each.first_leaf)
        if each.age is not None:
            self._ages[next(name for name, bound in AGES.items() if each.age < bound)] += 1
        self._findings += [
            Finding(code, text, own.round_id, each.first_leaf) for code, text in _faults(each)
        ]

    def _count_shoes(self, digest: str, rounds: list[DealtRound]) -> None:
        seeded = [each for each in rounds if each.own.has_seeds]
        fits = committed([each.own for each in seeded], digest)
        for each, fit in zip(seeded, fits, strict=True):
            if not fit:
                text = "the revealed seed is not the one committed to, so its shoe is not counted"
                code = codes.COMMITMENT_BROKEN
                self._findings.append(Finding(code, text, each.own.round_id, each.first_leaf))
        sound = [each for each, fit in zip(seeded, fits, strict=True) if fit]
        decks = self._rules[digest].decks
        if not sound:
            return
        shoes = whole_shoes([each.own for each in sound], digest, decks)
        self._shoes.setdefault(digest, ShoeCounts(decks)).add(shoes)
        self._wrong_cards.add(sound, shoes)
        for each, shoe in zip(sound, shoes, strict=True):
            self._orders.add(shoe.tobytes(), each.first_leaf)

    def _count_deals(self, digest: str, rounds: list[DealtRound]) -> None:
        counts = self._deals.setdefault(digest, DealCounts(self._rules[digest].decks))
        for each in rounds:
            if each.is_dealt:
                counts.add([NUMBER[card] for card in each.cards])

    def battery(self) -> Battery:
        """Judge all that was counted."""
        kinds = (self._wrong_cards, self._seeds, self._orders, self._commitments)
        findings = [*self._findings, *(found for kind in kinds for found in kind.findings())]
        return Battery(
            level=LEVEL,
            rounds=self._rounds,
            shoes=sum(counts.shoes for counts in self._shoes.values()),
            deals=sum(counts.deals for counts in self._deals.values()),
            tests=judge([result for each in self._rules for result in self._results(each)], LEVEL),
            findings=sorted(findings, key=_place),
            commitment_ages=self._ages,
        )

    def _results(self, digest: str) -> Iterator[ShuffleTest]:
        name = self._rules[digest].id
        alike = [other for other in self._deals if self._rules[other].id == name]
        game = name if len(alike) < 2 else f"{name} {digest[:8]}"
        if digest in self._shoes:
            yield from self._shoes[digest].results(game)
        if digest in self._deals:
            yield from self._deals[digest].results(game)


def _place(found: Finding) -> tuple[bool, int, str]:
    """Order findings by leaf, those of none last."""
    return found.leaf_index is None, found.leaf_index or 0, found.code


def _faults(each: DealtRound) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with one round's shuffle by itself."""
    if each.staked_leaf is not None:
        if each.committed_leaf is None:
            yield codes.COMMITMENT_LATE, "stakes were laid and no shoe had been committed to"
        elif each.committed_leaf > each.staked_leaf:
            yield codes.COMMITMENT_LATE, "the shoe was committed to after the stakes were laid"
    if each.skipped_at is not None:
        text = f"card {each.skipped_at} did not come from the next place in the shoe"
        yield codes.SHOE_INDEX_SKIPPED, text
