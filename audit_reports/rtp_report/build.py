"""From figures to a report: pure, so that equal figures make equal bytes."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import accumulate, groupby
from math import sqrt
from typing import Final

from audit_reports.rtp_report.figures import (
    BetKey,
    Cell,
    Figures,
    PartSums,
    PartTotals,
    is_luck,
)
from audit_reports.rtp_report.judge import (
    guilty,
    judge_bet,
    luck_by_day,
    meaning,
    part_words,
    worst,
)
from audit_reports.rtp_report.model import (
    Approved,
    BetReport,
    Bounds,
    Day,
    GameReport,
    Growth,
    Held,
    Idle,
    Part,
    Provenance,
    Row,
    RtpReport,
    Shuffle,
    Step,
    Theory,
    Void,
    Wrong,
)
from audit_reports.rtp_report.spans import PERIODS, idle_spans
from audit_reports.rtp_report.theoretical import Theoretical
from audit_reports.statistics.intervals import (
    rtp_on_initial_stakes,
    volatility_band,
    volatility_index,
)
from audit_reports.statistics.sequences import FEWEST_ROUNDS, LuckLook, rtp_looks
from audit_reports.statistics.sums import BetSums, LuckSums
from audit_reports.statistics.verdict import (
    LEVEL,
    NO_EVIDENCE,
    OUT_OF_RANGE,
    WATCH,
    Verdict,
    Word,
    looks_at_luck,
)
from replay.currency import amount_text
from replay.games import GAMES

FORMAT: Final = "shoeproof/rtp-report/v1"
DAYS: Final = 30
"""GLI-19 2.9.2 has the last 30 days shown day by day."""

Theories = Mapping[str, Mapping[str, Theoretical]]
"""What each bet should return, by rules digest and bet."""


def build_report(
    figures: Figures,
    theories: Theories,
    provenance: Provenance,
    *,
    title: str,
    objection: str | None,
    shuffle: Shuffle | None,
    faults: Sequence[str] = (),
) -> RtpReport:
    """Return the report; `faults` are what checks and shuffle tests found in the ledger."""
    games = build_games(figures, theories, provenance.end or provenance.last_ended)
    word, says = worst(game.word for game in games), headline(games)
    names = {game.rules_digest: game.title for game in games}
    return RtpReport(
        format=FORMAT,
        title=title,
        objection=objection,
        word=word,
        headline=says if objection is None else _of_a_part(says),
        games=games,
        voids=tuple(
            Void(
                each.leaf_index, each.round, each.game or "unknown rules", each.currency, each.bet,
                each.table, _moment(each.closed_at), each.staked_minor, each.would_have_paid_minor,
            )
            for each in figures.voids
        ),
        held=tuple(
            Held(
                each.leaf_index, each.round, each.game or "unknown rules", each.currency,
                each.table, str(_moment(each.opened_at)), each.held_minor,
            )
            for each in figures.held
        ),
        wrong=tuple(
            Wrong(
                each.leaf_index, each.round, each.game or "unknown rules", each.currency, each.bet,
                str(_moment(each.closed_at)), each.recorded_paid_minor, each.paid_minor,
                each.error_minor, each.resettled,
            )
            for each in figures.wrong
        ),
        findings=(*_findings(figures, names), *faults),
        faults=len(faults),
        shuffle=shuffle,
        provenance=provenance,
    )  # fmt: skip


def build_games(
    figures: Figures, theories: Theories, last: str | None = None
) -> tuple[GameReport, ...]:
    """Return every game judged; its days are the 30 up to the one `last` is in."""
    found = []
    for (name, digest, currency), cells in groupby(figures.totals, lambda cell: cell.key[:3]):
        mine = list(cells)
        theory = theories.get(digest, {})
        share = LEVEL / len(mine)
        bets = tuple(_bet(figures, cell, theory.get(cell.key.bet), share) for cell in mine)
        word = worst(bet.word for bet in bets)
        game = GAMES.get(name or "")
        found.append(
            GameReport(
                game=name,
                title=game.title if game else name or "unknown rules",
                rules_digest=digest,
                currency=currency,
                word=word,
                why=_why(bets, word),
                bets=bets,
                slices=(slices := _slices(figures, mine[0])),
                idle=_idle(figures, slices),
                days=_days(figures, mine[0], last),
            )
        )
    return tuple(found)


def headline(games: Sequence[GameReport]) -> str:
    """Return what the report comes to in one sentence."""
    if not any(bet.row.rounds for game in games for bet in game.bets):
        return "No round for real money ended in this period"
    by_word: dict[Word, list[GameReport]] = {}
    for game in games:
        by_word.setdefault(game.word, []).append(game)
    for word in (OUT_OF_RANGE, WATCH):
        if word in by_word:
            return f"{word.capitalize()}: {', '.join(map(_named, by_word[word]))}"
    few = [game for game in games if not game.bets[0].judged]
    if len(few) == len(games):
        return f"No evidence against {_list(games)}, but too few rounds to judge by"
    says = f"No evidence against {_list(games)}"
    return f"{says}, with too few rounds to judge {_list(few)}" if few else says


def _of_a_part(says: str) -> str:
    return f"This ledger fails verification. Of the part before: {says[:1].lower()}{says[1:]}"


def row(cell: Cell, parts: PartTotals) -> Row:
    """Return a cell's figures, and the parts they fall into, as they are shown."""
    sums, followed = cell.sums, cell.followed_minor
    rtp, of_total = sums.rtp_on_initial_stakes, sums.rtp_on_total_staked
    interval, expected = rtp_on_initial_stakes(sums), _expected(cell, parts)
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
        if interval is not None and interval.lower < interval.upper
        else None,
        expected=None if expected is None else rounded(expected),
        skill=rounded(parts.skill_minor / followed) if followed else None,
        luck=rounded(parts.luck_minor / followed) if followed else None,
        luck_z=_z(parts.luck_minor, parts.luck_squares),
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
    """Return a value to a millionth, where the order of a sum makes no difference any more."""
    return round(value, 6) + 0.0


def _bet(figures: Figures, cell: Cell, theory: Theoretical | None, level: float) -> BetReport:
    found = judge_bet(figures, cell, theory, level)
    parts = {part: _total(days) for part, days in figures.parts.get(cell.key, {}).items()}
    sequences = looks_at_luck(luck_by_day(figures, cell.key), level)
    expected = _expected(cell, _totals(parts))
    sums = cell.sums
    sd = _spread(sums)
    half = volatility_band(0.0, sd, sums.effective_rounds)
    days = [each.sums for each in figures.days if each.key == cell.key]
    last = next(reversed(rtp_looks(days)), None) if days else None
    sheet = figures.approved.get((cell.key.rules_digest, cell.key.bet))
    centred = None if expected is None or half is None else expected
    return BetReport(
        row=row(cell, _totals(parts)),
        word=found.word,
        judged=_is_judged(cell, theory, sequences),
        why=guilty(found),
        meaning=meaning(cell, found.word, expected, None if half is None else half.upper),
        theory=None if theory is None else _theory(theory),
        approved=None if sheet is None else Approved(*sheet),
        volatility_index=rounded(volatility_index(sd)) if sums.rounds > 1 else None,
        effective_rounds=rounded(float(sums.effective_rounds)),
        band=None
        if centred is None or half is None
        else _bounds(centred + half.lower, centred + half.upper),
        anytime=None if last is None else _bounds(last.lower, last.upper),
        followed_rounds=cell.followed_rounds,
        steps=_steps(cell, parts, _resettled_minor(figures, cell.key)),
        parts=tuple(
            _part(cell, name, part, found, next(reversed(sequences.get(name, ())), None))
            for name, part in parts.items()
            if part.moved
        ),
        wrong_rounds=cell.wrong_rounds,
        wrong_minor=cell.wrong_minor,
        growth=_growth(figures.growth.get(cell.key, ())),
    )


def _why(bets: Sequence[BetReport], word: Word) -> tuple[str, ...]:
    if word == NO_EVIDENCE:
        main = bets[0]
        few = "There were too few rounds to judge the luck of its cards by."
        is_said = main.judged or main.effective_rounds < FEWEST_ROUNDS
        return (main.meaning,) if is_said else (main.meaning, few)
    return tuple(
        f"{bet_words(bet.row.bet)}: {why}" for bet in bets if bet.word == word for why in bet.why
    )


def bet_words(bet: str) -> str:
    """Return a bet's name in words."""
    return {"twenty_one_plus_three": "21+3"}.get(bet, bet.replace("_", " "))


def _is_judged(
    cell: Cell, theory: Theoretical | None, sequences: Mapping[str, Sequence[LuckLook | None]]
) -> bool:
    """Tell whether rounds were enough for what a bet is judged by; of a side bet any are."""
    if theory is None:
        return False
    if theory.fraction is not None:
        return cell.sums.rounds > 0
    return any(looks and looks[-1] is not None for looks in sequences.values())


def _theory(theory: Theoretical) -> Theory:
    return Theory(theory.published_percent, rounded(theory.computed))


def _total(days: Mapping[str, PartSums]) -> PartSums:
    moved, sums = 0, LuckSums()
    for day in sorted(days):
        moved, sums = moved + days[day].moved, sums + days[day].sums
    return PartSums(moved, sums)


def _totals(parts: Mapping[str, PartSums]) -> PartTotals:
    """Return parts added up: no kind of luck goes with another, so their variances add up."""
    luck = [part.sums for name, part in parts.items() if is_luck(name)]
    return PartTotals(
        luck_minor=sum(each.total for each in luck),
        luck_squares=sum(each.squares for each in luck),
        skill_minor=sum(part.sums.total for name, part in parts.items() if not is_luck(name)),
    )


def _expected(cell: Cell, parts: PartTotals) -> float | None:
    if not cell.followed_minor:
        return None
    return (cell.start_minor + parts.skill_minor) / cell.followed_minor


def _z(total: float, squares: float) -> float | None:
    return rounded(total / sqrt(squares)) if squares else None


def _spread(sums: BetSums) -> float:
    """Return the standard deviation of what a unit of initial stake wins."""
    rtp = sums.rtp_on_initial_stakes
    if rtp is None or sums.rounds < 2:
        return 0.0
    squares = sums.residual_squares(rtp - 1) / sums.initial_initial
    return sqrt(squares * sums.rounds / (sums.rounds - 1))


def _resettled_minor(figures: Figures, key: BetKey) -> int:
    """Return what disputes added to a bet's payments in the rounds that could be followed."""
    return sum(
        each.paid_minor - each.recorded_paid_minor
        for each in figures.wrong
        if (each.game, each.rules_digest, each.currency, each.bet) == key
        and each.resettled
        and each.error_minor is not None
    )


def _steps(cell: Cell, parts: Mapping[str, PartSums], resettled_minor: int) -> tuple[Step, ...]:
    stakes = cell.followed_minor
    if not stakes:
        return ()
    luck = {part_words(name): part for name, part in parts.items() if is_luck(name) and part.moved}
    steps = [
        ("theory", cell.start_minor),
        *((name, part.sums.total) for name, part in luck.items()),
        ("decisions", _totals(parts).skill_minor),
        ("wrong payments", cell.error_minor),
        ("disputes", resettled_minor),
    ]
    always = ("theory", "decisions", *luck)
    return tuple(
        Step(label, rounded(value / stakes)) for label, value in steps if value or label in always
    )


def _part(cell: Cell, name: str, part: PartSums, found: Verdict, look: LuckLook | None) -> Part:
    sums, stakes = part.sums, cell.followed_minor
    term, _, kind = name.partition("_")
    reading = next((each for each in found.readings if each.of == name), None)
    return Part(
        term=term,
        kind=kind,
        moved=part.moved,
        total_minor=rounded(sums.total),
        per_stake=rounded(sums.total / stakes),
        z=_z(sums.total, sums.squares) if is_luck(name) else None,
        within=None if look is None else rounded(look.radius / stakes),
        word=None if reading is None else reading.word,
        says=None if reading is None else reading.says,
    )


def _growth(steps: Sequence[BetSums]) -> Growth | None:
    """Return a bet's growth from the first look on at which both bands can be told."""
    looks = [
        (so_far, anytime)
        for so_far, anytime in zip(accumulate(steps), rtp_looks(steps), strict=True)
        if anytime is not None
    ]
    if len(looks) < 2:
        return None
    half_widths = [
        volatility_band(0.0, _spread(so_far), so_far.effective_rounds) for so_far, _ in looks
    ]
    return Growth(
        rounds=tuple(so_far.rounds for so_far, _ in looks),
        realised=tuple(rounded(look.estimate) for _, look in looks),
        fixed=tuple(0.0 if half is None else rounded(half.upper) for half in half_widths),
        anytime=tuple(rounded(look.upper - look.estimate) for _, look in looks),
    )


def _of(cell: Cell, other: Cell) -> bool:
    return cell.key[:3] == other.key[:3]


def _slices(figures: Figures, mine: Cell) -> dict[str, tuple[Row, ...]]:
    """Return the rows of a game's slices, spans of time in their order, others bet by bet."""
    found = {}
    for by, cells in figures.slices.items():
        rows = [row(cell, parts) for cell, parts in cells if _of(cell, mine)]
        if by[0] in PERIODS and len(by) == 1:
            rows.sort(key=lambda each: each.slice[by[0]] or "")
        found[",".join(by)] = tuple(rows)
    return found


def _idle(figures: Figures, slices: Mapping[str, Sequence[Row]]) -> dict[str, tuple[Idle, ...]]:
    scope = figures.scope
    return {
        by: idle_spans(by, (each.slice[by] or "" for each in rows), scope.begin, scope.end)
        for by, rows in slices.items()
        if by in PERIODS
    }


def _days(figures: Figures, mine: Cell, last: str | None) -> tuple[Day, ...]:
    if last is None:
        return ()
    end = datetime.fromisoformat(last)
    # A period ends before its last moment: midnight belongs to the day before.
    day = (end - timedelta(microseconds=1)).date() if _is_midnight(end) else end.date()
    by_day: dict[str | None, list[Row]] = {}
    for cell in figures.days:
        if _of(cell, mine):
            by_day.setdefault(cell.slice["day"], []).append(row(cell, _of_day(figures, cell)))
    days: list[date] = [day - timedelta(days=back) for back in range(DAYS)]
    return tuple(Day(each.isoformat(), tuple(by_day.get(each.isoformat(), ()))) for each in days)


def _of_day(figures: Figures, cell: Cell) -> PartTotals:
    name = cell.slice["day"] or ""
    parts = figures.parts.get(cell.key, {})
    return _totals({part: days[name] for part, days in parts.items() if name in days})


def _is_midnight(moment: datetime) -> bool:
    return moment.time() == moment.time().min


def _findings(figures: Figures, names: Mapping[str, str]) -> list[str]:
    found = []
    for cell in figures.totals:
        title = f"{names.get(cell.key.rules_digest, 'unknown rules')}, {bet_words(cell.key.bet)}"
        if cell.key.game is None:
            found.append(
                f"{cell.sums.rounds:,} rounds name rules that the ledger does not have, digest "
                f"{cell.key.rules_digest}: what they should return is unknown"
            )
        if cell.wrong_rounds:
            found.append(
                f"{title}: {_rounds(cell.wrong_rounds)} not paid as the rules say, "
                f"{amount_text(cell.wrong_minor, cell.key.currency)} too much in all"
            )
        if cell.resettled_rounds:
            found.append(
                f"{title}: {_rounds(cell.resettled_rounds)} paid otherwise after a dispute, "
                f"by {amount_text(cell.resettled_minor, cell.key.currency)} in all"
            )
        unfollowed = cell.sums.rounds - cell.followed_rounds
        if unfollowed and cell.key.game is not None:
            found.append(f"{title}: {_rounds(unfollowed)} cannot be followed by the rules")
    return found


def _rounds(count: int) -> str:
    return "1 round" if count == 1 else f"{count:,} rounds"


def _moment(at: datetime | None) -> str | None:
    return None if at is None else f"{at.isoformat(timespec='milliseconds')}Z"


def _bounds(lower: float, upper: float) -> Bounds:
    return Bounds(rounded(lower), rounded(upper))


def _named(game: GameReport) -> str:
    return f"{game.title} ({game.currency})"


def _list(games: Sequence[GameReport]) -> str:
    *names, last = map(_named, games)
    return f"{', '.join(names)} and {last}" if names else last
