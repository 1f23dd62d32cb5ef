"""Attackers who hold keys, or the clock."""

from datetime import UTC, datetime

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger import findings
from shoeproof.ledger.errors import KeyNotValid, KeyUnusable, RolesRefused
from shoeproof.ledger.keys.key import FileSigner, parse_vkey
from shoeproof.ledger.leaf.envelope import Event, payload, seal_leaf
from shoeproof.ledger.leaf.events import CardDealt, KeyAdded, KeyRevoked
from shoeproof.ledger.leaf.streams import KEYS_STREAM
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.store.transaction import SealedEvent
from tests.attacks.conftest import Scene
from tests.attacks.helpers import (
    NOT_WHAT_WAS_SIGNED,
    found,
    found_with_kept,
    rebuild_tiles,
)
from tests.ledger.helpers import (
    FIRST,
    ROUND,
    opened,
    round_id,
    short_round,
    tampering,
)

CARD = FIRST + 3


def test_rewrite_by_the_engine_keys_holder(scene: Scene) -> None:
    """What others signed later names what it followed: the engine cannot rewrite before it."""
    with Ledger.open(scene.path) as ledger:
        card = ledger.events(ROUND)[3]
        event = msgspec.structs.replace(card.event, data=CardDealt(0, "s1", "Ad"))
        forged = seal_leaf(payload(event), ledger.signer("engine"))
    with tampering(scene.path) as connection:
        connection.execute(
            "UPDATE stored_events SET state = ? WHERE state = ?", (forged, card.leaf)
        )
        rebuild_tiles(connection)
    assert found(scene) == [(CARD + 1, findings.PREV_MISMATCH), NOT_WHAT_WAS_SIGNED]
    assert NOT_WHAT_WAS_SIGNED in found_with_kept(scene)


def _follow(ledger: Ledger, at: str) -> None:
    """Sign and write one more event of the round by other software, at any time."""
    last = ledger.events(round_id(1))[-1]
    seq, data = last.event.seq + 1, short_round()[last.event.seq + 1]
    event = Event(
        1, ledger.origin, round_id(1), seq, type(data).__name__, at, last.leaf_hash.hex(), data
    )
    leaf = seal_leaf(payload(event), ledger.signer("engine"))
    ledger.store.append([SealedEvent(round_id(1), seq + 1, event.type, leaf)])


def test_event_backdated(scene: Scene) -> None:
    with Ledger.open(scene.path) as ledger:
        ledger.append((round_id(1), opened()))
        _follow(ledger, "2026-01-01T00:00:00.000000Z")
    assert found(scene) == [(22, findings.CLOCK_BACKWARDS)]


def test_clock_jumping_back(scene: Scene) -> None:
    """Order is that of `seq` and `prev`; a clock set back is reported and reorders nothing."""
    with Ledger.open(scene.path, clock=lambda: datetime(2026, 11, 1, tzinfo=UTC)) as ledger:
        ledger.append((round_id(1), opened()))
        _follow(ledger, "2026-10-31T23:00:00.000000Z")
        _follow(ledger, "2026-10-31T22:00:00.000000Z")
    assert found(scene) == [(22, findings.CLOCK_BACKWARDS), (23, findings.CLOCK_BACKWARDS)]


def test_stolen_engine_key_after_its_revocation(scene: Scene) -> None:
    with Ledger.open(scene.path) as ledger:
        stolen = ledger.signer("engine")
        engine = parse_vkey(ledger.public_keys()["engine"])
        ledger.append(("keys", KeyRevoked(engine.name, engine.key_id_hex, 21, "stolen")))
        with pytest.raises(KeyNotValid, match="not trusted from leaf 21 on"):
            ledger.append((round_id(1), opened()))
        event = msgspec.structs.replace(ledger.events(ROUND)[0].event, stream=round_id(1))
        leaf = seal_leaf(payload(event), stolen)
        ledger.store.append([SealedEvent(round_id(1), 1, "RoundOpened", leaf)])
    assert found(scene) == [(22, findings.KEY_NOT_VALID)]


def _add_unasked(ledger: Ledger, key: KeyAdded) -> int:
    """Add a key by other software, which asks nothing, and return the index of its leaf."""
    last = ledger.events(KEYS_STREAM)[-1]
    seq = last.event.seq + 1
    event = msgspec.structs.replace(last.event, seq=seq, prev=last.leaf_hash.hex(), data=key)
    leaf = seal_leaf(payload(event), ledger.signer("operator"))
    index = ledger.size()
    ledger.store.append([SealedEvent(KEYS_STREAM, seq + 1, "KeyAdded", leaf)])
    return index


def test_one_public_key_under_two_names(scene: Scene) -> None:
    """One person would sign as the two whom a decision needs: the second name counts for nobody."""
    with Ledger.open(scene.path) as ledger:
        ann = FileSigner("ann", Ed25519PrivateKey.generate())
        ledger.append((KEYS_STREAM, ann.as_added(["staff"])))
        bob = KeyAdded("bob", ann.as_added([]).public_key, ["staff"])
        with pytest.raises(KeyUnusable, match="the key of bob already belongs to ann"):
            ledger.append((KEYS_STREAM, bob))
        leaf_index = _add_unasked(ledger, bob)
    assert found(scene) == [(leaf_index, findings.KEY_NOT_VALID)]


def test_one_key_for_roles_that_check_each_other(scene: Scene) -> None:
    with Ledger.open(scene.path) as ledger:
        both = FileSigner("both", Ed25519PrivateKey.generate()).as_added(["settlement", "staff"])
        with pytest.raises(RolesRefused, match="settlement and staff"):
            ledger.append((KEYS_STREAM, both))
        leaf_index = _add_unasked(ledger, both)
    assert found(scene) == [(leaf_index, findings.KEY_NOT_VALID)]
