"""What the report's queries read: `round_bets`, one row for each round and bet.

They are made in memory from the projection's tables and the rounds taken apart.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from audit_reports import sql
from audit_reports.errors import LeafRefused
from audit_reports.luck import PARTS, take_apart
from audit_reports.projection import Projection, open_projection
from audit_reports.verified import verified_runs
from ledger import Finding, Ledger, StoredLeaf
from ledger.checkpoint import parse_checkpoint
from ledger.sharing import Progress
from ledger.signing import kept_checkpoints
from replay.catalogue import rules_by_digest

_ROUND_BETS = """
CREATE TEMP TABLE round_bets AS
WITH corrected AS (
    SELECT round, hand, bet, arg_max(paid_minor, leaf_index) AS corrected_minor
    FROM decisions WHERE paid_minor IS NOT NULL GROUP BY ALL
),
refunded AS (SELECT DISTINCT round FROM decisions WHERE refunded_minor IS NOT NULL)
SELECT
    rounds.first_leaf, last_leaf, NULL::BIGINT AS checkpoint_size, rounds.round, rule_sets.game,
    rounds.rules_digest, rounds.currency, rounds.mode, operator, rounds.table_name, rounds.channel,
    rounds.player, IF(refunded.round IS NULL, state, 'void') AS state, opened_at, dealt_at,
    closed_at, bets.bet, COUNT(*) AS hands, SUM(initial_stake_minor)::BIGINT AS initial_minor,
    SUM(bets.stake_minor)::BIGINT AS staked_minor,
    COALESCE(SUM(COALESCE(corrected_minor, bets.paid_minor)), 0)::BIGINT AS paid_minor,
    COALESCE(SUM(bets.paid_minor), 0)::BIGINT AS recorded_paid_minor,
    COALESCE(SUM(bets.stake_minor) FILTER (bets.paid_minor IS NULL AND state = 'open'), 0)::BIGINT
        AS held_minor,
    NULL::BIGINT AS cash_staked_minor, NULL::BIGINT AS incentive_staked_minor,
    bool_or(corrected_minor IS NOT NULL) AS resettled, NULL::BIGINT AS would_have_paid_minor,
    any_value(apart.start_minor) AS start_minor, any_value(apart.error_minor) AS error_minor,
    {parts}
FROM rounds
JOIN bets USING (first_leaf)
LEFT JOIN corrected
    ON corrected.round = rounds.round AND corrected.hand = bets.hand AND corrected.bet = bets.bet
LEFT JOIN refunded ON refunded.round = rounds.round
LEFT JOIN rule_sets ON rule_sets.rules_digest = rounds.rules_digest
LEFT JOIN apart ON apart.first_leaf = rounds.first_leaf AND apart.bet = bets.bet
GROUP BY ALL
"""


class Tables:
    """The relations of a ledger's first `size` leaves, and what is known of their trust.

    `objection` is what verification says of the leaf after the last one counted, None where all
    leaves were. `checkpoint` is the newest one kept, `checkpoint_size` how many leaves it covers.
    """

    def __init__(
        self, ledger: Ledger, connection: duckdb.DuckDBPyConnection, objection: Finding | None
    ) -> None:
        """Hold tables; use `open_tables`."""
        self.origin = ledger.origin
        self.size = ledger.size()
        self.objection = objection
        note = None if ledger.path is None else next(iter(kept_checkpoints(ledger.path)), None)
        self.checkpoint = None if note is None else note.decode()
        self.checkpoint_size = None if note is None else parse_checkpoint(note).size
        self.manifest_digest: str | None = None
        self._connection = connection

    def query(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """Return all rows of `queries/<name>.sql`."""
        return self._connection.execute(sql.query(name), parameters).fetchall()


class _Cut:
    """A ledger as it was before a leaf."""

    def __init__(self, ledger: Ledger, size: int) -> None:
        self._ledger, self._size = ledger, size

    def size(self) -> int:
        return self._size

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)


@contextmanager
def open_tables(
    ledger: Ledger,
    *,
    verified_only: bool = False,
    rebuild: bool = False,
    progress: Progress | None = None,
) -> Iterator[Tables]:
    """Open the tables of a ledger, brought up to date, or made anew with `rebuild`.

    With `verified_only` the leaves before the first that verification objects to are counted, else
    LeafRefused is raised for it. Raises ProjectionBusy and ProjectionUnavailable.
    """
    objection = _objection(ledger) if verified_only else None
    if objection is None:
        opened = open_projection(ledger, rebuild=rebuild)
    else:
        ledger = _Cut(ledger, objection.leaf_index or 0)  # type: ignore[assignment]
        opened = Projection(ledger, None, duckdb.connect(":memory:"))
    with opened as projection:
        projection.update(progress)
        connection = projection._tables
        # Sums of fractions depend on their order in the last places.
        connection.execute("SET threads = 1")
        apart = [each.rows for each in take_apart(_leaves(ledger), rules_by_digest(ledger))]
        parts = [f"{term}_{kind}" for term, kind in PARTS]
        connection.register("apart", pa.concat_tables(apart) if apart else _no_rows(parts))
        picked = ", ".join(f"any_value(apart.{part}) AS {part}" for part in parts)
        connection.execute(_ROUND_BETS.format(parts=picked))
        yield Tables(ledger, connection, objection)


def _objection(ledger: Ledger) -> Finding | None:
    try:
        for _ in verified_runs(ledger, 0, ledger.size()):
            pass
    except LeafRefused as refused:
        return refused.finding
    return None


def _leaves(ledger: Ledger) -> Iterator[StoredLeaf]:
    for run in verified_runs(ledger, 0, ledger.size()):
        yield from run


def _no_rows(parts: list[str]) -> pa.Table:
    columns = {"first_leaf": pa.int64(), "bet": pa.string()}
    columns |= dict.fromkeys(["start_minor", "error_minor", *parts], pa.float64())
    return pa.table({name: pa.array([], kind) for name, kind in columns.items()})
