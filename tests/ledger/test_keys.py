"""Key files, the key ring, and sealed seeds."""

import subprocess
from base64 import b64encode
from itertools import combinations
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from shoeproof.ledger.errors import KeyNameTaken, KeyUnusable, RolesRefused
from shoeproof.ledger.keys.key import FileSigner, decode_public_key, read_key, vkey, write_key
from shoeproof.ledger.keys.keyring import KeyRing
from shoeproof.ledger.keys.sealing import seal_seed, unseal_seed
from shoeproof.ledger.leaf.events import ROLES, KeyAdded, KeyRevoked, Role
from shoeproof.ledger.ledger import Ledger
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


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o620, 0o602, 0o610, 0o666])
@pytest.mark.parametrize("passphrase", [None, b"correct horse"])
def test_key_open_to_others_is_refused_although_encrypted(
    tmp_path: Path, passphrase: bytes | None, mode: int
) -> None:
    write_key(tmp_path / "a.pem", Ed25519PrivateKey.generate(), passphrase)
    (tmp_path / "a.pem").chmod(mode)
    with pytest.raises(KeyUnusable, match="can be read by others: chmod 600 it"):
        read_key(tmp_path / "a.pem", passphrase)


def test_encrypted_key_is_read_by_openssl_too(tmp_path: Path) -> None:
    key = Ed25519PrivateKey.generate()
    write_key(tmp_path / "a.pem", key, b"correct horse")
    words = ["openssl", "pkey", "-in", str(tmp_path / "a.pem"), "-passin", "pass:correct horse"]
    run = subprocess.run([*words, "-outform", "DER"], capture_output=True, check=True)
    opened_key = serialization.load_der_private_key(run.stdout, None)
    assert isinstance(opened_key, Ed25519PrivateKey)
    assert opened_key.private_bytes_raw() == key.private_bytes_raw()


def write_by_openssl(path: Path, *options: str) -> None:
    text = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    words = ["openssl", "pkcs8", "-topk8", *options, "-passout", "pass:pw", "-out", str(path)]
    subprocess.run(words, input=text, check=True)
    path.chmod(0o600)


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["-iter", "600000"],
        ["-v1", "PBE-SHA1-3DES"],
        ["-scrypt"],
        ["-scrypt", "-scrypt_N", "2", "-scrypt_p", "5"],
        ["-scrypt", "-scrypt_N", "1024", "-scrypt_p", "30000"],
    ],
    ids=" ".join,
)
def test_passphrase_that_could_be_guessed_from_the_file(tmp_path: Path, options: list[str]) -> None:
    write_by_openssl(tmp_path / "a.pem", *options)
    with pytest.raises(KeyUnusable, match=r"could be guessed.*openssl pkcs8 -topk8 -scrypt"):
        read_key(tmp_path / "a.pem", b"pw")


def test_key_encrypted_as_the_refusal_says(tmp_path: Path) -> None:
    write_by_openssl(tmp_path / "a.pem", "-scrypt", "-scrypt_p", "5")
    assert isinstance(read_key(tmp_path / "a.pem", b"pw"), Ed25519PrivateKey)


def test_encrypted_key_that_is_cut_short(tmp_path: Path) -> None:
    write_key(tmp_path / "a.pem", Ed25519PrivateKey.generate(), b"pw")
    whole = (tmp_path / "a.pem").read_bytes()
    for length in range(40, len(whole) - 30, 40):
        (tmp_path / "a.pem").write_bytes(whole[:length])
        with pytest.raises(KeyUnusable):
            read_key(tmp_path / "a.pem", b"pw")


@pytest.mark.parametrize("curve", [ec.SECP256R1(), ec.SECP256K1(), ec.BrainpoolP256R1()])
def test_key_of_another_curve(tmp_path: Path, curve: ec.EllipticCurve) -> None:
    text = ec.generate_private_key(curve).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (tmp_path / "a.pem").write_bytes(text)
    (tmp_path / "a.pem").chmod(0o600)
    with pytest.raises(KeyUnusable, match="neither an Ed25519 nor an X25519 key"):
        read_key(tmp_path / "a.pem", None)


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
        pytest.raises(KeyUnusable, match="never added to this ledger for that role"),
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


def test_key_under_a_second_name_is_refused(ledger: Ledger) -> None:
    """Also the name of nobody yet, and also once the first is revoked."""
    key = FileSigner("ann", Ed25519PrivateKey.generate())
    ledger.append(("keys", key.as_added(["staff"])))
    again = KeyAdded("bob", key.as_added([]).public_key, ["staff"])
    with pytest.raises(KeyUnusable, match="key of bob already belongs to ann"):
        ledger.append(("keys", again))
    ledger.append(("keys", KeyRevoked("ann", key.key_id_hex, ledger.size(), None)))
    with pytest.raises(KeyUnusable, match="key of bob already belongs to ann"):
        ledger.append(("keys", again))


def test_name_that_capitals_tell_from_another_is_refused(ledger: Ledger) -> None:
    for name in ("ann", "bob"):
        ledger.append(("keys", new_key(name).as_added(["staff"])))
    with pytest.raises(KeyNameTaken, match="ANN is too like ann"):
        ledger.append(("keys", new_key("ANN").as_added(["staff"])))


@pytest.mark.parametrize("roles", [*combinations(ROLES, 2)], ids=" ".join)
def test_roles_that_check_each_other(ledger: Ledger, roles: tuple[Role, Role]) -> None:
    """Neither in one key nor in two keys of one name; a game server plays and settles."""
    together = new_key("ann").as_added(list(roles))
    second = new_key("ann").as_added([roles[1]])
    if set(roles) == {"engine", "settlement"}:
        ledger.append(("keys", together), ("keys", second))
        return
    with pytest.raises(RolesRefused, match=" and ".join(sorted(roles))):
        ledger.append(("keys", together))
    ledger.append(("keys", new_key("ann").as_added([roles[0]])))
    with pytest.raises(RolesRefused, match="check each other"):
        ledger.append(("keys", second))


def test_key_for_no_role_is_refused(ledger: Ledger) -> None:
    with pytest.raises(RolesRefused, match="has no role"):
        ledger.append(("keys", new_key("ann").as_added([])))


def new_key(name: str) -> FileSigner:
    return FileSigner(name, Ed25519PrivateKey.generate())


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
    assert key.objection("engine", 7) == "engine.x is valid only from leaf 8 on"
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
