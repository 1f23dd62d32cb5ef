"""Policies in bulk: the same findings as one by one, and honest rounds proved to keep theirs."""

from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Literal

import pytest
from msgspec.structs import replace

from shoeproof.ledger import Ledger, Recorded
from shoeproof.ledger.leaf.clock import format_time, parse_time
from shoeproof.ledger.leaf.events import (
    ConnectionLost,
    ConnectionRestored,
    DecisionMade,
    DecisionOffered,
    EventData,
    InputRefused,
    RoundClosed,
    RoundOpened,
    ServiceStarted,
    ServiceStopped,
    WinHeld,
)
from shoeproof.replay.audit.one_by_one import audit as scalar_audit
from shoeproof.replay.bulk.audit import audit
from shoeproof.replay.bulk.export.parquet import audit_parquet
from shoeproof.replay.bulk.export.write import export_parquet
from shoeproof.replay.bulk.policy_fast import later
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.interruptions.holds import release_win
from shoeproof.replay.live.sweep import sweep
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.replay.faults import STAKES, Floor, asked, with_zero_default
from tests.replay.helpers import NOON, HandClock, new_ledger
from tests.replay.lies_of_time import TIME
from tests.replay.lying_table import tell
from tests.replay.test_holds import wins_even_money, won

REFUSALS: list[tuple[str, Literal["late", "illegal", "closed"]]] = [
    ("s1 stand", "late"),
    ("s1 hit", "illegal"),
    ("s2 hit", "closed"),
    ("deal", "closed"),
]
GAPS = [0.0, 1.0, 1.0, 30.0, 599.999999, 600.0, 1199.999999, 1200.0, 1200.000001, 4000.0]


@pytest.mark.parametrize("name", TIME)
def test_every_lie_about_time_is_told_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tell(TIME[name], name, monkeypatch)
    for partitions in (1, 3, 1000):
        assert audit(told.ledger, partitions=partitions).rounds == scalar_audit(told.ledger)
    assert [each.code for each in audit(told.ledger).rounds.findings] == TIME[name].findings


@pytest.mark.parametrize("partitions", [1, 2, 7, 500])
def test_rounds_with_faults_are_judged_alike(partitions: int) -> None:
    for floor in (Floor("nba"), Floor("zappit"), with_zero_default()):
        _faults(floor)
        assert audit(floor.ledger, partitions=partitions).rounds == scalar_audit(floor.ledger)
        assert not scalar_audit(floor.ledger).findings


def _faults(floor: Floor) -> None:
    """Rounds that end in every way a policy knows."""
    laid = floor.table().open_round("laid")
    laid.place(STAKES)
    lost, slow = floor.deal(asked), floor.deal(asked)
    lost.lose_connection()
    floor.clock.forward(minutes=5)
    lost.restore_connection()
    floor.operate(ServiceStopped(3, None, None))
    floor.clock.forward(minutes=25)
    floor.operate(ServiceStarted(3, None, None))
    floor.clock.forward(minutes=19, seconds=59)
    assert isinstance(slow.due, Decide)
    slow.decide(slow.due.hand, "stand")
    floor.clock.forward(seconds=1)
    sweep(floor.ledger)
    floor.deal(asked)


def test_held_and_released_wins_are_judged_alike() -> None:
    floor = Floor("zero")
    for stake in (1_000_000, 1_000_001, 1_500_000):
        won(floor, stake)
    release_win(floor.ledger, floor.ledger.rounds()[-1].round)
    assert audit(floor.ledger, partitions=3).rounds == scalar_audit(floor.ledger)
    assert not floor.codes()


def test_a_small_win_held_all_the_same_is_found_in_bulk() -> None:
    floor = Floor("zero")
    live = won(floor, 100)
    floor.ledger.append((f"holds/{live.round_id}", WinHeld(live.round_id, 100, "a mood")))
    found = audit(floor.ledger).rounds
    assert [each.code for each in found.findings] == ["hold_mismatch"]
    assert found == scalar_audit(floor.ledger)


def test_a_win_of_the_bound_exactly_needs_no_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    floor = Floor("zero")
    won(floor, 1_000_000)
    monkeypatch.setattr("shoeproof.replay.bulk.ranges.judge", _never)
    assert audit(floor.ledger).rounds.closed_rounds == 1


def test_an_export_of_rounds_with_faults_says_of_the_play_what_the_ledger_says(
    tmp_path: Path,
) -> None:
    """Times are no part of it, and so no policy: that it cannot prove them stands in it."""
    floor = Floor("zero")
    _faults(floor)
    wallet = MemoryWallet(10_000_000)
    floor.deal(asked, wallet=wallet)
    live = floor.deal(wins_even_money, stakes={"s1": {"main": 1_500_000}}, wallet=wallet)
    live.decide("s1", "stand")
    assert live.held_minor
    manifest = export_parquet(floor.ledger, tmp_path / "export")
    assert any("policies were kept" in lack for lack in manifest.cannot_prove)
    assert audit_parquet(tmp_path / "export") == scalar_audit(floor.ledger)


# Rounds whose times, deadlines and actors are anything


def _told_anew(
    ledger: Ledger, events: list[Recorded], random: Random, policy_digest: str | None
) -> None:
    """Record a round again with other times, and other things said about time.

    `policy_digest` is the policy it names instead; an empty one leaves the round's own.
    """
    at = NOON
    said: list[tuple[EventData, datetime]] = []
    honest = random.random() < 0.5
    for recorded in events:
        data = recorded.event.data
        if recorded.event.at != events[0].event.at or random.random() < 0.1:
            at += timedelta(seconds=random.choice(GAPS))
        if isinstance(data, DecisionOffered) and data.deadline is not None:
            data = replace(data, deadline=format_time(at + timedelta(minutes=20)))
            if not honest and random.random() < 0.2:
                other = random.choice([None, "no time", format_time(at)])
                data = replace(data, deadline=other)
        if isinstance(data, DecisionMade):
            at += timedelta(seconds=random.choice(GAPS))
            if not honest and random.random() < 0.3:
                data = replace(data, actor=random.choice(["system", "staff"]))
        if isinstance(data, RoundOpened) and policy_digest != "":
            data = replace(data, policy_digest=policy_digest)
        said.append((data, at))
        if not isinstance(data, RoundClosed) and random.random() < 0.05:
            kind = random.choice([ConnectionLost, ConnectionRestored])
            said.append((kind(2, None, None), at))
        if not isinstance(data, RoundClosed) and random.random() < 0.05:
            said.append((InputRefused(*random.choice(REFUSALS)), at))
    stream = events[0].event.stream
    for data, moment in said:
        ledger.append((stream, data), at=moment)


@pytest.mark.parametrize("game", ["nba", "zero with a default"])
def test_rounds_told_at_any_times_are_judged_alike(game: str) -> None:
    random = Random(f"times {game}")
    floor = Floor("nba") if game == "nba" else with_zero_default()
    rounds = []
    for _ in range(60):
        live = floor.table().open_round("p-1")
        live.place(STAKES)
        live.deal(STAKES)
        while isinstance(live.due, Decide):
            live.decide(live.due.hand, random.choice(live.offered))
        rounds.append(floor.ledger.events(live.round_id))
    told = new_ledger(HandClock()) if game == "nba" else with_zero_default().ledger
    for number, events in enumerate(rounds):
        _told_anew(told, events, random, {7: None, 8: "00" * 32}.get(number % 10, ""))
    expected = scalar_audit(told)
    assert audit(told, partitions=4).rounds == expected
    met = expected.by_code
    if game == "nba":
        assert {"decision_late", "deadline_wrong"} <= set(met)
    assert "refusal_wrong" in met
    assert "policy_digest_unknown" in met


def _never(*_: object) -> list[object]:
    raise AssertionError("an honest round was not proved sound")


def test_honest_rounds_need_no_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every offer at another moment, so that no deadline is like another."""
    floor, random = Floor("nba"), Random(5)
    for _ in range(40):
        live = floor.table().open_round("p-1")
        live.deal(STAKES)
        while isinstance(live.due, Decide):
            floor.clock.forward(seconds=random.uniform(0.1, 40))
            live.decide(live.due.hand, random.choice(live.offered))

    monkeypatch.setattr("shoeproof.replay.bulk.ranges.judge", _never)
    assert audit(floor.ledger).rounds.closed_rounds == 40


@pytest.mark.parametrize("seconds", [1, 59, 60, 600, 1200, 86_400])
def test_a_time_so_many_seconds_later(seconds: int) -> None:
    for at in ("2026-01-02T23:59:59.999999Z", "2024-02-28T23:50:00.000000Z"):
        assert later(at, seconds) == format_time(parse_time(at) + timedelta(seconds=seconds))
