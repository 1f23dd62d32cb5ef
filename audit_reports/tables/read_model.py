"""Read models: tables made of a ledger's leaves, in a file beside it, and how far they reach.

Tables and reach change in one transaction, so that an update stopped anywhere goes on as if it
never had stopped. A caller that opens tables starts them again if they were made of another ledger
or by another format, or of leaves that were altered since, are gone or are no longer trusted. To
notice an altered leaf, all leaves are hashed again and held to the tree that they had when the
tables were made; a caller who asks for `cached` tables leaves this out. The file lies in the
ledger's directory and is trusted like it: a caller who did not make it should ask for it to be made
again.
"""

import errno
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, Self

import duckdb
import msgspec

from shoeproof.audit_reports.errors import ProjectionBusy, ProjectionUnavailable
from shoeproof.audit_reports.rows.verified import VerifiedRun
from shoeproof.audit_reports.tables import sql
from shoeproof.ledger import Ledger
from shoeproof.ledger.files.durable import locked
from shoeproof.ledger.leaf.events import KeyRevoked
from shoeproof.ledger.leaf.streams import KEYS_STREAM
from shoeproof.ledger.tree.merkle import Peaks, leaf_hash
from shoeproof.ledger.verify.rebuild_tree import reread

DIRECTORY: Final = "projection"
"""Where read models lie below the ledger."""

WAIT_SECONDS: Final = 60.0
"""How long to wait for another process that writes the same file."""

POLL_SECONDS: Final = 0.2

MEND: Final = "run this again with --rebuild to make it again"
"""What to do about a file that cannot be used; every command that opens one has the option."""

_HEADERS: Final = 3 * 4096
"""A shorter file is one whose maker was ended before DuckDB had written its three headers."""

_is_hash = re.compile(r"[0-9a-f]{64}").fullmatch


class Reach(NamedTuple):
    """How far tables reach: the leaves before `size`, the last of which has the lower-hex hash.

    `peaks` are those of the tree, lower hex; the leaves before `covered` were held to a checkpoint
    of so many.
    """

    size: int
    last_leaf_hash: str | None
    peaks: list[str]
    covered: int

    @classmethod
    def of(cls, run: VerifiedRun[Any], start: int, covered: int) -> Self:
        """Return the reach up to the end of a verified run, of an update that began at `start`.

        `covered` is that of the reach before.
        """
        return cls(
            run.stop,
            run.last_leaf_hash.hex(),
            [peak.hex() for peak in run.peaks],
            min(run.covered, run.stop) if run.covered > start else covered,
        )

    @property
    def is_possible(self) -> bool:
        """Tell whether a tree of that size may have such hashes."""
        hashes = [*self.peaks, self.last_leaf_hash or ""] if self.size else []
        return (
            0 <= self.covered <= self.size
            and len(self.peaks) == self.size.bit_count()
            and all(map(_is_hash, hashes))
        )

    @property
    def tree(self) -> Peaks:
        """The peaks as bytes."""
        return tuple(map(bytes.fromhex, self.peaks))


NOTHING: Final = Reach(0, None, [], 0)


class ReadModel:
    """The tables of one ledger; the only writer of their file while it is open."""

    def __init__(
        self,
        ledger: Ledger,
        version: int,
        path: Path | None,
        database: duckdb.DuckDBPyConnection,
        spill: "TemporaryDirectory[str] | None" = None,
        *,
        cached: bool = False,
    ) -> None:
        """Hold a database open, and a folder for what it spills; use `open_read_model`."""
        self.is_cached = cached
        self.ledger = ledger
        self.path = path
        self.database = database
        self._version = version
        self._spill = spill

    def reach(self, size: int) -> Reach | None:
        """Return how far the tables reach, None where they are not of the first `size` leaves.

        Raises ProjectionUnavailable.
        """
        with translated_errors():
            try:
                found = self.database.execute("SELECT * FROM projected").fetchall()
            except duckdb.CatalogException:
                return None
        if len(found) != 1 or found[0][:2] != (self._version, self.ledger.origin):
            return None
        try:
            reach = msgspec.convert(found[0][2:], Reach)
        except msgspec.ValidationError as error:
            raise self.damaged(str(error)) from error
        if not reach.is_possible:
            raise self.damaged("there is no such tree")
        return reach if reach.size <= size and self._holds(reach) else None

    def damaged(self, reason: str) -> ProjectionUnavailable:
        """Return the error for tables with impossible contents."""
        name = "the tables in memory" if self.path is None else str(self.path)
        return ProjectionUnavailable(f"{name} is damaged ({reason}): {MEND}")

    def begin(self, statements: str) -> None:
        """Make the tables by their statements, empty, in place of any before."""
        with self.transaction():
            self.database.execute(statements)
            self.database.execute(sql.statements("read_model"))
            self.write_reach(NOTHING)

    def write_reach(self, reach: Reach) -> None:
        """Write how far the tables reach, in the same transaction as what they hold."""
        self.database.execute("DELETE FROM projected")
        values = [self._version, self.ledger.origin, *reach]
        self.database.execute("INSERT INTO projected VALUES (?, ?, ?, ?, ?, ?)", values)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do all of a block, or none of it. Raises ProjectionUnavailable and MemoryError."""
        with translated_errors():
            self.database.begin()
            try:
                yield
                self.database.commit()
            except BaseException:
                # Where writing failed, as on a full disk, there is nothing to take back any more.
                with suppress(duckdb.TransactionException):
                    self.database.rollback()
                raise

    def close(self) -> None:
        """Release the file for other processes; tables in memory are gone then."""
        self.database.close()
        if self._spill is not None:
            self._spill.cleanup()

    def __enter__(self) -> Self:
        """Return this read model, to be closed when the block ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _holds(self, reach: Reach) -> bool:
        if not reach.size:
            return True
        if hash_at(self.ledger, reach.size - 1) != reach.last_leaf_hash:
            return False
        if not self.is_cached:
            workers = os.cpu_count() or 1
            if reread(self.ledger.store, reach.size, (), workers).peaks != reach.tree:
                return False
        # A revocation may reach back to leaves that were trusted when tables were made of them.
        return not any(
            isinstance(data := recorded.event.data, KeyRevoked)
            and recorded.leaf_index >= reach.size > data.first_untrusted_leaf_index
            for recorded in self.ledger.events(KEYS_STREAM)
        )


def open_read_model(
    ledger: Ledger,
    name: str,
    version: int,
    *,
    folder: Path | None = None,
    rebuild: bool = False,
    cached: bool = False,
    waiting: Callable[[], object] | None = None,
) -> ReadModel:
    """Open a ledger's read model of a name and the version of its tables, or begin one.

    Its file lies in `folder`, by default the ledger's own. Where nothing may be written, and for a
    ledger in memory, the tables are in memory and begin empty. With `rebuild` nothing of earlier
    ones is used; with `cached` they are used without the leaves being read again that they were
    made of. While another process has the file open this waits, having called `waiting`; raises
    ProjectionBusy when that takes WAIT_SECONDS, and ProjectionUnavailable when the file cannot be
    used.
    """
    if folder is None and ledger.path is not None:
        folder = ledger.path / DIRECTORY
    path = None if folder is None else _writable_file(folder, name)
    if path is None:
        spill = TemporaryDirectory(prefix="projection-")
        with translated_errors():
            return ReadModel(ledger, version, None, sql.connect(spill=spill.name), spill)
    database = _connect(path, waiting, rebuild=rebuild)
    return ReadModel(ledger, version, path, database, cached=cached)


def hash_at(ledger: Ledger, leaf_index: int) -> str | None:
    """Return the lower-hex hash of a leaf as it is stored, None where there is none."""
    found = ledger.store.fetch(leaf_index, leaf_index + 1)
    return leaf_hash(found[0].state).hex() if found else None


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise DuckDB's errors as ProjectionBusy, ProjectionUnavailable or MemoryError."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise MemoryError from error
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        if "lock on file" in reason:
            raise ProjectionBusy(
                "the projection is being written by another process: try again when it ends"
            ) from error
        mend = "make room on the disk" if os.strerror(errno.ENOSPC) in reason else MEND
        raise ProjectionUnavailable(f"the projection cannot be used ({reason}): {mend}") from error


def _connect(
    path: Path, waiting: Callable[[], object] | None, *, rebuild: bool
) -> duckdb.DuckDBPyConnection:
    deadline, has_told = time.monotonic() + WAIT_SECONDS, False
    while True:
        try:
            # While a file is opened, or removed to be made again, no other process opens it: two
            # would go on, one of them in a file that has no name any more.
            with locked(path.parent), translated_errors():
                _remove(path, whole=rebuild)
                return sql.connect(str(path))
        except ProjectionBusy:
            if time.monotonic() >= deadline:
                raise
        if waiting is not None and not has_told:
            waiting()
            has_told = True
        time.sleep(POLL_SECONDS)


def _remove(path: Path, *, whole: bool) -> None:
    """Remove a file that nobody has open; unless `whole` only one that was never begun."""
    if whole:
        # It goes whole: one made by somebody else may hold more than tables. Opening it first keeps
        # it from being pulled from under the process that writes it.
        with suppress(ProjectionUnavailable), translated_errors():
            sql.connect(str(path)).close()
    elif not path.is_file() or path.stat().st_size >= _HEADERS:
        return
    for file in (path, path.with_name(f"{path.name}.wal")):
        file.unlink(missing_ok=True)


def _writable_file(directory: Path, name: str) -> Path | None:
    try:
        directory.mkdir(exist_ok=True)
    except OSError:
        return None
    file = directory / name
    targets = [directory, file] if file.exists() else [directory]
    return file if all(os.access(target, os.W_OK) for target in targets) else None
