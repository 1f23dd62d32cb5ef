"""The guard: what a ledger last signed, kept apart from its database.

A checkpoint is a promise that the ledger will only ever grow from there. The guard holds the last
promise, so that a database restored from a backup, cut short, or written to elsewhere cannot make
one that contradicts it. It is compared and set under a lock, and set before a signature leaves.
Besides size and root it holds the tree's peaks, from which the next root follows with nothing but
the leaves that came since.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from shoeproof.ledger.errors import SigningRefused
from shoeproof.ledger.files.durable import locked, write_durably
from shoeproof.ledger.files.foreign import read_json
from shoeproof.ledger.tree.merkle import Peaks, root_of_peaks


class Signed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was last signed: the number of leaves, and the tree's peaks in lower hex."""

    origin: str
    size: int
    root: str
    peaks: tuple[str, ...]

    @classmethod
    def of(cls, origin: str, size: int, peaks: Peaks) -> "Signed":
        """Return the promise that a checkpoint of a tree with these peaks makes."""
        return cls(origin, size, root_of_peaks(peaks).hex(), tuple(peak.hex() for peak in peaks))

    @property
    def raw_peaks(self) -> Peaks:
        """The peaks as bytes."""
        return tuple(map(bytes.fromhex, self.peaks))


class Guard:
    """The guard of the ledger of an origin, in a file; in memory where `path` is None."""

    def __init__(self, path: Path | None, origin: str) -> None:
        self._path = path
        self._origin = origin
        self._in_memory = Signed.of(origin, 0, ())

    def create(self) -> None:
        """Write the guard of a new ledger, which has signed nothing; raise OSError."""
        self.set(Signed.of(self._origin, 0, ()))

    @contextmanager
    def locked(self) -> Iterator[Signed]:
        """Give what was last signed, and keep every other signer waiting until the block ends.

        Raises SigningRefused when the guard is missing or damaged, and OSError.
        """
        if self._path is None:
            yield self._in_memory
            return
        # The directory is locked, not the file, which is replaced each time it is set.
        with locked(self._path.parent):
            yield self.read()

    def stamp(self) -> object:
        """Return what changes whenever the guard is set, None where it is missing."""
        if self._path is None:
            return self._in_memory
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_ctime_ns

    def read(self) -> Signed:
        """Return what was last signed; raise SigningRefused when that cannot be known."""
        if self._path is None:
            return self._in_memory
        try:
            signed = read_json(self._path.read_bytes(), Signed)
            is_sound = (
                len(signed.peaks) == signed.size.bit_count()
                and root_of_peaks(signed.raw_peaks).hex() == signed.root
            )
        except FileNotFoundError:
            raise SigningRefused(
                f"the guard {self._path} is missing, so it is not known what was signed last: "
                f"restore the newest copy of it"
            ) from None
        except ValueError:
            is_sound = False
        if not is_sound or signed.origin != self._origin:
            raise SigningRefused(
                f"the guard {self._path} is damaged or belongs to another ledger: restore the "
                f"newest copy of it"
            )
        return signed

    def set(self, signed: Signed) -> None:
        """Remember what is about to be signed, durably; raise OSError."""
        if self._path is None:
            self._in_memory = signed
        else:
            write_durably(self._path, msgspec.json.encode(signed) + b"\n")
