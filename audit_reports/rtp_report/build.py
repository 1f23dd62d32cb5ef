"""From figures to a report: pure, so that equal figures make equal bytes."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Final, TypeVar

import msgspec

from shoeproof.audit_reports.pages.numerals import amount, wrong_amounts
from shoeproof.audit_reports.pages.words import bet_words
from shoeproof.audit_reports.rtp_report.bets import bet_report, row
from shoeproof.audit_reports.rtp_report.figures import Figures
from shoeproof.audit_reports.rtp_report.house import house_findings, refund_findings
from shoeproof.audit_reports.rtp_report.model import (
    UNKNOWN_RULES,
    Accounted,
    Award,
    BetReport,
    Day,
    GameReport,
    Held,
    Idle,
    Judged,
    Kept,
    Provenance,
    Row,
    RtpReport,
    Shuffle,
    Void,
    VoidSums,
    WalletDifference,
    Wrong,
)
from shoeproof.audit_reports.rtp_report.records import SliceRow
from shoeproof.audit_reports.rtp_report.rolling import (
    ROLLING_SHARE,
    WINDOW,
    Windows,
    accused_windows,
    first_left,
    latest,
    windows_of,
)
from shoeproof.audit_reports.rtp_report.shoes import shoe_headline
from shoeproof.audit_reports.rtp_report.slices import SLICES_SHARE, accused, slices_of
from shoeproof.audit_reports.rtp_report.spans import PERIODS, day_of, idle_spans, moment_text
from shoeproof.audit_reports.rtp_report.theoretical import Theoretical
from shoeproof.audit_reports.rtp_report.wallet import (
    apart_findings,
    wallet_findings,
    wallet_headline,
)
from shoeproof.audit_reports.statistics.verdict import (
    INCONCLUSIVE,
    LEVEL,
    NO_EVIDENCE,
    OUT_OF_RANGE,
    WATCH,
    Word,
    heaviest,
    level_of_each,
)
from shoeproof.replay.currency import unit_words
from shoeproof.replay.engine.rules import rules_digest
from shoeproof.replay.games.published import GAMES

FORMAT: Final = "shoeproof/rtp-report/v3"
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
    figures = msgspec.structs.replace(figures, shuffle=shuffle)
    judged = judge(figures, theories, _last_day(provenance))
    games = judged.games
    word, says = heaviest(game.word for game in games), headline(games)
    told = len(faults) + len(judged.findings)
    if told and games and word in (NO_EVIDENCE, INCONCLUSIVE):
        says = _despite(told, says)
    names = {game.rules_digest: game.title for game in games}
    apart = (shoe_headline(figures.shoes, names), wallet_headline(games))
    says = ". ".join((says, *filter(None, apart)))
    faults = (*judged.findings, *_other_returns(games), *faults)
    return RtpReport(
        format=FORMAT,
        title=title,
        objection=objection,
        word=word,
        headline=says if objection is None else _of_a_part(says),
        rounds=judged.rounds,
        games=games,
        voids=tuple(
            _shown(each, Void, at=None if each.closed_at is None else moment_text(each.closed_at))
            for each in figures.voids
        ),
        void_sums=tuple(_shown(each, VoidSums) for each in figures.void_outcomes.values()),
        offers=tuple(_shown(each, Kept) for each in figures.offers),
        held=tuple(_shown(each, Held, since=moment_text(each.opened_at)) for each in figures.held),
        wrong=tuple(_shown(each, Wrong, at=moment_text(each.closed_at)) for each in figures.wrong),
        wallet=tuple(
            _shown(
                each,
                WalletDifference,
                at=None if each.closed_at is None else moment_text(each.closed_at),
            )
            for each in figures.wallet
        ),
        awards=judged.awards,
        findings=(*_findings(figures, names), *faults),
        faults=len(faults),
        shuffle=shuffle,
        provenance=provenance,
    )


def judge(figures: Figures, theories: Theories, last: date | None = None) -> Judged:
    """Return every game judged, as `build_games` does, and what stands apart from all of them."""
    awards = tuple(
        Award(**msgspec.structs.asdict(each) | {"at": moment_text(each.at)})
        for each in figures.awards
    )
    games = build_games(figures, theories, last)
    names = {game.rules_digest: game.title for game in games}
    findings = (
        *apart_findings(figures.wallet, figures.awards),
        *refund_findings(figures.refunds, names),
    )
    titled = (
        msgspec.structs.replace(each, game=names.get(each.rules_digest, each.game))
        for each in figures.rounds
    )
    rounds = tuple(_shown(each, Accounted) for each in titled)
    return Judged(rounds, games, awards, findings)


def build_games(
    figures: Figures, theories: Theories, last: date | None = None
) -> tuple[GameReport, ...]:
    """Return every game judged; its days are the 30 up to `last`."""
    found = []
    games = [list(cells) for _, cells in groupby(figures.totals, lambda cell: cell.key[:3])]
    for mine in games:
        name, digest, currency, _ = mine[0].key
        theory = theories.get(digest, {})
        # All bets that the rules have share alike, whether one was laid yet or not.
        level = level_of_each(LEVEL, len(games))
        count = max(len(theory), len(mine))
        share = level * (1 - SLICES_SHARE - ROLLING_SHARE) / count
        bets = tuple(bet_report(figures, cell, theory.get(cell.key.bet), share) for cell in mine)
        slices = slices_of(figures, mine[0], level * SLICES_SHARE)
        windows = windows_of(figures.days, mine[0], last, level * ROLLING_SHARE / count)
        accused_of = [each for rows in slices.values() for each in accused(rows, currency)]
        accused_of += accused_windows(windows)
        word = OUT_OF_RANGE if accused_of else _game_word([bet.word for bet in bets])
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
                why=(*_why(bets, word), *accused_of),
                bets=bets,
                slices=_with_windows(slices, windows),
                idle=_idle(figures, slices),
                days=_days(figures, mine[0], last),
                rolling=latest(windows, last),
                left=first_left(windows),
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
    few = by_word.get(INCONCLUSIVE, [])
    told = by_word.get(NO_EVIDENCE, [])
    if not told:
        return f"Inconclusive: too few rounds to judge {_list(few)}"
    says = f"No evidence against {_list(told)}"
    return f"{says}; too few rounds to judge {_list(few)}" if few else says


def _game_word(words: Sequence[Word]) -> Word:
    """Return the word on a game by those on its bets, the main bet's first.

    A side bet that nobody plays leaves no doubt about the main bet.
    """
    word = heaviest(words)
    return word if word in (WATCH, OUT_OF_RANGE) else words[0]


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
        return (bets[0].meaning,)
    if word == INCONCLUSIVE:
        return bets[0].meaning, "Too few rounds to test the dealing of its cards."
    return tuple(
        f"{bet_words(bet.row.bet)}: {why}" for bet in bets if bet.word == word for why in bet.why
    )


def _of(cell: SliceRow, other: SliceRow) -> bool:
    return cell.key[:3] == other.key[:3]


def _with_windows(
    slices: Mapping[str, tuple[Row, ...]], windows: Windows
) -> dict[str, tuple[Row, ...]]:
    """Return slices with the windows to their days, where they are days alone."""
    found = dict(slices)
    if "day" in found:
        known = {(each.bet, each.last): each for of_bet in windows.values() for each in of_bet}
        found["day"] = tuple(
            msgspec.structs.replace(row, rolling=known.get((row.bet, row.slice["day"] or "")))
            for row in found["day"]
        )
    return found


def _idle(figures: Figures, slices: Mapping[str, Sequence[Row]]) -> dict[str, tuple[Idle, ...]]:
    scope = figures.scope
    begin, end, zone = scope.begin, scope.end, scope.zone
    return {
        by: idle_spans(by, (each.slice[by] or "" for each in rows), begin, end, zone=zone)
        for by, rows in slices.items()
        if by in PERIODS
    }


def _last_day(provenance: Provenance) -> date | None:
    if provenance.end is None:
        last = provenance.last_ended
        return None if last is None else day_of(datetime.fromisoformat(last), provenance.zone)
    end = datetime.fromisoformat(provenance.end)
    # A period ends before its last moment: midnight belongs to the day before.
    begun = end.replace(tzinfo=None) > datetime.min
    return day_of(end - begun * timedelta(milliseconds=1), provenance.zone)


def _days(figures: Figures, mine: SliceRow, last: date | None) -> tuple[Day, ...]:
    if last is None:
        return ()
    by_day: dict[str | None, list[Row]] = {}
    for cell in figures.days:
        if _of(cell, mine):
            by_day.setdefault(cell.slice["day"], []).append(row(cell))
    # A clock may say anything, the first days there are among it.
    shown = min(WINDOW, (last - date.min).days + 1)
    days: list[date] = [last - timedelta(days=back) for back in range(shown)]
    return tuple(Day(each.isoformat(), tuple(by_day.get(each.isoformat(), ()))) for each in days)


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
            wrong = wrong_amounts(cell.underpaid_minor, cell.overpaid_minor, cell.key.currency)
            found.append(
                f"{title}: {_rounds(cell.wrong_rounds)} not paid as the rules say, {wrong} in all"
            )
        if cell.resettled_rounds:
            found.append(
                f"{title}: {_rounds(cell.resettled_rounds)} paid otherwise after a dispute, "
                f"by {amount(cell.resettled_minor, cell.key.currency)} in all"
            )
        if cell.unfollowed_rounds and cell.key.game is not None:
            found.append(
                f"{title}: {_rounds(cell.unfollowed_rounds)} cannot be followed by the rules"
            )
    found += house_findings(figures.offers, list(figures.void_outcomes.values()), names)
    found += wallet_findings(figures.wallet, names)
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
    return f"{game.title} ({unit_words(game.currency)})"


def _list(games: Sequence[GameReport]) -> str:
    *names, last = map(_named, games)
    return f"{', '.join(names)} and {last}" if names else last
