"""The battery: every test over every round, judged together at one level."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from shoeproof.audit_reports.rows.verified import refuse_cut_tail
from shoeproof.audit_reports.shuffle_tests.counting import AGES, Counts
from shoeproof.audit_reports.shuffle_tests.results import ShuffleTest, judge
from shoeproof.audit_reports.shuffle_tests.saved_counts import FILE, VERSION, counts_of
from shoeproof.audit_reports.tables.read_model import open_read_model
from shoeproof.ledger import Finding, Ledger
from shoeproof.ledger.verify.workers import Progress
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.rounds.catalogue import rules_by_digest

LEVEL: Final = 0.01
"""GLI-19 has the tests judged together at a confidence of 99%."""

BEYOND: Final = 1e-6
"""An honest shuffle fails at this level on some day of ten years with a chance below 0.4%."""


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

    @property
    def beyond(self) -> list[ShuffleTest]:
        """Return the tests that failed so far off that daily looks do not explain it."""
        return [test for test in self.tests if is_beyond(test)]


def is_beyond(test: ShuffleTest) -> bool:
    """Tell whether a test failed so far off that daily looks do not explain it."""
    return test.rejected and (test.adjusted or 0.0) <= BEYOND


def run_shuffle_tests(
    ledger: Ledger,
    size: int | None = None,
    *,
    folder: Path | None = None,
    rebuild: bool = False,
    progress: Progress | None = None,
    waiting: Callable[[], object] | None = None,
) -> Battery:
    """Return the battery over all rounds of a ledger, or of its first `size` leaves.

    What was counted is kept for the next time, by the rules of `open_read_model`; `progress` is
    told how many leaves are counted and of how many. A ledger whose tail is gone is refused, unless
    the leaves asked for are given. Raises what that and `counts_of` raise.
    """
    if size is None:
        refuse_cut_tail(ledger)
    with open_read_model(
        ledger, FILE, VERSION, folder=folder, rebuild=rebuild, waiting=waiting
    ) as model:
        # Only now, since another process that was waited for has counted what was new.
        counts = counts_of(model, ledger.size() if size is None else size, progress)
    return battery_of(counts, rules_by_digest(ledger))


def battery_of(counts: Counts, rules: Mapping[str, Rules]) -> Battery:
    """Judge all that was counted; `rules` are those of the ledger by digest."""
    return Battery(
        level=LEVEL,
        rounds=counts.rounds,
        shoes=sum(each.shoes for each in counts.shoes.values()),
        deals=sum(each.deals for each in counts.deals.values()),
        tests=judge([result for each in rules for result in _results(counts, each, rules)], LEVEL),
        findings=sorted([*counts.noted.all_findings(), *counts.wrong_cards.findings()], key=_place),
        commitment_ages={name: counts.ages.get(name, 0) for name in AGES},
    )


def _results(counts: Counts, digest: str, rules: Mapping[str, Rules]) -> Iterator[ShuffleTest]:
    name = rules[digest].id
    alike = [other for other in counts.deals if rules[other].id == name]
    game = name if len(alike) < 2 else f"{name} {digest[:8]}"
    if digest in counts.shoes:
        yield from counts.shoes[digest].results(game)
    if digest in counts.deals:
        yield from counts.deals[digest].results(game)


def _place(found: Finding) -> tuple[bool, int, str]:
    """Order findings by leaf, those of none last."""
    return found.leaf_index is None, found.leaf_index or 0, found.code
