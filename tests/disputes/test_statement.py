"""A wallet's statement: what is read, what is refused, and what the ledger does not explain."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from shoeproof.ledger.leaf.clock import format_time
from shoeproof.replay.disputes.complaints.statement import StatementLine, compare, read_statement
from shoeproof.replay.disputes.complaints.wallet import PlayerMovement
from shoeproof.replay.errors import DisputeRefused

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
MALTA = ZoneInfo("Europe/Malta")


def at(minutes: float) -> str:
    return format_time(NOON + timedelta(minutes=minutes))


def moved(minutes: float, minor: int, name: str | None = None) -> PlayerMovement:
    return PlayerMovement("r", 7, at(minutes), "EUR", minor, name is not None, name, None)


def line(
    minutes: float, amount: str, name: str | None = None, balance: str | None = None
) -> StatementLine:
    known = None if balance is None else Decimal(balance)
    return StatementLine(2, at(minutes), Decimal(amount), name, known)


PLAIN = "Time,Amount,Reference,Balance\n2026-01-31T13:00:00,-10.00,tx-1,90.00\n"


@pytest.mark.parametrize(
    "content",
    [
        PLAIN.encode(),
        b"\xef\xbb\xbf" + PLAIN.encode(),
        PLAIN.encode("utf-16"),
        PLAIN.replace(",", ";").replace("\n", "\r\n").encode(),
        PLAIN.replace(",", "\t").replace("Reference", "transaction_id").encode(),
        PLAIN.replace("13:00:00", "12:00:00Z").encode() + b"\n ,,,\n",
    ],
)
def test_statements_as_programs_write_them(content: bytes) -> None:
    (read,) = read_statement(content, "wallet.csv", MALTA)
    assert read == line(0, "-10.00", "tx-1", "90.00")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "wallet.csv has no column 'time'"),
        (b"time,sum\n", "wallet.csv has no column 'amount'"),
        (b"time,amount\n", "wallet.csv has no movements"),
        (b"time,amount\nsoon,1\n", "wallet.csv, line 2: 'soon' is not a time"),
        (b"time,amount\n2026-01-31,ten\n", "wallet.csv, line 2: 'ten' is not an amount"),
        (b"time,amount\n2026-01-31,1e99\n", "'1e99' is not an amount"),
        (b'time,amount\n2026-01-31,"12,50"\n', "'12,50' is not an amount; write it like -12.50"),
        (b"time,amount\n2026-01-31\n", "'' is not an amount"),
        (b"\x89PNG\r\n\x1a\n\xff", "wallet.csv is not text in UTF-8 or UTF-16"),
        (b"time,amount\n\0\n", "wallet.csv holds binary data"),
        (b"time,amount\n0001-01-01T00:00+14:00,1\n", "is out of range"),
    ],
)
def test_what_is_no_statement_is_refused_with_its_place(content: bytes, message: str) -> None:
    with pytest.raises(DisputeRefused, match=re.escape(message)):
        read_statement(content, "wallet.csv", MALTA)


def test_a_time_without_a_zone_names_no_moment() -> None:
    with pytest.raises(DisputeRefused, match="line 2: '2026-01-31T13:00:00' has no time zone"):
        read_statement(PLAIN.encode(), "wallet.csv", None)


@pytest.mark.parametrize(
    ("time", "message"),
    [
        (
            "2026-03-29T02:30",
            "2026-03-29T02:30:00 was skipped by the clocks of Europe/Malta: write "
            "2026-03-29T02:30:00+01:00 (2026-03-29 01:30 UTC) or "
            "2026-03-29T02:30:00+02:00 (2026-03-29 00:30 UTC), with its offset",
        ),
        (
            "2026-10-25T02:30",
            "2026-10-25T02:30:00 came twice on the clocks of Europe/Malta: write "
            "2026-10-25T02:30:00+02:00 (2026-10-25 00:30 UTC) or "
            "2026-10-25T02:30:00+01:00 (2026-10-25 01:30 UTC), with its offset",
        ),
    ],
)
def test_a_time_that_clocks_skipped_or_showed_twice_is_not_guessed(time: str, message: str) -> None:
    content = f"time,amount\n2026-01-31T13:00,-1\n{time},-2\n".encode()
    with pytest.raises(DisputeRefused, match=re.escape(f"wallet.csv, line 3: {message}")):
        read_statement(content, "wallet.csv", MALTA)
    with_offset = content.replace(time.encode(), time.encode() + b"+01:00")
    assert read_statement(with_offset, "wallet.csv", MALTA)[1].at.startswith(f"{time[:10]}T01:30")


def test_a_movement_is_known_by_its_reference_or_by_amount_and_time() -> None:
    ledger = [moved(0, -1_000, "tx-1"), moved(5, -1_000), moved(6, 2_000)]
    lines = [line(1, "-10", "tx-1"), line(5.5, "-10.00"), line(6, "20"), line(7, "-30", "tx-9")]
    found = compare(lines, ledger)
    assert found.without_round == (lines[3],)
    assert (found.differing, found.not_stated) == ((), ())


def test_one_movement_of_the_ledger_explains_one_of_the_statement() -> None:
    lines = [line(0, "-10"), line(1, "-10")]
    assert compare(lines, [moved(0, -1_000)]).without_round == (lines[1],)


def test_the_same_amount_hours_later_is_another_movement() -> None:
    lines = [line(0, "-10")]
    found = compare(lines, [moved(180, -1_000)])
    assert found.without_round == tuple(lines)
    assert found.not_stated == ()


def test_another_amount_under_one_reference_is_named() -> None:
    found = compare([line(0, "-12", "tx-1")], [moved(0, -1_000, "tx-1")])
    assert (len(found.differing), found.without_round) == (1, ())


def test_a_movement_that_the_statement_lacks() -> None:
    ledger = [moved(0, -1_000), moved(1, 500), moved(9, -1_000)]
    found = compare([line(0, "-10"), line(2, "7")], ledger)
    assert found.not_stated == (ledger[1],)


def test_a_balance_that_does_not_follow_in_the_statement_itself() -> None:
    lines = [line(0, "-10", None, "90"), line(1, "5", None, "95"), line(2, "5", None, "105")]
    assert compare(lines, []).not_following == (lines[2],)
