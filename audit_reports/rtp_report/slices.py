"""Slices of a bet judged: tables, players and so on, each by its own luck and counts.

However many slices there are, a slice of an honest game is out of range with no more than the
chance that all of them share: each is judged at the level of `level_of_each`. A slice has no days,
so it is judged by its sums as they stand, which what luck stays within at all times allows.
"""

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Final

from msgspec.structs import replace

from shoeproof.audit_reports.pages.numerals import wrong_amounts
from shoeproof.audit_reports.pages.words import bet_words
from shoeproof.audit_reports.rows.luck import UNIT_COLUMNS
from shoeproof.audit_reports.rtp_report.bets import rounded, row
from shoeproof.audit_reports.rtp_report.figures import Figures
from shoeproof.audit_reports.rtp_report.judge import guilty, part_words, read_units
from shoeproof.audit_reports.rtp_report.model import Row
from shoeproof.audit_reports.rtp_report.records import SliceRow
from shoeproof.audit_reports.rtp_report.spans import PERIODS
from shoeproof.audit_reports.statistics.sequences import FEWEST_ROUNDS
from shoeproof.audit_reports.statistics.verdict import (
    FEWEST_VARIANCE,
    OUT_OF_RANGE,
    WATCH,
    Reading,
    level_of_each,
    read_count,
    read_settlement,
    verdict,
)
from shoeproof.replay.currency import amount_text, number_text
from shoeproof.replay.engine.outcomes import MAIN
from shoeproof.replay.luck.counts import COUNT_KINDS

SLICES_SHARE: Final = 0.1
"""The share of a game's level by which its slices are judged, whether any are shown or not."""

MOST_NAMED: Final = 5
"""How many slices that are out of range are named beside the game's word."""

KINDS: Final = (*UNIT_COLUMNS, *COUNT_KINDS)
"""What a slice has a z for: luck for a unit of stake, kind by kind and together, and counts."""


def slices_of(figures: Figures, mine: SliceRow, level: float) -> dict[str, tuple[Row, ...]]:
    """Return the judged rows of a game's slices, whose level is `level` in all.

    Spans of time stand in their order, others by the evidence against them.
    """
    chosen = {
        by: [cell for cell in cells if cell.key[:3] == mine.key[:3]]
        for by, cells in figures.slices.items()
    }
    each = level_of_each(level, max(1, sum(map(len, chosen.values()))))
    found = {}
    for by, cells in chosen.items():
        rows = [judged_row(cell, each) for cell in cells]
        if by[0] in PERIODS and len(by) == 1:
            rows.sort(key=lambda one: one.slice[by[0]] or "")
        else:
            rows.sort(key=_evidence)
        found[",".join(by)] = tuple(rows)
    return found


def judged_row(cell: SliceRow, level: float) -> Row:
    """Return a slice's figures with its verdict, at a level that its readings share alike."""
    found = verdict(*_readings(cell, level))
    zs = {kind: rounded(z) for kind, z, _ in _zs(cell)}
    told = [abs(z) for _, z, is_told in _zs(cell) if is_told]
    why = guilty(found) if found.word in (WATCH, OUT_OF_RANGE) else ()
    furthest = rounded(max(told, default=0.0))
    return replace(row(cell), word=found.word, why=why, kinds=zs, furthest=furthest)


def accused(slices: Sequence[Row], currency: str) -> Iterator[str]:
    """Name the first slices that are out of range and why, and how many more there are."""
    found = [each for each in slices if each.word == OUT_OF_RANGE]
    for each in found[:MOST_NAMED]:
        names = [
            f"{name.replace('_', ' ')} {slice_words(name, value, currency)}"
            for name, value in each.slice.items()
        ]
        yield f"{', '.join(names)}, {bet_words(each.bet)}: {'; '.join(each.why)}"
    if len(found) > MOST_NAMED:
        yield f"{len(found) - MOST_NAMED:,} more rows are out of range below"


def slice_words(name: str, value: str | None, currency: str) -> str:
    """Return the value a slice is named by as people read it."""
    if value is None:
        return "not recorded"
    if name == "stake_band":
        low, high = 10 ** int(value), 10 ** (int(value) + 1) - 1
        return f"{number_text(low, currency)} to {amount_text(high, currency)}"
    return value


def kind_words(kinds: dict[str, float]) -> Iterator[tuple[str, float]]:
    """Yield the kinds that a slice has a z for, in words, for the page."""
    for kind, z in kinds.items():
        yield part_words(kind).removesuffix(" per unit of stake"), z


def _readings(cell: SliceRow, level: float) -> tuple[list[Reading], list[Reading]]:
    counts = cell.counted if cell.key.bet == MAIN else {}
    share = level / (len(UNIT_COLUMNS) + len(counts))
    luck = {kind: [sums] for kind, sums in cell.unit_luck.items() if sums.squares}
    wrong = wrong_amounts(cell.underpaid_minor, cell.overpaid_minor, cell.key.currency)
    return list(read_units(luck, cell.key.bet, share)), [
        *(read_count(kind, [sums], share) for kind, sums in counts.items() if sums.chances),
        read_settlement(cell.wrong_rounds, wrong),
    ]


def _zs(cell: SliceRow) -> Iterator[tuple[str, float, bool]]:
    """Yield for each kind its z, and whether there were enough rounds for it."""
    for kind, luck in cell.unit_luck.items():
        if luck.squares:
            yield kind, luck.total / sqrt(luck.squares), luck.effective_rounds >= FEWEST_ROUNDS
    for kind, count in cell.counted.items():
        if count.variance:
            z = count.excess / sqrt(count.variance)
            yield kind, z, count.variance >= FEWEST_VARIANCE


def _evidence(each: Row) -> tuple[int, float, int]:
    by_weight = {OUT_OF_RANGE: 0, WATCH: 1}
    return by_weight.get(each.word or "", 2), -(each.furthest or 0.0), -each.rounds
