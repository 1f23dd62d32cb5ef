"""What a hand is worth before it is played: one number for each hand and what the dealer shows.

While a hand is played the number is the mean of the exact theory's values over all cards that make
such a hand, weighted by how often optimal play comes to it; in a part of the play that optimal play
never comes to, by how often random play does. Once the hole card is shown, it is the mean payment
when the dealer draws from a full shoe without the up card. All are net, in units of the seat's
initial stake, without rounding to minor units. They are fixed before any round is looked at, which
is all that the decomposition asks of them: see `README.md`.

The first kind is shipped as ten-millionths, by rules digest; other rules are computed.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Final

import msgspec
import numpy as np

from shoeproof.replay.engine.dealer import Dealer
from shoeproof.replay.engine.hand import Hand
from shoeproof.replay.engine.outcomes import INSURANCE_BET, MAIN
from shoeproof.replay.engine.rules import Rules, canonical_rules, rules_digest, rules_from_json
from shoeproof.replay.kernel.tables import NUMBER, Ints, RuleTables, compile_tables
from shoeproof.replay.theory.basic import any_acts
from shoeproof.replay.theory.side_bets import insurance, side_bet
from shoeproof.replay.theory.up_card import (
    against,
    checks,
    game_positions,
    halves,
    play_parts,
    reach_parts,
    start_values,
)
from shoeproof.replay.theory.values import CARD_OF_VALUE, VALUES, Floats, full_shoe

UNIT: Final = 10_000_000
"""Shipped values are whole multiples of one part in so many of the initial stake."""

CARDS: Final = np.array([NUMBER[card] for card in CARD_OF_VALUE])
"""The symbols that stand for the ten values of cards."""

_PLACES: Final = 12
_RARE: Final = 1e-9
_IMPOSSIBLE: Final = 1e-30

Row = list[int] | None


class Shipped(msgspec.Struct, frozen=True):
    """The values as they are shipped, a row of ten up cards for each hand of the tables.

    `start` are those of two cards just dealt, a dealer's natural at the check included, `play` all
    others; None for hands that have none. `start_mean` is the exact mean of `start` over the deals.
    """

    rules_digest: str
    start_mean: float
    start: list[Row]
    play: list[Row]


@dataclass(frozen=True)
class Values:
    """The values of one rule set, indexed by the states of `tables` and the up card's place.

    `means` is what a unit of each bet wins in the mean before the first card; insurance has its
    mean over all deals that are offered it. `final` is indexed by the facts of a hand and by the
    dealer's hand, counted from the first, and is for a stake not doubled.
    """

    tables: RuleTables
    means: dict[str, float]
    start: Floats
    play: Floats
    final: Floats

    @property
    def bets(self) -> tuple[str, ...]:
        """Return the bets a round can have: main, insurance, side bets."""
        return (MAIN, INSURANCE_BET, *self.tables.rules.side_bets)

    @cached_property
    def hand_number(self) -> dict[Hand, int]:
        """Return the state of each hand."""
        return {hand: n for n, hand in enumerate(self.tables.hands, self.tables.first_hand)}

    @cached_property
    def dealer_number(self) -> dict[tuple[int, int, bool, int], int]:
        """Return the place of each hand of the dealer by up card, total, softness and count."""
        return {_dealer_key(dealer): n for n, dealer in enumerate(self.tables.dealers)}

    def at_start(self, hand: Hand, up: int) -> float:
        """Return what two cards just dealt are worth; `up` is the up card's place."""
        return float(self.start[self.hand_number[hand], up])

    def in_play(self, hand: Hand, up: int) -> float:
        """Return what a hand is worth when no check can cut it short any more."""
        return float(self.play[self.hand_number[hand], up])

    def at_end(self, hand: Hand, dealer: Dealer) -> float:
        """Return what a finished hand is worth once the hole card is shown."""
        facts = self.tables.facts[self.hand_number[hand]]
        worth = self.final[facts, self.dealer_number[_dealer_key(dealer)]]
        return float(worth) * (2 if hand.doubled else 1)

    def at_natural(self, hand: Hand, up: int) -> float:
        """Return what a hand is worth once the dealer looked and has a natural."""
        return self.at_end(hand, self.tables.dealers[self.natural_dealer[up]])

    @cached_property
    def natural_dealer(self) -> dict[int, int]:
        """Return the place of the dealer's natural by the up card's place, where there is one."""
        dealers = enumerate(self.tables.dealers)
        return {dealer.up_value - 1: n for n, dealer in dealers if dealer.natural}


def values_of(rules: Rules) -> Values:
    """Return the values of a rule set: at once for the published games, else after seconds."""
    return _values(canonical_rules(rules))


@lru_cache(maxsize=16)
def _values(canonical: bytes) -> Values:
    rules = rules_from_json(canonical)
    file = files("shoeproof.replay.luck").joinpath("data", f"{rules_digest(rules)}.json")
    if file.is_file():
        return from_shipped(rules, msgspec.json.decode(file.read_bytes(), type=Shipped))
    return from_shipped(rules, compute(rules))


def from_shipped(rules: Rules, shipped: Shipped) -> Values:
    """Return the values that `compute` gave for the same rules."""
    tables = compile_tables(rules)
    pays = _pays(tables)
    reach = _final_reach(tables)
    start, play = (_by_state(tables, rows, pays) for rows in (shipped.start, shipped.play))
    # Where nobody looks for a natural, two cards just dealt are already in play.
    dealt = [number for number, row in enumerate(shipped.start, tables.first_hand) if row]
    unlooked = [up for up in VALUES if not checks(rules, up)]
    play[np.ix_(dealt, unlooked)] = start[np.ix_(dealt, unlooked)]
    means = {MAIN: shipped.start_mean}
    means |= {bet.bet: bet.returned - 1 for bet in insurance(rules)}
    means |= {name: side_bet(rules, name).returned - 1 for name in rules.side_bets}
    # Rounded, so that what does not depend on the dealer is the same whatever the dealer has.
    return Values(tables, means, start, play, (pays @ reach.T).round(_PLACES))


def compute(rules: Rules) -> Shipped:
    """Compute the values from the exact theory; takes a second or two."""
    hands = {hand: number for number, hand in enumerate(compile_tables(rules).hands)}
    game = game_positions(rules)
    # Sums of weights and of weighted values, by hand and up card.
    sums = np.zeros((2, 2, len(hands), len(VALUES)))
    chance = np.zeros((len(hands), len(VALUES)))
    at_start = [hands[start.hand] for start in game.starts]
    for up in VALUES:
        up_card = against(game, up)
        best = play_parts(up_card)
        worth, _ = start_values(up_card, best)
        _add(sums[0, :, :, up], at_start, up_card.chance, worth)
        np.add.at(chance[:, up], at_start, up_card.chance)
        optimal = reach_parts(up_card, {part: played.policy for part, played in best.items()})
        anyhow = reach_parts(up_card, any_acts(game))
        for part, positions in game.parts.items():
            weight = halves(part) * (optimal[part] + _RARE * anyhow[part]) + _IMPOSSIBLE
            numbers = [hands[hand] for hand in positions.hands]
            _add(sums[1, :, :, up], numbers, weight, best[part].values)
    start, play = (_rounded(*each) for each in sums)
    return Shipped(
        rules_digest=rules_digest(rules),
        start_mean=float((chance * start).sum()) / UNIT,
        start=_rows(start, sums[0, 0]),
        play=_rows(play, sums[1, 0]),
    )


def write(shipped: Shipped) -> bytes:
    """Return the values as the JSON that is shipped."""
    return msgspec.json.encode(shipped)


def _add(sums: Floats, numbers: list[int], weight: Floats, values: Floats) -> None:
    np.add.at(sums[0], numbers, weight)
    np.add.at(sums[1], numbers, weight * values)


def _rounded(weight: Floats, weighted: Floats) -> Ints:
    means = weighted / np.where(weight > 0, weight, 1)
    rounded: Ints = np.rint(UNIT * means).astype(np.int64)
    return rounded


def _rows(values: Ints, weight: Floats) -> list[Row]:
    there: list[bool] = (weight.max(axis=1) > 0).tolist()
    return [row if known else None for row, known in zip(values.tolist(), there, strict=True)]


def _by_state(tables: RuleTables, rows: list[Row], pays: Floats) -> Floats:
    values = np.zeros((len(tables.transition), len(VALUES)))
    nothing = [0] * len(VALUES)
    values[tables.first_hand : tables.first_dealer] = [row or nothing for row in rows]
    values /= UNIT
    # A hand that the dealer cannot touch any more is worth what it is paid, against anything.
    decided = np.flatnonzero(tables.early >= 0)
    stakes = 1 + tables.doubled[decided]
    values[decided] = (stakes * pays[tables.facts[decided], 0])[:, np.newaxis]
    return values


def _pays(tables: RuleTables) -> Floats:
    """Return what each line of facts wins, hand by dealer, in units of the hand's own stake."""
    pays = tables.pays
    nets = pays.times_stake - 1 + pays.numerator / pays.denominator
    won: Floats = nets[tables.line]
    return won


def _final_reach(tables: RuleTables) -> Floats:
    """Return the probability of each dealer's facts at the end, from each dealer's hand."""
    first = tables.first_dealer
    facts = tables.facts[first:]
    reach = np.zeros((len(tables.dealers), tables.line.shape[1]))
    rules = tables.rules
    for number in sorted(range(len(facts)), key=lambda n: -tables.dealers[n].count):
        dealer = tables.dealers[number]
        leads_to = tables.transition[first + number, CARDS].astype(np.int64) - first
        if not dealer.count or (leads_to < 0).any():
            reach[number, facts[number]] = 1.0
            continue
        cards = full_shoe(rules.decks)
        cards[dealer.up_value - 1] -= 1
        reach[number] = cards / cards.sum() @ reach[leads_to]
    return reach


def _dealer_key(dealer: Dealer) -> tuple[int, int, bool, int]:
    return dealer.up_value, dealer.total, dealer.soft, dealer.count
