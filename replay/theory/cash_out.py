"""Cash out: what always taking the first offer returns, and the range of what is offered."""

import numpy as np

from shoeproof.replay.engine.cash_out import cash_out_ratio
from shoeproof.replay.engine.hand import CASH_OUT
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.theory.branch import end_values
from shoeproof.replay.theory.positions import ACT_NUMBER
from shoeproof.replay.theory.results import CashOutRange
from shoeproof.replay.theory.up_card import (
    FIRST,
    GamePositions,
    UpCard,
    against,
    game_positions,
    offers,
    play_parts,
    start_values,
)
from shoeproof.replay.theory.values import VALUES


def first_offer(up_card: UpCard) -> tuple[float, float]:
    """Return the mean and the mean square of the net result when the first offer is always taken.

    Both are parts of the whole: those of rounds with this up card.
    """
    game, branch = up_card.game, up_card.branches[FIRST]
    offer = offers(game.rules, game.parts[FIRST], up_card.up)[CASH_OUT][game.start_at]
    ends, squares = end_values(branch), np.zeros(len(branch.positions.hands))
    squares[branch.positions.open_ends] = (branch.outcomes * branch.settled.nets**2).sum(axis=1)
    offered = np.isfinite(offer)
    mean = np.where(offered, offer, ends[game.start_at])
    square = np.where(offered, offer**2, squares[game.start_at])
    cut, natural = up_card.cut_short, up_card.natural
    mean = natural * cut + (1 - natural) * mean
    square = natural * cut**2 + (1 - natural) * square
    return float(up_card.chance @ mean), float(up_card.chance @ square)


def offer_range(game: GamePositions) -> CashOutRange | None:
    """Return the lowest and highest ratio over every decision that has an offer."""
    cash_out = game.rules.cash_out
    if cash_out is None:
        return None
    hands = {
        positions.hands[number]
        for positions in game.parts.values()
        for number in np.flatnonzero(positions.legal[:, ACT_NUMBER[CASH_OUT]])
    }
    ratios = {cash_out_ratio(cash_out, hand, up + 1) for hand in hands for up in VALUES}
    return CashOutRange(min(ratios), max(ratios))


def cash_out_returns(rules: Rules) -> dict[str, float]:
    """Return the returns of always taking the first offer, and of the best play with offers."""
    game = game_positions(rules)
    always = optional = 1.0
    for up in VALUES:
        up_card = against(game, up)
        always += first_offer(up_card)[0]
        values, _ = start_values(up_card, play_parts(up_card, cash_out=True))
        optional += float(up_card.chance @ values)
    return {"cash_out_always": always, "cash_out_optional": optional}
