"""`dispute list` shows what verified leaves say, and tells where leaves are missing or moved."""

import json

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.replay.cases.case import dispute_stream
from tests.cli.conftest import Shoeproof
from tests.cli.test_dispute import Place, call, made, opened, place
from tests.ledger.helpers import tampering

__all__ = ["call", "made", "place"]


def decided_and_another_opened(call: Shoeproof, place: Place) -> str:
    """A case that was decided, and an open one after it."""
    case = opened(call, place.underpaid)
    assert call("pay", case, "--key", "ann", "--yes").code == 0
    opened(call, place.lost)
    return case


def remove_since_the_decision(place: Place) -> None:
    """Remove the decision about the underpaid round and what it paid, as though never made."""
    with tampering(place.path) as database:
        found = "SELECT event_rowid FROM stored_events WHERE originator_id = ? AND topic IN (?, ?)"
        names = (dispute_stream(place.underpaid), "DisputeDecided", "BetResettled")
        rows = [row for (row,) in database.execute(found, names).fetchall()]
        assert len(rows) == 2
        for row in rows:
            for table in ("leaves", "stored_events"):
                database.execute(f"DELETE FROM {table} WHERE event_rowid = ?", (row,))


def test_a_sound_list_ends_with_nothing_in_doubt(call: Shoeproof, place: Place) -> None:
    case = decided_and_another_opened(call, place)
    result = call("list", "--all", "--json")
    told = json.loads(result.out)
    assert (result.code, told["not_verified"], told["doubts"]) == (0, [], [])
    assert [row["case"] for row in told["cases"]] == [f"{place.lost}.1", case]


def test_a_decision_that_is_missing_is_told(call: Shoeproof, place: Place) -> None:
    decided_and_another_opened(call, place)
    remove_since_the_decision(place)
    result = call("list")
    assert result.code == 3
    assert "Leaves of this ledger are missing: a case may be shown without its" in result.out
    told = json.loads(call("list", "--json").out)
    assert told["doubts"] == ["leaves of this ledger are missing"]


def test_a_tail_that_is_gone_is_told(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.underpaid)
    assert call("pay", case, "--key", "ann", "--yes").code == 0
    with Ledger.open(place.path) as ledger:
        sign_checkpoint(ledger)
    remove_since_the_decision(place)
    result = call("list")
    assert result.code == 3
    assert "its tail is gone: a case may be shown" in " ".join(result.out.split())


@pytest.mark.parametrize("to", ["lost", "open"])
def test_a_decision_moved_to_another_round_hides_both(
    call: Shoeproof, place: Place, to: str
) -> None:
    decided_and_another_opened(call, place)
    other = getattr(place, to)
    with tampering(place.path) as database:
        moved = "UPDATE stored_events SET originator_id = ?, originator_version = ? WHERE "
        which = "originator_id = ? AND topic = 'DisputeDecided'"
        database.execute(moved + which, (dispute_stream(other), 2, dispute_stream(place.underpaid)))
    result = call("list", "--all", "--json")
    told = json.loads(result.out)
    assert result.code == 3
    assert set(told["not_verified"]) == {place.underpaid, other}
    assert all(row["round"] not in (place.underpaid, other) for row in told["cases"])


def test_a_case_whose_opening_is_called_otherwise_is_not_passed_over(
    call: Shoeproof, place: Place
) -> None:
    opened(call, place.lost)
    with tampering(place.path) as database:
        database.execute(
            "UPDATE stored_events SET topic = 'RulesAdded' WHERE originator_id = ?",
            (dispute_stream(place.lost),),
        )
    result = call("list", "--json")
    assert (result.code, json.loads(result.out)["not_verified"]) == (3, [place.lost])
