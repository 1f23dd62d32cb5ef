"""Signed notes and checkpoints: published ones verify, and each malformed one is refused."""

from base64 import b64decode, b64encode
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger.checkpoint.note import (
    COSIGNATURE,
    MOST_SIGNATURES,
    Kind,
    NoteKey,
    cosignature_line,
    parse_note,
    parse_vkey,
    sign_note,
    verify_note,
)
from shoeproof.ledger.checkpoint.signed import (
    Checkpoint,
    parse_checkpoint,
    parse_text,
    verify_checkpoint,
)
from shoeproof.ledger.errors import KeyUnusable, NoteRefused
from shoeproof.ledger.keys.key import FileSigner

EXAMPLE_KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
EXAMPLE = (
    "This is an example message.\n\n\u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6T"
    "fXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
).encode()
PETER = "AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
PETER_TEXT = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
)
PETER_LINE = (
    "\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdng"
    "otpRZb6KE6RyyBwJnAM=\n"
)
GO_KEY = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
GO_CHECKPOINT = (
    "go.sum database tree\n35225469\nvt5T6GaLCXvyHFl9VUvvItR43XZxfLgftEcTyO3eJCQ=\n\n"
    "\u2014 sum.golang.org Az3grpukl5AXaVfYkLiDGORx/DN2nlcS5kZHR5uYOBV2KA2HgXpD+gu9HHONebHLAyaKbbTM"
    "75QTtPydhKCExixSfwQ=\n"
).encode()

SIGNER = FileSigner("log.example", Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
KEY = NoteKey(SIGNER.name, SIGNER.public_key)
ROOT = b64encode(bytes(32)).decode()
TEXT = f"log.example\n7\n{ROOT}\n"
NOTE = sign_note(TEXT, SIGNER)


def test_published_example_note_verifies() -> None:
    note, verified = verify_note(EXAMPLE, [parse_vkey(EXAMPLE_KEY)])
    assert note.text == "This is an example message.\n"
    assert [(each.key.vkey, each.time) for each in verified] == [(EXAMPLE_KEY, None)]


def test_published_private_key_signs_as_published() -> None:
    seed = b64decode(PETER)
    signer = FileSigner("PeterNeumann", Ed25519PrivateKey.from_private_bytes(seed[1:]))
    assert signer.key_id_hex == "c74f20a3"
    assert sign_note(PETER_TEXT, signer).decode() == f"{PETER_TEXT}\n{PETER_LINE}"


def test_published_live_checkpoint_verifies() -> None:
    signed = verify_checkpoint(GO_CHECKPOINT, [parse_vkey(GO_KEY)])
    head = signed.checkpoint
    assert (head.origin, head.size) == ("go.sum database tree", 35225469)
    assert GO_CHECKPOINT.startswith(head.text.encode())
    with pytest.raises(NoteRefused, match="not of"):
        verify_checkpoint(GO_CHECKPOINT, [parse_vkey(GO_KEY)], "sum.golang.org")


@pytest.mark.parametrize(
    ("fault", "note"),
    [
        ("not UTF-8", NOTE.replace(b"log", b"\xff\xfeg", 1)),
        ("overlong UTF-8", NOTE.replace(b"log", b"l\xc0\xafg", 1)),
        ("carriage return and line feed", NOTE.replace(b"\n", b"\r\n")),
        ("tabulator", NOTE.replace(b"log", b"l\tg", 1)),
        ("zero byte", NOTE.replace(b"log", b"l\0g", 1)),
        ("no final line feed", NOTE[:-1]),
        ("no signature", TEXT.encode() + b"\n"),
        ("no empty line", NOTE.replace(b"\n\n", b"\n")),
        ("no text", b"\n" + NOTE.split(b"\n\n")[1]),
        ("empty", b""),
        ("empty line among signatures", NOTE + b"\n"),
        ("signature twice", NOTE + NOTE.split(b"\n\n")[1]),
        ("hyphen for the dash", NOTE.replace("\u2014".encode(), b"-")),
        ("signature without a name", NOTE.replace(b" log.example ", b"  ")),
        ("name with a plus sign", NOTE.replace(b"\x94 log.example", b"\x94 log+example")),
        ("signature not padded", NOTE[:-1].rstrip(b"=") + b"\n"),
        ("signature of four bytes only", TEXT.encode() + "\n\u2014 a AAAAAA==\n".encode()),
        ("text after signatures", NOTE + b"more\n"),
        (
            "too many signatures",
            NOTE
            + b"".join(
                f"\u2014 s{number} AAAAAAA=\n".encode() for number in range(MOST_SIGNATURES)
            ),
        ),
    ],
)
def test_note_malformed(fault: str, note: bytes) -> None:
    assert note != NOTE
    with pytest.raises(NoteRefused):
        parse_note(note)


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("negative size", f"log.example\n-7\n{ROOT}\n"),
        ("signed size", f"log.example\n+7\n{ROOT}\n"),
        ("leading zero", f"log.example\n07\n{ROOT}\n"),
        ("size 2^63", f"log.example\n{2**63}\n{ROOT}\n"),
        ("size of twenty digits", f"log.example\n{10**19}\n{ROOT}\n"),
        ("size in other digits", f"log.example\n\u0667\n{ROOT}\n"),
        ("size with a space", f"log.example\n7 \n{ROOT}\n"),
        ("no size", f"log.example\n\n{ROOT}\n"),
        ("root of 31 bytes", f"log.example\n7\n{b64encode(bytes(31)).decode()}\n"),
        ("root of 33 bytes", f"log.example\n7\n{b64encode(bytes(33)).decode()}\n"),
        ("root not padded", f"log.example\n7\n{ROOT.rstrip('=')}\n"),
        ("root with loose bits", f"log.example\n7\n{ROOT[:-2]}B=\n"),
        ("root in URL base64", f"log.example\n7\n{'_' * 42}8=\n"),
        ("extension line", f"{TEXT}more\n"),
        ("no origin", f"\n7\n{ROOT}\n"),
        ("two lines", "log.example\n7\n"),
    ],
)
def test_checkpoint_malformed_though_rightly_signed(fault: str, text: str) -> None:
    with pytest.raises(NoteRefused):
        parse_text(text)
    with pytest.raises(NoteRefused):
        verify_checkpoint(sign_note(text, SIGNER), [KEY])


def test_largest_size() -> None:
    head = Checkpoint("log.example", 2**63 - 1, bytes(32))
    assert parse_checkpoint(sign_note(head.text, SIGNER)) == head
    assert parse_text(Checkpoint("log.example", 0, bytes(32)).text).size == 0


def test_unknown_key_is_ignored_and_alone_not_enough() -> None:
    other = FileSigner("other.example", Ed25519PrivateKey.generate())
    both = sign_note(TEXT, other, SIGNER)
    assert [each.key for each in verify_note(both, [KEY])[1]] == [KEY]
    with pytest.raises(NoteRefused, match=r"no key known here signed this.*other\.example"):
        verify_note(sign_note(TEXT, other), [KEY])


def test_known_key_that_fails_makes_the_whole_note_worthless() -> None:
    other = FileSigner("other.example", Ed25519PrivateKey.generate())
    keys = [KEY, NoteKey(other.name, other.public_key)]
    sound = sign_note(TEXT, SIGNER, other)
    assert len(verify_note(sound, keys)[1]) == 2
    forged = NOTE + sign_note(TEXT.replace("7", "8"), other).split(b"\n\n")[1]
    with pytest.raises(NoteRefused, match=r"other\.example is not valid"):
        verify_note(forged, keys)


def test_cosignature_holds_for_its_time_and_text() -> None:
    witness = FileSigner("witness.example", Ed25519PrivateKey.generate())
    key = NoteKey(witness.name, witness.public_key, COSIGNATURE)
    line = cosignature_line(TEXT, witness, 1_700_000_000)
    verified = verify_note(NOTE + line, [KEY, key])[1]
    assert [each.time for each in verified] == [None, 1_700_000_000]
    payload = b64decode(line.split()[-1])
    assert (payload[:4], payload[4:12]) == (key.key_id, (1_700_000_000).to_bytes(8, "big"))
    # Another time under the same signature: what a witness saw late cannot be dated early.
    earlier = payload[:4] + (1_600_000_000).to_bytes(8, "big") + payload[12:]
    backdated = b" ".join([*line.split()[:-1], b64encode(earlier)]) + b"\n"
    with pytest.raises(NoteRefused, match=r"witness\.example is not valid"):
        verify_note(NOTE + backdated, [KEY, key])
    with pytest.raises(NoteRefused, match=r"witness\.example is not valid"):
        verify_note(sign_note(TEXT.replace("7", "8"), SIGNER) + line, [KEY, key])
    short = b64encode(payload[:10]).decode()
    with pytest.raises(NoteRefused, match=r"witness\.example is not valid"):
        verify_note(NOTE + f"\u2014 witness.example {short}\n".encode(), [KEY, key])


OF_NO_KIND: Any = 6


@pytest.mark.parametrize("kind", [1, COSIGNATURE])
def test_verifier_key_of_either_kind_is_read_back(kind: Kind) -> None:
    key = NoteKey("w.example/w", SIGNER.public_key, kind)
    assert parse_vkey(key.vkey) == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "w.example",
        EXAMPLE_KEY + "\n",
        EXAMPLE_KEY.replace("530d903a", "530d903b"),
        EXAMPLE_KEY.replace("530d903a", "530D903A"),
        NoteKey("w", SIGNER.public_key, OF_NO_KIND).vkey,
        NoteKey("w", bytes(32)).vkey,
    ],
)
def test_verifier_key_that_is_none(text: str) -> None:
    with pytest.raises(KeyUnusable):
        parse_vkey(text)
