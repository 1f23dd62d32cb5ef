"""A bet judged: the readings its word rests on, and what the figures mean in words."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final

from shoeproof.audit_reports.pages.numerals import wrong_amounts
from shoeproof.audit_reports.rows.luck import ALL_LUCK, ALL_UNITS, UNIT, UNIT_COLUMNS
from shoeproof.audit_reports.rtp_report.apart import CARDS_SHARE, apart_readings
from shoeproof.audit_reports.rtp_report.figures import Figures, is_luck
from shoeproof.audit_reports.rtp_report.house import house_readings
from shoeproof.audit_reports.rtp_report.model import UNKNOWN_RULES
from shoeproof.audit_reports.rtp_report.records import BetKey, SliceRow
from shoeproof.audit_reports.rtp_report.shoes import shoe_readings
from shoeproof.audit_reports.rtp_report.theoretical import Theoretical
from shoeproof.audit_reports.rtp_report.wallet import wallet_reading
from shoeproof.audit_reports.statistics.sequences import (
    FEWEST_ROUNDS,
    FEWEST_TOGETHER,
    UNIT_VARIANCE,
)
from shoeproof.audit_reports.statistics.sums import CountSums, LuckSums
from shoeproof.audit_reports.statistics.verdict import (
    INCONCLUSIVE,
    LEVEL,
    NO_EVIDENCE,
    OUT_OF_RANGE,
    WATCH,
    Reading,
    Verdict,
    Word,
    read_count,
    read_luck,
    read_settlement,
    read_side_bet,
    verdict,
)
from shoeproof.replay.engine.outcomes import MAIN
from shoeproof.replay.luck.counts import (
    COUNT_KINDS,
    DEALER_BUST,
    DEALER_LATE_BUST,
    DEALER_NATURAL,
    DOUBLE_MADE,
    PLAYER_NATURAL,
)
from shoeproof.replay.luck.kinds import LUCK, SKILL

_IN_WORDS: Final = {
    ALL_LUCK: "all luck together",
    ALL_UNITS: "all luck together per unit of stake",
    PLAYER_NATURAL: "naturals of players",
    DEALER_NATURAL: "naturals of the dealer",
    DOUBLE_MADE: "doubles that came to 17 to 21",
    DEALER_BUST: "busts of the dealer's stiff hands",
    DEALER_LATE_BUST: "busts of the dealer by later cards",
}
_OF_SIDE_BET: Final = 2
"""A side bet has two readings of its cards: its returns, and its luck in money."""


def judge_bet(
    figures: Figures, cell: SliceRow, theory: Theoretical | None, level: float = LEVEL
) -> Verdict:
    """Return the verdict on a bet by its luck, a side bet's return, its settlement and the wallet.

    `theory` is None for rules that the ledger does not have, about which nothing can be said.
    """
    wallet = wallet_reading(figures.wallet, cell)
    house = [
        *house_readings(figures.offers, cell),
        *apart_readings(figures, cell, level),
        *shoe_readings(figures.shoes, figures.shuffle, cell),
        wallet,
    ]
    if theory is None:
        says = "the ledger has no readable rules of this digest, so nothing can be compared"
        return verdict((), [Reading(UNKNOWN_RULES, WATCH, says), *house])
    each = level_of_cards(theory, cell.key, level)
    if theory.fraction is not None and theory.largest is not None:
        returns = figures.returns.get(cell.key, {})
        found = list(_side_bet(cell, returns, theory.fraction, theory.largest, each))
        found += read_luck(luck_by_day(figures, cell.key), each)
    else:
        found = list(_luck(figures, cell.key, each))
    counts = list(_counts(figures, cell.key, each))
    wrong = wrong_amounts(cell.underpaid_minor, cell.overpaid_minor, cell.key.currency)
    settlement = read_settlement(cell.wrong_rounds, wrong)
    return verdict(found, [*counts, settlement, *house, *_followed(cell)])


def level_of_cards(theory: Theoretical | None, key: BetKey, level: float) -> float:
    """Return the level of each reading of a bet's cards, all that there may be sharing alike.

    Of a bet there are each kind of luck, and all together, in money and for a unit of stake, and
    of a main bet the events that are counted: whether one came yet moves no other's level.
    """
    readings = 2 * len(UNIT_COLUMNS) + (len(COUNT_KINDS) if key.bet == MAIN else 0)
    if theory is not None and theory.fraction is not None:
        readings = _OF_SIDE_BET
    return level * CARDS_SHARE / readings


def luck_by_day(figures: Figures, key: BetKey) -> dict[str, list[LuckSums]]:
    """Return the sums of each kind of luck for each day on which the bet was settled."""
    days = _days(figures, key)
    return {
        part: [by_day[day].sums if day in by_day else LuckSums() for day in days]
        for part, by_day in figures.parts.get(key, {}).items()
        if is_luck(part) and any(each.moved for each in by_day.values())
    }


def _luck(figures: Figures, key: BetKey, level: float) -> Iterable[Reading]:
    """Yield what luck in money, and luck for a unit of stake, come to."""
    days = _days(figures, key)
    found = {
        name: [by_day.get(day, LuckSums()) for day in days]
        for name, by_day in figures.luck.get(key, {}).items()
        if any(each.squares for each in by_day.values())
    }
    together = {name: sums for name, sums in found.items() if name == ALL_LUCK}
    units = {name: sums for name, sums in found.items() if name != ALL_LUCK}
    yield from read_luck(together | luck_by_day(figures, key), level)
    yield from read_units(units, key.bet, level)


def read_units(
    units: Mapping[str, Sequence[LuckSums]], bet: str, level: float
) -> Iterable[Reading]:
    """Yield what luck for a unit of stake comes to, by UNIT_COLUMNS, each at `level`.

    All luck of a main bet together is hardly skewed, so that it can be judged by fewer rounds.
    """
    for name, days in units.items():
        is_even = name == ALL_UNITS and bet == MAIN
        fewest = FEWEST_TOGETHER if is_even else FEWEST_ROUNDS
        yield from read_luck({name: days}, level, UNIT_VARIANCE, fewest)


def _counts(figures: Figures, key: BetKey, level: float) -> Iterable[Reading]:
    days = _days(figures, key)
    for kind, by_day in figures.counts.get(key, {}).items():
        if any(each.chances for each in by_day.values()):
            yield read_count(kind, [by_day.get(day, CountSums()) for day in days], level)


def _days(figures: Figures, key: BetKey) -> list[str]:
    return sorted({cell.slice["day"] or "" for cell in figures.days if cell.key == key})


def guilty(found: Verdict) -> tuple[str, ...]:
    """Return the readings that a verdict's word rests on, in words, those that agree together.

    An inconclusive one rests on what could be told as well.
    """
    by_says: dict[str, list[str]] = {}
    words = {found.word} | ({NO_EVIDENCE} if found.word == INCONCLUSIVE else set())
    for reading in found.readings:
        if reading.word in words:
            by_says.setdefault(reading.says, []).append(part_words(reading.of))
    return tuple(f"{', '.join(parts)}: {says}" for says, parts in by_says.items())


def part_words(part: str) -> str:
    """Return a part's name in words, `luck_dealer_draw` as `dealer draw`."""
    if part in _IN_WORDS:
        return _IN_WORDS[part]
    term, _, kind = part.partition("_")
    words = (kind if term in (LUCK, SKILL, UNIT) else part).replace("_", " ")
    return f"{words} per unit of stake" if term == UNIT else words


def meaning(cell: SliceRow, word: Word, expected: float | None, half_width: float | None) -> str:
    """Return what the distance of a return from the expected one means, in two sentences.

    `word` is the bet's verdict, `half_width` that of the band of a single look.
    """
    realised = cell.sums.rtp_on_initial_stakes
    if realised is None:
        return "Nothing was staked."
    if expected is None:
        return "No round could be followed, so there is nothing to compare the return with."
    if half_width is None or cell.sums.effective_rounds < FEWEST_ROUNDS:
        return (
            f"The return says nothing yet: {cell.sums.rounds:,} rounds are "
            f"worth {float(cell.sums.effective_rounds):,.0f} of equal stakes."
        )
    gap = float(realised) - expected
    side = "below" if gap < 0 else "above"
    usual = f"{100 * half_width:.2f} points"
    if abs(gap) > half_width:
        says = f"more than {usual}: significant if this were the only test made"
    elif word == OUT_OF_RANGE:
        says = f"up to {usual}, so the return alone would not have shown what is wrong"
    else:
        says = f"up to {usual}, so this is normal"
    rarely = "rarely " if abs(gap) > half_width else ""
    return (
        f"{100 * abs(gap):.2f} points {side} the return expected for the way these people played. "
        f"Chance alone {rarely}moves it by {says}."
    )


def _side_bet(
    cell: SliceRow,
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
        says = f"{beyond:,} {were} paid more than the pay table's maximum, or less than zero"
        yield Reading("pay table", OUT_OF_RANGE, says)
    days: Sequence[Mapping[Fraction, int]] = [
        {value: count for value, count in by_day[day].items() if 0 <= value <= largest}
        for day in sorted(by_day)
    ]
    if any(days):
        yield read_side_bet("return", days, mean, largest, level)


def _followed(cell: SliceRow) -> Iterable[Reading]:
    missing = cell.unfollowed_rounds
    if missing:
        says = f"{missing:,} rounds cannot be followed by the rules, so nothing is said about them"
        yield Reading("play", WATCH, says)
