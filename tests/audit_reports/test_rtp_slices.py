"""Every slice of the figures against a second computation, from the events, in plain Python."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from math import sqrt
from random import Random
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from shoeproof.audit_reports.rtp_report.bets import rounded
from shoeproof.audit_reports.rtp_report.figures import Scope, read_slices
from shoeproof.audit_reports.rtp_report.from_ledger import ReportRequest, judged_of
from shoeproof.audit_reports.rtp_report.model import GameReport, Idle, Row
from shoeproof.audit_reports.rtp_report.spans import idle_spans
from shoeproof.audit_reports.rtp_report.write import render_rtp_report, rows_in_time
from shoeproof.audit_reports.tables.views import open_tables
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.clock import parse_time
from shoeproof.ledger.leaf.events import (
    BetSettled,
    DealRequested,
    EventData,
    Refund,
    RoundClosed,
    RoundOpened,
    RoundVoided,
)
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.luck.kinds import LUCK, SKILL
from shoeproof.replay.luck.one_round import Decomposition
from shoeproof.replay.luck.recorded import decompose_replay
from shoeproof.replay.rounds.catalogue import add_published_games, rules_by_digest
from shoeproof.replay.rounds.replayer import replay_round
from tests.audit_reports.helpers import begun, play, report_on, simple
from tests.bulk.rounds import honest_round, stakes_for
from tests.replay.helpers import HandClock

BEGUN = datetime(2025, 12, 27, 21, 40, tzinfo=UTC)
ROUNDS = 90
BY = ("table", "player", "channel", "stake_band", "day", "week", "month", "table,player,week")


class Counted(NamedTuple):
    """A closed round's bet as its events have it."""

    player: str
    hands: int
    initial: int
    staked: int
    paid: int
    apart: Decomposition | None


Key = tuple[str, str, str, tuple[str | None, ...]]
Name = Callable[[RoundOpened, datetime, int], tuple[str | None, ...]]


@pytest.fixture(scope="module")
def ledger() -> Iterator[Ledger]:
    """Rounds of all games over two months, by five players at four tables, with pauses."""
    random, clock = Random(11), HandClock()
    clock.moment = BEGUN
    with Ledger.in_memory("slices.example/bj", clock=clock) as made:
        add_published_games(made)
        for number in range(ROUNDS):
            clock.forward(minutes=random.choice([1, 60, 700, 700, 4_000]))
            game = sorted(GAMES)[number % 3]
            recorded = honest_round(made, game, stakes_for(game, random), random)
            events = [_changed(each.event.data, random) for each in recorded]
            if number % 11 == 5:
                bets = [each for each in events if isinstance(each, BetSettled)]
                refunds = [Refund(each.hand, each.bet, each.stake_minor) for each in bets]
                unsettled = [
                    each for each in events if not isinstance(each, BetSettled | RoundClosed)
                ]
                events = [*unsettled, RoundVoided("malfunction", refunds)]
            play(made, events)
        play(made, begun({"s1": {"main": 700}}))
        play(made, simple(500, mode="fun"))
        yield made


def _changed(data: EventData, random: Random) -> EventData:
    if not isinstance(data, RoundOpened):
        return data
    return replace(
        data,
        player=f"p-{random.randrange(5)}",
        table=random.choice(["t-1", "t-2", "t-3", None]),
        channel=random.choice(["web", "mobile"]),
        currency=random.choice(["EUR", "EUR", "JPY"]),
    )


@pytest.fixture(scope="module")
def games(ledger: Ledger) -> tuple[GameReport, ...]:
    with open_tables(ledger) as tables:
        return judged_of([ledger], tables, Scope(), map(read_slices, BY)).games


def _counted(ledger: Ledger, name_of: Name) -> dict[Key, list[Counted]]:
    """Each slice's bets, read off the events one round after the other."""
    found: dict[Key, list[Counted]] = defaultdict(list)
    rules = rules_by_digest(ledger)
    for stream in dict.fromkeys(leaf.stream for leaf in ledger.leaves()):
        events = ledger.events(stream)
        opened, *_, last = events
        first = opened.event.data
        if not isinstance(first, RoundOpened) or not isinstance(last.event.data, RoundClosed):
            continue
        if first.mode == "fun":
            continue
        said = [each.event.data for each in events]
        apart = decompose_replay(replay_round(events, rules))
        laid: dict[str, int] = defaultdict(int)
        (requested,) = [each for each in said if isinstance(each, DealRequested)]
        for bets in requested.stakes.values():
            for bet, stake in bets.items():
                laid[bet] += stake
        paid = [each for each in said if isinstance(each, BetSettled)]
        for bet in {each.bet for each in paid}:
            mine = [each for each in paid if each.bet == bet]
            staked = sum(each.stake_minor for each in mine)
            initial = laid.get(bet, staked)
            at = parse_time(last.event.at)
            key = (first.rules_digest, first.currency, bet, name_of(first, at, initial))
            got = sum(each.paid_minor for each in mine)
            found[key].append(Counted(first.player, len(mine), initial, staked, got, apart))
    return found


NAMES: dict[str, Name] = {
    "table": lambda opened, at, stake: (opened.table,),
    "player": lambda opened, at, stake: (opened.player,),
    "channel": lambda opened, at, stake: (opened.channel,),
    "stake_band": lambda opened, at, stake: (str(len(str(stake)) - 1),),
    "day": lambda opened, at, stake: (f"{at:%Y-%m-%d}",),
    "week": lambda opened, at, stake: ("{}-W{:02}".format(*at.isocalendar()[:2]),),
    "month": lambda opened, at, stake: (f"{at.year}-{at.month:02}",),
    "table,player,week": lambda opened, at, stake: (
        opened.table, opened.player, "{}-W{:02}".format(*at.isocalendar()[:2]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("by", BY)
def test_a_slice_is_what_its_rounds_come_to(
    ledger: Ledger, games: tuple[GameReport, ...], by: str
) -> None:
    expected = _counted(ledger, NAMES[by])
    rows = {
        (game.rules_digest, game.currency, row.bet, tuple(row.slice.values())): row
        for game in games
        for row in game.slices[by]
        if row.rounds
    }
    assert rows.keys() == expected.keys()
    for key, row in rows.items():
        _compare(row, expected[key])


def _compare(row: Row, bets: list[Counted]) -> None:
    initial, staked, paid = (sum(getattr(each, name) for each in bets) for name in
                             ("initial", "staked", "paid"))  # fmt: skip
    assert (row.rounds, row.hands) == (len(bets), sum(each.hands for each in bets))
    assert row.players == len({each.player for each in bets})
    assert (row.initial_minor, row.staked_minor, row.paid_minor) == (initial, staked, paid)
    assert row.win_minor == staked - paid
    assert row.rtp_on_initial_stakes == rounded(float(1 + Fraction(paid - staked, initial)))
    assert row.rtp_on_total_staked == rounded(float(Fraction(paid, staked)))
    luck = skill = start = squares = 0.0
    for each in bets:
        assert each.apart is not None
        start += sum(bet.start_minor for bet in each.apart.bets if bet.bet == row.bet)
        sums = {key[1:]: amount for key, amount in each.apart.sums().items() if key[0] == row.bet}
        luck += sum(amount for (term, _), amount in sums.items() if term == LUCK)
        skill += sum(amount for (term, _), amount in sums.items() if term == SKILL)
        squares += sum(amount**2 for (term, _), amount in sums.items() if term == LUCK)
    shown = row.luck, row.skill, row.expected, row.luck_z or 0.0
    z = luck / sqrt(squares) if squares else 0.0
    told = luck / initial, skill / initial, (start + skill) / initial, z
    assert shown == pytest.approx(told, rel=1e-6, abs=2e-6)


def test_players_are_counted_once_however_often_they_play(
    ledger: Ledger, games: tuple[GameReport, ...]
) -> None:
    in_all = at_tables = 0
    for game in games:
        main = game.bets[0].row
        players = {row.slice["player"] for row in game.slices["player"] if row.rounds}
        assert main.players == len(players) <= 5
        in_all += main.players
        at_tables += sum(row.players for row in game.slices["table"] if row.bet == "main")
    assert at_tables > in_all


def test_every_day_of_a_slice_has_a_row_or_says_that_it_has_none(
    games: tuple[GameReport, ...],
) -> None:
    for game in games:
        shown = [
            label or str(row and row.slice["day"])
            for label, row in rows_in_time(game.slices["day"], game.idle["day"])
        ]
        assert shown == sorted(shown)
        days = [
            date.fromisoformat(first) + timedelta(days=n)
            for first, _, last in (label.partition(" to ") for label in dict.fromkeys(shown))
            for n in range((date.fromisoformat(last or first) - date.fromisoformat(first)).days + 1)
        ]
        assert days == [days[0] + timedelta(days=n) for n in range(len(days))]
    assert any(game.idle["day"] for game in games)


@pytest.mark.parametrize(
    ("period", "active", "begin", "end", "expected"),
    [
        ("day", ["2026-02-27", "2026-03-02"], None, None, [("2026-02-28", "2026-03-01")]),
        ("day", ["2026-02-27", "2026-02-28"], None, None, []),
        ("day", ["2026-03-02"], "2026-03-01", "2026-03-04", [
            ("2026-03-01", "2026-03-01"), ("2026-03-03", "2026-03-03"),
        ]),
        ("week", ["2026-W52", "2027-W02"], None, None, [("2026-W53", "2027-W01")]),
        ("week", ["2026-W02"], "2025-12-28", None, [("2025-W52", "2026-W01")]),
        ("month", ["2025-11", "2026-02"], None, None, [("2025-12", "2026-01")]),
        ("month", [], "2025-11-01", "2026-02-01", []),
    ],
)  # fmt: skip
def test_spans_without_activity_are_named(
    period: str,
    active: list[str],
    begin: str | None,
    end: str | None,
    expected: list[tuple[str, str]],
) -> None:
    # Midnight UTC, as a clock in Malta shows it: a span is one of UTC all the same.
    bounds = [
        None if each is None else datetime.fromisoformat(f"{each}T01:00+01:00")
        for each in (begin, end)
    ]
    assert idle_spans(period, active, *bounds) == tuple(Idle(*each) for each in expected)


def test_page_csv_and_json_have_the_spans_without_activity(ledger: Ledger) -> None:
    asked = ReportRequest(by=(("month",), ("day",)), shuffle_tests=False)
    report = report_on(ledger, asked)
    idle = [each for game in report.games for each in game.idle["day"]]
    page = render_rtp_report(report, ".html").decode()
    assert page.count('class="soft">no activity</td>') >= len(idle) > 0
    table = render_rtp_report(report, ".csv").decode()
    assert table.count("by day: no activity") == len(idle)
    data = json.loads(render_rtp_report(report, ".json"))
    assert [each for game in data["games"] for each in game["idle"]["day"]] == [
        {"first": each.first, "last": each.last} for each in idle
    ]


def test_amounts_have_the_places_of_their_currency(ledger: Ledger) -> None:
    report = report_on(ledger, ReportRequest(by=(("stake_band",),), shuffle_tests=False))
    yen = next(game for game in report.games if game.currency == "JPY")
    page = render_rtp_report(report, ".html").decode()
    begins = page.index(f"<h2>{yen.title}, JPY</h2>")
    mine = page[begins : page.index("<h2>", begins + 1)]
    assert f">{yen.bets[0].row.paid_minor:,}</td>" in mine
    assert f">{yen.bets[0].row.paid_minor / 100:,.2f}</td>" not in mine
    for row in yen.slices["stake_band"]:
        low = 10 ** int(row.slice["stake_band"] or 0)
        assert f"{low:,} to {10 * low - 1:,} JPY" in mine
