"""How often fair bets are called unfair: `python -m tests.bench.coverage` prints the table.

Years of 365 daily looks at fair bets are simulated with the exact distributions of what a round
wins, from the theory of each game, and with unequal stakes whose mix changes from day to day. A
year is a false alarm when the true RTP lies outside an interval at any of its looks.
"""

import argparse
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate
from time import perf_counter
from typing import NamedTuple

import numpy as np

from shoeproof.audit_reports.statistics.intervals import rtp_on_initial_stakes
from shoeproof.audit_reports.statistics.sequences import (
    Floats,
    betting_looks,
    luck_looks,
    rtp_looks,
)
from shoeproof.audit_reports.statistics.sums import BetSums, LuckSums
from shoeproof.replay.engine.side_bets import side_bet_odds
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.theory.cache import theory

DAYS = 365
WINDOW = 30
LEVEL = 0.05
STAKES = np.array([100, 200, 500, 1_000, 2_500, 10_000])
MIX = np.array([0.30, 0.25, 0.20, 0.15, 0.08, 0.02])
"""Stakes in minor units and their share of the rounds on an average day."""


class FairBet(NamedTuple):
    """What a round of a bet wins for each unit of initial stake, and how likely."""

    name: str
    nets: Floats
    chances: Floats
    largest_return: float | None


def fair_bets() -> Iterator[FairBet]:
    """Yield the main bet of each game and each side bet; only side bets have a largest return."""
    for name, game in GAMES.items():
        known = theory(game.rules)
        nets = {float(Fraction(net)): chance for net, chance in known.outcomes.nets.items()}
        yield _fair(f"{name} main", nets, None)
        for bet, table in game.rules.side_bets.items():
            ways = known.bet(bet).ways
            odds = {line: float(side_bet_odds(table, line)) for line in ways.keys() - _NO_LINE}
            nets = {win: ways[line] / ways["deals"] for line, win in odds.items()}
            nets[-1.0] = ways["lost"] / ways["deals"]
            yield _fair(f"{name} {bet}", nets, 1 + max(nets))


_NO_LINE = {"deals", "lost"}


def _fair(name: str, nets: dict[float, float], largest: float | None) -> FairBet:
    chances = np.array(list(nets.values()))
    return FairBet(name, np.array(list(nets)), chances / chances.sum(), largest)


def looks(
    bet: FairBet, rounds_a_day: int, random: np.random.Generator
) -> tuple[list[BetSums], list[LuckSums], list[dict[Fraction, int]]]:
    """Play a fair year of a bet; return each day's sums, luck, and counts of returns."""
    # Stakes come in a mix of their own each day; large ones are some days rare and some days not.
    mix = random.dirichlet(20 * MIX, DAYS)
    counts = random.multinomial(random.multinomial(rounds_a_day, mix), bet.chances)
    stake = np.repeat(STAKES[:, None], len(bet.nets), axis=1)
    win = np.rint(stake * bet.nets).astype(np.int64)
    luck = win - float(bet.nets @ bet.chances) * stake
    # A bet that wins n is paid n + 1 on one stake; of doubles only what was won matters here.
    paid = win + stake
    each = {
        "initial": stake, "staked": stake, "paid": paid, "initial_initial": stake**2,
        "win_initial": win * stake, "win_win": win**2,
    }  # fmt: skip
    daily = {name: np.tensordot(counts, value, 2).tolist() for name, value in each.items()}
    sums = [
        BetSums(rounds=rounds_a_day, **dict(zip(daily, row, strict=True)))
        for row in zip(*daily.values(), strict=True)
    ]
    powers = (np.tensordot(counts, luck**power, 2).tolist() for power in (1, 2, 4))
    lucks = [LuckSums(rounds_a_day, *row) for row in zip(*powers, strict=True)]
    returns = [Fraction(1 + net) for net in bet.nets.tolist()]
    by_return = [dict(zip(returns, day, strict=True)) for day in counts.sum(axis=1).tolist()]
    return sums, lucks, by_return


def alarms(bet: FairBet, rounds_a_day: int, random: np.random.Generator) -> list[bool | None]:
    """Play a fair year and tell of each kind of interval whether it ever left out the truth."""
    truth = 1 + float(bet.nets @ bet.chances)
    days, luck, returns = looks(bet, rounds_a_day, random)
    so_far = list(accumulate(days))
    windows = [sum(days[first : first + WINDOW], BetSums()) for first in range(DAYS - WINDOW + 1)]
    fixed, rolling = (map(rtp_on_initial_stakes, sums) for sums in (so_far, windows))
    by_bets = None
    if bet.largest_return is not None:
        held = betting_looks(returns, Fraction(truth), Fraction(bet.largest_return), LEVEL)
        by_bets = not all(held)
    return [
        any(look is not None and not look.holds(truth) for look in fixed),
        any(look is not None and not look.holds(truth) for look in rolling),
        any(look is not None and not look.holds(truth) for look in rtp_looks(days, LEVEL)),
        any(look is not None and abs(look.total) > look.radius for look in luck_looks(luck, LEVEL)),
        by_bets,
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--years", type=int, default=400)
    parser.add_argument("--rounds-a-day", type=int, default=2_000)
    arguments = parser.parse_args()
    random = np.random.default_rng(20_260_101)
    columns = ("fixed", "rolling 30", "mixture", "luck", "betting")
    print(
        f"fair years with a false alarm, {arguments.years:,} years of {DAYS} daily looks, "
        f"{arguments.rounds_a_day:,} rounds a day, level {LEVEL:.0%}"
    )
    print(f"{'bet':28}" + "".join(f"{column:>12}" for column in columns) + f"{'seconds':>10}")
    for bet in fair_bets():
        start = perf_counter()
        years = [alarms(bet, arguments.rounds_a_day, random) for _ in range(arguments.years)]
        shares = (
            "-" if None in column else f"{sum(map(bool, column)) / len(column):.1%}"
            for column in zip(*years, strict=True)
        )
        cells = "".join(f"{share:>12}" for share in shares)
        print(f"{bet.name:28}{cells}{perf_counter() - start:>10.1f}", flush=True)


if __name__ == "__main__":
    main()
