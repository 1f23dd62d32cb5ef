"""Files that appear whole or not at all, and are on the disk when a function here returns."""

import fcntl
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from secrets import token_hex
from threading import Thread
from typing import BinaryIO


def write_durably(path: Path, content: bytes, *, is_secret: bool = False) -> None:
    """Put a file in place whole; see `write_parts_durably`.

    A secret is its owner's alone, and never takes the place of a file: FileExistsError is raised.
    """
    _named(path, _write_secret if is_secret else _write_parts, (content,))


def write_parts_durably(path: Path, parts: Iterable[bytes]) -> None:
    """Put a file in place: a temporary one beside it, flushed to the disk, then moved there.

    Anyone who reads `path` sees the old content or the new, also after a crash. A file that is
    there keeps its mode, a new one gets what the umask leaves; a symbolic link stays one, and a
    device or a pipe is written into. Raises OSError, which names the file; the temporary one is
    gone then, and where the process was killed the next one that writes there takes it away.
    """
    _named(path, _write_parts, parts)


def _named(
    path: Path, write: Callable[[Path, Iterable[bytes]], None], parts: Iterable[bytes]
) -> None:
    try:
        write(path, parts)
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _write_parts(path: Path, parts: Iterable[bytes]) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        # To move a file over a device would take the device away.
        with path.open("wb") as device:
            device.writelines(parts)
        return
    place = Path(os.path.realpath(path))
    with temporary_file(place.parent) as (temporary, file):
        file.writelines(parts)
        if mode is not None:
            os.fchmod(file.fileno(), stat.S_IMODE(mode))
        flush(file)
        os.replace(temporary, place)
    make_durable(place.parent)


def _write_secret(path: Path, parts: Iterable[bytes]) -> None:
    with temporary_file(path.parent, 0o600) as (temporary, file):
        file.writelines(parts)
        flush(file)
        # Unlike a move, a second name is refused where there is a file.
        os.link(temporary, path)
    make_durable(path.parent)


def flush(file: BinaryIO) -> None:
    """Have what was written to a file on the disk; raise OSError."""
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def temporary_file(folder: Path, mode: int = 0o666) -> Iterator[tuple[Path, BinaryIO]]:
    """Give a new file in a folder, which vanishes unless it was moved away when the block ends.

    What earlier runs that were killed left in the folder vanishes first. Raises OSError.
    """

    def make(path: Path) -> int:
        try:
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        except FileNotFoundError as error:
            raise FileNotFoundError(
                error.errno, "there is no such folder", str(path.parent)
            ) from None

    temporary, descriptor = _held(folder, make)
    try:
        with open(descriptor, "wb") as file:
            yield temporary, file
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """Give a new folder, its owner's alone, as `temporary_file` gives a file."""

    def make(path: Path) -> int:
        path.mkdir(mode=0o700)
        return os.open(path, os.O_RDONLY)

    temporary, descriptor = _held(parent, make)
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        os.close(descriptor)


_is_temporary = re.compile(r"\.shoeproof-[0-9a-f]{16}").fullmatch


def _held(parent: Path, make: Callable[[Path], int]) -> tuple[Path, int]:
    """Return something new in a folder, and its descriptor, whose lock tells that its maker lives.

    A lock ends with its process, however that ends. Where there are no locks nothing is held to be
    left over.
    """
    _clear(parent.absolute())
    while True:
        temporary = parent / f".shoeproof-{token_hex(8)}"
        descriptor = make(temporary)
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        # Before it was locked, another process may have taken it for left over.
        if temporary.exists():
            return temporary, descriptor
        os.close(descriptor)


@cache
def _clear(folder: Path) -> None:
    """Remove what killed runs left in a folder, once in the life of this process."""
    with suppress(OSError):
        for name in filter(_is_temporary, os.listdir(folder)):
            _remove_if_left(folder / name)


def _remove_if_left(path: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if stat.S_ISDIR(os.fstat(descriptor).st_mode):
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
        finally:
            os.close(descriptor)


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


class TakenTooLong(Exception):
    """Others held a turn for longer than was waited."""


@contextmanager
def turn(queue: Path, seconds: float) -> Iterator[None]:
    """Hold the only turn among processes until the block ends; those that ask wait in line.

    `queue` is a file, made where it is missing, which says nothing. Raises TakenTooLong where the
    turn did not come within `seconds`, and OSError.
    """
    descriptor = os.open(queue, os.O_RDONLY | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # The system wakes who waits, and knows no limit: what comes too late ends with the
            # descriptor.
            waiting = Thread(target=fcntl.flock, args=(descriptor, fcntl.LOCK_EX), daemon=True)
            waiting.start()
            waiting.join(seconds)
            if waiting.is_alive():
                raise TakenTooLong from None
        yield
    finally:
        os.close(descriptor)
