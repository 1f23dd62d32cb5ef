"""Hand-made rounds with known amounts, and what the tests ask of tables and rows."""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from shoeproof.audit_reports.rtp_report import from_ledger
from shoeproof.audit_reports.rtp_report.figures import Scope, cells
from shoeproof.audit_reports.rtp_report.model import GameReport, RtpReport
from shoeproof.audit_reports.rtp_report.records import SliceRow
from shoeproof.audit_reports.tables.projection import Projection
from shoeproof.audit_reports.tables.views import open_tables
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    BetSettled,
    CardDealt,
    DealRequested,
    DecisionMade,
    EventData,
    Mode,
    Refund,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    ShoeCommitted,
    ShoeRevealed,
    Stakes,
)
from shoeproof.replay.engine.rules import rules_digest
from shoeproof.replay.engine.shoe import commitment
from shoeproof.replay.games.published import GAMES

ZAPPIT = rules_digest(GAMES["zappit"].rules)
NBA = rules_digest(GAMES["nba"].rules)

ANY_COMMITMENT = ShoeCommitted("cd" * 32, "c2VhbGVk", None)
ANY_SEED = ShoeRevealed("ef" * 32)

_numbers = count(1)
_sealed: set[str] = set()
"""The rounds that are committed to seeds of their own."""


def new_round() -> str:
    return f"01936f3c-7a10-7b3e-9c55-{next(_numbers):012d}"


def begun(
    stakes: Stakes,
    *,
    digest: str = ZAPPIT,
    currency: str = "EUR",
    exponent: int | None = None,
    mode: Mode = "real",
) -> list[EventData]:
    """A round up to its first card."""
    where = (digest, None, None, "t-1", None, "web", mode, "p-7f")
    return [
        RoundOpened(*where, currency, None, None, exponent),
        ANY_COMMITMENT,
        DealRequested(stakes, "", None),
        CardDealt(0, "s1", "Td"),
    ]


def made(hand: str, act: str, added_stake_minor: int = 0) -> DecisionMade:
    return DecisionMade(hand, act, "player", None, added_stake_minor, None)


def settled(
    hand: str, stake_minor: int, paid_minor: int, bet: str = "main", line: str = "line"
) -> BetSettled:
    return BetSettled(hand.split(".")[0], hand, bet, stake_minor, paid_minor, line, None)


def closed(events: Iterable[EventData]) -> list[EventData]:
    """The events, followed by what closes a round."""
    events = list(events)
    bets = [data for data in events if isinstance(data, BetSettled)]
    totals = sum(bet.stake_minor for bet in bets), sum(bet.paid_minor for bet in bets)
    return [*events, ANY_SEED, RoundClosed(*totals)]


def simple(paid_minor: int, stake_minor: int = 100, **opening: Any) -> list[EventData]:
    """A closed round of one seat and one bet."""
    beginning = begun({"s1": {"main": stake_minor}}, **opening)
    return closed([*beginning, settled("s1", stake_minor, paid_minor)])


def doubled_push(**opening: Any) -> list[EventData]:
    return closed(
        [
            *begun({"s1": {"main": 100}}, **opening),
            made("s1", "double", 100),
            settled("s1", 200, 200, line="push"),
        ]
    )


def split_and_doubled() -> list[EventData]:
    """Split, the second hand doubled: 300 staked on 100, 400 paid."""
    return closed(
        [
            *begun({"s1": {"main": 100}}),
            made("s1", "split", 100),
            made("s1.1", "stand"),
            made("s1.2", "double", 100),
            settled("s1.1", 100, 0),
            settled("s1.2", 200, 400),
        ]
    )


def voided(stake_minor: int = 100) -> list[EventData]:
    return [
        *begun({"s1": {"main": stake_minor}}),
        RoundVoided("malfunction", [Refund("s1", "main", stake_minor)]),
    ]


def overpaid(events: Iterable[EventData], by: int) -> list[EventData]:
    """A round each bet of which is paid so much more."""
    changed: list[EventData] = []
    for each in events:
        if isinstance(each, BetSettled):
            each = replace(each, paid_minor=each.paid_minor + by)
        if isinstance(each, RoundClosed):
            each = replace(each, total_paid_minor=each.total_paid_minor + by)
        changed.append(each)
    return changed


def play(ledger: Ledger, events: Iterable[EventData]) -> str:
    """Append a round and return its id."""
    round_id = new_round()
    go_on(ledger, round_id, events)
    return round_id


def go_on(ledger: Ledger, round_id: str, events: Iterable[EventData]) -> None:
    ledger.append(*((round_id, data) for data in sealed(round_id, events)))


def sealed(round_id: str, events: Iterable[EventData]) -> Iterator[EventData]:
    """Events with a seed of the round's own, committed to, in place of those that stand for any."""
    events = list(events)
    if ANY_COMMITMENT in events:
        _sealed.add(round_id)
    seed, digest = sha256(round_id.encode()).digest(), ""
    for data in events:
        if isinstance(data, RoundOpened):
            digest = data.rules_digest
        if data == ANY_COMMITMENT:
            yield replace(data, commitment=commitment(round_id, digest, seed).hex())
        else:
            is_own = data == ANY_SEED and round_id in _sealed
            yield ShoeRevealed(seed.hex()) if is_own else data


def contents(projection: Projection) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, in an order of their own."""
    return {
        table: sorted(projection._tables.execute(f"FROM {table}").fetchall(), key=repr)
        for table in (
            "rounds",
            "bets",
            "decisions",
            "cards",
            "interruptions",
            "disputes",
            "luck",
            "would_have_paid",
            "offers_apart",
            "wallet_differences",
            "rule_sets",
            "projected",
        )
    }


def counted(projection: Projection) -> list[tuple[int, int, int]]:
    """Of each bet the closed rounds, what they were paid, and the open rounds."""
    return projection._tables.execute(
        """SELECT COUNT_IF(state = 'closed'),
            COALESCE(SUM(paid_minor) FILTER (state = 'closed'), 0)::BIGINT, COUNT_IF(state = 'open')
        FROM round_bets
        WHERE mode = 'real'
        GROUP BY game, rules_digest, currency, bet
        ORDER BY ALL"""
    ).fetchall()


def cells_of(ledger: Ledger) -> list[SliceRow]:
    """The figures of every bet of a ledger, its tables brought up to date."""
    with open_tables(ledger) as tables:
        return cells(tables, Scope())


def the_cell(found: list[SliceRow], **wanted: object) -> SliceRow:
    """The one cell whose key has these values."""
    (cell,) = [
        cell
        for cell in found
        if all(getattr(cell.key, name) == value for name, value in wanted.items())
    ]
    return cell


def report_on(ledger: Ledger, asked: from_ledger.ReportRequest) -> RtpReport:
    """The report on a ledger, its tables brought up to date."""
    with open_tables(ledger) as tables:
        return from_ledger.report_on([ledger], tables, asked)


def the_game(report: RtpReport, game: str, currency: str = "EUR") -> GameReport:
    """What a report says of a game in a currency."""
    (found,) = [each for each in report.games if (each.game, each.currency) == (game, currency)]
    return found


@contextmanager
def held_by_another_process(path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Another process that has the file of a ledger's projection open until it is let go."""
    holder = (
        "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print(flush=True);sys.stdin.read()"
    )
    (path / "projection").mkdir(exist_ok=True)
    command = [sys.executable, "-c", holder, str(path / "projection" / "rtp.duckdb")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"\n"
        yield process
        let_go(process)


def let_go(process: "subprocess.Popen[bytes]") -> None:
    """End a process that holds a projection open, if it still does."""
    assert process.stdin is not None
    process.stdin.close()
    process.wait()
