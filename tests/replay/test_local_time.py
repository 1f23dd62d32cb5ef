"""What clocks of a zone show, and what they may have meant.

The changes are those of the IANA time zone database: Europe/Malta at 01:00 UTC on 29 March and 25
October 2026, America/New_York at 07:00 UTC on 8 March and 06:00 UTC on 1 November 2026, Australia/
Lord_Howe by half an hour at 15:00 UTC on 4 April 2026, Pacific/Apia from UTC-10 to UTC+14 at 10:00
UTC on 30 December 2011, by which it skipped that day.
"""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from shoeproof.replay.errors import LocalTimeUnclear
from shoeproof.replay.local_time import clock_text, moment_of, zoned_text


@pytest.mark.parametrize(
    ("zone", "local", "utc"),
    [
        ("UTC", "2026-03-29T02:30", "2026-03-29T02:30"),
        ("Europe/Malta", "2026-03-29T01:59:59", "2026-03-29T00:59:59"),
        ("Europe/Malta", "2026-03-29T03:00", "2026-03-29T01:00"),
        ("Europe/Malta", "2026-10-25T01:59:59", "2026-10-24T23:59:59"),
        ("Europe/Malta", "2026-10-25T03:00", "2026-10-25T02:00"),
        ("America/New_York", "2026-03-08T03:00", "2026-03-08T07:00"),
        ("America/New_York", "2026-11-01T02:00", "2026-11-01T07:00"),
        ("Asia/Kolkata", "2026-03-29T00:00", "2026-03-28T18:30"),
        ("Asia/Kathmandu", "2026-03-29T00:00", "2026-03-28T18:15"),
        ("Pacific/Apia", "2011-12-29T23:59", "2011-12-30T09:59"),
        ("Pacific/Apia", "2011-12-31T00:00", "2011-12-30T10:00"),
    ],
)
def test_a_time_shown_once_is_that_moment(zone: str, local: str, utc: str) -> None:
    moment = datetime.fromisoformat(utc).replace(tzinfo=UTC)
    assert moment_of(datetime.fromisoformat(local), ZoneInfo(zone)) == moment
    assert clock_text(moment, ZoneInfo(zone)) == datetime.fromisoformat(local).isoformat(" ")


@pytest.mark.parametrize(
    ("zone", "local", "what", "either", "other"),
    [
        (
            "Europe/Malta", "2026-03-29T02:30", "was skipped",
            "2026-03-29T02:30:00+01:00 (2026-03-29 01:30 UTC)",
            "2026-03-29T02:30:00+02:00 (2026-03-29 00:30 UTC)",
        ),
        (
            "Europe/Malta", "2026-10-25T02:30", "came twice",
            "2026-10-25T02:30:00+02:00 (2026-10-25 00:30 UTC)",
            "2026-10-25T02:30:00+01:00 (2026-10-25 01:30 UTC)",
        ),
        (
            "America/New_York", "2026-03-08T02:00", "was skipped",
            "2026-03-08T02:00:00-05:00 (2026-03-08 07:00 UTC)",
            "2026-03-08T02:00:00-04:00 (2026-03-08 06:00 UTC)",
        ),
        (
            "America/New_York", "2026-11-01T01:59:59", "came twice",
            "2026-11-01T01:59:59-04:00 (2026-11-01 05:59 UTC)",
            "2026-11-01T01:59:59-05:00 (2026-11-01 06:59 UTC)",
        ),
        (
            "Australia/Lord_Howe", "2026-04-05T01:45", "came twice",
            "2026-04-05T01:45:00+11:00 (2026-04-04 14:45 UTC)",
            "2026-04-05T01:45:00+10:30 (2026-04-04 15:15 UTC)",
        ),
        (
            "Pacific/Apia", "2011-12-30T12:00", "was skipped",
            "2011-12-30T12:00:00-10:00 (2011-12-30 22:00 UTC)",
            "2011-12-30T12:00:00+14:00 (2011-12-29 22:00 UTC)",
        ),
    ],
)  # fmt: skip
def test_a_time_skipped_or_shown_twice_is_refused_by_its_moments(
    zone: str, local: str, what: str, either: str, other: str
) -> None:
    with pytest.raises(LocalTimeUnclear) as refused:
        moment_of(datetime.fromisoformat(local), ZoneInfo(zone))
    full = datetime.fromisoformat(local).isoformat()
    assert str(refused.value).startswith(f"{full} {what}")
    assert str(refused.value).endswith(f" the clocks of {zone}: write {either} or {other}")


def test_a_moment_names_the_clocks_it_is_shown_on() -> None:
    malta = ZoneInfo("Europe/Malta")
    for hour, shown in ((0, "02:30:00 CEST"), (1, "02:30:00 CET")):
        at = f"2026-10-25T0{hour}:30:00.000001Z"
        assert zoned_text(at, malta) == f"2026-10-25 {shown}"
    assert zoned_text("2026-10-25T01:30:00.000001Z", UTC) == "2026-10-25 01:30:00 UTC"


@pytest.mark.parametrize("text", ["soon", "9999-12-31T23:59:59.000000Z"])
def test_what_no_clock_of_the_zone_shows_stays_as_it_is(text: str) -> None:
    assert clock_text(text, ZoneInfo("Pacific/Kiritimati")) == text
    assert zoned_text(text, ZoneInfo("Pacific/Kiritimati")) == text
