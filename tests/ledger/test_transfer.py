"""Leaves as a stream: a second game server's rounds come in, and nothing else does."""

import shutil
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger.errors import ImportRefused
from shoeproof.ledger.exchange.leaf_stream import read_stream, write_stream
from shoeproof.ledger.exchange.transfer import Imported, export_leaves, import_leaves
from shoeproof.ledger.keys.key import FileSigner, PublicKey, write_key
from shoeproof.ledger.leaf.events import CardDealt
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.rotation import add_key
from shoeproof.ledger.verify.whole import verify
from tests.ledger.helpers import (
    ORIGIN,
    OTHER_ROUND,
    ROUND,
    TickingClock,
    append_raw,
    play,
    round_id,
    short_round,
)


def exported(ledger: Ledger) -> bytes:
    return b"".join(export_leaves(ledger))


@pytest.fixture
def second(ledger: Ledger, tmp_path: Path) -> Ledger:
    """A second game server: a copy of the ledger, with an engine key of its own, added there."""
    assert ledger.path is not None
    key = Ed25519PrivateKey.generate()
    signer = FileSigner("engine-2.example", key)
    add_key(ledger, PublicKey(signer.name, signer.public_key), ["engine"])
    path = Path(shutil.copytree(ledger.path, tmp_path / "second"))
    (path / "keys" / "engine.pem").unlink()
    write_key(path / "keys" / "engine.pem", key, None)
    settings = path / "ledger.toml"
    settings.write_text(f"{settings.read_text()}copied_at = {ledger.size()}\n")
    return Ledger.open(path, clock=TickingClock())


def test_a_second_servers_rounds_come_in(ledger: Ledger, second: Ledger) -> None:
    play(ledger)
    play(second, OTHER_ROUND)
    play(second, round_id(1), length=3)
    before = ledger.size()
    data = exported(second)
    assert import_leaves(ledger, BytesIO(data)) == Imported(11, 6)
    assert verify(ledger).findings == []
    assert [each.leaf for each in ledger.events(OTHER_ROUND)] == [
        each.leaf for each in second.events(OTHER_ROUND)
    ]
    assert {row.round for row in ledger.rounds()} == {ROUND, OTHER_ROUND, round_id(1)}
    assert import_leaves(ledger, BytesIO(data)) == Imported(0, 17)
    assert ledger.size() == before + 11


def test_a_second_server_that_does_not_say_where_it_was_copied(
    ledger: Ledger, second: Ledger
) -> None:
    assert second.path is not None
    settings = second.path / "ledger.toml"
    settings.write_text(settings.read_text().partition("copied_at")[0])
    with Ledger.open(second.path, clock=TickingClock()) as forgetful:
        play(ledger)
        play(forgetful, OTHER_ROUND)
        with pytest.raises(ImportRefused, match=r"had seen another tree of 13 leaves.*copied_at"):
            import_leaves(ledger, BytesIO(exported(forgetful)))


def test_a_round_that_went_on_comes_in_later(ledger: Ledger, second: Ledger) -> None:
    play(second, OTHER_ROUND, length=3)
    import_leaves(ledger, BytesIO(exported(second)))
    second.append(*((OTHER_ROUND, data) for data in short_round()[3:]))
    assert import_leaves(ledger, BytesIO(exported(second))).added == 5
    assert verify(ledger).findings == []


def test_two_servers_with_one_round_between_them(ledger: Ledger, second: Ledger) -> None:
    play(ledger, length=2)
    play(second, length=3)
    with pytest.raises(ImportRefused, match="another event stands in its place"):
        import_leaves(ledger, BytesIO(exported(second)))


def ended_anew(leaves: Iterable[bytes]) -> bytes:
    """Leaves as a stream whose end is of them, as whoever alters them can make it."""
    return b"".join(write_stream(ORIGIN, leaves))


def edit(data: bytes) -> bytes:
    return ended_anew(leaf.replace(b'"Td"', b'"Ad"') for leaf in read_stream(BytesIO(data)))


def cut(data: bytes) -> bytes:
    return data[: data.rindex(b"\n\0\0")]


def left_out(data: bytes) -> bytes:
    """Without the leaf of the card."""
    leaves = read_stream(BytesIO(data))
    return ended_anew(leaf for leaf in leaves if b'"type":"CardDealt"' not in leaf)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (edit, "signature_invalid"),
        (cut, "ends in the middle of a leaf; 0 leaves"),
        (left_out, "seq_gap"),
    ],
)
def test_stream_altered_on_its_way(
    ledger: Ledger, second: Ledger, fault: Callable[[bytes], bytes], reason: str
) -> None:
    play(second)
    before = ledger.size()
    with pytest.raises(ImportRefused, match=reason):
        import_leaves(ledger, BytesIO(fault(exported(second))))
    assert ledger.size() == before


def test_batches_before_the_bad_one_are_kept_and_nothing_of_it(
    ledger: Ledger, second: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoeproof.ledger.exchange.transfer.BATCH", 10)
    play(second, ROUND)
    play(second, OTHER_ROUND)
    before = ledger.size()
    data = exported(second)
    *leaves, last = read_stream(BytesIO(data))
    bad = ended_anew([*leaves, last.replace(b'"total', b'"Total')])
    assert bad != data
    with pytest.raises(
        ImportRefused, match="nothing from leaf 20 on was imported, and 14 leaves before it were"
    ):
        import_leaves(ledger, BytesIO(bad))
    assert ledger.size() == before + 14
    assert import_leaves(ledger, BytesIO(data)) == Imported(2, 20)


def test_key_the_operator_never_added(ledger: Ledger, second: Ledger, tmp_path: Path) -> None:
    with Ledger.init(tmp_path / "stranger", ORIGIN, clock=TickingClock()) as stranger:
        play(stranger)
        leaves = [leaf.state for leaf in stranger.leaves()]
    for first, reason in ((0, "another event"), (5, "key_not_valid")):
        with pytest.raises(ImportRefused, match=reason):
            import_leaves(ledger, BytesIO(b"".join(write_stream(ORIGIN, leaves[first:]))))


def test_leaf_of_another_origin(ledger: Ledger, second: Ledger) -> None:
    play(second, length=3)
    last = second.events(ROUND)[-1]
    append_raw(
        second, CardDealt(0, "s1", "Td"), seq=3, prev=last.leaf_hash.hex(), origin="other.example"
    )
    with pytest.raises(ImportRefused, match=r"signed for the ledger other\.example"):
        import_leaves(ledger, BytesIO(exported(second)))


def test_keys_are_never_imported(ledger: Ledger, second: Ledger) -> None:
    key = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    add_key(second, PublicKey("engine-3.example", key), ["engine"])
    with pytest.raises(ImportRefused, match="keys are added by the operator here"):
        import_leaves(ledger, BytesIO(exported(second)))


def test_closed_round_that_goes_on_elsewhere(ledger: Ledger, second: Ledger) -> None:
    play(second)
    last = second.events(ROUND)[-1]
    append_raw(second, CardDealt(0, "s1", "Td"), seq=8, prev=last.leaf_hash.hex())
    with pytest.raises(ImportRefused, match="event_after_close"):
        import_leaves(ledger, BytesIO(exported(second)))
