"""A bet judged: the readings its word rests on, and what the figures mean in words."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from audit_reports.numerals import points, signed_amount
from audit_reports.rtp_report.figures import Figures, PartSums, is_luck
from audit_reports.rtp_report.model import UNKNOWN_RULES
from audit_reports.rtp_report.records import BetKey, Cell
from audit_reports.rtp_report.theoretical import Theoretical
from audit_reports.statistics.sequences import FEWEST_ROUNDS
from audit_reports.statistics.sums import LuckSums
from audit_reports.statistics.verdict import (
    LEVEL,
    OUT_OF_RANGE,
    WATCH,
    Reading,
    Verdict,
    Word,
    read_luck,
    read_settlement,
    read_side_bet,
    verdict,
)


def judge_bet(
    figures: Figures, cell: Cell, theory: Theoretical | None, level: float = LEVEL
) -> Verdict:
    """Return the verdict on a bet by its luck, a side bet's return, and its settlement.

    `theory` is None for rules that the ledger does not have, of which nothing can be said.
    """
    if theory is None:
        says = "the ledger has no readable rules of this digest, so nothing can be compared"
        return verdict([Reading(UNKNOWN_RULES, WATCH, says)])
    if theory.fraction is not None and theory.largest is not None:
        returns = figures.returns.get(cell.key, {})
        found = list(_side_bet(cell, returns, theory.fraction, theory.largest, level))
    else:
        found = read_luck(luck_by_day(figures, cell.key), level)
    wrong = signed_amount(cell.wrong_minor, cell.key.currency)
    return verdict([*found, read_settlement(cell.wrong_rounds, wrong), *_followed(cell)])


def luck_by_day(figures: Figures, key: BetKey) -> dict[str, list[LuckSums]]:
    """Return the sums of each kind of luck for each day on which the bet was settled."""
    days = sorted({cell.slice["day"] or "" for cell in figures.days if cell.key == key})
    return {
        part: [by_day.get(day, PartSums(0, LuckSums())).sums for day in days]
        for part, by_day in figures.parts.get(key, {}).items()
        if is_luck(part) and any(each.moved for each in by_day.values())
    }


def guilty(found: Verdict) -> tuple[str, ...]:
    """Return the readings that a verdict's word rests on, in words, those that agree together."""
    by_says: dict[str, list[str]] = {}
    for reading in found.readings:
        if reading.word == found.word:
            by_says.setdefault(reading.says, []).append(part_words(reading.of))
    return tuple(f"{', '.join(parts)}: {says}" for says, parts in by_says.items())


def worst(words: Iterable[Word]) -> Word:
    """Return the weightiest of words."""
    return verdict(Reading("", word, "") for word in words).word


def part_words(part: str) -> str:
    """Return a part's name in words, `luck_dealer_draw` as `dealer draw`."""
    return part.removeprefix("luck_").removeprefix("skill_").replace("_", " ")


def meaning(cell: Cell, word: Word, expected: float | None, half_width: float | None) -> str:
    """Return what the distance of a return from what such play returns means, in one sentence.

    `word` is the bet's verdict, `half_width` that of the band of a single look.
    """
    realised = cell.sums.rtp_on_initial_stakes
    if realised is None:
        return "Nothing was staked."
    if expected is None:
        return "No round could be followed, so there is nothing to compare the return with."
    if half_width is None or cell.sums.effective_rounds < FEWEST_ROUNDS:
        return (
            f"Too few rounds to mean anything: {cell.sums.rounds:,}, "
            f"worth {float(cell.sums.effective_rounds):,.0f} of equal stakes."
        )
    gap = float(realised) - expected
    within = abs(gap) <= half_width
    if within and word == OUT_OF_RANGE:
        says = "the return alone would not have shown it"
    elif within:
        says = "chance alone does that"
    else:
        says = "striking, had it been looked at but once"
    return (
        f"{points(gap)} points from what such play returns, where ±{100 * half_width:.2f} is "
        f"usual: {says}."
    )


def _side_bet(
    cell: Cell,
    by_day: Mapping[str, Mapping[Fraction, int]],
    mean: Fraction,
    largest: Fraction,
    level: float,
) -> Iterable[Reading]:
    beyond = sum(
        count
        for returns in by_day.values()
        for value, count in returns.items()
        if not 0 <= value <= largest
    )
    if beyond:
        were = "bet was" if beyond == 1 else "bets were"
        says = f"{beyond:,} {were} paid more than the pay table's most, or less than nothing"
        yield Reading("pay table", OUT_OF_RANGE, says)
    days: Sequence[Mapping[Fraction, int]] = [
        {value: count for value, count in by_day[day].items() if 0 <= value <= largest}
        for day in sorted(by_day)
    ]
    if any(days):
        yield read_side_bet("return", days, mean, largest, level)


def _followed(cell: Cell) -> Iterable[Reading]:
    missing = cell.sums.rounds - cell.followed_rounds
    if missing:
        says = f"{missing:,} rounds cannot be followed by the rules, so nothing is said of them"
        yield Reading("play", WATCH, says)
