"""Whoever holds keys and signs what may not be signed, or signs it wrongly."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger import findings
from shoeproof.ledger.keys.key import FileSigner, parse_vkey
from shoeproof.ledger.leaf.envelope import Event, payload, seal_leaf
from shoeproof.ledger.leaf.events import (
    CardDealt,
    EventData,
    KeyRevoked,
    RoundClosed,
    ServiceStopped,
)
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.store.transaction import SealedEvent
from shoeproof.ledger.verify.whole import verify
from tests.ledger.helpers import (
    FIRST,
    ORIGIN,
    ROUND,
    TickingClock,
    append_raw,
    codes,
    opened,
    play,
)

CARD = CardDealt(1, "s1", "9c")


@dataclass(frozen=True)
class Head:
    """Where the next event of the round stands, and what it follows."""

    seq: int
    prev: str


@pytest.fixture
def ledger() -> Ledger:
    return Ledger.in_memory(ORIGIN, clock=TickingClock())


def head(ledger: Ledger) -> Head:
    last = ledger.events(ROUND)[-1]
    return Head(last.event.seq + 1, last.leaf_hash.hex())


def follow(ledger: Ledger, data: EventData, **wrong: Any) -> list[tuple[int | None, str]]:
    """Append raw data after the round's head, wrong in the ways given, and verify."""
    place = head(ledger)
    append_raw(ledger, data, **{"seq": place.seq, "prev": place.prev, **wrong})
    return codes(verify(ledger))


def change_keys(ledger: Ledger, data: EventData) -> None:
    """Append a change of keys by the operator's signature, though it would be refused."""
    last = ledger.events("keys")[-1]
    name, seq = type(data).__name__, last.event.seq + 1
    moment = "2026-01-02T03:05:00.000000Z"
    event = Event(1, ORIGIN, "keys", seq, name, moment, last.leaf_hash.hex(), data)
    leaf = seal_leaf(payload(event), ledger.signer("operator"))
    ledger.store.append([SealedEvent("keys", seq + 1, name, leaf)])


def test_what_follows_rightly_has_no_findings(ledger: Ledger) -> None:
    play(ledger, length=3)
    assert follow(ledger, CARD) == []


def test_key_without_the_role(ledger: Ledger) -> None:
    play(ledger, length=3)
    assert follow(ledger, CARD, role="settlement") == [(FIRST + 3, findings.KEY_NOT_VALID)]


def test_payload_not_canonical_though_rightly_signed(ledger: Ledger) -> None:
    play(ledger, length=3)
    place = head(ledger)
    event = Event(
        1, ORIGIN, ROUND, place.seq, "CardDealt", "2026-01-02T03:05:00.000000Z", place.prev, CARD
    )
    spaced = payload(event).replace(b":", b": ", 1)
    found = follow(ledger, CARD, text=spaced)
    assert found == [(FIRST + 3, findings.NOT_CANONICAL)]


def test_field_that_no_event_has(ledger: Ledger) -> None:
    play(ledger, length=3)
    assert follow(ledger, CARD, text=b'{"v":1}') == [(FIRST + 3, findings.EVENT_UNREADABLE)]


def test_event_signed_for_another_ledger(ledger: Ledger) -> None:
    play(ledger, length=3)
    found = follow(ledger, CARD, origin="other.example")
    assert found == [(FIRST + 3, findings.STREAM_MISMATCH)]


def test_clock_backwards(ledger: Ledger) -> None:
    play(ledger, length=3)
    found = follow(ledger, CARD, at="2026-01-02T03:04:04.000000Z")
    assert found == [(FIRST + 3, findings.CLOCK_BACKWARDS)]


def test_event_left_out(ledger: Ledger) -> None:
    play(ledger, length=3)
    assert follow(ledger, CARD, seq=4) == [(FIRST + 3, findings.SEQ_GAP)]


def test_event_that_names_another_before_it(ledger: Ledger) -> None:
    play(ledger, length=3)
    assert follow(ledger, CARD, prev="0" * 64) == [(FIRST + 3, findings.PREV_MISMATCH)]


def test_stream_that_does_not_begin_at_its_beginning(ledger: Ledger) -> None:
    append_raw(ledger, CARD, seq=3, prev="0" * 64)
    assert codes(verify(ledger)) == [(FIRST, findings.SEQ_GAP)]


def test_event_after_close(ledger: Ledger) -> None:
    play(ledger)
    assert follow(ledger, CARD) == [(FIRST + 8, findings.EVENT_AFTER_CLOSE)]


def test_event_long_after_close(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the round was closed in a run of leaves scanned, and forgotten, before."""
    monkeypatch.setattr("shoeproof.ledger.verify.whole.RUN", 2)
    play(ledger)
    ledger.append(("operations", ServiceStopped(3, None, None)))
    assert follow(ledger, CARD) == [(FIRST + 9, findings.EVENT_AFTER_CLOSE)]


def test_round_closed_twice(ledger: Ledger) -> None:
    play(ledger)
    found = follow(ledger, RoundClosed(100, 200))
    assert found == [(FIRST + 8, findings.EVENT_AFTER_CLOSE)]


def test_key_from_nowhere(ledger: Ledger) -> None:
    play(ledger, length=3)
    stranger = FileSigner("engine.stranger", Ed25519PrivateKey.generate())
    place = head(ledger)
    event = Event(
        1, ORIGIN, ROUND, place.seq, "CardDealt", "2026-01-02T03:05:00.000000Z", place.prev, CARD
    )
    leaf = seal_leaf(payload(event), stranger)
    ledger.store.append([SealedEvent(ROUND, place.seq + 1, "CardDealt", leaf)])
    assert codes(verify(ledger)) == [(FIRST + 3, findings.KEY_NOT_VALID)]


def test_revoked_key_signs_nothing_from_the_leaf_named_on(ledger: Ledger) -> None:
    play(ledger, length=6)
    engine = parse_vkey(ledger.public_keys()["engine"])
    ledger.append(("keys", KeyRevoked(engine.name, engine.key_id_hex, FIRST + 3, "stolen")))
    assert codes(verify(ledger)) == [
        (FIRST + 3, findings.KEY_NOT_VALID),
        (FIRST + 4, findings.KEY_NOT_VALID),
    ]


def test_key_added_by_a_key_revoked_before_is_not_valid(ledger: Ledger) -> None:
    operator = parse_vkey(ledger.public_keys()["operator"])
    late = FileSigner("engine.late", Ed25519PrivateKey.generate())
    ledger.append(("keys", late.as_added(["engine"])))
    change_keys(ledger, KeyRevoked(operator.name, operator.key_id_hex, FIRST, None))
    event = Event(1, ORIGIN, ROUND, 0, "RoundOpened", "2026-01-02T03:05:00.000000Z", None, opened())
    leaf = seal_leaf(payload(event), late)
    ledger.store.append([SealedEvent(ROUND, 1, "RoundOpened", leaf)])
    assert codes(verify(ledger)) == [
        (FIRST, findings.KEY_NOT_VALID),
        (FIRST + 1, findings.KEY_NOT_VALID),
        (FIRST + 2, findings.KEY_NOT_VALID),
    ]


def test_whole_ledger_forged_is_seen_with_the_key_handed_over(played: Path, tmp_path: Path) -> None:
    with Ledger.init(tmp_path / "forged", ORIGIN, clock=TickingClock()) as forged:
        play(forged)
        own_key = forged.public_keys()["operator"]
    with Ledger.open(played) as ledger:
        handed_over = ledger.public_keys()["operator"]
    assert codes(verify(tmp_path / "forged")) == []
    assert codes(verify(tmp_path / "forged", public_key=own_key)) == []
    found = codes(verify(tmp_path / "forged", public_key=handed_over))
    assert found == [(0, findings.KEY_NOT_VALID)]


def test_key_added_with_an_id_already_there_is_refused_by_verification(ledger: Ledger) -> None:
    change_keys(ledger, ledger.events("keys")[1].event.data)
    assert codes(verify(ledger)) == [(FIRST, findings.KEY_NOT_VALID)]
