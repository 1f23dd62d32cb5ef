"""Files that appear whole or not at all, and are on the disk when a function here returns."""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex


def write_durably(path: Path, content: bytes) -> None:
    """Put a file in place: a temporary one beside it, flushed to the disk, then moved there.

    Whoever reads `path` sees the old content or the new, also after a crash. A file that is there
    keeps its mode, a new one gets what the umask leaves; a symbolic link stays one, and a device or
    a pipe is written into. Raises OSError; the temporary file is gone then, unless the process was
    killed.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        # To move a file over a device would take the device away.
        path.write_bytes(content)
        return
    place = Path(os.path.realpath(path))
    temporary = place.with_name(f".{place.name}.{token_hex(8)}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, "there is no such folder", str(place.parent)) from None
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if mode is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
            os.fsync(file.fileno())
        os.replace(temporary, place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    make_durable(place.parent)


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
