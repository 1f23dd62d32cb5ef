"""How often an honest house is ever out of range: `python -m tests.bench.false_alarms` prints it.

Years of 365 daily looks at whole pages: every game with all of its bets, readings and tables, at
stakes whose mix changes daily, and every rolling window of 30 days. Main bets and insurance are
drawn from honest rounds played by the tables, whose luck and counts are centred, so that their mean
is nil to the last digit; side bets come by their exact chances. A page is judged by `build_games`,
as a report is; what a reading left on any day it has left for good, and tables are looked at every
month. A year is a false alarm when anything is out of range at any look.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from fractions import Fraction
from time import perf_counter
from typing import NamedTuple

import numpy as np

from shoeproof.audit_reports.rows.luck import ALL_LUCK, UNIT_COLUMNS
from shoeproof.audit_reports.rtp_report.build import Theories, build_games
from shoeproof.audit_reports.rtp_report.figures import Figures, PartSums, Scope
from shoeproof.audit_reports.rtp_report.records import MILLION, BetKey, PartTotals, SliceRow
from shoeproof.audit_reports.rtp_report.rolling import WINDOW
from shoeproof.audit_reports.rtp_report.slices import SLICES_SHARE, slices_of
from shoeproof.audit_reports.rtp_report.theoretical import theoretical
from shoeproof.audit_reports.statistics.sequences import Floats
from shoeproof.audit_reports.statistics.sums import BetSums, CountSums, LuckSums
from shoeproof.audit_reports.statistics.verdict import LEVEL, OUT_OF_RANGE, level_of_each
from shoeproof.replay.engine.outcomes import INSURANCE_BET, MAIN
from shoeproof.replay.engine.rules import rules_digest
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.luck.batch import decompose_moves
from shoeproof.replay.luck.counts import BILLION, COUNT_KINDS
from shoeproof.replay.luck.kinds import LUCK_KINDS
from shoeproof.replay.luck.values import values_of
from tests.bench.coverage import MIX, STAKES, fair_bets
from tests.luck.simulator import players, simulate

DAYS = 365
BEGUN = date(2026, 1, 1)
TABLES = 4
POOL = 60_000
_MONTH = 30


class Pool(NamedTuple):
    """Honest rounds of a bet: luck for a unit of stake by kind, what was won, and counts."""

    key: BetKey
    units: Floats
    won: Floats
    counts: Floats


class Year(NamedTuple):
    """A bet's year, sums by day and table: stakes, wins, luck in money and units, and counts.

    `luck` and `units` are (powers 1, 2 and 4; days; tables; kinds and all), `returns` by day.
    """

    key: BetKey
    sums: list[BetSums]
    luck: Floats
    units: Floats
    counts: Floats
    returns: list[dict[Fraction, int]]


def pools(random: np.random.Generator, rounds: int = POOL) -> list[Pool]:
    """Play honest rounds of every game by a player who does anything, and centre them."""
    found = []
    for name, game in GAMES.items():
        rules, values = game.rules, values_of(game.rules)
        played = simulate(rules, players(rules)["random"], rounds, random)
        parts = decompose_moves(values, played.moves, played.stakes)
        for bet in (MAIN, INSURANCE_BET):
            place = values.bets.index(bet)
            at = np.flatnonzero(parts.stake[:, place])
            stake = parts.stake[at, place]
            units = parts.luck[at, place] / stake[:, None]
            counts = parts.counts[at].astype(float) * (bet == MAIN)
            key = BetKey(name, rules_digest(rules), "EUR", bet)
            won = parts.worth[at, place] / stake
            found.append(Pool(key, _centred(units), won, _centred_counts(counts)))
    return found


def _centred(units: Floats) -> Floats:
    moved = units != 0
    return np.where(moved, units - units.sum(axis=0) / np.maximum(moved.sum(axis=0), 1), 0.0)


def _centred_counts(counts: Floats) -> Floats:
    total = counts.sum(axis=0)
    too_often = (total[:, 1] - total[:, 2] / BILLION) / np.maximum(total[:, 0], 1)
    counts[:, :, 2] += counts[:, :, 0] * too_often * BILLION
    return counts


def _stakes(shape: tuple[int, int], random: np.random.Generator) -> Floats:
    """Stakes of days whose mix is each its own."""
    mix = random.dirichlet(20 * MIX, shape[0]).cumsum(axis=1)
    chosen = (random.random(shape)[:, :, None] > mix[:, None, :-1]).sum(axis=2)
    stakes: Floats = STAKES[chosen].astype(float)
    return stakes


def _by_table(each: Floats) -> Floats:
    """Sum rounds, (days, rounds, …), by table: the n-th of a day is played at table n % TABLES."""
    days, rounds = each.shape[:2]
    parted = each.reshape(days, rounds // TABLES, TABLES, *each.shape[2:])
    summed: Floats = parted.sum(axis=1)
    return summed


def _year(
    key: BetKey, units: Floats, won: Floats, counts: Floats, random: np.random.Generator
) -> Year:
    stake = _stakes((won.shape[0], won.shape[1]), random)
    units = np.concatenate([units, units.sum(axis=2, keepdims=True)], axis=2)
    luck = units * stake[:, :, None]
    win = np.rint(won * stake)
    daily = {
        "initial": stake, "staked": stake, "paid": stake + win, "initial_initial": stake**2,
        "win_initial": win * stake, "win_win": win**2,
    }  # fmt: skip
    columns = [each.sum(axis=1).astype(np.int64).tolist() for each in daily.values()]
    sums = [
        BetSums(rounds=won.shape[1], **dict(zip(daily, row, strict=True)))
        for row in zip(*columns, strict=True)
    ]
    powers = (1, 2, 4)
    return Year(
        key, sums,
        np.stack([_by_table(luck**power) for power in powers]),
        np.stack([_by_table(units**power) for power in powers]),
        _by_table(counts), [],
    )  # fmt: skip


def years_of(
    pools_of_bets: list[Pool], rounds_a_day: int, random: np.random.Generator
) -> Iterator[Year]:
    """Yield a year of every bet; insurance is laid in a tenth of the rounds."""
    for pool in pools_of_bets:
        rounds = rounds_a_day // (1 if pool.key.bet == MAIN else 10) // TABLES * TABLES
        at = random.integers(len(pool.won), size=(DAYS, rounds))
        yield _year(pool.key, pool.units[at], pool.won[at], pool.counts[at], random)
    digests = {pool.key.game: pool.key.rules_digest for pool in pools_of_bets}
    for fair in fair_bets():
        game, bet = fair.name.split()
        if fair.largest_return is None:
            continue
        which = random.choice(len(fair.nets), size=(DAYS, rounds_a_day), p=fair.chances)
        won = fair.nets[which]
        units = np.zeros((*won.shape, len(LUCK_KINDS)))
        units[:, :, 0] = won - fair.nets @ fair.chances
        counts = np.zeros((*won.shape, len(COUNT_KINDS), 4))
        year = _year(BetKey(game, digests[game], "EUR", bet), units, won, counts, random)
        returns = [Fraction(1 + net) for net in fair.nets.tolist()]
        counted = [Counter(day) for day in which.tolist()]
        yield year._replace(
            returns=[{returns[n]: often for n, often in day.items()} for day in counted]
        )


def _cell(
    key: BetKey, by: dict[str, str | None], sums: BetSums, units: Floats, counts: Floats
) -> SliceRow:
    """A cell of rounds without anything amiss; `units` are (powers, kinds)."""
    scale = np.array([MILLION, MILLION**2, MILLION**2])[:, None]
    totals, squares, fourths = (units * scale).tolist()
    return SliceRow(
        game=key.game, rules_digest=key.rules_digest, currency=key.currency, bet=key.bet,
        slice=by, players=1, hands=sums.rounds, sums=sums, voided_rounds=0, voided_minor=0,
        open_rounds=0, held_minor=0, resettled_rounds=0, resettled_minor=0, cash_minor=None,
        incentive_minor=None, followed_rounds=sums.rounds, followed_minor=sums.initial,
        unfollowed_rounds=0, start_minor=float(sums.initial), error_minor=0, wrong_rounds=0,
        wrong_minor=0, underpaid_minor=0, parts=PartTotals(0.0, 1.0, 0.0), unit_totals=totals,
        unit_squares=squares, unit_fourths=fourths,
        counts=counts.reshape(-1).round().astype(int).tolist(),
    )  # fmt: skip


def figures_of(years: list[Year], until: int = DAYS) -> Figures:
    """The figures of the first days of a year, all bets together, with slices by table."""
    years = sorted(years, key=lambda each: (each.key[:3], each.key.bet != MAIN))
    totals, days, tables = [], [], []
    for year in years:
        so_far = sum(year.sums[:until], BetSums())
        units, counts = year.units[:, :until].sum(axis=1), year.counts[:until].sum(axis=0)
        totals.append(_cell(year.key, {}, so_far, units.sum(axis=1), counts.sum(axis=0)))
        for table in range(TABLES):
            by: dict[str, str | None] = {"table": str(table)}
            tables.append(_cell(year.key, by, so_far, units[:, table], counts[table]))
        days += [
            _cell(year.key, {"day": _day(day)}, year.sums[day],
                  year.units[:, day].sum(axis=1), year.counts[day].sum(axis=0))
            for day in range(until)
        ]  # fmt: skip
    return Figures(
        scope=Scope(), extents=[], totals=totals, days=days,
        slices={("table",): tables}, growth={}, voids=[], held=[], wrong=[], wallet=[], awards=[],
        offers=[], void_outcomes={}, open_outcomes={}, rounds=[], fun=[], refunds=[], shoes=[],
        approved={},
        parts={each.key: {f"luck_{kind}": _parts(each, n) for n, kind in enumerate(LUCK_KINDS)}
               for each in years},
        luck={each.key: _luck(each) for each in years},
        counts={each.key: _counts(each) for each in years if each.key.bet == MAIN},
        returns={each.key: {_day(n): day for n, day in enumerate(each.returns)}
                 for each in years if each.returns},
    )  # fmt: skip


def _day(number: int) -> str:
    return (BEGUN + timedelta(days=number)).isoformat()


def _daily(sums: Floats, rounds: int) -> dict[str, LuckSums]:
    """Sums by day of (powers, days)."""
    return {_day(n): LuckSums(rounds, *day) for n, day in enumerate(sums.T.tolist())}


def _parts(year: Year, kind: int) -> dict[str, PartSums]:
    sums = year.luck[:, :, :, kind].sum(axis=2)
    if not sums[1].any():
        return {}
    daily = _daily(sums, year.sums[0].rounds)
    return {day: PartSums(each.rounds, each) for day, each in daily.items()}


def _luck(year: Year) -> dict[str, dict[str, LuckSums]]:
    rounds = year.sums[0].rounds
    units = year.units.sum(axis=2)
    found = {name: _daily(units[:, :, n], rounds) for n, name in enumerate(UNIT_COLUMNS)}
    return {ALL_LUCK: _daily(year.luck.sum(axis=2)[:, :, -1], rounds), **found}


def _counts(year: Year) -> dict[str, dict[str, CountSums]]:
    sums = year.counts.sum(axis=1)
    return {
        kind: {
            _day(day): CountSums(int(chances), int(came), expected / BILLION, variance / BILLION)
            for day, (chances, came, expected, variance) in enumerate(sums[:, n].tolist())
        }
        for n, kind in enumerate(COUNT_KINDS)
    }


def theories() -> Theories:
    """What every bet of every game should return, by rules digest."""
    return {rules_digest(game.rules): theoretical(game.rules) for game in GAMES.values()}


def guilty(years: list[Year], known: Theories) -> list[str]:
    """Name what is out of range on any day of a year."""
    figures = figures_of(years)
    games = build_games(figures, known)
    found = [
        f"{game.game} {bet.row.bet} {reading.of}"
        for game in games
        for bet in game.bets
        for reading in bet.readings
        if reading.word == OUT_OF_RANGE
    ]
    found += [
        "a window of 30 days"
        for game in games
        for why in game.why
        if why.startswith(f"{WINDOW} days to ")
    ]
    level = level_of_each(LEVEL, len(games)) * SLICES_SHARE
    for until in range(_MONTH, DAYS + 1, _MONTH):
        so_far = figures_of(years, until)
        mains = [cell for cell in so_far.totals if cell.key.bet == MAIN]
        found += [
            f"{row.bet} at table {row.slice['table']}"
            for cell in mains
            for row in slices_of(so_far, cell, level)["table"]
            if row.word == OUT_OF_RANGE
        ]
    return found


def main() -> None:
    """Print how many years of honest pages had a false alarm, and of what."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--years", type=int, default=200)
    parser.add_argument("--rounds-a-day", type=int, default=120)
    arguments = parser.parse_args()
    start, random, known = perf_counter(), np.random.default_rng(20_260_102), theories()
    made = pools(random)
    found = [
        guilty(list(years_of(made, arguments.rounds_a_day, random)), known)
        for _ in range(arguments.years)
    ]
    alarms = sum(map(bool, found))
    print(
        f"{alarms} of {arguments.years} years of {DAYS} daily looks at whole pages of honest games "
        f"were ever out of range ({alarms / arguments.years:.1%}); {arguments.rounds_a_day} rounds "
        f"a day of each game, {perf_counter() - start:.0f} s"
    )
    for name, often in Counter(each for year in found for each in set(year)).most_common():
        print(f"  {name}: {often}")


if __name__ == "__main__":
    main()
