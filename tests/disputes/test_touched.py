"""Rounds with the same fault are named: those of one table or build, near in time."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from shoeproof.ledger import Ledger, StoredLeaf
from shoeproof.ledger.errors import UnknownStream
from shoeproof.ledger.leaf.events import BetSettled
from shoeproof.ledger.store.transaction import SealedEvent
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.disputes.similar_rounds import MOST_EACH_WAY
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.disputes.stage import investigate
from tests.replay.helpers import ORIGIN
from tests.replay.lying import changing
from tests.replay.lying_table import AlteringJournal, Lie, truthfully

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SETTINGS = TableSettings(limits={"main": (1, 10_000)}, currency="EUR", table="t-1", build="1.4.2")
OVERPAID = changing(BetSettled, lambda data: msgspec.structs.replace(data, paid_minor=1_234))


class Floor:
    """A ledger whose clock is set, and tables that pay rightly or all the same 12.34."""

    def __init__(self) -> None:
        self.moment = NOON
        self.ledger = Ledger.in_memory(ORIGIN, clock=lambda: self.moment)
        add_published_games(self.ledger)

    def play(self, *, faulty: bool, at: datetime = NOON, settings: TableSettings = SETTINGS) -> str:
        """Play one round and return its id."""
        self.moment = at
        lie = Lie(
            game="nba",
            findings=[],
            choose=lambda state, due: "stand",
            alter=OVERPAID if faulty else lambda: truthfully,
        )
        table = LiveTable(
            self.ledger,
            current_rules(self.ledger, "nba"),
            settings,
            journal=AlteringJournal(self.ledger, lie),
        )
        live = table.open_round("p-1")
        live.deal({"s1": {"main": 100}})
        while isinstance(live.due, Decide):
            live.decide(live.due.hand, "stand" if "stand" in live.offered else "decline")
        return live.round_id


@pytest.fixture
def floor() -> Floor:
    return Floor()


def test_a_fault_at_a_table_names_its_other_rounds(floor: Floor) -> None:
    disputed = floor.play(faulty=True)
    same = [floor.play(faulty=True), floor.play(faulty=True, at=NOON + timedelta(hours=3))]
    floor.play(faulty=False)
    found = investigate(floor.ledger, disputed, "settlement")
    assert found.touched == tuple(sorted(same))
    assert found.lacks[-1].endswith("3 were replayed")


@pytest.mark.parametrize(
    ("settings", "is_touched"),
    [
        ({"table": "t-2"}, True),
        ({"build": "1.4.3"}, True),
        ({"table": "t-2", "build": "1.4.3"}, False),
        ({"table": None, "build": None}, False),
    ],
    ids=["same build", "same table", "neither", "unknown"],
)
def test_what_a_round_must_share(
    floor: Floor, settings: dict[str, str | None], is_touched: bool
) -> None:
    disputed = floor.play(faulty=True)
    other = floor.play(faulty=True, settings=msgspec.structs.replace(SETTINGS, **settings))
    assert investigate(floor.ledger, disputed).touched == ((other,) if is_touched else ())


@pytest.mark.parametrize("hours", [-25, 25])
def test_a_day_before_and_after_is_the_bound(floor: Floor, hours: int) -> None:
    disputed = floor.play(faulty=True)
    floor.play(faulty=True, at=NOON + timedelta(hours=hours))
    assert investigate(floor.ledger, disputed).touched == ()


def test_where_there_are_more_the_nearest_are_read_and_it_is_said(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoeproof.replay.disputes.similar_rounds.MOST_EACH_WAY", 3)
    minutes = [timedelta(minutes=number) for number in range(-5, 6)]
    rounds = [floor.play(faulty=True, at=NOON + each) for each in minutes]
    found = investigate(floor.ledger, rounds[5])
    assert set(found.touched) == set(rounds[2:5]) | set(rounds[6:9])
    assert "further ones were not looked at" in found.lacks[-1]
    assert MOST_EACH_WAY == 100


def test_a_sound_round_touches_no_other(floor: Floor) -> None:
    floor.play(faulty=True)
    sound = floor.play(faulty=False)
    found = investigate(floor.ledger, sound)
    assert found.classes == ("sound",)
    assert found.touched == ()


def test_a_round_the_ledger_does_not_have(floor: Floor) -> None:
    with pytest.raises(UnknownStream, match="nothing in"):
        gather(floor.ledger, "01936f3c-7a10-7d15-9b07-7e0000000099")


def test_a_round_moved_to_another_ledger_shows_nothing(floor: Floor) -> None:
    """Its leaves were signed by other keys, for another origin."""
    round_id = floor.play(faulty=False)
    other = Floor()
    leaves = floor.ledger.store.stream(round_id)
    _copy(leaves, other.ledger)
    found = assess(gather(other.ledger, round_id), "settlement")
    assert found.classes == ("evidence_missing",)
    assert not found.money_may_move
    assert found.governing.name == "refer"
    assert {finding.code for finding in found.findings} == {"key_not_valid"}


def _copy(leaves: list[StoredLeaf], ledger: Ledger) -> None:
    for leaf in leaves:
        ledger.store.append([SealedEvent(leaf.stream, leaf.version, leaf.topic, leaf.state)])
