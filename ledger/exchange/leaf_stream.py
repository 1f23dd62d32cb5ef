"""A ledger's leaves as a stream that says where it ends, so that none is missing unseen.

Each leaf stands after its length as a 16-bit big-endian number. A length of 0, which no leaf has,
begins the end: the text of a checkpoint of these leaves, `origin LF size LF base64(root) LF`. It is
not signed: it tells a stream that was cut short or mixed up from a whole one, and who said what is
for each leaf's signature.
"""

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from shoeproof.ledger.checkpoint.signed import Checkpoint, parse_text
from shoeproof.ledger.errors import EventUnreadable, NoteRefused
from shoeproof.ledger.exchange.tile_files import encode_entries, read_entries
from shoeproof.ledger.tree.merkle import Peaks, add_to_peaks, leaf_hash, root_of_peaks

_LONGEST_END = 1 << 16


def write_stream(origin: str, leaves: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the leaves of a ledger as a stream, part by part."""
    peaks: Peaks = ()
    size = 0
    for size, leaf in enumerate(leaves, 1):
        peaks = add_to_peaks(peaks, size - 1, [leaf_hash(leaf)])
        yield encode_entries([leaf])
    yield encode_entries([b""]) + Checkpoint(origin, size, root_of_peaks(peaks)).text.encode()


def read_stream(file: BinaryIO) -> Iterator[bytes]:
    """Yield the leaves of a stream, and then hold them to its end.

    Raises EventUnreadable when it ends elsewhere than at its end, or its end is of other leaves.
    """
    peaks: Peaks = ()
    size = 0
    for leaf in read_entries(file):
        if not leaf:
            _check_end(file.read(_LONGEST_END), size, root_of_peaks(peaks))
            return
        peaks = add_to_peaks(peaks, size, [leaf_hash(leaf)])
        size += 1
        yield leaf
    raise EventUnreadable(f"the stream stops after {size} leaves, before its end: it was cut short")


def _check_end(end: bytes, size: int, root: bytes) -> None:
    try:
        said = parse_text(end.decode("utf-8"))
    except (NoteRefused, UnicodeDecodeError):
        raise EventUnreadable("the end of the stream does not say which leaves it holds") from None
    if (said.size, said.root) != (size, root):
        raise EventUnreadable(
            f"the stream claims {said.size} leaves, and the {size} read are not those: some "
            "were left out, added or altered"
        )
