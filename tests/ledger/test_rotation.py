"""Keys that come, go, and are taken from those who hold them."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger import findings
from shoeproof.ledger.checkpoint.note import NoteKey
from shoeproof.ledger.checkpoint.signed import log_keys, verify_checkpoint
from shoeproof.ledger.errors import KeyNotValid, KeyUnusable, StoreUnavailable
from shoeproof.ledger.keys.key import FileSigner, PublicKey, parse_vkey, read_key
from shoeproof.ledger.leaf.events import (
    CardDealt,
    KeyAdded,
    KeyRevoked,
    Role,
    RoundVoided,
    RulesAdded,
)
from shoeproof.ledger.leaf.layout import claimed_key_id
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.rotation import add_key, new_key, revoke_key, rotate_key
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.verify.whole import verify
from tests.ledger.helpers import (
    FIRST,
    ORIGIN,
    OTHER_ROUND,
    ROUND,
    TickingClock,
    codes,
    digest_of,
    opened,
    play,
    short_round,
)

CARD = CardDealt(0, "s1", "Td")


def key_of(ledger: Ledger, role: Role) -> PublicKey:
    return parse_vkey(ledger.public_keys()[role])


def test_rotated_key_signs_from_the_leaf_after_it(ledger: Ledger) -> None:
    play(ledger, length=3)
    old = key_of(ledger, "engine")
    rotated = rotate_key(ledger, "engine")
    assert (rotated.key.name, rotated.old_key_id_hex) == (old.name, old.key_id_hex)
    [card] = ledger.append((ROUND, CARD))
    assert rotated.key.key_id_hex.encode() in card.leaf
    assert key_of(ledger, "engine") == rotated.key
    assert verify(ledger, public_key=ledger.public_keys()["operator"]).findings == []


def test_old_private_key_is_kept_beside_the_new_one(ledger: Ledger) -> None:
    assert ledger.path is not None
    before = (ledger.path / "keys" / "staff.pem").read_bytes()
    old = key_of(ledger, "staff")
    rotate_key(ledger, "staff")
    assert (ledger.path / "keys" / f"staff-{old.key_id_hex}.pem").read_bytes() == before
    names = sorted(each.name for each in (ledger.path / "keys").glob("staff*"))
    assert names == [f"staff-{old.key_id_hex}.pem", "staff.pem"]
    assert {each.stat().st_mode & 0o777 for each in (ledger.path / "keys").iterdir()} == {0o600}


def test_rotated_key_is_encrypted_as_the_others_are(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    with Ledger.init(path, ORIGIN, passphrase=b"right") as ledger:
        rotate_key(ledger, "engine", b"right")
    with pytest.raises(KeyUnusable, match="passphrase"):
        read_key(path / "keys" / "engine.pem", b"wrong")
    with Ledger.open(path, passphrase=b"right") as ledger:
        ledger.append((ROUND, opened()))


def test_running_server_signs_with_the_key_it_was_rotated_to(ledger: Ledger) -> None:
    assert ledger.path is not None
    play(ledger, length=3)
    with Ledger.open(ledger.path) as other:
        rotated = rotate_key(other, "engine")
        assert rotated.old_key_id_hex is not None
        revoke_key(other, rotated.old_key_id_hex, reason="rotated")
    recorded = ledger.append((ROUND, CARD))[0]
    assert claimed_key_id(recorded.leaf) == rotated.key.key_id_hex
    assert verify(ledger).findings == []


def test_process_with_a_key_of_its_own_is_refused_once_it_is_revoked(ledger: Ledger) -> None:
    play(ledger, length=3)
    signer = ledger.signer("engine")
    ledger.sign_with("engine", signer)
    revoke_key(ledger, signer.key_id_hex, reason="stolen")
    with pytest.raises(KeyNotValid, match="not trusted from leaf"):
        ledger.append((ROUND, CARD))
    assert verify(ledger).findings == []


def test_rotation_broken_off_leaves_a_ledger_that_works(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ledger.path is not None

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", fail)
        with pytest.raises(KeyUnusable, match="No space left"):
            rotate_key(ledger, "engine")
    with Ledger.open(ledger.path) as reopened:
        reopened.append((ROUND, opened()))
        rotate_key(reopened, "engine")
        reopened.append((ROUND, short_round()[1]))
    assert verify(ledger).findings == []


def test_rotation_that_is_not_recorded_leaves_no_file(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ledger.path is not None

    def fail(*_: object) -> None:
        raise StoreUnavailable("the disk is full")

    before = sorted((ledger.path / "keys").iterdir())
    with monkeypatch.context() as patch:
        patch.setattr(ledger.store, "write", fail)
        with pytest.raises(StoreUnavailable):
            rotate_key(ledger, "engine")
    assert sorted((ledger.path / "keys").iterdir()) == before


def test_operator_key_is_rotated_and_the_old_one_revoked_by_the_new(ledger: Ledger) -> None:
    anchor = ledger.public_keys()["operator"]
    rotated = rotate_key(ledger, "operator")
    assert rotated.old_key_id_hex is not None
    revoke_key(ledger, rotated.old_key_id_hex)
    rotate_key(ledger, "engine")
    play(ledger)
    assert verify(ledger, public_key=anchor).findings == []


def test_operator_key_cannot_revoke_itself(ledger: Ledger) -> None:
    with pytest.raises(KeyNotValid, match="not trusted"):
        revoke_key(ledger, key_of(ledger, "operator").key_id_hex)
    assert ledger.size() == FIRST


def test_stolen_key_signs_nothing_after_its_revocation(ledger: Ledger) -> None:
    """Neither through the ledger nor past it, and what it signed before the theft still stands."""
    play(ledger, length=3)
    stolen = ledger.signer("engine")
    revoke_key(ledger, stolen.key_id_hex, reason="stolen")
    with pytest.raises(KeyNotValid, match="not trusted"):
        ledger.append((OTHER_ROUND, opened()))
    assert verify(ledger).findings == []


def test_revocation_reaches_into_the_past(ledger: Ledger) -> None:
    play(ledger, length=4)
    engine = key_of(ledger, "engine")
    revoke_key(ledger, engine.key_id_hex, first_untrusted_leaf_index=FIRST + 2)
    assert codes(verify(ledger)) == [
        (FIRST + 2, findings.KEY_NOT_VALID),
        (FIRST + 3, findings.KEY_NOT_VALID),
    ]


def test_second_servers_key_is_added_and_signs(ledger: Ledger, tmp_path: Path) -> None:
    assert ledger.path is not None
    key = Ed25519PrivateKey.generate()
    server = FileSigner("engine-2.ledger.example", key)
    with Ledger.open(ledger.path) as second:
        second.sign_with("engine", server)
        with pytest.raises(KeyNotValid, match="never added"):
            second.append((ROUND, opened()))
        add_key(ledger, PublicKey(server.name, server.public_key), ["engine"])
        second.append((ROUND, opened()))
    play(ledger, OTHER_ROUND)
    assert verify(ledger).findings == []


class Module:
    """A signer that keeps its key to itself, as a hardware module does."""

    def __init__(self) -> None:
        key = Ed25519PrivateKey.generate()
        public = PublicKey("module.ledger.example", key.public_key().public_bytes_raw())
        self.name, self.public_key = public
        self.key_id_hex = public.key_id_hex
        self.asked: list[bytes] = []
        self._sign = key.sign

    def sign(self, message: bytes) -> bytes:
        self.asked.append(message)
        return self._sign(message)


def test_hardware_module_signs_in_place_of_a_file(ledger: Ledger) -> None:
    assert ledger.path is not None
    module = Module()
    add_key(ledger, PublicKey(module.name, module.public_key), ["settlement"])
    (ledger.path / "keys" / "settlement.pem").unlink()
    with Ledger.open(ledger.path) as opened_again:
        opened_again.sign_with("settlement", module)
        play(opened_again)
    assert len(module.asked) == 3
    assert verify(ledger).findings == []


def test_key_with_the_wrong_role_is_refused(ledger: Ledger) -> None:
    ledger.sign_with("engine", ledger.signer("staff"))
    with pytest.raises(KeyNotValid, match="not engine"):
        ledger.append((ROUND, opened()))


def test_key_added_by_a_key_that_is_not_the_operators_is_refused(ledger: Ledger) -> None:
    ledger.sign_with("operator", ledger.signer("engine"))
    stranger = FileSigner("staff-2.ledger.example", Ed25519PrivateKey.generate())
    with pytest.raises(KeyNotValid, match="not operator"):
        ledger.append(("keys", stranger.as_added(["staff"])))
    with pytest.raises(KeyNotValid, match="not operator"):
        ledger.append(("rules", RulesAdded(digest_of({}), {})))
    assert ledger.size() == FIRST


def test_key_whose_id_another_process_took_first_is_refused(ledger: Ledger) -> None:
    """Also where this process had read the keys before."""
    assert ledger.path is not None
    signer = FileSigner("engine-2.ledger.example", Ed25519PrivateKey.generate())
    with Ledger.open(ledger.path, clock=TickingClock()) as other:
        other.append(("keys", signer.as_added(["engine"])))
    ledger._heads.clear()
    with pytest.raises(KeyUnusable, match="already has a key"):
        ledger.append(("keys", signer.as_added(["engine"])))
    assert ledger.size() == FIRST + 1


def test_key_added_with_it_signs_what_follows_in_the_same_append(ledger: Ledger) -> None:
    signer = FileSigner("engine-2.ledger.example", Ed25519PrivateKey.generate())
    ledger.sign_with("engine", signer)
    with pytest.raises(KeyNotValid, match="valid only from leaf"):
        ledger.append((ROUND, opened()), ("keys", signer.as_added(["engine"])))
    ledger.append(("keys", signer.as_added(["engine"])), (ROUND, opened()))
    assert verify(ledger).findings == []


def test_log_key_rotates_by_signing_with_both(ledger: Ledger) -> None:
    play(ledger, length=2)
    first = key_of(ledger, "log")
    rotated = rotate_key(ledger, "log")
    old, new = NoteKey(*first), NoteKey(*rotated.key)
    assert (old.name, new.name) == (ORIGIN, ORIGIN)
    note = sign_checkpoint(ledger)
    for known in ([old], [new], [old, new]):
        assert len(verify_checkpoint(note, known, ORIGIN).signatures) == len(known)
    revoke_key(ledger, first.key_id_hex)
    later = sign_checkpoint(ledger)
    assert [each.key for each in verify_checkpoint(later, [old, new]).signatures] == [new]
    assert log_keys(ledger.key_ring(), ORIGIN, ledger.size()) == [new]


def test_key_that_is_no_sound_one_is_refused(ledger: Ledger) -> None:
    low_order = PublicKey("engine-2.ledger.example", bytes(32))
    with pytest.raises(KeyUnusable, match="small order"):
        add_key(ledger, low_order, ["engine"])
    with pytest.raises(KeyUnusable, match="small order"):
        parse_vkey(low_order.vkey)


def test_key_that_is_not_there_is_not_revoked(ledger: Ledger) -> None:
    with pytest.raises(KeyUnusable, match="no key with the id"):
        revoke_key(ledger, "00000000")
    with pytest.raises(KeyUnusable, match="no key nobody"):
        ledger.append(("keys", KeyRevoked("nobody", "00000000", 2, None)))


def test_key_is_not_revoked_from_a_leaf_far_ahead(ledger: Ledger) -> None:
    """It would go on signing, and look revoked."""
    engine = key_of(ledger, "engine").key_id_hex
    with pytest.raises(KeyUnusable, match="would stay trusted up to leaf 5000"):
        revoke_key(ledger, engine, first_untrusted_leaf_index=5000)
    assert ledger.size() == FIRST
    revoke_key(ledger, engine, first_untrusted_leaf_index=FIRST)


def test_ledger_in_memory_rotates_nothing() -> None:
    with (
        Ledger.in_memory(ORIGIN) as ledger,
        pytest.raises(KeyUnusable, match="in memory"),
    ):
        rotate_key(ledger, "engine")


def test_added_key_names_its_roles(ledger: Ledger) -> None:
    added = PublicKey("x", Ed25519PrivateKey.generate().public_key().public_bytes_raw())
    recorded = add_key(ledger, added, ["engine", "settlement"])
    assert isinstance(recorded.event.data, KeyAdded)
    key = ledger.key_ring().get(added.key_id_hex)
    assert key is not None
    assert sorted(key.roles) == ["engine", "settlement"]
    assert (key.start, key.stop) == (recorded.leaf_index + 1, None)


def test_a_person_has_a_key_of_their_own(ledger: Ledger) -> None:
    assert ledger.path is not None
    recorded = new_key(ledger, "ann", ["staff"])
    assert isinstance(recorded.event.data, KeyAdded)
    assert recorded.event.data.name == "ann"
    file = ledger.path / "keys" / "ann.pem"
    assert file.stat().st_mode & 0o777 == 0o600
    signer = ledger.signer_of(read_key(file, None))
    assert signer.name == "ann"
    ledger.sign_with("staff", signer)
    [voided] = ledger.append((ROUND, opened()), (ROUND, RoundVoided("fault", [])))[1:]
    assert signer.key_id_hex.encode() in voided.leaf
    assert verify(ledger).findings == []


@pytest.mark.parametrize("name", ["", "../staff", "a b", ".hidden", "a" * 101])
def test_a_key_is_given_a_name_that_files_can_have(ledger: Ledger, name: str) -> None:
    with pytest.raises(KeyUnusable, match="is not a valid name for a key"):
        new_key(ledger, name, ["staff"])


def test_no_key_takes_the_place_of_another(ledger: Ledger) -> None:
    before = ledger.size()
    with pytest.raises(KeyUnusable, match="cannot write the key"):
        new_key(ledger, "staff", ["staff"])
    assert ledger.size() == before


def test_a_stranger_s_key_signs_nothing(ledger: Ledger) -> None:
    with pytest.raises(KeyUnusable, match="never added to this ledger"):
        ledger.signer_of(Ed25519PrivateKey.generate())
