"""What the engine pays every hand that can end, against every final hand of the dealer."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoeproof.replay.engine.dealer import Dealer
from shoeproof.replay.engine.hand import Hand
from shoeproof.replay.engine.rules import Rules, SettlementLine, read_odds
from shoeproof.replay.engine.settlement import settle, settle_early
from shoeproof.replay.theory.positions import Positions
from shoeproof.replay.theory.values import Floats, Ints


@dataclass(frozen=True)
class Settled:
    """The ends of some positions: the line each meets, by its place in the table, and what it wins.

    `lines` and `nets` have shape (open ends, dealer's outcomes); `decided_lines` and
    `decided_nets` follow the decided positions.
    """

    lines: Ints
    nets: Floats
    decided_lines: Ints
    decided_nets: Floats


def net_units(line: SettlementLine, hand: Hand) -> Fraction:
    """Return what a line wins, in units of the initial stake; a lost double is -2.

    A line that pays an offer has no worth of its own and counts 0.
    """
    stake = 2 if hand.doubled else 1
    match line.pays:
        case "push" | "offer":
            return Fraction(0)
        case "lose":
            return Fraction(-stake)
        case odds:
            return stake * read_odds(odds)


def settle_ends(rules: Rules, positions: Positions, outcomes: tuple[Dealer, ...]) -> Settled:
    """Return how every end of the positions is settled against the dealer's outcomes."""
    rows: dict[Hand, list[tuple[int, float]]] = {}
    hands = [positions.hands[number] for number in positions.open_ends]
    for hand in set(hands):
        rows[hand] = [_entry(rules, settle(rules, hand, dealer), hand) for dealer in outcomes]
    decided = [positions.hands[number] for number in positions.decided]
    ended = [
        _entry(rules, line, hand)
        for hand in decided
        if (line := settle_early(rules, hand)) is not None
    ]
    table = np.array([rows[hand] for hand in hands]).reshape(len(hands), len(outcomes), 2)
    return Settled(
        lines=table[:, :, 0].astype(np.int64),
        nets=np.ascontiguousarray(table[:, :, 1]),
        decided_lines=np.array([line for line, _ in ended], dtype=np.int64),
        decided_nets=np.array([net for _, net in ended], dtype=np.float64),
    )


def _entry(rules: Rules, line: SettlementLine, hand: Hand) -> tuple[int, float]:
    return rules.settlement.index(line), float(net_units(line, hand))
