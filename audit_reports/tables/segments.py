"""Segments: the projection's rows as Parquet files, and the manifest that says which they are.

One process writes the projection's tables and publishes what they hold; readers open the
segments, never the tables. A file holds the rows of a table, a game and a month whose rounds begin
in one range of leaves, and its name holds its digest, so that no file is ever rewritten: an update
writes the ranges that changed, then the manifest, in one rename. A stop anywhere leaves the earlier
manifest with all of its files, or the new one with all of its own.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import duckdb
import msgspec
import pyarrow.parquet as pq

from shoeproof.audit_reports.errors import SegmentsRefused
from shoeproof.audit_reports.tables import sql
from shoeproof.ledger import Finding
from shoeproof.ledger.files.durable import flush, temporary_file, write_durably
from shoeproof.ledger.files.foreign import read_json

FORMAT: Final = 16
"""The version of the tables and their contents; tables of another version are made again."""

MANIFEST: Final = "manifest.json"
PART_LEAVES: Final = 1 << 20
"""How many leaves the rounds of one file begin in, where the ledger has them all."""

TAIL_LEAVES: Final = 1 << 16
"""The same beyond the last of those: an update writes little, until there are enough for a part."""

ROW_GROUP: Final = 122_880
"""Rows of a row group, one of which DuckDB gives to a thread."""

UNKNOWN: Final = "unknown"
"""The game of rules that the ledger does not hold, in the names of folders."""

OF_ROUNDS: Final = ("rounds", "round_bets", "bets", "decisions", "cards", "offers_apart")
"""Tables whose rows are those of rounds: by game, month of the opening, and range of leaves."""

SUMS: Final = {"daily_sums": "sums_by_day", "daily_luck": "luck_by_day"}
"""Tables that sum up the rows of `round_bets` in the same file, and the macros of `sums.sql`."""

OTHERS: Final = ("interruptions", "disputes", "wallet_differences", "rule_sets")
"""Tables whose rows stand by themselves: by range of leaves."""

TABLES: Final = (*OF_ROUNDS, *SUMS, *OTHERS)

MEND: Final = "make it again with `shoeproof project --rebuild`"
_TAIL = "tail"


class Segment(msgspec.Struct, frozen=True):
    """A file: its path below the manifest's folder, SHA-256 in lower hex, number of rows."""

    path: str
    sha256: str
    rows: int

    @property
    def key(self) -> str:
        """What the file is of: its path but for the digest in its name."""
        return self.path.rpartition("-")[0]


class Manifest(msgspec.Struct, frozen=True):
    """What the segments hold: the first `size` leaves of the ledger `origin`.

    `last_leaf_hash` is the lower-hex hash of the last of them, None for none. A checkpoint of
    `checkpoint_size` leaves vouches for so many of them, signatures for the others. `objection` is
    why nothing beyond them was counted, None where the whole ledger is.
    """

    format: int
    origin: str
    size: int
    last_leaf_hash: str | None
    checkpoint_size: int | None
    objection: Finding | None
    segments: tuple[Segment, ...]


def read_manifest(folder: Path) -> tuple[Manifest, str] | None:
    """Return a folder's manifest and its SHA-256, None where there is none.

    Raises SegmentsRefused for a file that is not a manifest of this format, and OSError.
    """
    try:
        data = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        return None
    try:
        manifest = read_json(data, Manifest)
    except ValueError as error:
        raise SegmentsRefused(f"{folder / MANIFEST} is not a manifest ({error}): {MEND}") from error
    if manifest.format != FORMAT:
        raise SegmentsRefused(
            f"{folder / MANIFEST} has the format {manifest.format}, not {FORMAT}: {MEND}"
        )
    return manifest, hashlib.sha256(data).hexdigest()


def check_segments(folder: Path, manifest: Manifest) -> None:
    """Raise SegmentsRefused where a file is not what the manifest names."""
    for segment in manifest.segments:
        path = folder / segment.path
        if ".." in Path(segment.path).parts or Path(segment.path).is_absolute():
            raise SegmentsRefused(f"the manifest names {segment.path!r}, which is outside: {MEND}")
        try:
            digest = _digest(path)
        except (OSError, ValueError) as error:  # the latter for a name with a NUL in it
            reason = getattr(error, "strerror", None) or error
            raise SegmentsRefused(f"{path} cannot be read ({reason}): {MEND}") from error
        if digest != segment.sha256:
            raise SegmentsRefused(f"{path} is not what was published: {MEND}")


def publish(
    database: duckdb.DuckDBPyConnection,
    folder: Path,
    manifest: Manifest,
    before: Manifest | None,
    *,
    everything: bool,
) -> None:
    """Publish what the projection's tables hold.

    `manifest` says of what they are, and names no segments yet. `before` is what was published
    last. Its files are kept where nothing can have changed, unless `everything` is to be written;
    those it names and the new manifest does not are removed the time after, for the sake of who is
    reading them.
    Raises duckdb.Error and OSError.
    """
    since = 0 if before is None or everything else before.size
    kept = {} if before is None or not since else {each.key: each for each in before.segments}
    regrouped, whole = (size // PART_LEAVES * PART_LEAVES for size in (since, manifest.size))
    folder.mkdir(parents=True, exist_ok=True)
    for key in [each for each in kept if _is_of_tail(each) and regrouped < whole]:
        del kept[key]
    for place in _changed(database, since, regrouped, whole, with_schema=not kept):
        segment = _write(database, folder, place)
        kept[segment.key] = segment
    segments = tuple(sorted(kept.values(), key=lambda each: each.path))
    manifest = msgspec.structs.replace(manifest, segments=segments)
    write_durably(folder / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
    _remove_unnamed(folder, [*segments, *(() if before is None else before.segments)])


class _Place(NamedTuple):
    """What a file is of: the start of its path, and the SELECT of its rows with its parameters."""

    start: str
    select: str
    parameters: Mapping[str, object] = {}


_ROUNDS_OF_A_FILE: Final = """
WHERE first_leaf >= $first AND first_leaf < $end AND first_leaf IN (
    SELECT first_leaf FROM rounds
    WHERE
        first_leaf >= $first AND first_leaf < $end
        AND COALESCE(game, $unknown) = $game AND strftime(opened_at, '%Y-%m') = $month
)
ORDER BY ALL"""
"""Which rows of one of OF_ROUNDS a file holds."""


def _changed(
    database: duckdb.DuckDBPyConnection,
    since: int,
    regrouped: int,
    whole: int,
    *,
    with_schema: bool,
) -> Iterator[_Place]:
    """Yield the files whose rows may have changed since the leaf `since`.

    Parts hold the rounds that begin before leaf `whole`; those of the leaves from `regrouped` on
    were in files of the tail so far. The rows of a file must be read before the next is asked for.
    """
    database.execute(sql.statements("sums"))
    if with_schema:
        yield from _columns()
    changed = database.execute(sql.query("changed_rounds"), {
        "since": since, "regrouped": regrouped, "whole": whole, "part_leaves": PART_LEAVES,
        "tail_leaves": TAIL_LEAVES, "unknown": UNKNOWN,
    }).fetchall()  # fmt: skip
    for game, month, leaves, first in changed:
        name = f"{'part' if first < whole else _TAIL}-{first // leaves}"
        of_file = {
            "game": game, "month": month, "first": first, "end": first + leaves,
            "unknown": UNKNOWN,
        }  # fmt: skip
        for each in _of_rounds(database, of_file):
            yield each._replace(start=f"{each.start}/game={game}/month={month}/{name}")
    for table in OTHERS:
        yield from _of_others(database, table, since)


def _columns() -> Iterator[_Place]:
    """Yield a file without rows for each table, so that one without any has its columns."""
    for table in TABLES:
        rows = f"{SUMS[table]}('round_bets')" if table in SUMS else table
        yield _Place(f"{table}/columns", f"FROM {rows} LIMIT 0")


def _of_rounds(
    database: duckdb.DuckDBPyConnection, of_file: Mapping[str, object]
) -> Iterator[_Place]:
    """Yield, by table alone, the rows of rounds that `_ROUNDS_OF_A_FILE` picks by parameters."""
    for table in OF_ROUNDS:
        if table != "round_bets":
            yield _Place(table, f"FROM {table} {_ROUNDS_OF_A_FILE}", of_file)
    # Rows that are also summed, so that they are made once.
    database.execute(
        f"CREATE OR REPLACE TEMP TABLE part_bets AS FROM round_bets {_ROUNDS_OF_A_FILE}", of_file
    )
    yield _Place("round_bets", "FROM part_bets")
    for table, macro in SUMS.items():
        yield _Place(table, f"FROM {macro}('part_bets') ORDER BY ALL")
    database.execute("DROP TABLE part_bets")


def _of_others(database: duckdb.DuckDBPyConnection, table: str, since: int) -> Iterator[_Place]:
    parts = f"SELECT DISTINCT leaf_index // ? FROM {table} WHERE leaf_index >= ?"
    rows = f"FROM {table} WHERE leaf_index // $part_leaves = $part ORDER BY leaf_index"
    for (part,) in database.execute(parts, [PART_LEAVES, since]).fetchall():
        yield _Place(f"{table}/part-{part}", rows, {"part_leaves": PART_LEAVES, "part": part})


def _is_of_tail(key: str) -> bool:
    return key.rpartition("/")[2].startswith(_TAIL)


def _write(database: duckdb.DuckDBPyConnection, folder: Path, place: _Place) -> Segment:
    directory = (folder / place.start).parent
    directory.mkdir(parents=True, exist_ok=True)
    # Arrow writes the same bytes for the same rows, which DuckDB does not promise.
    found = database.sql(place.select, params=place.parameters or None)
    rows = found.to_arrow_table().combine_chunks()
    with temporary_file(directory) as (temporary, file):
        pq.write_table(rows, file, compression="zstd", row_group_size=ROW_GROUP)
        flush(file)
        digest = _digest(temporary)
        path = f"{place.start}-{digest[:16]}.parquet"
        temporary.replace(folder / path)
    return Segment(path, digest, rows.num_rows)


def _remove_unnamed(folder: Path, named: Iterable[Segment]) -> None:
    keep = {folder / each.path for each in named}
    for table in TABLES:
        for path in (folder / table).rglob("*"):
            if path.is_file() and path not in keep:
                path.unlink()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
