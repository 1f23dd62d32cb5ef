"""Tables whose rows come from rounds simulated from a seed, honest or crooked."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from shoeproof.audit_reports.rows.luck import COUNT_COLUMNS, PART_COLUMNS
from shoeproof.audit_reports.tables import sql
from shoeproof.audit_reports.tables.par_sheets import par_sheet_rows
from shoeproof.audit_reports.tables.segments import SUMS
from shoeproof.replay.engine.outcomes import MAIN
from shoeproof.replay.engine.rules import rules_digest
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.luck.batch import decompose_moves
from shoeproof.replay.luck.values import values_of
from tests.luck.simulator import HONEST, Crooked, players, simulate

BEGUN = datetime(2026, 1, 1)
LEAVES_A_ROUND = 16


class SimulatedTables:
    """The relation `round_bets` in memory, and the queries over it."""

    def __init__(self, rows: pa.Table) -> None:
        self.rows = rows
        self._database = duckdb.connect(":memory:", config={"threads": 1})
        self._database.execute(sql.statements("tables"))
        self._database.execute("DROP VIEW round_bets")
        ledger = pa.array(["test.example/simulated"] * len(rows))
        self._database.register("round_bets", rows.append_column("ledger", ledger))
        self._database.register("par_sheets", par_sheet_rows([]))
        self._database.execute(sql.statements("sums"))
        for table, macro in SUMS.items():
            self._database.execute(f"CREATE TEMP TABLE {table} AS FROM {macro}('round_bets')")

    def query(self, name: str, kind: type[sql.Record], **parameters: object) -> list[sql.Record]:
        return sql.records(self._database, name, kind, parameters)

    def rows_of(self, select: str) -> list[Any]:
        """What a SELECT of a check finds."""
        return self._database.execute(select).fetchall()


def simulated(
    game: str,
    player: str,
    rounds: int,
    *,
    seed: int,
    crooked: Crooked = HONEST,
    days: int = 30,
    times: Sequence[int] | None = None,
) -> SimulatedTables:
    """Rounds of one seat, spread evenly over days; what was won is exact, unrounded."""
    return SimulatedTables(
        simulated_rows(game, player, rounds, seed=seed, crooked=crooked, days=days, times=times)
    )


def simulated_rows(
    game: str,
    player: str,
    rounds: int,
    *,
    seed: int,
    crooked: Crooked = HONEST,
    days: int = 30,
    times: Sequence[int] | None = None,
    table: str = "t-1",
    name: str | None = None,
) -> pa.Table:
    """The rows of such rounds at a table and of a player by name, `times` the usual stake each."""
    rules = GAMES[game].rules
    random = np.random.default_rng(seed)
    played = simulate(rules, players(rules)[player], rounds, random, crooked=crooked)
    parts = decompose_moves(values_of(rules), played.moves, played.stakes)
    stakes = np.ones(rounds, np.int64) if times is None else np.array(times)
    tables = []
    for place, bet in enumerate(values_of(rules).bets):
        at = np.flatnonzero(parts.stake[:, place])
        if not len(at):
            continue
        stake = parts.stake[at, place] * stakes[at]
        won = np.rint(parts.worth[at, place] * stakes[at]).astype(np.int64)
        staked = np.maximum(stake, -won)
        closed = [BEGUN + timedelta(days=days) * (int(n) / rounds) for n in at]
        amounts = np.hstack([parts.luck[at, place], parts.skill[at, place]]) * stakes[at, None]
        counts = parts.counts[at].reshape(len(at), -1) * (bet == MAIN)
        columns: dict[str, Any] = {
            "first_leaf": at * LEAVES_A_ROUND,
            "last_leaf": at * LEAVES_A_ROUND + LEAVES_A_ROUND - 1,
            "round": [f"round-{n}" for n in at],
            "opened_at": closed,
            "closed_at": closed,
            "initial_minor": stake,
            "staked_minor": staked,
            "paid_minor": staked + won,
            "recorded_paid_minor": staked + won,
            "start_minor": stake + parts.start[at, place] * stakes[at],
            "error_minor": np.zeros(len(at)),
            "underpaid_minor": np.zeros(len(at)),
            "wrong_hands": np.zeros(len(at), np.int64),
            **{name: amounts[:, n] for n, name in enumerate(PART_COLUMNS)},
            **{name: counts[:, n] for n, name in enumerate(COUNT_COLUMNS)},
        }
        same = {
            "game": game, "rules_digest": rules_digest(rules), "currency": "EUR", "mode": "real",
            "operator": None, "table_name": table, "channel": "web", "player": name or player,
            "bet": bet, "state": "closed",
        }  # fmt: skip
        columns |= {key: pa.array([value] * len(at), pa.string()) for key, value in same.items()}
        columns |= {key: np.full(len(at), n) for key, n in {"hands": 1, "held_minor": 0}.items()}
        for key in (
            "cash_staked_minor",
            "incentive_staked_minor",
            "would_have_paid_minor",
            "part_back_minor",
        ):
            columns[key] = pa.nulls(len(at), pa.int64())
        columns["would_have_won"] = pa.nulls(len(at), pa.bool_())
        columns |= {"resettled": np.zeros(len(at), bool), "played_out": np.ones(len(at), bool)}
        tables.append(pa.table(columns))
    return pa.concat_tables(tables)
