"""From figures to a report: pure, so that equal figures make equal bytes."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Final, TypeVar

import msgspec

from audit_reports.numerals import amount
from audit_reports.rtp_report.bets import bet_report, row
from audit_reports.rtp_report.figures import Figures
from audit_reports.rtp_report.judge import worst
from audit_reports.rtp_report.model import (
    UNKNOWN_RULES,
    BetReport,
    Day,
    GameReport,
    Held,
    Idle,
    Provenance,
    Row,
    RtpReport,
    Shuffle,
    Void,
    Wrong,
)
from audit_reports.rtp_report.records import Cell
from audit_reports.rtp_report.spans import PERIODS, idle_spans, moment_text
from audit_reports.rtp_report.theoretical import Theoretical
from audit_reports.statistics.sequences import FEWEST_ROUNDS
from audit_reports.statistics.verdict import LEVEL, NO_EVIDENCE, OUT_OF_RANGE, WATCH, Word
from audit_reports.words import bet_words
from replay.engine.rules import rules_digest
from replay.games import GAMES

FORMAT: Final = "shoeproof/rtp-report/v1"
DAYS: Final = 30
"""GLI-19 2.9.2 has the last 30 days shown day by day."""

Shown = TypeVar("Shown", bound=msgspec.Struct)

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
    games = build_games(figures, theories, _last_day(provenance))
    word, says = worst(game.word for game in games), headline(games)
    if faults and games and word == NO_EVIDENCE:
        says = _despite(len(faults), says)
    faults = (*_other_returns(games), *faults)
    names = {game.rules_digest: game.title for game in games}
    return RtpReport(
        format=FORMAT,
        title=title,
        objection=objection,
        word=word,
        headline=says if objection is None else _of_a_part(says),
        games=games,
        voids=tuple(
            _shown(each, Void, at=None if each.closed_at is None else moment_text(each.closed_at))
            for each in figures.voids
        ),
        held=tuple(_shown(each, Held, since=moment_text(each.opened_at)) for each in figures.held),
        wrong=tuple(_shown(each, Wrong, at=moment_text(each.closed_at)) for each in figures.wrong),
        findings=(*_findings(figures, names), *faults),
        faults=len(faults),
        shuffle=shuffle,
        provenance=provenance,
    )


def build_games(
    figures: Figures, theories: Theories, last: date | None = None
) -> tuple[GameReport, ...]:
    """Return every game judged; its days are the 30 up to `last`."""
    found = []
    for (name, digest, currency), cells in groupby(figures.totals, lambda cell: cell.key[:3]):
        mine = list(cells)
        theory = theories.get(digest, {})
        share = LEVEL / len(mine)
        bets = tuple(bet_report(figures, cell, theory.get(cell.key.bet), share) for cell in mine)
        word = worst(bet.word for bet in bets)
        game = GAMES.get(name or "")
        title = game.title if game else name or UNKNOWN_RULES
        variant = game is not None and rules_digest(game.rules) != digest
        found.append(
            GameReport(
                game=name,
                title=f"{title}, a variant" if variant else title,
                variant=variant,
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


def _shown(row: msgspec.Struct, kind: type[Shown], **told: object) -> Shown:
    """Return a row of a query as the report shows it, with what is told otherwise."""
    same = {name: getattr(row, name) for name in kind.__struct_fields__ if name not in told}
    return kind(**same | told | {"game": same["game"] or UNKNOWN_RULES})


def _despite(faults: int, says: str) -> str:
    found = "1 finding" if faults == 1 else f"{faults:,} findings"
    return f"{found} in what was recorded. By the returns alone: {says[:1].lower()}{says[1:]}"


def _of_a_part(says: str) -> str:
    return f"This ledger fails verification. Of the part before: {says[:1].lower()}{says[1:]}"


def _why(bets: Sequence[BetReport], word: Word) -> tuple[str, ...]:
    if word == NO_EVIDENCE:
        main = bets[0]
        few = "There were too few rounds to judge the luck of its cards by."
        is_said = main.judged or main.effective_rounds < FEWEST_ROUNDS
        return (main.meaning,) if is_said else (main.meaning, few)
    return tuple(
        f"{bet_words(bet.row.bet)}: {why}" for bet in bets if bet.word == word for why in bet.why
    )


def _of(cell: Cell, other: Cell) -> bool:
    return cell.key[:3] == other.key[:3]


def _slices(figures: Figures, mine: Cell) -> dict[str, tuple[Row, ...]]:
    """Return the rows of a game's slices, spans of time in their order, others bet by bet."""
    found = {}
    for by, cells in figures.slices.items():
        rows = [row(cell) for cell in cells if _of(cell, mine)]
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


def _last_day(provenance: Provenance) -> date | None:
    if provenance.end is None:
        last = provenance.last_ended
        return None if last is None else datetime.fromisoformat(last).date()
    end = datetime.fromisoformat(provenance.end)
    # A period ends before its last moment: midnight belongs to the day before.
    return end.date() - timedelta(days=_is_midnight(end) and end.date() > date.min)


def _days(figures: Figures, mine: Cell, last: date | None) -> tuple[Day, ...]:
    if last is None:
        return ()
    by_day: dict[str | None, list[Row]] = {}
    for cell in figures.days:
        if _of(cell, mine):
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
        title = f"{names.get(cell.key.rules_digest, UNKNOWN_RULES)}, {bet_words(cell.key.bet)}"
        if cell.key.game is None:
            found.append(
                f"{cell.sums.rounds:,} rounds name rules that the ledger does not have, digest "
                f"{cell.key.rules_digest}: what they should return is unknown"
            )
        if cell.wrong_rounds:
            found.append(
                f"{title}: {_rounds(cell.wrong_rounds)} not paid as the rules say, "
                f"{amount(cell.wrong_minor, cell.key.currency)} too much in all"
            )
        if cell.resettled_rounds:
            found.append(
                f"{title}: {_rounds(cell.resettled_rounds)} paid otherwise after a dispute, "
                f"by {amount(cell.resettled_minor, cell.key.currency)} in all"
            )
        unfollowed = cell.sums.rounds - cell.followed_rounds
        if unfollowed and cell.key.game is not None:
            found.append(f"{title}: {_rounds(unfollowed)} cannot be followed by the rules")
    counted = {(cell.key.game, cell.key.rules_digest, cell.key.bet) for cell in figures.totals}
    found += [
        f"PAR sheet {sheet.id} approves the {bet_words(bet)} bet of {game} under the rules "
        f"{digest}: no round of that was counted"
        for (game, digest, bet), sheet in figures.approved.items()
        if (game, digest, bet) not in counted
    ]
    return found


def _other_returns(games: Sequence[GameReport]) -> Iterable[str]:
    """Return what is wrong with approved returns, once for all currencies of a game."""
    return dict.fromkeys(
        f"PAR sheet {sheet.id} approves {sheet.percent}% for the {bet_words(bet.row.bet)} bet of "
        f"{game.game} under the rules {game.rules_digest}: {sheet.note}"
        for game in games
        for bet in game.bets
        if (sheet := bet.approved) is not None and sheet.note is not None
    )


def _rounds(count: int) -> str:
    return "1 round" if count == 1 else f"{count:,} rounds"


def _named(game: GameReport) -> str:
    return f"{game.title} ({game.currency})"


def _list(games: Sequence[GameReport]) -> str:
    *names, last = map(_named, games)
    return f"{', '.join(names)} and {last}" if names else last
