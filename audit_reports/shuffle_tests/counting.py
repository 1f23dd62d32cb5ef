"""Everything that is counted of rounds by themselves, so that any process can count any of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Final

import msgspec
import numpy as np

from shoeproof.audit_reports import findings as codes
from shoeproof.audit_reports.rows.round_leaves import RuleSet
from shoeproof.audit_reports.shuffle_tests.deals import DealCounts, Dealt
from shoeproof.audit_reports.shuffle_tests.drawn import WrongCards
from shoeproof.audit_reports.shuffle_tests.records import DealtRound
from shoeproof.audit_reports.shuffle_tests.repeats import Repeats
from shoeproof.audit_reports.shuffle_tests.shoes import Ints, ShoeCounts
from shoeproof.ledger import Finding
from shoeproof.replay.kernel.shoes import committed, whole_shoes
from shoeproof.replay.kernel.tables import NUMBER

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


class ComparedRound(msgspec.Struct):
    """What a round has that is compared with the round after it: its shoe and its deal, if any.

    `last_leaf` is None of a round that has not ended.
    """

    rules_digest: str
    first_leaf: int
    last_leaf: int | None
    shoe: Ints | None = None
    deal: Dealt | None = None


class Noted(msgspec.Struct):
    """What is kept of each round: prints of what must not come again, and what is wrong."""

    seeds: Repeats = msgspec.field(default_factory=Repeats)
    shoes: Repeats = msgspec.field(default_factory=Repeats)
    commitments: Repeats = msgspec.field(default_factory=Repeats)
    findings: list[Finding] = []

    def merge(self, other: "Noted") -> None:
        """Add what is kept of other rounds."""
        self.seeds.merge(other.seeds)
        self.shoes.merge(other.shoes)
        self.commitments.merge(other.commitments)
        self.findings += other.findings

    def all_findings(self) -> Iterator[Finding]:
        """Yield all that is wrong."""
        yield from self.findings
        yield from self.seeds.findings(codes.SEED_REPEATED, "the seed is the one")
        yield from self.shoes.findings(codes.SHOE_REPEATED, "the shoe is in the order")
        yield from self.commitments.findings(codes.COMMITMENT_REPEATED, "the commitment is the one")


class Counts(msgspec.Struct):
    """What rounds come to: counts of their shoes and deals by the digest of their rules.

    `ages` counts rounds by the time between commitment and first stakes, in the classes of AGES.
    """

    rounds: int = 0
    shoes: dict[str, ShoeCounts] = {}
    deals: dict[str, DealCounts] = {}
    ages: dict[str, int] = {}
    wrong_cards: WrongCards = msgspec.field(default_factory=WrongCards)
    noted: Noted = msgspec.field(default_factory=Noted)

    def merge(self, other: "Counts") -> None:
        """Add what other rounds come to."""
        self.rounds += other.rounds
        for digest, shoes in other.shoes.items():
            self.shoes.setdefault(digest, ShoeCounts(shoes.decks)).merge(shoes)
        for digest, deals in other.deals.items():
            self.deals.setdefault(digest, DealCounts(deals.decks)).merge(deals)
        for name, count in other.ages.items():
            self.ages[name] = self.ages.get(name, 0) + count
        self.wrong_cards.merge(other.wrong_cards)
        self.noted.merge(other.noted)

    def add(
        self, rounds: Sequence[DealtRound], rule_sets: Mapping[str, RuleSet]
    ) -> list[ComparedRound]:
        """Count rounds, and return them; of rules that stand before them, shoe and deal count."""
        counted: dict[int, ComparedRound] = {}
        by_digest: dict[str, list[DealtRound]] = {}
        for each in rounds:
            digest, first_leaf = each.own.rules_digest or "", each.first_leaf
            self.rounds += 1
            self._note(each)
            counted[first_leaf] = ComparedRound(digest, first_leaf, each.last_leaf)
            rules = rule_sets.get(digest)
            if rules is not None and rules.leaf_index < first_leaf:
                by_digest.setdefault(digest, []).append(each)
        for digest, mine in by_digest.items():
            decks = rule_sets[digest].rules.decks
            self._count_deals(digest, decks, mine, counted)
            for start in range(0, len(mine), BATCH):
                self._count_shoes(digest, decks, mine[start : start + BATCH], counted)
        return list(counted.values())

    def follow(self, rounds: Iterable[ComparedRound]) -> None:
        """Count how shoes and deals follow those before, in the order of beginnings."""
        by_digest: dict[str, list[ComparedRound]] = {}
        for each in rounds:
            by_digest.setdefault(each.rules_digest, []).append(each)
        for digest, mine in by_digest.items():
            shoes = [each.shoe for each in mine if each.shoe is not None]
            deals = [each.deal for each in mine if each.deal is not None]
            for start in range(0, len(shoes), BATCH):
                self.shoes[digest].follow(np.stack(shoes[start : start + BATCH]))
            if deals:
                self.deals[digest].follow(deals)

    def _note(self, each: DealtRound) -> None:
        own = each.own
        if own.seed is not None:
            self.noted.seeds.add(own.seed, each.first_leaf)
        if own.commitment is not None:
            self.noted.commitments.add(own.commitment, each.first_leaf)
        if each.age is not None:
            name = next(name for name, bound in AGES.items() if each.age < bound)
            self.ages[name] = self.ages.get(name, 0) + 1
        for code, text in _faults(each):
            self._find(each, code, text)

    def _find(self, each: DealtRound, code: str, text: str) -> None:
        self.noted.findings.append(Finding(code, text, each.own.round_id, each.first_leaf))

    def _count_deals(
        self, digest: str, decks: int, rounds: list[DealtRound], counted: dict[int, ComparedRound]
    ) -> None:
        deals = self.deals.setdefault(digest, DealCounts(decks))
        for each in rounds:
            if each.is_dealt:
                deal = deals.add([NUMBER[card] for card in each.cards])
                counted[each.first_leaf].deal = deal

    def _count_shoes(
        self, digest: str, decks: int, rounds: list[DealtRound], counted: dict[int, ComparedRound]
    ) -> None:
        seeded = [each for each in rounds if each.own.has_seeds]
        fits = committed([each.own for each in seeded], digest)
        for each, fit in zip(seeded, fits, strict=True):
            if not fit:
                text = "the revealed seed is not the one committed to, so its shoe is not counted"
                self._find(each, codes.COMMITMENT_BROKEN, text)
        sound = [each for each, fit in zip(seeded, fits, strict=True) if fit]
        if not sound:
            return
        shoes = whole_shoes([each.own for each in sound], digest, decks)
        self.shoes.setdefault(digest, ShoeCounts(decks)).add(shoes)
        self.wrong_cards.add(sound, shoes)
        for each, shoe in zip(sound, shoes, strict=True):
            self.noted.shoes.add(shoe.tobytes(), each.first_leaf)
            counted[each.first_leaf].shoe = shoe


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
