"""Where the bytes of a leaf stand: the one place that knows.

A leaf is `<payload> LF <key id> SP <signature> LF`. Its payload is canonical JSON, so that its
fields come in one order, and everything but the time, the data and the signature follows from
where the event stands::

    {"at":"2026-01-02T03:04:05.000001Z","data":{…},"ledger":"…","prev":…,"seq":…,"stream":"…",
    "type":"…","v":1}

What is cut from these places of bytes that nobody has verified proves nothing.
"""

import re
from typing import Final

AT: Final = b'{"at":"'
DATA: Final = b'","data":'
TIME: Final = slice(len(AT), len(AT) + len("2026-01-02T03:04:05.000001Z"))
"""Where the time stands."""

DATA_START: Final = TIME.stop + len(DATA)
"""Where the text of the data begins."""

KEY_ID: Final = 8
"""The lower hex digits of a key's id."""

SIGNATURE: Final = 88
"""The characters of a signature, in padded base64."""

SIGNED: Final = KEY_ID + len(" ") + SIGNATURE + len("\n")
"""The bytes of a leaf after its payload and the line feed."""

LARGEST_LEAF: Final = 65_535
"""The most bytes a leaf has: an entry of a C2SP tlog-tiles bundle has a 16-bit length."""

_STREAM: Final = b'"stream":"'
_TYPE: Final = b'","type":"'
_END: Final = b'","v":1}\n'
_SEED: Final = b'{"seed":"'

SEED_HEAD: Final = DATA_START + len(_SEED), 16
"""Where the first 8 bytes of a revealed seed stand, in hex, and how many digits they have."""


_seen = re.compile(rb'"seen":\{"root":"([0-9a-f]{64})","size":(0|[1-9][0-9]{0,14})\}')


def seen_in(data: bytes) -> tuple[str, int] | None:
    """Return root and size of the tree that a text of data says its signer had seen, if any.

    Inside a string the quotes of these marks would be escaped.
    """
    found = _seen.search(data)
    return None if found is None else (found[1].decode(), int(found[2]))


def without_seen(data: bytes) -> bytes:
    """Return a text of data as if its signer had seen no tree: of such texts few are distinct."""
    return _seen.sub(b'"seen":null', data, count=1)


def before_prev(origin_text: str) -> bytes:
    """Return what stands between the data and the hash of the event before.

    `origin_text` is the ledger's origin as canonical JSON.
    """
    return f',"ledger":{origin_text},"prev":'.encode()


def after_prev(seq: str, stream: str, name: str) -> bytes:
    """Return what stands from the hash of the event before to the end of the payload's line."""
    return b',"seq":%b,%b%b%b%b%b' % (
        seq.encode(), _STREAM, stream.encode(), _TYPE, name.encode(), _END,
    )  # fmt: skip


def claimed_key_id(leaf: bytes) -> str:
    """Return the key id at its place in a leaf; it belongs to no key if there is none."""
    return leaf[-SIGNED : KEY_ID - SIGNED].decode("latin-1")


def claimed_stream(leaf: bytes) -> bytes:
    """Return the text of the stream at its place in a leaf.

    After the stream only the type and the version stand, and inside a string the quotes of this
    mark would be escaped: the last one is the payload's own.
    """
    return leaf[leaf.rfind(_STREAM) + len(_STREAM) :].partition(_TYPE)[0]
