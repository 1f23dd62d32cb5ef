"""A bet judged, with its figures as they are shown: pure, as the report that it is a part of."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import sqrt

from msgspec.structs import replace

from shoeproof.audit_reports.rows.luck import UNIT
from shoeproof.audit_reports.rtp_report.figures import Figures, PartSums, is_luck
from shoeproof.audit_reports.rtp_report.judge import (
    guilty,
    judge_bet,
    level_of_cards,
    luck_by_day,
    meaning,
    part_words,
)
from shoeproof.audit_reports.rtp_report.model import (
    Approved,
    BetReport,
    Component,
    ExpectedReturn,
    ReturnInterval,
    ReturnOverTime,
    ReturnStep,
    Row,
)
from shoeproof.audit_reports.rtp_report.records import BetKey, SliceRow
from shoeproof.audit_reports.rtp_report.theoretical import Theoretical
from shoeproof.audit_reports.rtp_report.wallet import wallet_sums
from shoeproof.audit_reports.statistics.intervals import (
    rtp_on_initial_stakes,
    standard_deviation,
    volatility_band,
    volatility_index,
)
from shoeproof.audit_reports.statistics.sequences import (
    FEWEST_ROUNDS,
    LuckLook,
    luck_looks,
    rtp_looks,
)
from shoeproof.audit_reports.statistics.sums import BetSums, LuckSums
from shoeproof.audit_reports.statistics.verdict import INCONCLUSIVE, Verdict, Word, heaviest


def bet_report(
    figures: Figures, cell: SliceRow, theory: Theoretical | None, level: float
) -> BetReport:
    """Return a bet judged at a level, which is how likely the word is to be out of range by chance.

    `theory` is None for rules that the ledger does not have.
    """
    found = judge_bet(figures, cell, theory, level)
    parts = {part: _total(days) for part, days in figures.parts.get(cell.key, {}).items()}
    each = level_of_cards(theory, cell.key, level)
    luck = luck_by_day(figures, cell.key).items()
    within = {name: next(reversed(luck_looks(days, each)), None) for name, days in luck}
    expected = _expected(cell)
    sums = cell.sums
    sd = standard_deviation(sums)
    half = volatility_band(0.0, sd or 0.0, sums.effective_rounds)
    days = [each.sums for each in figures.days if each.key == cell.key]
    last = next(reversed(rtp_looks(days)), None) if days else None
    sheet = cell.key.game or "", cell.key.rules_digest, cell.key.bet
    moved = wallet_sums(figures.wallet, cell)
    is_enough = sums.effective_rounds >= FEWEST_ROUNDS
    centred = None if expected is None or half is None or not is_enough else expected
    return BetReport(
        row=row(cell),
        word=found.word,
        why=guilty(found),
        readings=found.readings,
        meaning=meaning(cell, found.word, expected, None if half is None else half.upper),
        theory=None if theory is None else _theory(theory),
        approved=_approved(figures.approved.get(sheet), theory),
        volatility_index=None if sd is None else rounded(volatility_index(sd)),
        effective_rounds=rounded(float(sums.effective_rounds)),
        band=None
        if centred is None or half is None
        else _bounds(centred + half.lower, centred + half.upper),
        anytime=None if last is None else _bounds(last.lower, last.upper),
        followed_rounds=cell.followed_rounds,
        steps=_steps(cell, parts, _resettled_minor(figures, cell.key)),
        parts=tuple(
            _part(cell, name, part, found, within.get(name))
            for name, part in parts.items()
            if part.moved
        ),
        wrong_rounds=cell.wrong_rounds,
        wrong_minor=cell.wrong_minor,
        underpaid_minor=cell.underpaid_minor,
        overpaid_minor=cell.overpaid_minor,
        wallet_rounds=moved.rounds,
        wallet_minor=moved.net_minor,
        wallet_rtp=None if moved.rtp is None else rounded(moved.rtp),
        growth=_growth(figures.growth.get(cell.key, ())),
        last_leaf=cell.last_leaf,
    )


def row(cell: SliceRow) -> Row:
    """Return a cell's figures, and the parts they fall into, as they are shown."""
    sums, followed = cell.sums, cell.followed_minor
    rtp, of_total = sums.rtp_on_initial_stakes, sums.rtp_on_total_staked
    interval, expected = rtp_on_initial_stakes(sums), _expected(cell)
    return Row(
        bet=cell.key.bet,
        slice=cell.slice,
        rounds=sums.rounds,
        hands=cell.hands,
        players=cell.players,
        initial_minor=sums.initial,
        staked_minor=sums.staked,
        paid_minor=sums.paid,
        win_minor=sums.staked - sums.paid,
        rtp_on_initial_stakes=None if rtp is None else rounded(float(rtp)),
        rtp_on_total_staked=None if of_total is None else rounded(float(of_total)),
        interval=_bounds(interval.lower, interval.upper)
        if interval is not None
        and interval.lower < interval.upper
        and sums.effective_rounds >= FEWEST_ROUNDS
        else None,
        expected=None if expected is None else rounded(expected),
        skill=rounded(cell.parts.skill_minor / followed) if followed else None,
        luck=rounded(cell.parts.luck_minor / followed) if followed else None,
        luck_z=_z(cell.parts.luck_minor, cell.parts.luck_squares),
        voided_rounds=cell.voided_rounds,
        voided_minor=cell.voided_minor,
        open_rounds=cell.open_rounds,
        held_minor=cell.held_minor,
        resettled_rounds=cell.resettled_rounds,
        resettled_minor=cell.resettled_minor,
        cash_minor=cell.cash_minor,
        incentive_minor=cell.incentive_minor,
    )


def rounded(value: float) -> float:
    """Return a value to a millionth, so that the order of a sum no longer matters."""
    return round(value, 6) + 0.0


def _approved(sheet: Approved | None, theory: Theoretical | None) -> Approved | None:
    if sheet is None or theory is None:
        return sheet
    return replace(sheet, note=theory.objection_to(sheet.percent))


def _theory(theory: Theoretical) -> ExpectedReturn:
    return ExpectedReturn(theory.published_percent, rounded(theory.computed))


def _total(days: Mapping[str, PartSums]) -> PartSums:
    moved, sums = 0, LuckSums()
    for day in sorted(days):
        moved, sums = moved + days[day].moved, sums + days[day].sums
    return PartSums(moved, sums)


def _expected(cell: SliceRow) -> float | None:
    if not cell.followed_minor:
        return None
    return (cell.start_minor + cell.parts.skill_minor) / cell.followed_minor


def _z(total: float, squares: float) -> float | None:
    return rounded(total / sqrt(squares)) if squares else None


def _resettled_minor(figures: Figures, key: BetKey) -> int:
    """Return what disputes added to a bet's payments in the rounds that could be followed."""
    return sum(
        each.paid_minor - each.recorded_paid_minor
        for each in figures.wrong
        if (each.game, each.rules_digest, each.currency, each.bet) == key
        and each.resettled
        and each.is_followed
    )


def _steps(
    cell: SliceRow, parts: Mapping[str, PartSums], resettled_minor: int
) -> tuple[ReturnStep, ...]:
    stakes = cell.followed_minor
    if not stakes:
        return ()
    luck = {part_words(name): part for name, part in parts.items() if is_luck(name) and part.moved}
    steps = [
        ("theory", cell.start_minor),
        *((name, part.sums.total) for name, part in luck.items()),
        ("decisions", cell.parts.skill_minor),
        ("wrong payments", cell.error_minor),
        ("disputes", resettled_minor),
    ]
    always = ("theory", "decisions", *luck)
    return tuple(
        ReturnStep(label, rounded(value / stakes))
        for label, value in steps
        if value or label in always
    )


def _part(
    cell: SliceRow, name: str, part: PartSums, found: Verdict, look: LuckLook | None
) -> Component:
    sums, stakes = part.sums, cell.followed_minor
    term, _, kind = name.partition("_")
    of_unit = f"{UNIT}_{kind}"
    units = cell.unit_luck[of_unit] if is_luck(name) else LuckSums()
    said = [each for each in found.readings if is_luck(name) and each.of in (name, of_unit)]
    return Component(
        term=term,
        kind=kind,
        moved=part.moved,
        total_minor=rounded(sums.total),
        per_stake=rounded(sums.total / stakes),
        z=_z(sums.total, sums.squares) if is_luck(name) else None,
        unit_z=_z(units.total, units.squares),
        within=None if look is None else rounded(look.radius / stakes),
        word=_luck_word([each.word for each in said]) if said else None,
        says="; ".join(dict.fromkeys(each.says for each in said)) or None,
    )


def _luck_word(words: Sequence[Word]) -> Word:
    """Return the word on a kind of luck, for which one reading with enough rounds will do."""
    told = [word for word in words if word != INCONCLUSIVE]
    return heaviest(told) if told else INCONCLUSIVE


def _growth(steps: Sequence[BetSums]) -> ReturnOverTime | None:
    """Return a bet's growth from the first look on at which both bands can be told."""
    looks = [
        (so_far, anytime)
        for so_far, anytime in zip(accumulate(steps), rtp_looks(steps), strict=True)
        if anytime is not None
    ]
    if len(looks) < 2:
        return None
    half_widths = [
        volatility_band(0.0, standard_deviation(so_far) or 0.0, so_far.effective_rounds)
        for so_far, _ in looks
    ]
    return ReturnOverTime(
        rounds=tuple(so_far.rounds for so_far, _ in looks),
        realised=tuple(rounded(look.estimate) for _, look in looks),
        fixed=tuple(0.0 if half is None else rounded(half.upper) for half in half_widths),
        anytime=tuple(rounded(look.upper - look.estimate) for _, look in looks),
    )


def _bounds(lower: float, upper: float) -> ReturnInterval:
    return ReturnInterval(rounded(lower), rounded(upper))
