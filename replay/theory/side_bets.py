"""Bets that no decision changes: exact fractions, from counting every deal that can decide them.

Insurance, even money and the side bets rest on two or three cards. Each is settled by the engine
for every kind of deal; the number of equally likely deals behind it is counted in whole numbers.
"""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb, gcd, prod, sqrt

from shoeproof.replay.engine.cards import PACK
from shoeproof.replay.engine.hand import EVEN_MONEY, Hand, step
from shoeproof.replay.engine.round import NATURAL
from shoeproof.replay.engine.rules import Rules, SideBet
from shoeproof.replay.engine.settlement import settle, settle_early
from shoeproof.replay.engine.side_bets import side_bet_line, side_bet_odds
from shoeproof.replay.theory.dealer import dealer_graphs
from shoeproof.replay.theory.results import Bet
from shoeproof.replay.theory.settled import net_units
from shoeproof.replay.theory.starts import starts
from shoeproof.replay.theory.values import ACE, count_places, full_shoe

_LOST = "lost"


def bet_from_ways(name: str, nets: Mapping[str, Fraction], ways: Mapping[str, int]) -> Bet:
    """Return the bet that wins `nets` by line, each in `ways` equally likely deals."""
    deals = sum(ways.values())
    mean = sum(nets[line] * count for line, count in ways.items()) / Fraction(deals)
    square = sum(nets[line] ** 2 * count for line, count in ways.items()) / Fraction(deals)
    return Bet(
        bet=name,
        returned=float(1 + mean),
        sd=sqrt(square - mean * mean),
        fraction=1 + mean,
        ways={**ways, "deals": deals},
    )


def side_bet(rules: Rules, name: str) -> Bet:
    """Return a side bet; the deals are unordered, of two cards or, with the up card, of three."""
    table = rules.side_bets[name]
    ways: Counter[str] = Counter()
    for cards in combinations_with_replacement(PACK, 2 if table.on == "pair" else 3):
        line = side_bet_line(table, cards[:2], cards[-1]) or _LOST
        ways[line] += prod(comb(rules.decks, times) for times in Counter(cards).values())
    return bet_from_ways(name, _side_bet_nets(table), ways)


def insurance(rules: Rules) -> list[Bet]:
    """Return insurance for every hand that is offered it, where the rules have it.

    The deals are the hole card and the hand's own two cards with an ace up, in lowest terms.
    """
    if rules.insurance is None:
        return []
    hole = dealer_graphs(rules)[ACE].natural_value
    unseen = full_shoe(rules.decks) - count_places([ACE])
    ways = {"dealer_natural": 0, _LOST: 0}
    for start in {start.places: start for start in starts(rules)}.values():
        if start.hand.over == NATURAL and not rules.insurance.to_naturals:
            continue
        first, second = start.places
        orders = 1 if first == second else 2
        deals = orders * int(unseen[first] * (unseen - count_places([first]))[second])
        left = unseen - count_places(start.places)
        naturals = 0 if hole is None else int(left[hole])
        ways["dealer_natural"] += deals * naturals
        ways[_LOST] += deals * (int(left.sum()) - naturals)
    nets = {"dealer_natural": rules.insurance.odds, _LOST: Fraction(-1)}
    common = gcd(*ways.values())
    return [bet_from_ways("insurance", nets, {line: n // common for line, n in ways.items()})]


def even_money(rules: Rules) -> list[Bet]:
    """Return a natural against an ace up, by what it does with even money, on the main stake.

    `even_money` takes it; `even_money_declined` and, where it differs, `…_declined_suited` do not.
    Nothing where it is not offered.
    """
    if not rules.even_money:
        return []
    bets: dict[str, Bet] = {}
    for start in starts(rules):
        if start.hand.over != NATURAL:
            continue
        bets["even_money"] = _taken(rules, start.hand)
        unseen = full_shoe(rules.decks) - count_places([ACE, *start.places])
        name = "even_money_declined" + ("_suited" if start.hand.suited else "")
        bets[name] = _declined(rules, name, start.hand, unseen.tolist())
    if bets["even_money_declined"].fraction == bets["even_money_declined_suited"].fraction:
        del bets["even_money_declined_suited"]
    return list(bets.values())


def _taken(rules: Rules, natural: Hand) -> Bet:
    taken = step(rules, natural, EVEN_MONEY)
    line = settle_early(rules, taken)
    net = net_units(line, taken) if line else Fraction(0)
    return bet_from_ways("even_money", {"even_money": net}, {"even_money": 1})


def _declined(rules: Rules, name: str, hand: Hand, unseen: list[int]) -> Bet:
    graph = dealer_graphs(rules)[ACE]
    against_natural = next(dealer for dealer in graph.outcomes if dealer.natural)
    against_other = next(dealer for dealer in graph.outcomes if not dealer.natural)
    nets: dict[str, Fraction] = {}
    ways: dict[str, int] = {}
    assert graph.natural_value is not None
    naturals = unseen[graph.natural_value]
    for dealer, count in ((against_natural, naturals), (against_other, sum(unseen) - naturals)):
        line = settle(rules, hand, dealer)
        nets[line.name] = net_units(line, hand)
        ways[line.name] = ways.get(line.name, 0) + count
    return bet_from_ways(name, nets, ways)


def _side_bet_nets(table: SideBet) -> dict[str, Fraction]:
    return {_LOST: Fraction(-1)} | {line: side_bet_odds(table, line) for line in table.pays}
