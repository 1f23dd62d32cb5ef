"""From figures to a report: pure, so that equal figures make equal bytes."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import accumulate, groupby
from math import sqrt
from typing import Final

from audit_reports.rtp_report.figures import Cell, Figures, PartSums, is_luck
from audit_reports.rtp_report.judge import guilty, judge_bet, meaning, part_words, worst
from audit_reports.rtp_report.model import (
    Approved,
    BetReport,
    Bounds,
    Day,
    GameReport,
    Growth,
    Held,
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
from audit_reports.rtp_report.theoretical import Theoretical
from audit_reports.statistics.intervals import (
    rtp_on_initial_stakes,
    volatility_band,
    volatility_index,
)
from audit_reports.statistics.sequences import rtp_looks
from audit_reports.statistics.sums import BetSums, LuckSums
from audit_reports.statistics.verdict import (
    LEVEL,
    NO_EVIDENCE,
    OUT_OF_RANGE,
    TOO_FEW,
    WATCH,
    Verdict,
    Word,
)
from replay.currency import amount_text
from replay.engine.rules import rules_digest
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
    findings: Sequence[str] = (),
) -> RtpReport:
    """Return the report; `findings` are those of whatever else looked at the ledger."""
    games = build_games(figures, theories, _last_day(provenance))
    word = worst(game.word for game in games)
    names = {game.rules_digest: game.title for game in games}
    return RtpReport(
        format=FORMAT,
        title=title,
        objection=objection,
        word=word,
        headline=headline(games),
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
        findings=(*_findings(figures, names), *findings),
        shuffle=shuffle,
        provenance=provenance,
    )  # fmt: skip


def build_games(
    figures: Figures, theories: Theories, last: date | None = None
) -> tuple[GameReport, ...]:
    """Return every game judged; its days are the 30 up to `last`."""
    found = []
    for (name, digest, currency), cells in groupby(figures.totals, lambda cell: cell.key[:3]):
        mine = list(cells)
        theory = theories.get(digest, {})
        share = LEVEL / len(mine)
        bets = tuple(_bet(figures, cell, theory.get(cell.key.bet), share) for cell in mine)
        word = worst(bet.word for bet in bets)
        game = GAMES.get(name or "")
        title = game.title if game else name or "unknown rules"
        variant = game is not None and rules_digest(game.rules) != digest
        found.append(
            GameReport(
                game=name,
                title=f"{title}, a variant" if variant else title,
                variant=variant,
                rules_digest=digest,
                currency=currency,
                word=word,
                judged=any(part.says not in (None, TOO_FEW) for part in bets[0].parts),
                why=_why(bets, word),
                bets=bets,
                slices={
                    ",".join(by): tuple(row(cell) for cell in rows if _of(cell, mine[0]))
                    for by, rows in figures.slices.items()
                },
                days=_days([cell for cell in figures.days if _of(cell, mine[0])], last),
            )
        )
    return tuple(found)


def headline(games: Sequence[GameReport]) -> str:
    """Return what the report comes to in one sentence."""
    if not any(bet.row.rounds for game in games for bet in game.bets):
        return "No round for real money ended in this period"
    names = [f"{game.title} ({game.currency})" for game in games]
    for word in (OUT_OF_RANGE, WATCH):
        found = [name for name, game in zip(names, games, strict=True) if game.word == word]
        if found:
            return f"{word.capitalize()}: {', '.join(found)}"
    few = [name for name, game in zip(names, games, strict=True) if not game.judged]
    if not few:
        return f"No evidence against {_list(names)}"
    of = f" of {_list(few)}" if len(few) < len(names) else ""
    return f"No evidence against {_list(names)}; too few rounds yet to judge the cards{of}"


def row(cell: Cell) -> Row:
    """Return a cell's figures as they are shown."""
    sums = cell.sums
    rtp, of_total = sums.rtp_on_initial_stakes, sums.rtp_on_total_staked
    interval = rtp_on_initial_stakes(sums)
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
        interval=None if interval is None else _bounds(interval.lower, interval.upper),
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
    expected = _expected(cell, parts)
    sums = cell.sums
    sd = _spread(sums)
    half = volatility_band(0.0, sd, sums.effective_rounds)
    days = [each.sums for each in figures.days if each.key == cell.key]
    last = next(reversed(rtp_looks(days)), None) if days else None
    sheet = figures.approved.get((cell.key.game or "", cell.key.rules_digest, cell.key.bet))
    centred = None if expected is None or half is None else expected
    return BetReport(
        row=row(cell),
        word=found.word,
        why=guilty(found),
        meaning=meaning(cell, found.word, expected, None if half is None else half.upper),
        theory=None if theory is None else _theory(theory),
        approved=None if sheet is None else Approved(*sheet),
        expected=None if expected is None else rounded(expected),
        volatility_index=rounded(volatility_index(sd)) if sums.rounds > 1 else None,
        effective_rounds=rounded(float(sums.effective_rounds)),
        band=None
        if centred is None or half is None
        else _bounds(centred + half.lower, centred + half.upper),
        anytime=None if last is None else _bounds(last.lower, last.upper),
        followed_rounds=cell.followed_rounds,
        steps=_steps(cell, parts),
        parts=tuple(_part(cell, name, part, found) for name, part in parts.items() if part.moved),
        wrong_rounds=cell.wrong_rounds,
        wrong_minor=cell.wrong_minor,
        growth=_growth(figures.growth.get(cell.key, ())),
    )


def _why(bets: Sequence[BetReport], word: Word) -> tuple[str, ...]:
    if word == NO_EVIDENCE:
        return (bets[0].meaning,)
    return tuple(
        f"{bet_words(bet.row.bet)}: {why}" for bet in bets if bet.word == word for why in bet.why
    )


def bet_words(bet: str) -> str:
    """Return a bet's name in words."""
    return {"twenty_one_plus_three": "21+3"}.get(bet, bet.replace("_", " "))


def _theory(theory: Theoretical) -> Theory:
    return Theory(theory.published_percent, rounded(theory.computed))


def _total(days: Mapping[str, PartSums]) -> PartSums:
    moved, sums = 0, LuckSums()
    for day in sorted(days):
        moved, sums = moved + days[day].moved, sums + days[day].sums
    return PartSums(moved, sums)


def _expected(cell: Cell, parts: Mapping[str, PartSums]) -> float | None:
    if not cell.followed_minor:
        return None
    skill = sum(part.sums.total for name, part in parts.items() if not is_luck(name))
    return (cell.start_minor + skill) / cell.followed_minor


def _spread(sums: BetSums) -> float:
    """Return the standard deviation of what a unit of initial stake wins."""
    rtp = sums.rtp_on_initial_stakes
    if rtp is None or sums.rounds < 2:
        return 0.0
    squares = sums.residual_squares(rtp - 1) / sums.initial_initial
    return sqrt(squares * sums.rounds / (sums.rounds - 1))


def _steps(cell: Cell, parts: Mapping[str, PartSums]) -> tuple[Step, ...]:
    stakes = cell.followed_minor
    if not stakes:
        return ()
    luck = {part_words(name): part for name, part in parts.items() if is_luck(name) and part.moved}
    skill = sum(part.sums.total for name, part in parts.items() if not is_luck(name))
    steps = [
        ("theory", cell.start_minor),
        *((name, part.sums.total) for name, part in luck.items()),
        ("decisions", skill),
        ("wrong payments", cell.error_minor),
        ("disputes", cell.resettled_minor),
    ]
    always = ("theory", "decisions", *luck)
    return tuple(
        Step(label, rounded(value / stakes)) for label, value in steps if value or label in always
    )


def _part(cell: Cell, name: str, part: PartSums, found: Verdict) -> Part:
    sums = part.sums
    term, _, kind = name.partition("_")
    reading = next((each for each in found.readings if each.of == name), None)
    return Part(
        term=term,
        kind=kind,
        moved=part.moved,
        total_minor=rounded(sums.total),
        per_stake=rounded(sums.total / cell.followed_minor),
        z=rounded(sums.total / sqrt(sums.squares)) if is_luck(name) and sums.squares else None,
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


def _last_day(provenance: Provenance) -> date | None:
    if provenance.end is None:
        last = provenance.last_ended
        return None if last is None else datetime.fromisoformat(last).date()
    end = datetime.fromisoformat(provenance.end)
    # A period ends before its last moment: midnight belongs to the day before.
    return end.date() - timedelta(days=_is_midnight(end) and end.date() > date.min)


def _days(cells: Sequence[Cell], last: date | None) -> tuple[Day, ...]:
    if last is None:
        return ()
    by_day: dict[str | None, list[Row]] = {}
    for cell in cells:
        by_day.setdefault(cell.slice["day"], []).append(row(cell))
    # A clock may say anything, the first days there are among it.
    shown = min(DAYS, (last - date.min).days + 1)
    days: list[date] = [last - timedelta(days=back) for back in range(shown)]
    return tuple(Day(each.isoformat(), tuple(by_day.get(each.isoformat(), ()))) for each in days)


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
                f"{title}: {cell.wrong_rounds:,} rounds not paid as the rules say, "
                f"{amount_text(cell.wrong_minor, cell.key.currency)} too much in all"
            )
        if cell.resettled_rounds:
            found.append(
                f"{title}: {cell.resettled_rounds:,} rounds paid otherwise after a dispute, "
                f"{amount_text(cell.resettled_minor, cell.key.currency)} more in all"
            )
        unfollowed = cell.sums.rounds - cell.followed_rounds
        if unfollowed and cell.key.game is not None:
            found.append(f"{title}: {unfollowed:,} rounds cannot be followed by the rules")
    counted = {(cell.key.game, cell.key.rules_digest, cell.key.bet) for cell in figures.totals}
    found += [
        f"PAR sheet {sheet_id} approves the {bet_words(bet)} bet of {game} under the rules "
        f"{digest}: no round of that was counted"
        for (game, digest, bet), (sheet_id, *_) in figures.approved.items()
        if (game, digest, bet) not in counted
    ]
    return found


def _moment(at: datetime | None) -> str | None:
    return None if at is None else f"{at.isoformat(timespec='milliseconds')}Z"


def _bounds(lower: float, upper: float) -> Bounds:
    return Bounds(rounded(lower), rounded(upper))


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
