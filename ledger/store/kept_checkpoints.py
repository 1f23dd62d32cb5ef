"""The checkpoints that a ledger's directory keeps."""

from collections.abc import Iterator
from pathlib import Path

from shoeproof.ledger.store import directory


def kept_checkpoints(path: Path) -> Iterator[bytes]:
    """Yield the notes a ledger's directory keeps, the largest tree's first; raise OSError.

    Those under names that are no sizes come last: somebody put them there, and they bind as well.
    """
    folder = path / directory.CHECKPOINTS
    if folder.is_dir():
        files = [each for each in folder.iterdir() if each.name[0] != "." and each.is_file()]
        for file in sorted(files, key=_size_named, reverse=True):
            yield file.read_bytes()


def _size_named(file: Path) -> int:
    return int(file.name) if file.name.isascii() and file.name.isdecimal() else -1
