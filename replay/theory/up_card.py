"""A whole hand against one up card: the first two cards and what a split or a zap makes of them.

A hand is played in parts: its first two cards and what is drawn to them, one half of each pair,
the new hand for each pair of cards that may be zapped. A split is worth twice one half, played
knowing the pair but none of the sister's later cards; a new hand is played knowing the two
discarded. `GamePositions` is what no up card changes; `UpCard` is everything under one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from shoeproof.replay.engine.cash_out import cash_out_ratio
from shoeproof.replay.engine.hand import CASH_OUT, EVEN_MONEY, SPLIT, ZAP, Act, Hand, split, step
from shoeproof.replay.engine.round import NATURAL
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.engine.settlement import settle, settle_early
from shoeproof.replay.theory.branch import Branch, PolicyWorth, end_values, make_branch, play, reach
from shoeproof.replay.theory.dealer import DealerGraph, dealer_graphs, natural_probability
from shoeproof.replay.theory.positions import ACT_NUMBER, Positions, close_positions
from shoeproof.replay.theory.settled import Settled, net_units, settle_ends
from shoeproof.replay.theory.starts import StartingHand, starts
from shoeproof.replay.theory.values import ACE, TEN, Floats, Ints, count_places, full_shoe

_NOTHING_DRAWN: Final = (0,) * 10


class SubGame(NamedTuple):
    """One part of the play: the act that leads to it and the places of the cards it leaves behind.

    The two cards of a split pair count as left behind: its half starts with nothing drawn.
    """

    act: Act
    places: tuple[int, ...]


FIRST: Final = SubGame("", ())
"""The first two cards, drawn from a full shoe."""

Policies = Mapping[SubGame, Floats]


@dataclass(frozen=True)
class GamePositions:
    """The positions of every part and how their ends are settled; the dealer from each up card.

    `start_at` numbers the starts among the positions of `FIRST`; `leaving` gives, for each other
    part, the positions of `FIRST` that its act is taken from.
    """

    rules: Rules
    starts: list[StartingHand]
    start_at: Ints
    parts: dict[SubGame, Positions]
    settled: dict[SubGame, Settled]
    graphs: tuple[DealerGraph, ...]
    leaving: dict[SubGame, Ints]


@dataclass(frozen=True)
class UpCard:
    """One up card, by its place, and the branch of each part.

    For each start, `chance` is its probability together with this up card, `natural` that the
    check then ends it (0 where the dealer does not check), `cut_short` what it wins so.
    `even_money` is what it wins by taking even money, where that is offered and better; else nan.
    """

    game: GamePositions
    up: int
    graph: DealerGraph
    branches: dict[SubGame, Branch]
    chance: Floats
    natural: Floats
    cut_short: Floats
    even_money: Floats

    @property
    def played_on(self) -> Floats:
        """Return the probability of each start, this up card, and a hand played to its end."""
        return self.chance * (1 - self.natural) * np.isnan(self.even_money)


def halves(part: SubGame) -> int:
    """Return how many hands play the part once it is come to."""
    return 2 if part.act == SPLIT else 1


def game_positions(rules: Rules) -> GamePositions:
    """Return the positions of every part of a game."""
    first_cards = starts(rules)
    first = close_positions(rules, [(start.hand, start.drawn) for start in first_cards])
    start_at = np.array([first.roots[start.hand, start.drawn] for start in first_cards])
    parts = {FIRST: first}
    leaving: dict[SubGame, list[int]] = {}
    for start, number in zip(first_cards, start_at, strict=True):
        for act in (SPLIT, ZAP):
            if first.legal[number, ACT_NUMBER[act]]:
                leaving.setdefault(SubGame(act, start.places), []).append(number)
                hand = split(rules, start.hand)[0] if act == SPLIT else step(rules, start.hand, act)
                parts.setdefault(SubGame(act, start.places), _from(rules, hand, parts))
    graphs = dealer_graphs(rules)
    alike = {id(positions): positions for positions in parts.values()}
    settled = {
        key: settle_ends(rules, positions, graphs[ACE].outcomes) for key, positions in alike.items()
    }
    return GamePositions(
        rules=rules,
        starts=first_cards,
        start_at=start_at,
        parts=parts,
        settled={part: settled[id(positions)] for part, positions in parts.items()},
        graphs=graphs,
        leaving={part: np.array(numbers) for part, numbers in leaving.items()},
    )


def against(game: GamePositions, up: int) -> UpCard:
    """Return everything under the up card at place `up`."""
    rules, graph = game.rules, game.graphs[up]
    checked = checks(rules, up)
    unseen = full_shoe(rules.decks) - count_places([up])
    branches = {
        part: make_branch(
            positions,
            game.settled[part],
            graph,
            unseen - count_places(part.places),
            no_natural=checked,
        )
        for part, positions in game.parts.items()
    }
    natural = np.array(
        [
            natural_probability(graph, unseen - np.array(start.drawn)) if checked else 0.0
            for start in game.starts
        ]
    )
    cut_short = np.zeros(len(game.starts))
    if checked and graph.natural is not None:
        dealer = graph.outcomes[graph.natural]
        hands = [start.hand for start in game.starts]
        cut_short[:] = [float(net_units(settle(rules, hand, dealer), hand)) for hand in hands]
    chance = np.array([start.chance[up] for start in game.starts])
    declined = natural * cut_short + (1 - natural) * end_values(branches[FIRST])[game.start_at]
    even_money = _even_money(game, up)
    even_money[even_money <= declined] = np.nan
    return UpCard(game, up, graph, branches, chance, natural, cut_short, even_money)


def checks(rules: Rules, up: int) -> bool:
    """Tell whether the dealer looks for a natural with this up card before the hands are played."""
    names = {ACE: "ace", TEN: "ten"}
    return names.get(up) in rules.dealer_checks


def play_parts(
    up_card: UpCard, policies: Policies | None = None, *, cash_out: bool = False
) -> dict[SubGame, PolicyWorth]:
    """Return what the policies are worth in every part, or what the best ones are.

    Cash out is considered only with `cash_out`.
    """
    game, played = up_card.game, dict[SubGame, PolicyWorth]()
    to_others: dict[Act, Floats] = {}
    for part in reversed(game.parts):
        branch = up_card.branches[part]
        outside = offers(game.rules, game.parts[part], up_card.up) if cash_out else {}
        if part == FIRST:
            outside |= to_others
        played[part] = play(branch, outside, None if policies is None else policies[part])
        if part != FIRST:
            size = len(game.parts[FIRST].hands)
            worth = to_others.setdefault(part.act, np.full(size, -np.inf))
            worth[game.leaving[part]] = halves(part) * played[part].values[0]
    return played


def reach_parts(up_card: UpCard, policies: Policies) -> dict[SubGame, Floats]:
    """Return the probability of each position together with this up card and no checked natural.

    For a half it is that of one of the two.
    """
    game = up_card.game
    begun = np.zeros(len(game.parts[FIRST].hands))
    begun[game.start_at] = up_card.played_on
    reached = {FIRST: reach(up_card.branches[FIRST], begun, policies[FIRST])}
    for part, numbers in game.leaving.items():
        begun = np.zeros(len(game.parts[part].hands))
        taken = policies[FIRST][numbers, ACT_NUMBER[part.act]]
        begun[0] = (reached[FIRST][numbers] * taken).sum()
        reached[part] = reach(up_card.branches[part], begun, policies[part])
    return reached


def start_values(up_card: UpCard, played: Mapping[SubGame, PolicyWorth]) -> tuple[Floats, Floats]:
    """Return what each start is worth, and each of its acts (-inf where illegal).

    A dealer's natural found at the check is included.
    """
    first, at = played[FIRST], up_card.game.start_at
    lost = up_card.natural * up_card.cut_short
    values = lost + (1 - up_card.natural) * first.values[at]
    acts = lost[:, np.newaxis] + (1 - up_card.natural)[:, np.newaxis] * first.act_values[at]
    return np.where(np.isnan(up_card.even_money), values, up_card.even_money), acts


def offers(rules: Rules, positions: Positions, up: int) -> dict[Act, Floats]:
    """Return what cashing out is worth in each position that has an offer."""
    cash_out = rules.cash_out
    offered = np.flatnonzero(positions.legal[:, ACT_NUMBER[CASH_OUT]])
    if cash_out is None or not len(offered):
        return {}
    worth = np.full(len(positions.hands), -np.inf)
    for number in offered:
        ratio = cash_out_ratio(cash_out, positions.hands[number], up + 1)
        worth[number] = float(ratio - 1)
    return {CASH_OUT: worth}


def _from(rules: Rules, hand: Hand, known: dict[SubGame, Positions]) -> Positions:
    root = (hand, _NOTHING_DRAWN)
    for positions in known.values():
        if root in positions.roots:
            return positions
    return close_positions(rules, [root])


def _even_money(game: GamePositions, up: int) -> Floats:
    worth = np.full(len(game.starts), np.nan)
    for number, start in enumerate(game.starts):
        if up == ACE and game.rules.even_money and start.hand.over == NATURAL:
            taken = step(game.rules, start.hand, EVEN_MONEY)
            line = settle_early(game.rules, taken)
            if line is not None:
                worth[number] = float(net_units(line, taken))
    return worth
