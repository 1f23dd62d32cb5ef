"""Rounds that no return counts, and whether that is honest: void, left open, or played for fun.
Pure.

A house that voids what it lost, leaves it open or calls it play for fun takes it out of the return.
So all rounds that were opened are accounted for, and of each way to leave the return it is asked
whether outcomes had to do with it.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from shoeproof.audit_reports.pages.numerals import amount, percent
from shoeproof.audit_reports.rows.luck import ALL_UNITS
from shoeproof.audit_reports.rtp_report.figures import Figures
from shoeproof.audit_reports.rtp_report.model import UNKNOWN_RULES, Accounted
from shoeproof.audit_reports.rtp_report.records import (
    FunLuck,
    SliceRow,
    VoidOutcomes,
    luck_of_units,
)
from shoeproof.audit_reports.statistics.exact import two_sided_hypergeometric
from shoeproof.audit_reports.statistics.sequences import FEWEST_TOGETHER, UNIT_VARIANCE
from shoeproof.audit_reports.statistics.verdict import (
    NO_EVIDENCE,
    OUT_OF_RANGE,
    WATCH,
    Reading,
    read_luck,
)
from shoeproof.replay.currency import unit_words
from shoeproof.replay.engine.outcomes import MAIN

APART_SHARE: Final = 0.2
"""The share of a bet's level by which its rounds apart are judged; the rest is for its cards."""

CARDS_SHARE: Final = 1 - APART_SHARE

_VOIDS, _OPEN, _FUN = 0.5, 0.25, 0.25
"""The parts of that share for voids, rounds left open and play for fun."""


def apart_readings(figures: Figures, cell: SliceRow, level: float) -> Iterator[Reading]:
    """Yield what the rounds apart say about a bet whose own level is `level`."""
    share = level * APART_SHARE
    void, left = figures.void_outcomes.get(cell.key), figures.open_outcomes.get(cell.key)
    if void is not None and void.ended:
        yield read_voids(void, share * _VOIDS)
    if left is not None and left.ended:
        yield read_open(left, share * _OPEN)
    fun = [
        each for each in figures.fun
        if (each.rules_digest, each.currency) == (cell.key.rules_digest, cell.key.currency)
    ]  # fmt: skip
    if fun and cell.key.bet == MAIN:
        yield read_fun(fun, share * _FUN)


def read_voids(found: VoidOutcomes, level: float) -> Reading:
    """Read voided bets by whether they would have won, beside the bets that were played."""
    said = "voided bets that were decided"
    return _read_outcomes("voids", said, found, paid_words(found), level)


def read_open(found: VoidOutcomes, level: float) -> Reading:
    """Read bets left open although their rounds needed no more input, like voided ones."""
    paid = amount(found.known_paid_minor, found.currency)
    says = f"{found.known:,} with a known outcome would be paid {paid}"
    return _read_outcomes("open", "bets left open that were decided", found, says, level)


def read_fun(days: Sequence[FunLuck], level: float) -> Reading:
    """Read the luck of play for fun: its mean is zero too, however it is played.

    A house that hides what players won, or lures them by better cards, shows in it.
    """
    sums = [luck_of_units(each.rounds, each.total, each.squares, each.fourths) for each in days]
    (found,) = read_luck({ALL_UNITS: sums}, level, UNIT_VARIANCE, FEWEST_TOGETHER)
    return replace(found, of="play for fun")


def paid_words(found: VoidOutcomes) -> str:
    """Say what voided bets would have been paid."""
    plural = "bet" if found.known == 1 else "bets"
    staked = amount(found.known_staked_minor, found.currency)
    paid = amount(found.known_paid_minor, found.currency)
    return (
        f"of {found.voided:,} voided, {found.known:,} {plural} with a known outcome would have "
        f"been paid {paid} on {staked} staked"
    )


def accounted_words(found: Accounted) -> str:
    """Return the one line that accounts for a game's rounds."""
    parts = [(found.counted, "counted"), (found.void, "void"), (found.open, "open"),
             (found.fun, "for fun")]  # fmt: skip
    if found.unstaked:
        parts.append((found.unstaked, "without stakes"))
    game = f"{found.game or UNKNOWN_RULES} ({unit_words(found.currency)})"
    opened = "1 round" if found.opened == 1 else f"{found.opened:,} rounds"
    told = " + ".join(f"{count:,} {name}" for count, name in parts)
    return f"{game}: {opened} opened = {told}"


def _read_outcomes(of: str, which: str, found: VoidOutcomes, paid: str, level: float) -> Reading:
    """Read bets taken out of the return by whether they would have won, beside those played.

    Where nobody looks at outcomes, `won` of `ended` is hypergeometric given all wins there are. The
    m-th is judged at level / m(m+1), which sums to `level` over all m: so anyone who looks after
    every one is told so falsely with a chance of `level` at most.
    """
    m = found.ended
    p = two_sided_hypergeometric(found.won, m, found.played_won, found.played)
    says = f"{found.won:,} of {m:,} {which} would have won, {percent(found.won / m)}"
    if not found.played:
        return Reading(of, NO_EVIDENCE, f"{says}; none was played to compare them with")
    rate = percent(found.played_won / found.played)
    says = f"{says}, where {rate} of those played did; {paid}"
    if p <= level / (m * (m + 1)):
        return Reading(of, OUT_OF_RANGE, says)
    if p <= level:
        return Reading(of, WATCH, f"{says}, significant if it were the only test made")
    return Reading(of, NO_EVIDENCE, says)
