"""Attackers who have the store show another ledger to whoever looks things up than to who reads it.

And what cannot be, whoever signed it.
"""

from pathlib import Path
from random import Random

import pytest

from shoeproof.ledger import findings
from shoeproof.ledger.errors import EventRefused, StoreDamaged
from shoeproof.ledger.leaf.events import AlarmRaised, KeyRevoked, RulesAdded
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.rotation import revoke_key
from shoeproof.ledger.verify.fsck import fsck
from shoeproof.ledger.verify.second_reads import read_again
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.bulk.audit import audit
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.attacks.conftest import Scene
from tests.bulk.ledgers import interleaved
from tests.ledger.helpers import (
    FIRST,
    ORIGIN,
    ROUND,
    TickingClock,
    append_raw,
    digest_of,
    opened,
    play,
    round_id,
    tampering,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger of one round."""
    path = tmp_path / "ledger"
    with Ledger.init(path, ORIGIN, clock=TickingClock()) as ledger:
        play(ledger)
    return path


def codes(path: Path) -> set[tuple[int | None, str]]:
    return {(each.leaf_index, each.code) for each in verify(path).findings}


def hide_in_index(file: Path, version: int) -> None:
    """Alter the one byte by which SQLite's index finds an event of the stream `keys`."""
    data = bytearray(file.read_bytes())
    places = [
        place
        for place in range(len(data))
        if data[place : place + 5] == b"keys" + bytes([version])
        and not data[place + 5 :].startswith((b"Key", b"{"))
    ]
    assert len(places) == 1
    data[places[0] + 2] += 1
    file.write_bytes(data)


def test_an_index_hides_a_revocation(path: Path) -> None:
    """The keys are those that the leaves hold, however they are looked up."""
    with Ledger.open(path) as ledger:
        engine = ledger.signer("engine").key_id_hex
        revoked = revoke_key(ledger, engine, first_untrusted_leaf_index=FIRST)
        ledger.store.query("PRAGMA wal_checkpoint(TRUNCATE)")
    expected = codes(path)
    assert (FIRST, findings.KEY_NOT_VALID) in expected
    hide_in_index(path / "events.sqlite", revoked.event.seq + 1)
    with Ledger.open(path) as ledger:
        assert len(ledger.store.stream("keys")) == 5
        audited = audit(ledger).integrity.findings
        checked = fsck(ledger).findings
    hidden = (revoked.leaf_index, findings.INDEX_MISMATCH)
    assert codes(path) == expected | {hidden}
    assert hidden in {(each.leaf_index, each.code) for each in audited}
    assert findings.DATABASE_DAMAGED in {each.code for each in checked}


def test_a_store_answers_differently_when_it_is_read_again(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(scene.path) as ledger:
        root = verify(ledger).root
        leaves = list(ledger.leaves())
        assert list(read_again(leaves, root)) == leaves
        with pytest.raises(StoreDamaged, match="gave other leaves"):
            list(read_again([leaves[1], leaves[0], *leaves[2:]], root))
    with Ledger.init(tmp_path / "played", ORIGIN) as ledger:
        add_published_games(ledger)
        interleaved(ledger, Random(1), 10)
        fetch = ledger.store.fetch

        def lying(start: int, stop: int) -> list[StoredLeaf]:
            return [leaf._replace(state=leaf.state + b" ") for leaf in fetch(start, stop)]

        monkeypatch.setattr(ledger.store, "fetch", lying)
        # Rounds that go over the end of a range are read again.
        with pytest.raises(StoreDamaged, match="gave other leaves"):
            audit(ledger, partitions=7, workers=1, sample=0)


def test_rules_under_a_false_digest(path: Path) -> None:
    with Ledger.open(path, clock=TickingClock()) as ledger:
        with pytest.raises(EventRefused, match="not the one it names"):
            ledger.append(("rules", RulesAdded("ab" * 32, {"decks": 6})))
        false = RulesAdded(digest_of({"decks": 8}), {"decks": 6})
        append_raw(ledger, false, seq=0, prev=None, stream="rules")
        last = ledger.size() - 1
    assert codes(path) == {(last, findings.DIGEST_MISMATCH)}


def test_a_damaged_leaf_beside_the_rounds_stops_nothing(path: Path) -> None:
    with Ledger.open(path, clock=TickingClock()) as ledger:
        alarm = ledger.append(("operations", AlarmRaised(7, None, "odd")))[0].leaf_index
        play(ledger, round_id(1))
    for column in ("state = x'ff00'", "originator_id = CAST(x'fffe' AS TEXT)"):
        with tampering(path) as connection:
            connection.execute(
                f"UPDATE stored_events SET {column} WHERE event_rowid ="
                " (SELECT event_rowid FROM leaves WHERE leaf_index = ?)", (alarm,)
            )  # fmt: skip
        assert {leaf for leaf, _ in codes(path)} == {alarm}
        with Ledger.open(path) as ledger:
            audited = audit(ledger)
        assert audited.rounds.closed_rounds == 2
        assert alarm in {each.leaf_index for each in audited.integrity.findings} | {
            each.leaf_index for each in audited.rounds.findings
        }


def test_a_leaf_index_out_of_all_proportion(path: Path) -> None:
    """Work is bounded by the rows there are, not by the numbers they claim."""
    with tampering(path) as connection:
        connection.execute(
            "UPDATE leaves SET leaf_index = leaf_index + (1 << 40)"
            " WHERE leaf_index = (SELECT MAX(leaf_index) FROM leaves)"
        )
    assert (FIRST + 7, findings.LEAF_INDEX_GAP) in codes(path)
    with Ledger.open(path) as ledger:
        assert findings.LEAF_INDEX_GAP in {each.code for each in fsck(ledger).findings}
        assert audit(ledger).integrity.findings


@pytest.mark.parametrize("at", ["1999-12-31T23:59:59.000000Z", "2999-01-01T00:00:00.000000Z"])
def test_a_round_of_another_century(path: Path, at: str) -> None:
    with Ledger.open(path, clock=TickingClock()) as ledger:
        append_raw(ledger, opened(), seq=0, prev=None, stream=round_id(1), at=at)
        last = ledger.size() - 1
        audited = {(each.leaf_index, each.code) for each in audit(ledger).integrity.findings}
    assert (last, findings.CLOCK_IMPLAUSIBLE) in audited
    assert codes(path) == {
        (last, findings.CLOCK_IMPLAUSIBLE),
        (last, findings.ID_OF_ANOTHER_TIME),
    }
    assert ROUND[:13] == round_id(1)[:13]


def test_a_revocation_dated_ahead(path: Path) -> None:
    with Ledger.open(path, clock=TickingClock()) as ledger:
        key = ledger.signer("engine")
        ahead = KeyRevoked(key.name, key.key_id_hex, 1_000_000, None)
        leaf = ledger.append(("keys", ahead))[0].leaf_index
    assert codes(path) == {(leaf, findings.KEY_NOT_VALID)}
