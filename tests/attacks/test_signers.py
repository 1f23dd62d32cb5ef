"""Attackers who hold keys, or the clock."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from ledger import findings
from ledger.envelope import payload, seal_leaf
from ledger.errors import KeyNotValid
from ledger.events import CardDealt, KeyRevoked
from ledger.keys import parse_vkey
from ledger.ledger import Ledger
from ledger.store import SealedEvent
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
    play,
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
    assert found(scene) == [(CARD + 1, findings.PREV_MISMATCH)]
    assert NOT_WHAT_WAS_SIGNED in found_with_kept(scene)


def test_event_backdated(scene: Scene) -> None:
    with Ledger.open(scene.path) as ledger:
        ledger.append((round_id(1), opened()))
        ledger.append((round_id(1), short_round()[1]), at=datetime(2026, 1, 1, tzinfo=UTC))
    assert found(scene) == [(22, findings.CLOCK_BACKWARDS)]


def test_clock_jumping_back(scene: Scene) -> None:
    """Order is that of `seq` and `prev`; a clock set back is reported and reorders nothing."""
    moments = iter([datetime(2027, 1, 1, tzinfo=UTC) - timedelta(hours=n) for n in range(3)])
    with Ledger.open(scene.path, clock=lambda: next(moments)) as ledger:
        play(ledger, round_id(1), length=3)
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
