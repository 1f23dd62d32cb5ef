"""The tables as readers see them: views over published segments, which nobody can write through.

Every file is held to its digest in the manifest before it is read. The database has no access to
anything but these files, and its settings are locked; a question is one SELECT.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, Self

import duckdb
import pyarrow as pa

from shoeproof.audit_reports.errors import QueryRefused, SegmentsRefused
from shoeproof.audit_reports.tables import memory, sql
from shoeproof.audit_reports.tables import sql_types as spelling
from shoeproof.audit_reports.tables.par_sheets import ParSheet, par_sheet_rows
from shoeproof.audit_reports.tables.projection import open_projection
from shoeproof.audit_reports.tables.segments import (
    SUMS,
    TABLES,
    Manifest,
    check_segments,
    read_manifest,
)
from shoeproof.ledger import Finding, Ledger
from shoeproof.ledger.verify.workers import Progress

SEGMENTS = "segments"
"""The folder of the segments below that of the projection."""

_BATCH = 100_000
"""Rows of an answer that are taken together."""

_LAST_LEAF = dict.fromkeys(("rounds", "round_bets", *SUMS), "last_leaf")
"""Which leaf a row must not go beyond to be vouched for; in other tables it is `leaf_index`."""

_LEAVES = ("first_leaf", "last_leaf", "leaf_index", "shown_leaf")
"""The columns that name leaves, in whatever table."""

_LOCKED = (
    "SET allowed_paths = {paths}",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


class LedgerSegments(NamedTuple):
    """One ledger's segments: their folder, its manifest, and the manifest's SHA-256, lower hex."""

    folder: Path
    manifest: Manifest
    digest: str


class Tables:
    """The published tables of one ledger, open for questions; use `open_tables`.

    They hold what the first `size` leaves of the ledger `origin` say; a checkpoint of
    `checkpoint_size` leaves vouches for so many, None for none. `manifest_digest` is the SHA-256 of
    the manifest in lower hex. `objection` is why nothing beyond those leaves was counted. Of
    several ledgers these are the first one's, but for `size`, which is of all together, and
    `objection`, which is the first there is.
    """

    def __init__(
        self, sources: Sequence[LedgerSegments], par_sheets: Sequence[ParSheet] = ()
    ) -> None:
        """Open views of segments, which must have been checked, of one ledger or of several.

        The leaves of each further ledger are counted on from those of the ledgers before it. Raises
        QueryRefused where two of them hold the same round.
        """
        self.sources, manifest = tuple(sources), sources[0].manifest
        self.origin, self.size = manifest.origin, sum(each.manifest.size for each in sources)
        self.checkpoint_size = manifest.checkpoint_size
        self.manifest_digest = sources[0].digest
        objections = (each.manifest.objection for each in sources)
        self.objection: Finding | None = next(filter(None, objections), None)
        self._held: TemporaryDirectory[str] | None = None
        self._database = sql.connect()
        with _refused_errors():
            self._make_views()
            self._database.execute(sql.statements("sums"))
            rows = par_sheet_rows(par_sheets)
            self._database.register("given_par_sheets", rows)
            self._database.execute("CREATE TABLE par_sheets AS FROM given_par_sheets")
            self._database.unregister("given_par_sheets")
            paths = [
                _text(folder / each.path)
                for folder, manifest, _ in sources
                for each in manifest.segments
            ]
            for statement in _LOCKED:
                self._database.execute(statement.format(paths=f"[{', '.join(paths)}]"))
        if len(sources) > 1:
            self._refuse_shared_rounds()

    @property
    def objection_text(self) -> str | None:
        """What verification says of the first leaf not counted, None where all are.

        Of several ledgers it says so of each that fails.
        """
        is_one = len(self.sources) == 1
        told = [
            f"{'This ledger' if is_one else f'The ledger {manifest.origin}'} fails verification at "
            f"leaf {finding.leaf_index}: {finding.text} ({finding.code}). Only the "
            f"{manifest.size:,} leaves before it are counted."
            for _, manifest, _ in self.sources
            if (finding := manifest.objection) is not None
        ]
        return " ".join(told) or None

    def query(self, name: str, kind: type[sql.Record], **parameters: object) -> list[sql.Record]:
        """Return the rows of `queries/<name>.sql` as records; raises QueryRefused, MemoryError."""
        with _refused_errors():
            return sql.records(self._database, name, kind, parameters)

    def ask(self, text: str, native: Collection[str] = spelling.ANYWHERE) -> pa.Table:
        """Return what a question comes to, which must be a single SELECT.

        Values of other types than `native` are spelled out as text. Ctrl-C ends the question, too.
        Raises QueryRefused for other statements, for what is not there, and for what fails, and
        MemoryError for what needs more memory than there is.
        """
        with _refused_errors():
            statements = duckdb.extract_statements(text)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise QueryRefused("a query must be one SELECT: nothing else is run here")
        with _refused_errors():
            asked = self._database.sql(text)
        # DuckDB takes names that differ only in case for one, and would give it twice.
        if len({name.lower() for name in asked.columns}) < len(asked.columns):
            raise QueryRefused("two columns have the same name: name them with AS")
        with _refused_errors(), ThreadPoolExecutor(1) as thread:
            # DuckDB does not hear Ctrl-C while it works: the thread that does must not be its own.
            answer = thread.submit(_read, spelling.spelled(asked, native))
            try:
                return answer.result()
            except KeyboardInterrupt:
                self._database.interrupt()
                raise

    def close(self) -> None:
        """Close the database, and remove segments that were made for this reader alone."""
        self._database.close()
        if self._held is not None:
            self._held.cleanup()

    def keep(self, folder: "TemporaryDirectory[str]") -> None:
        """Remove a folder of segments when these tables are closed."""
        self._held = folder

    def __enter__(self) -> Self:
        """Return these tables, to be closed when the block ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close these tables."""
        self.close()

    def _make_views(self) -> None:
        for table in TABLES:
            selects, offset = [], 0
            for source in self.sources:
                selects.append(self._select(table, source, offset))
                offset += source.manifest.size
            rows = " UNION ALL ".join(selects)
            if table == "rule_sets":
                first = "row_number() OVER (PARTITION BY rules_digest ORDER BY leaf_index) = 1"
                rows = f"SELECT * FROM ({rows}) QUALIFY {first}"
            self._database.execute(f"CREATE VIEW {table} AS {rows}")

    def _select(self, table: str, source: LedgerSegments, offset: int) -> str:
        """Return the SELECT of a ledger's rows of a table, its leaves counted on from `offset`."""
        folder, manifest, _ = source
        paths = [
            _text(folder / each.path)
            for each in manifest.segments
            if each.path.partition("/")[0] == table
        ]
        if not paths:
            raise SegmentsRefused(f"the manifest does not name a file for the table {table}")
        files = f"read_parquet([{', '.join(paths)}], hive_partitioning = false)"
        size = "NULL" if manifest.checkpoint_size is None else str(manifest.checkpoint_size)
        leaf = _LAST_LEAF.get(table, "leaf_index")
        counted_on = self._counted_on(files, offset) if offset else ""
        return (
            f"SELECT * {counted_on}, "
            f"CASE WHEN {leaf} < {size} THEN {size} END::BIGINT AS checkpoint_size, "
            f"{_text(manifest.origin)} AS ledger FROM {files}"
        )

    def _counted_on(self, files: str, offset: int) -> str:
        columns = self._database.execute(f"DESCRIBE SELECT * FROM {files}").fetchall()
        leaves = (f"{name} + {offset} AS {name}" for name, *_ in columns if name in _LEAVES)
        return f"REPLACE ({', '.join(leaves)})"

    def _refuse_shared_rounds(self) -> None:
        select = "SELECT round FROM rounds GROUP BY round HAVING count(*) > 1 LIMIT 1"
        for (round_id,) in self._database.execute(select).fetchall():
            raise QueryRefused(
                f"the round {round_id} stands in more than one of these ledgers: give each once"
            )


def open_tables(
    ledger: Ledger,
    *,
    folder: Path | None = None,
    rebuild: bool = False,
    cached: bool = False,
    verified_only: bool = False,
    par_sheets: Sequence[ParSheet] = (),
    progress: Progress | None = None,
    waiting: Callable[[], object] | None = None,
) -> Tables:
    """Bring a ledger's projection up to date, publish it, and return its tables.

    Tables and segments lie in `folder`, by default the ledger's own. Where nothing may be written,
    and for a ledger in memory, segments are in a folder that goes when the tables are closed.
    `rebuild`, `cached` and `waiting` are those of `open_projection`. Raises what that and
    `Projection.update` raise, and SegmentsRefused.
    """
    with open_projection(
        ledger, folder=folder, rebuild=rebuild, cached=cached, waiting=waiting
    ) as projection:
        state = projection.update(progress, verified_only=verified_only)
        if projection.path is not None:
            segments = projection.path.parent / SEGMENTS
            projection.publish(state, segments)
            return read_tables(segments, par_sheets)
        held = TemporaryDirectory(prefix="segments-")
        projection.publish(state, Path(held.name))
    tables = read_tables(Path(held.name), par_sheets)
    tables.keep(held)
    return tables


def read_tables(folder: Path, par_sheets: Sequence[ParSheet] = ()) -> Tables:
    """Return the tables published in a folder, as they stand there, by their manifest.

    Raises SegmentsRefused where there is none, or a file is not what it names.
    """
    found = read_manifest(folder)
    if found is None:
        raise SegmentsRefused(f"{folder} has no manifest: run `shoeproof project` first")
    manifest, digest = found
    check_segments(folder, manifest)
    return Tables([LedgerSegments(folder, manifest, digest)], par_sheets)


def together(tables: Sequence[Tables], par_sheets: Sequence[ParSheet] = ()) -> Tables:
    """Return the tables of several ledgers as one; theirs stay open. Raises QueryRefused."""
    return Tables([source for each in tables for source in each.sources], par_sheets)


def _text(value: Path | str) -> str:
    return sql.text(str(value))


def _read(asked: duckdb.DuckDBPyRelation) -> pa.Table:
    """Return an answer, batch by batch, because DuckDB sets no limit to what it hands over."""
    limit, size = memory.for_answer(), 0
    reader = asked.to_arrow_reader(_BATCH)
    batches = []
    try:
        for batch in reader:
            size += batch.nbytes
            if limit is not None and size > limit:
                raise MemoryError
            batches.append(batch)
    except OSError as error:
        # What fails after the first batch comes through Arrow, which has no other name for it.
        is_memory = str(error).startswith("Out of Memory")
        raise (duckdb.OutOfMemoryException if is_memory else duckdb.Error)(str(error)) from error
    return pa.Table.from_batches(batches, reader.schema)


@contextmanager
def _refused_errors() -> Iterator[None]:
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise MemoryError from error
    except duckdb.Error as error:
        raise QueryRefused(" ".join(str(error).split("\n\n")[0].split())) from error
