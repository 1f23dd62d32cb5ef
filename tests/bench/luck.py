"""Luck held to zero: how many rounds it takes to see a crooked deal, and how fast it is counted.

    python -m tests.bench.luck [--rounds N] [--crooked N] [--ledger N]

First three very different players play N rounds of every game from honest shoes, a million by
default; fails when the mean of any kind of luck lies more than four standard errors from zero. Then
a basic player plays against crooked dealers: what each kind of luck shows and what the return
shows, and how many rounds either needs to lie four standard errors off in the mean. Last the speed,
by processor time, of a ledger of N rounds of each game.
"""

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from os import cpu_count
from typing import Any, NamedTuple

import numpy as np

from shoeproof.audit_reports.rows.luck import luck_rows
from shoeproof.audit_reports.rows.round_leaves import part
from shoeproof.audit_reports.rows.said import text_of
from shoeproof.audit_reports.tables.round_tables import table_schemas
from shoeproof.ledger import Ledger
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate as record
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.luck.batch import decompose_moves
from shoeproof.replay.luck.kinds import LUCK_KINDS
from shoeproof.replay.luck.recorded import decompose_replay
from shoeproof.replay.luck.values import values_of
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules, rules_by_digest
from shoeproof.replay.rounds.replayer import replay_round
from tests.luck.simulator import HONEST, STAKE_MINOR, Crooked, players, simulate

AT_ONCE = 20_000
MOST_ERRORS = 4.0
NEEDED_ERRORS = 4.0


class Fault(NamedTuple):
    """A crooked dealer, the same grossly, and how many times the effect of one the other has."""

    small: Crooked
    gross: Crooked
    times: float


def tilt(weight: float) -> float:
    """By how much a ten is likelier as the next card when tens weigh so much."""
    tens = 4 / 13
    return weight * tens / (1 + (weight - 1) * tens) - tens


FAULTS = {
    "the dealer has 2% more tens": Fault(
        Crooked(tens=1.02), Crooked(tens=1.2), tilt(1.2) / tilt(1.02)
    ),
    "5% of naturals dealt again": Fault(
        Crooked(naturals_taken=0.05), Crooked(naturals_taken=0.5), 10.0
    ),
}


class Sums(NamedTuple):
    """Sums of one bet over rounds, in initial stakes, and of the squares.

    A place for each of LUCK_KINDS, then all luck, then what was won less the theoretical mean.
    """

    rounds: int
    first: Any
    second: Any

    @property
    def errors(self) -> Any:
        """The standard errors that each mean lies from zero, 0 for what never came."""
        return self.first / np.sqrt(np.maximum(self.spread**2 * self.rounds, 1e-30))

    @property
    def spread(self) -> Any:
        """The standard deviation of a round."""
        return np.sqrt(np.maximum(self.second / self.rounds - (self.first / self.rounds) ** 2, 0))


def play(game: str, player: str, rounds: int, crooked: Crooked, seed: int) -> dict[str, Sums]:
    """Play rounds, take them apart, and sum up each bet."""
    rules, random = GAMES[game].rules, np.random.default_rng([seed, len(game), len(player)])
    values = values_of(rules)
    kinds = len(LUCK_KINDS) + 2
    sums = np.zeros((2, len(values.bets), kinds))
    counts = np.zeros(len(values.bets), np.int64)
    for begun in range(0, rounds, AT_ONCE):
        size = min(AT_ONCE, rounds - begun)
        played = simulate(rules, players(rules)[player], size, random, crooked=crooked)
        parts = decompose_moves(values, played.moves, played.stakes)
        won = parts.worth - parts.start
        each = np.dstack([parts.luck, parts.luck.sum(axis=2), won])
        each /= np.maximum(parts.stake, 1)[:, :, np.newaxis]
        counts += (parts.stake > 0).sum(axis=0)
        sums += each.sum(axis=0), (each**2).sum(axis=0)
    return {
        bet: Sums(int(counts[n]), sums[0, n], sums[1, n])
        for n, bet in enumerate(values.bets)
        if counts[n]
    }


def honest(pool: ProcessPoolExecutor, rounds: int) -> bool:
    """Print the standard errors of every kind of luck; tell whether all are few."""
    print(f"honest shoes, {rounds:,} rounds each: standard errors of the mean of luck from zero")
    print(f"{'game':7} {'player':7} {'bet':22}" + "".join(f"{kind:>13}" for kind in LUCK_KINDS))
    pairs = list(product(GAMES, ("basic", "random", "greedy")))
    found = pool.map(_honest, pairs, [rounds] * len(pairs))
    worst = 0.0
    for (game, player), bets in zip(pairs, found, strict=True):
        for bet, sums in bets.items():
            errors = sums.errors[: len(LUCK_KINDS)]
            worst = max(worst, float(abs(errors).max()))
            shown = "".join(f"{each:>13.2f}" if each else f"{'-':>13}" for each in errors)
            print(f"{game:7} {player:7} {bet:22}{shown}")
    print(f"the largest is {worst:.2f}, {MOST_ERRORS:g} are allowed\n")
    return worst <= MOST_ERRORS


def _honest(pair: tuple[str, str], rounds: int) -> dict[str, Sums]:
    return play(*pair, rounds, HONEST, 1)


def crooked(pool: ProcessPoolExecutor, rounds: int) -> None:
    """Print which kinds of luck show a crooked dealer, and the rounds that they and returns need.

    The effect is that of the same fault ten times as gross, in proportion.
    """
    print(f"crooked dealers, basic player, main bet, {rounds:,} rounds each")
    print(f"needs: rounds after which the mean lies {NEEDED_ERRORS:g} standard errors off")
    head = f"{'effect':>9} {'SD':>6} {'errors':>7} {'needs':>13}"
    print(f"{'game':7} {'fault':28} {'part':13} {head}")
    pairs = list(product(GAMES, FAULTS))
    small = pool.map(_crooked, pairs, [rounds] * len(pairs), [False] * len(pairs))
    gross = pool.map(_crooked, pairs, [rounds] * len(pairs), [True] * len(pairs))
    names = (*LUCK_KINDS, "all luck", "return")
    for (game, fault), sums, more in zip(pairs, small, gross, strict=True):
        means = more.first / more.rounds / FAULTS[fault].times
        # What the player does about the cards is skill: luck's mean is what the dealer takes.
        means[-1] = means[-2]
        guilty = [n for n in range(len(LUCK_KINDS)) if abs(more.errors[n]) > 2 * MOST_ERRORS]
        for n in (*guilty, -2, -1):
            needs = (NEEDED_ERRORS * sums.spread[n] / means[n]) ** 2
            row = f"{means[n]:>9.5f} {sums.spread[n]:>6.3f} {sums.errors[n]:>7.2f} {needs:>13,.0f}"
            print(f"{game:7} {fault:28} {names[n]:13} {row}")
        others = [abs(sums.errors[n]) for n in range(len(LUCK_KINDS)) if n not in guilty]
        print(f"{game:7} {fault:28} {'all others':13} at most {max(others):.2f} standard errors")
    print()


def _crooked(pair: tuple[str, str], rounds: int, gross: bool) -> Sums:
    fault = FAULTS[pair[1]]
    return play(pair[0], "basic", rounds, fault.gross if gross else fault.small, 2)["main"]


def speed(rounds: int) -> None:
    """Print rounds a second of processor time."""
    print("rounds a second of processor time, one seat, basic player")
    for game in GAMES.values():
        rules = game.rules
        played = simulate(rules, players(rules)["basic"], AT_ONCE, np.random.default_rng(3))
        values = values_of(rules)
        _timed(f"{rules.id}: by the tables, from moves", AT_ONCE,
               partial(decompose_moves, values, played.moves, played.stakes))  # fmt: skip
    with Ledger.in_memory("bench.example/luck") as ledger:
        add_published_games(ledger)
        for game in GAMES.values():
            settings = TableSettings(limits={"main": (1, 10_000)}, currency="EUR")
            rules = current_rules(ledger, game.rules.id)
            stakes = {"s1": {"main": STAKE_MINOR}}
            record(ledger, rules, settings, stakes, make_player("basic", 1), rounds)
        rules_of = rules_by_digest(ledger)
        leaves = list(ledger.leaves(0, ledger.size()))
        schema = table_schemas()["luck"]
        texts = [text_of(leaf) for leaf in leaves]
        whole = part(zip(leaves, texts, strict=True)).whole
        _timed("all games: from the texts of verified leaves", 3 * rounds,
               lambda: luck_rows(whole, rules_of, schema, lambda replay: None))  # fmt: skip
        streams = list({leaf.stream: None for leaf in leaves if leaf.topic == "RoundOpened"})[:300]
        events = [ledger.events(stream) for stream in streams]
        replays = [replay_round(each, rules_of) for each in events]
        _timed("one by one, replay not included", len(replays),
               lambda: [decompose_replay(each) for each in replays])  # fmt: skip


def _timed(what: str, rounds: int, work: Callable[[], object]) -> None:
    work()
    began = time.process_time()
    work()
    print(f"  {what:44} {rounds / (time.process_time() - began):>10,.0f}")


def main() -> int:
    """Run the bench; return 1 when honest luck is not nil."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("--rounds", type=int, default=1_000_000, help="of each game and player")
    asked.add_argument("--crooked", type=int, default=4_000_000, help="of each game and fault")
    asked.add_argument("--ledger", type=int, default=2_000, help="rounds of each game, for speed")
    given = asked.parse_args()
    with ProcessPoolExecutor(cpu_count()) as pool:
        fair = not given.rounds or honest(pool, given.rounds)
        if given.crooked:
            crooked(pool, given.crooked)
    if given.ledger:
        speed(given.ledger)
    return 0 if fair else 1


if __name__ == "__main__":
    sys.exit(main())
