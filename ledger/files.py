"""Files that appear whole or not at all, and are on the disk when a function here returns."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_durably(path: Path, content: bytes) -> None:
    """Put a file in place: a temporary one beside it, flushed to the disk, then moved there.

    Whoever reads `path` sees the old content or the new, also after a crash. Raises OSError; the
    temporary file is gone then, unless the process was killed.
    """
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    make_durable(path.parent)


def make_durable(path: Path) -> None:
    """Flush a file, or the names in a directory, to the disk; raise OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(path: Path) -> None:
    """Make a directory and those above it, each durably named in its parent; raise OSError."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(exist_ok=True)
        make_durable(path.parent)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep every other process that asks for the same directory waiting until the block ends."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
