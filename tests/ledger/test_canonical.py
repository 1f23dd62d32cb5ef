"""Canonical JSON, against an independent implementation of RFC 8785, and times."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from shoeproof.ledger.leaf.canonical import LARGEST_INTEGER, decode, encode, is_canonical
from shoeproof.ledger.leaf.clock import format_time, parse_time
from shoeproof.ledger.leaf.events import DecisionMade

TEXT = st.text(st.characters(codec="utf-8"))
DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-LARGEST_INTEGER, LARGEST_INTEGER)
    | TEXT
    | st.from_regex(r"[:,]-?\d{14,18}(\.\d)?[,}]", fullmatch=True),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(max_codepoint=127)), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(DATA)
def test_encoding_equals_rfc_8785(value: Any) -> None:
    payload = encode(value)
    assert payload == rfc8785.dumps(value)
    assert is_canonical(payload)
    assert decode(payload) == value


@given(DATA, st.randoms(use_true_random=False))
def test_only_the_canonical_form_is_canonical(value: Any, random: object) -> None:
    spaced = json.dumps(value, ensure_ascii=False).encode()
    assert is_canonical(spaced) == (spaced == rfc8785.dumps(value))


@pytest.mark.parametrize(
    "payload",
    [
        b"1.5",
        b'{"a":1.0}',
        b"[1e3]",
        b"[-0]",
        b"NaN",
        b"[1E400]",
        b'{"a":1,"a":1}',
        b'{"a":1,"a":2}',
        b'{"b":1,"a":2}',
        b'{"a": 1}',
        b"[9007199254740992]",
        b"[-9007199254740992]",
        b"[123456789012345678901234567890]",
        b'{"\xc3\xa9":1}',
        b'"\xff"',
        b'"\\u0041"',
        b'"\\ud800"',
        b"[" * 100_000,
        b"",
        b"{} ",
    ],
)
def test_bytes_that_are_not_canonical(payload: bytes) -> None:
    assert not is_canonical(payload)


@pytest.mark.parametrize(
    "value",
    [1.0, float("nan"), 2**53, -(2**53), {"é": 1}, {1: 2}, {"a": [b"x"]}, "\ud800", object()],
)
def test_value_that_has_no_canonical_form(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        encode(value)


@pytest.mark.parametrize("amount", [2**53, 2**70, 0.5])
def test_event_that_has_no_canonical_form(amount: int) -> None:
    with pytest.raises(ValueError, match=r"."):
        encode(DecisionMade("s1", "double", "player", None, amount, None))


@given(st.datetimes(min_value=datetime(1970, 1, 1), timezones=st.just(UTC)))
def test_time_survives_its_text_and_sorts_like_it(moment: datetime) -> None:
    text = format_time(moment)
    assert parse_time(text) == moment
    later = moment.replace(year=min(moment.year, 9998)) + timedelta(microseconds=1)
    if later > moment:
        assert format_time(later) > text


def test_time_of_another_zone_is_written_in_utc() -> None:
    moment = datetime(2026, 1, 2, 5, 4, 5, tzinfo=timezone(timedelta(hours=2)))
    assert format_time(moment) == "2026-01-02T03:04:05.000000Z"
    with pytest.raises(ValueError, match="zone"):
        format_time(moment.replace(tzinfo=None))


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05.000001+00:00",
        "2026-01-02 03:04:05.000001Z",
        "2026-13-02T03:04:05.000001Z",
        "2026-01-02T03:04:60.000001Z",
        "2026-01-02T03:04:05.000001Z\n",
        "٢026-01-02T03:04:05.000001Z",
    ],
)
def test_time_in_a_form_no_ledger_has(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_time(text)
