"""Rounds as rows of the projection's tables, made where their leaves were verified.

The rows of a round follow from its own leaves and from the rule sets that stand before it, so that
any process can make them, in any order.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import pyarrow as pa

from shoeproof.audit_reports.rows.luck import luck_rows
from shoeproof.audit_reports.rows.offers import rows_against_the_rules
from shoeproof.audit_reports.rows.records import WouldHavePaidRow
from shoeproof.audit_reports.rows.round_leaves import Gathered, Parts, RuleSet, part
from shoeproof.audit_reports.rows.round_rows import RoundRows, rows_of
from shoeproof.audit_reports.rows.voids import would_have_paid
from shoeproof.audit_reports.tables import sql
from shoeproof.ledger import StoredLeaf
from shoeproof.ledger.leaf.recorded import read_leaf
from shoeproof.replay.bulk.pool import uncollected
from shoeproof.replay.rounds.replayer import replay_round

ROUND_TABLES: Final = (
    "rounds", "bets", "decisions", "cards", "luck", "would_have_paid", "wallet_differences",
    "offers_apart",
)  # fmt: skip
"""The tables whose rows are those of a round, by `first_leaf`."""

RowsByTable: TypeAlias = dict[str, pa.Table]
"""Rows as they are written, by the name of their table."""

RuleSets: TypeAlias = Mapping[str, RuleSet]
"""The rule sets of a ledger, by digest."""


class MadeRange(NamedTuple):
    """What a range of verified leaves comes to: rows of its whole rounds, and its other parts."""

    rows: RowsByTable
    rest: Parts


def make_range(
    rule_sets: RuleSets, leaves: Iterable[StoredLeaf], texts: Iterable[bytes | None]
) -> MadeRange:
    """Make rows of the rounds that lie whole in a range of verified leaves, which are in order.

    `texts` are those of the leaves' data where it is sound. Raises EventUnreadable.
    """
    with uncollected():
        parts = part(zip(leaves, texts, strict=True))
        rows = rows_by_table(parts.whole, rule_sets)
        return MadeRange(rows, parts._replace(whole=[]))


def rows_by_table(rounds: Sequence[Gathered], rule_sets: RuleSets) -> RowsByTable:
    """Return the rows that rounds come to, for each of ROUND_TABLES; raises EventUnreadable."""
    games = [_game(each, rule_sets) for each in rounds]
    rows = [
        made for each, game in zip(rounds, games, strict=True)
        if (made := _rows(each, game)) is not None
    ]  # fmt: skip
    known = [each for each, game in zip(rounds, games, strict=True) if game is not None]
    rules = {digest: each.rules for digest, each in rule_sets.items()}
    offers = [row for each in rows for row in each.barred]
    voided: list[WouldHavePaidRow] = []
    for each in known:
        if each.is_void or not each.is_ended:
            events = [read_leaf(leaf) for leaf in each.leaves]
            replay = replay_round(events, rules)
            voided += would_have_paid(events, replay)
            offers += rows_against_the_rules(replay) if each.is_void else ()
    luck = luck_rows(
        known, rules, table_schemas()["luck"],
        lambda replay: offers.extend(rows_against_the_rules(replay)),
    )  # fmt: skip
    return {
        "rounds": to_columns("rounds", [each.round for each in rows]),
        "bets": to_columns("bets", [bet for each in rows for bet in each.bets.values()]),
        "decisions": to_columns("decisions", [made for each in rows for made in each.decisions]),
        "cards": to_columns("cards", [card for each in rows for card in each.cards]),
        "wallet_differences": to_columns(
            "wallet_differences", [row for each in rows for row in each.wallet]
        ),
        "would_have_paid": to_columns("would_have_paid", voided),
        "luck": luck,
        "offers_apart": to_columns("offers_apart", offers),
    }


def to_columns(table: str, rows: Sequence[msgspec.Struct]) -> pa.Table:
    """Return rows, whose fields stand in the order of a table's columns, by column."""
    schema = table_schemas()[table]
    values = zip(*map(msgspec.structs.astuple, rows), strict=True) if rows else [()] * len(schema)
    columns = [_column(each, field.type) for each, field in zip(values, schema, strict=True)]
    return pa.table(columns, schema=schema)


def _column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.string()).cast(kind)
    return pa.array(values, kind)


@cache
def table_schemas() -> dict[str, pa.Schema]:
    """Return the columns of each table that `tables.sql` makes."""
    with sql.connect() as database:
        database.execute(sql.statements("tables"))
        names = [name for (name,) in database.execute(
            "SELECT table_name FROM duckdb_tables()"
        ).fetchall()]  # fmt: skip
        return {name: database.table(name).limit(0).to_arrow_table().schema for name in names}


def _game(round_: Gathered, rule_sets: RuleSets) -> str | None:
    """Return the game that a round's rules are for, if the ledger held them when it opened."""
    found = rule_sets.get(round_.rules_digest)
    if found is None or found.leaf_index > round_.leaves[0].leaf_index:
        return None
    return found.rules.id


def _rows(round_: Gathered, game: str | None) -> RoundRows | None:
    rows = rows_of(round_.stream, round_.events, game)
    if rows is not None:
        rows.round.last_leaf = round_.leaves[-1].leaf_index
    return rows
