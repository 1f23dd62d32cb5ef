"""The projection: a ledger's rounds and bets as DuckDB tables, brought up to date leaf by leaf.

The tables are a read model: an update stopped anywhere goes on as if it never had stopped, and
tables made bit by bit equal tables made at once. Only verified leaves reach them.
"""

import gc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, Self

import msgspec
import pyarrow as pa

from shoeproof.audit_reports.errors import LeafRefused, SegmentsRefused
from shoeproof.audit_reports.rows.round_leaves import Changes, Gatherer, RuleSet, rule_sets_of
from shoeproof.audit_reports.rows.verified import (
    latest_covered,
    made_of_verified,
    refuse_cut_tail,
    verified_stream,
)
from shoeproof.audit_reports.tables import sql
from shoeproof.audit_reports.tables.read_model import (
    NOTHING,
    Reach,
    ReadModel,
    hash_at,
    open_read_model,
    translated_errors,
)
from shoeproof.audit_reports.tables.round_tables import (
    ROUND_TABLES,
    RowsByTable,
    RuleSets,
    make_range,
    rows_by_table,
    to_columns,
)
from shoeproof.audit_reports.tables.segments import FORMAT, Manifest, publish, read_manifest
from shoeproof.ledger import Finding, Ledger, StoredLeaf
from shoeproof.ledger.findings import SEQ_GAP
from shoeproof.ledger.leaf.streams import RULES_STREAM
from shoeproof.ledger.verify.workers import Progress
from shoeproof.replay.bulk.pool import uncollected
from shoeproof.replay.engine.cards import PACK

FILE: Final = "rtp.duckdb"

COMMIT_LEAVES: Final = 131_072
"""After how many leaves an update commits, and what it loses at most when it is stopped."""


class ProjectionState(msgspec.Struct, frozen=True):
    """How far the tables reach.

    They hold what the first `size` leaves of the ledger `origin` say, the last of which has the
    lower-hex hash `last_leaf_hash`; a checkpoint of `covered` leaves vouches for so many of them, 0
    for none, and signatures for the others. The update that says so began at leaf `start`, 0 when
    all was made again. `path` is the tables' file, None when they are in memory. `objection` is why
    nothing beyond them was counted, where only verified leaves were asked for.
    """

    origin: str
    size: int
    last_leaf_hash: str | None
    covered: int
    start: int
    path: str | None
    objection: Finding | None = None


class Projection:
    """The tables of one ledger; the only writer of their file while it is open."""

    def __init__(self, model: ReadModel) -> None:
        """Hold the tables open; use `open_projection`."""
        self.ledger = model.ledger
        self.path = model.path
        self._model = model
        self._tables = model.database

    def update(
        self, progress: Progress | None = None, *, verified_only: bool = False
    ) -> ProjectionState:
        """Bring the tables up to date with the ledger as it is now.

        `progress` is told, from time to time, how many leaves are projected and of how many. Raises
        LeafRefused for a leaf that fails verification, with the tables at a point before it; with
        `verified_only` they hold all before it, and the state says what the objection is. Raises
        ProjectionUnavailable, MemoryError and the ledger's errors.
        """
        objection: Finding | None = None
        size = self.ledger.size()
        while True:
            try:
                if objection is None:
                    refuse_cut_tail(self.ledger)
                with uncollected(), translated_errors():
                    start, reach = self._update_to(size, progress)
            except LeafRefused as refused:
                at = refused.finding.leaf_index
                if not verified_only or at is None or (objection is not None and at >= size):
                    raise
                objection, size = refused.finding, at
            else:
                path = None if self.path is None else str(self.path)
                size, last, _, covered = reach
                return ProjectionState(
                    self.ledger.origin, size, last, covered, start, path, objection
                )

    def _update_to(self, size: int, progress: Progress | None) -> tuple[int, Reach]:
        reach = self._model.reach(size)
        if reach is None:
            self._model.begin(sql.statements("tables"))
            reach = NOTHING
        start = reach.size
        rule_sets, refused = self._rule_sets(start, size)
        stop = size if refused is None else refused.finding.leaf_index or 0
        gatherer = Gatherer(start, self._earlier(start), rule_sets)
        made: list[RowsByTable] = []
        make = partial(make_range, rule_sets)
        for run in made_of_verified(self.ledger, start, stop, reach.tree, make):
            made.append(run.made.rows)
            gatherer.take(run.made.rest)
            if run.stop == stop or run.stop - reach.size >= COMMIT_LEAVES:
                reach = Reach.of(run, start, reach.covered)
                self._commit(gatherer.changes(), made, rule_sets, reach)
                made = []
            if progress is not None:
                progress(run.stop, size)
        if refused is not None:
            raise refused
        covered = latest_covered(self.ledger, size, reach.tree, reach.covered) if size else 0
        if covered != reach.covered:
            reach = reach._replace(covered=covered)
            with self._model.transaction():
                self._model.write_reach(reach)
        return start, reach

    def _earlier(self, start: int) -> Callable[[str], list[StoredLeaf]]:
        return lambda stream: verified_stream(self.ledger, stream, start)

    def _rule_sets(self, start: int, size: int) -> tuple[dict[str, RuleSet], LeafRefused | None]:
        """Return the rule sets of the first `size` leaves, up to one there is an objection to."""
        refused: LeafRefused | None = None
        try:
            leaves = verified_stream(self.ledger, RULES_STREAM, size)
        except LeafRefused as objection:
            refused, first = objection, objection.finding.leaf_index or 0
            if first < start:
                raise
            leaves = verified_stream(self.ledger, RULES_STREAM, first)
        return rule_sets_of(leaves), refused

    def publish(self, state: ProjectionState, folder: Path) -> None:
        """Publish what the tables hold as Parquet segments in a folder, where they are not yet.

        Raises ProjectionUnavailable and OSError.
        """
        try:
            found = read_manifest(folder)
        except SegmentsRefused:
            found = None
        before = None if found is None else found[0]
        manifest = Manifest(
            format=FORMAT,
            origin=state.origin,
            size=state.size,
            last_leaf_hash=state.last_leaf_hash,
            checkpoint_size=state.covered or None,
            objection=state.objection,
            segments=() if before is None else before.segments,
        )
        if manifest == before and state.start:
            return
        with translated_errors():
            everything = before is None or not state.start or not self._is_past(before, state)
            publish(self._tables, folder, manifest, before, everything=everything)

    def _is_past(self, manifest: Manifest, state: ProjectionState) -> bool:
        """Tell whether a manifest is of this ledger as it was when it was shorter, or as it is."""
        if manifest.origin != state.origin or not 0 < manifest.size <= state.size:
            return False
        return hash_at(self.ledger, manifest.size - 1) == manifest.last_leaf_hash

    def close(self) -> None:
        """Release the file for other processes; tables in memory are gone then."""
        self._model.close()

    def __enter__(self) -> Self:
        """Return this projection, to be closed when the block ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close this projection."""
        self.close()

    def _commit(
        self, changes: Changes, made: list[RowsByTable], rule_sets: RuleSets, reach: Reach
    ) -> None:
        made = [*made, rows_by_table(changes.rounds, rule_sets)]
        with self._model.transaction():
            self._delete([each.leaves[0].leaf_index for each in changes.rounds if each.is_stored])
            for table in ROUND_TABLES:
                self._insert(table, pa.concat_tables([each[table] for each in made]))
            self._insert("wallet_differences", to_columns("wallet_differences", changes.wallet))
            self._insert("disputes", to_columns("disputes", changes.disputes))
            self._insert("interruptions", to_columns("interruptions", changes.interruptions))
            for digest, added in changes.rule_sets.items():
                rules = added.rules
                values = [digest, rules.id, len(PACK) * rules.decks, added.leaf_index]
                self._tables.execute("INSERT INTO rule_sets VALUES (?, ?, ?, ?)", values)
            begun_twice = self._tables.execute(sql.query("rounds_begun_twice")).fetchall()
            for stream, leaf_index in begun_twice:
                text = "the stream begins more than once"
                raise LeafRefused(Finding(SEQ_GAP, text, stream, leaf_index, 0))
            self._model.write_reach(reach)
        for each in changes.rounds:
            each.is_stored = True
        # Few objects are left now; what others made, libraries among them, may hold cycles.
        gc.collect(1)

    def _delete(self, first_leaves: list[int]) -> None:
        """Remove the rows of rounds that are written again."""
        for table in ROUND_TABLES if first_leaves else ():
            statement = f"DELETE FROM {table} WHERE first_leaf IN (SELECT unnest(?))"
            self._tables.execute(statement, [first_leaves])

    def _insert(self, table: str, rows: pa.Table) -> None:
        self._tables.register(f"written_{table}", rows)
        self._tables.execute(f"INSERT INTO {table} SELECT * FROM written_{table}")


def open_projection(
    ledger: Ledger,
    *,
    folder: Path | None = None,
    rebuild: bool = False,
    cached: bool = False,
    waiting: Callable[[], object] | None = None,
) -> Projection:
    """Open a ledger's projection, or begin one, by the rules of `open_read_model`."""
    model = open_read_model(
        ledger, FILE, FORMAT, folder=folder, rebuild=rebuild, cached=cached, waiting=waiting
    )
    return Projection(model)
