"""Times that cannot be, to the microsecond on either side of the bound."""

from datetime import UTC, datetime, timedelta

import pytest

from shoeproof.ledger.leaf.clock import format_time
from shoeproof.ledger.verify.times import RoundEnd, TimeBounds, misnamed

BEGAN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NOW = datetime(2026, 7, 1, tzinfo=UTC)
A_DAY, TEN_YEARS = timedelta(days=1), timedelta(days=10 * 366)
A_MOMENT = timedelta.resolution
BOUNDS = TimeBounds.of(format_time(BEGAN), NOW)


def told(bounds: TimeBounds, at: datetime) -> list[str]:
    end = RoundEnd(7, "a round", format_time(at), opens=True)
    return [each.text.partition(", ")[2] for each in bounds.findings([end])]


@pytest.mark.parametrize("at", [BEGAN - A_DAY, BEGAN, NOW, NOW + A_DAY])
def test_a_time_within_what_clocks_may_be_apart(at: datetime) -> None:
    assert told(BOUNDS, at) == []


def test_a_moment_too_early_or_too_late() -> None:
    assert told(BOUNDS, BEGAN - A_DAY - A_MOMENT) == ["before the ledger began"]
    assert told(BOUNDS, NOW + A_DAY + A_MOMENT) == ["which is in the future"]


def test_a_ledger_whose_first_time_cannot_be_read_began_at_any_time() -> None:
    bounds = TimeBounds.of("yesterday", NOW)
    assert bounds.earliest == "0001-01-01T00:00:00.000000Z"
    assert told(bounds, datetime(1, 1, 1, tzinfo=UTC)) == []


@pytest.mark.parametrize("ahead", [1, -1])
def test_an_id_made_as_long_before_or_after_as_may_be_and_a_millisecond_more(ahead: int) -> None:
    made = int(BEGAN.timestamp() * 1_000)
    bare = f"{made:012x}"
    stream = f"{bare[:8]}-{bare[8:]}-7000-8000-000000000000"
    bound, more = BEGAN + ahead * TEN_YEARS, ahead * timedelta(milliseconds=1)
    for at, count in ((bound, 0), (bound + more, 1)):
        assert len(list(misnamed([RoundEnd(7, stream, format_time(at), opens=True)]))) == count
        assert not list(misnamed([RoundEnd(7, stream, format_time(at), opens=False)]))
