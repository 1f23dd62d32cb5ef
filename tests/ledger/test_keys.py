"""Key files, the key ring, and sealed seeds."""

from base64 import b64encode
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from ledger.errors import KeyUnusable
from ledger.events import KeyAdded, KeyRevoked
from ledger.keyring import KeyRing
from ledger.keys import FileSigner, decode_public_key, read_key, vkey, write_key
from ledger.ledger import Ledger
from ledger.sealing import seal_seed, unseal_seed
from tests.ledger.helpers import FIRST, ROUND, opened

LOW_ORDER_POINTS = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
]
NOT_CANONICAL_POINTS = [
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
]


@pytest.mark.parametrize("passphrase", [None, b"correct horse"])
def test_key_written_is_read_back(tmp_path: Path, passphrase: bytes | None) -> None:
    key = Ed25519PrivateKey.generate()
    write_key(tmp_path / "a.pem", key, passphrase)
    assert (tmp_path / "a.pem").stat().st_mode & 0o777 == 0o600
    read = read_key(tmp_path / "a.pem", passphrase)
    assert read.private_bytes_raw() == key.private_bytes_raw()


def test_key_file_is_never_overwritten(tmp_path: Path) -> None:
    write_key(tmp_path / "a.pem", Ed25519PrivateKey.generate(), None)
    with pytest.raises(KeyUnusable, match="File exists"):
        write_key(tmp_path / "a.pem", Ed25519PrivateKey.generate(), None)


def test_key_missing(ledger: Ledger) -> None:
    assert ledger.path is not None
    (ledger.path / "keys" / "engine.pem").unlink()
    with Ledger.open(ledger.path) as reopened:
        assert reopened.size() == FIRST
        with pytest.raises(KeyUnusable, match=r"engine\.pem is missing"):
            reopened.append((ROUND, opened()))


def test_key_readable_by_others(ledger: Ledger) -> None:
    assert ledger.path is not None
    (ledger.path / "keys" / "engine.pem").chmod(0o644)
    with (
        Ledger.open(ledger.path) as reopened,
        pytest.raises(KeyUnusable, match="chmod 600"),
    ):
        reopened.append((ROUND, opened()))


@pytest.mark.parametrize(
    ("given", "message"), [(b"wrong", "passphrase is wrong"), (None, "give its passphrase")]
)
def test_key_with_another_passphrase(tmp_path: Path, given: bytes | None, message: str) -> None:
    Ledger.init(tmp_path / "ledger", "ledger.example", passphrase=b"right").close()
    with (
        Ledger.open(tmp_path / "ledger", passphrase=given) as ledger,
        pytest.raises(KeyUnusable, match=message),
    ):
        ledger.append((ROUND, opened()))
    with Ledger.open(tmp_path / "ledger", passphrase=b"right") as ledger:
        assert ledger.append((ROUND, opened()))[0].leaf_index == FIRST


def test_key_of_another_ledger(ledger: Ledger) -> None:
    assert ledger.path is not None
    file = ledger.path / "keys" / "engine.pem"
    file.unlink()
    write_key(file, Ed25519PrivateKey.generate(), None)
    with (
        Ledger.open(ledger.path) as reopened,
        pytest.raises(KeyUnusable, match="none added for that role"),
    ):
        reopened.append((ROUND, opened()))


def test_file_that_is_no_key(tmp_path: Path) -> None:
    (tmp_path / "a.pem").write_bytes(b"nothing")
    (tmp_path / "a.pem").chmod(0o600)
    with pytest.raises(KeyUnusable, match="damaged"):
        read_key(tmp_path / "a.pem", None)


def test_key_added_later_signs_after_the_old_one_is_gone(ledger: Ledger) -> None:
    assert ledger.path is not None
    file = ledger.path / "keys" / "engine.pem"
    file.unlink()
    new_key = Ed25519PrivateKey.generate()
    write_key(file, new_key, None)
    new = FileSigner("engine-2.ledger.example", new_key)
    ledger.append(("keys", new.as_added(["engine"])))
    with Ledger.open(ledger.path) as reopened:
        reopened.append((ROUND, opened()))
        assert reopened.signer("engine").name == "engine-2.ledger.example"
        assert reopened.public_keys()["engine"] == vkey(new.name, new.public_key)


def test_key_with_an_id_already_there_is_refused(ledger: Ledger) -> None:
    data = ledger.events("keys")[1].event.data
    with pytest.raises(KeyUnusable, match="already has a key"):
        ledger.append(("keys", data))
    assert ledger.size() == FIRST


@pytest.mark.parametrize("point", LOW_ORDER_POINTS + NOT_CANONICAL_POINTS)
def test_public_key_that_cannot_be_one_is_refused(ledger: Ledger, point: str) -> None:
    text = b64encode(bytes.fromhex(point)).decode()
    with pytest.raises(KeyUnusable, match=r"small order|canonical form"):
        ledger.append(("keys", KeyAdded("engine-2.x", text, ["engine"])))


@pytest.mark.parametrize("text", ["", "AA==", "not base64", "é"])
def test_public_key_that_is_not_base64_of_one(text: str) -> None:
    with pytest.raises(KeyUnusable):
        decode_public_key(text)


def test_revoking_a_key_that_is_not_there_is_refused(ledger: Ledger) -> None:
    with pytest.raises(KeyUnusable, match="no key"):
        ledger.append(("keys", KeyRevoked("nobody", "00000000", 2, None)))


def test_key_is_valid_from_the_leaf_after_it_and_until_it_is_revoked() -> None:
    signer = FileSigner("engine.x", Ed25519PrivateKey.generate())
    ring = KeyRing()
    key = ring.add(7, signer.as_added(["engine"]), "00000000")
    assert key.objection("engine", 7) == "engine.x is valid from leaf 8 on only"
    assert key.objection("engine", 8) is None
    assert key.objection("staff", 8) == "engine.x is a key for engine, not staff"
    ring.revoke(KeyRevoked("engine.x", signer.key_id_hex, 20, None))
    assert key.objection("engine", 19) is None
    assert key.objection("engine", 20) == "engine.x is not trusted from leaf 20 on"


def test_sealed_seed_opens_with_its_key_and_its_commitment_only(ledger: Ledger) -> None:
    seed, commitment = bytes(range(32)), b"c" * 32
    text = seal_seed(seed, ledger.seal_public_key(), commitment)
    assert ledger.unseal(text, commitment) == seed
    with pytest.raises(KeyUnusable, match="does not open"):
        ledger.unseal(text, b"d" * 32)
    with pytest.raises(KeyUnusable, match="does not open"):
        unseal_seed(text, X25519PrivateKey.generate(), commitment)
    for altered in (text[:-8] + "AAAAAAA=", text[:-4], "", "?"):
        with pytest.raises(KeyUnusable, match="does not open"):
            ledger.unseal(altered, commitment)


def test_escrow_key_is_kept_in_the_settings(tmp_path: Path) -> None:
    escrow = X25519PrivateKey.generate().public_key().public_bytes_raw()
    with Ledger.init(
        tmp_path / "ledger", "ledger.example", escrow_public_key=b64encode(escrow).decode()
    ) as ledger:
        assert ledger.escrow_public_key == escrow
