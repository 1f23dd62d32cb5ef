"""Alternative readings of each game's open clauses, as rules, and what counts against each.

A reading is a modified `Rules` value, so the engine could play it. Where a clause cannot be said in
rules, its reading is one that returns the same, and says so.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import msgspec

from shoeproof.replay.engine.rules import Rules, SettlementLine, When

_NO_EFFECT: Final = "No return depends on it."


@dataclass(frozen=True)
class Alternative:
    """One alternative: the bet it moves, the clause, what it would say, and what contradicts it.

    `ace_rules` hold with an ace up where that differs; with `pairs_stay` no pair may be zapped.
    """

    bet: str
    clause: str
    says: str
    because: str
    rules: Rules
    ace_rules: Rules | None = None
    pairs_stay: bool = False


def zappit_readings(rules: Rules) -> list[Alternative]:
    """Return the readings of Zappit Blackjack."""
    assert rules.zap is not None
    assert rules.insurance is not None
    at_once = _line("zapped_21", When(origin="zapped", cards=2, total=21), "1/1")
    late = _line("later_21", When(player="made", total=21, dealer="natural"), "push")
    aces_draw = _with(rules, "split", aces_draw_on=True)
    double, check = "double", "dealer_checks"
    return [
        Alternative(
            "main", "deal_order", "the hole card is dealt first", _NO_EFFECT, _down_first(rules)
        ),
        Alternative(
            "main",
            check,
            "the dealer never looks; a natural found at the end takes doubles and splits whole",
            "The page is silent; insurance is asked and settled after the initial deal.",
            _change(rules, dealer_checks=()),
        ),
        Alternative(
            "main",
            check,
            "the dealer looks with an ace up only",
            "The page is silent; a natural ends the round in either case.",
            _change(rules, dealer_checks=("ace",)),
        ),
        Alternative(
            "main",
            double,
            "no double after a split",
            "Rules bars doubling after a hit alone.",
            _with(rules, double, after_split=False),
        ),
        Alternative(
            "main",
            double,
            "no double after a zap",
            "Rules bars doubling after a hit alone, and a zap is no hit.",
            _with(rules, double, after_zap=False),
        ),
        Alternative(
            "main",
            "zap",
            "8-8 and 9-9 may not be zapped",
            "Rules: the initial two cards have a hard total of 15-18, and theirs is 16 and 18.",
            rules,
            pairs_stay=True,
        ),
        Alternative(
            "main",
            "zap",
            "soft 15 to 18 may be zapped too",
            "Rules and Overview say a hard total.",
            _with(rules, "zap", soft=True),
        ),
        Alternative(
            "main",
            "settlement",
            "a zapped ace and ten wins at once",
            "Rules: 'Blackjack' does not apply to hands which have been split or zapped.",
            _change(rules, settlement=(at_once, *rules.settlement)),
        ),
        Alternative(
            "main",
            "split",
            "split aces may draw on",
            "Rules: when two aces are split, no further action is allowed for these hands.",
            aces_draw,
        ),
        Alternative(
            "main",
            "split",
            "split aces may draw on, and the dealer never looks",
            "As above.",
            _change(aces_draw, dealer_checks=()),
        ),
        Alternative(
            "main",
            "settlement",
            "a dealer's natural draws with a 21 of three cards or after a zap",
            "No such hand meets a natural: the dealer looked before it was played.",
            _change(rules, settlement=(late, *rules.settlement)),
        ),
        Alternative(
            "insurance",
            "insurance",
            "naturals are not offered insurance",
            "Insurance: the option is presented for each hand in play.",
            _with(rules, "insurance", to_naturals=False),
        ),
        *_without_effect(rules),
    ]


def zero_readings(rules: Rules) -> list[Alternative]:
    """Return the readings of Zero Blackjack."""
    hard_only = _with(rules, "double", soft_by_low_total=False)
    names = [line.name for line in rules.settlement]
    five = rules.settlement[names.index("five_card_21")]
    after_naturals = names.index("dealer_natural") + 1
    not_split = _line(five.name, msgspec.structs.replace(five.when, origin="initial"), five.pays)
    no_suited = tuple(line for line in rules.settlement if line.name != "suited_natural")
    moved = [*rules.settlement[:after_naturals], five, *rules.settlement[after_naturals:]]
    moved.remove(five)
    return [
        Alternative(
            "main",
            "double",
            "hard 8 to 11 only",
            "Rules counts an ace and a four as 5 as well as soft 15, so A-7 can total 8.",
            hard_only,
        ),
        Alternative(
            "main",
            "settlement",
            "a five-card 21 after a split is paid even money",
            "5-Card 21 holds at every stage; only a natural is said not to count after a split.",
            _change(rules, settlement=_replaced(rules, not_split)),
        ),
        Alternative(
            "main",
            "settlement",
            "a five-card 21 loses to a dealer's natural found later",
            "5-Card 21 pays the player at once.",
            _change(rules, settlement=tuple(moved)),
        ),
        Alternative(
            "main",
            "dealer_checks",
            "the dealer looks with a ten up too, and doubling is for hard 8 to 11",
            "Rules: the dealer reveals the down card after the player's final actions.",
            _change(hard_only, dealer_checks=("ace", "ten")),
        ),
        Alternative(
            "main",
            "settlement",
            "the dealer looks with a ten up too: about what a late natural that took the first "
            "stake alone would return, but for the five-card 21s it could not touch",
            "Rules: the dealer reveals the down card after the player's final actions, and gives "
            "no part of a stake back.",
            _change(rules, dealer_checks=("ace", "ten")),
        ),
        Alternative(
            "main",
            "dealer_checks",
            "the dealer never looks",
            "Insurance is settled before the hand is played on.",
            _change(rules, dealer_checks=()),
        ),
        Alternative(
            "main",
            "even_money",
            "a natural is offered insurance, not even money",
            "Even Money names the natural's own offer; declining it is better in either case.",
            _change(_with(rules, "insurance", to_naturals=True), even_money=False),
        ),
        Alternative(
            "main",
            "even_money",
            "a suited natural that declines even money is paid 3 to 2",
            "The pay table and Additional Features pay it 2 to 1 and except nothing.",
            rules,
            ace_rules=_change(rules, settlement=no_suited),
        ),
        *_without_effect(rules),
    ]


def nba_readings(rules: Rules) -> list[Alternative]:
    """Return the readings of NBA First Person Blackjack."""
    assert rules.cash_out is not None
    one_block = msgspec.structs.replace(rules.cash_out, later=rules.cash_out.first)
    text = "Insurance has an ace up checked, and a ten up expressly not."
    late = "Cash Out ends the game for that hand."
    return [
        Alternative(
            "main",
            "settlement",
            "a dealer's natural found at the end takes the first stake alone; the same return as "
            "if the dealer looked with a ten up too",
            text + " No part of a stake is given back.",
            _change(rules, dealer_checks=("ace", "ten")),
        ),
        Alternative(
            "main",
            "dealer_checks",
            "the dealer never looks",
            text,
            _change(rules, dealer_checks=()),
        ),
        Alternative(
            "main",
            "double",
            "double after a split",
            "Game Objective: 'No Double after Split.'",
            _with(rules, "double", after_split=True),
        ),
        Alternative(
            "main",
            "split",
            "split aces may draw on",
            "Game Objective: 'Single card dealt to each Split Ace.'",
            _with(rules, "split", aces_draw_on=True),
        ),
        Alternative(
            "cash_out_optional",
            "cash_out",
            "the ratios of the first decision hold later too",
            "Return to Player: with offers the game may not return more than its optimum, 99.29%.",
            _change(rules, cash_out=one_block),
        ),
        Alternative(
            "cash_out_optional",
            "cash_out",
            "split hands may not be sold",
            "Cash Out excludes a double, a bust and 21 and nothing else.",
            _with(rules, "cash_out", split_hands=False),
        ),
        Alternative(
            "cash_out_always",
            "cash_out",
            "a natural found later with a ten up takes a sold hand too; the same return as if it "
            "had been looked for",
            late,
            _change(rules, dealer_checks=("ace", "ten")),
        ),
        _pays(rules, "perfect_pairs", "30:1, 10:1, 5:1", (30, 10, 5)),
        _pays(rules, "perfect_pairs", "25:1, 12:1, 5:1", (25, 12, 5)),
        _pays(rules, "twenty_one_plus_three", "100, 35, 33, 10, 5", (100, 35, 33, 10, 5)),
        _pays(rules, "twenty_one_plus_three", "9:1 on every line", (9, 9, 9, 9, 9)),
        Alternative(
            "twenty_one_plus_three",
            "side_bets",
            "the ace is low only",
            "21+3 asks for a numerical sequence; the published return follows with both.",
            _side_bet(rules, "twenty_one_plus_three", ace_high_and_low=False),
        ),
        *_without_effect(rules),
    ]


def _without_effect(rules: Rules) -> list[Alternative]:
    """Return the readings that change no return."""
    return [
        Alternative(
            "main",
            "rounding",
            "wins are rounded down",
            _NO_EFFECT + " It moves at most one minor unit a bet.",
            _change(rules, rounding="down"),
        ),
        Alternative(
            "main",
            "insurance_rounding",
            "half an odd stake is rounded up",
            _NO_EFFECT + " Insurance is a bet of its own.",
            _change(rules, insurance_rounding="half_up"),
        ),
        Alternative(
            "main", "seats", "another number of seats", _NO_EFFECT, _change(rules, seats=1)
        ),
    ]


def _pays(rules: Rules, bet: str, says: str, odds: tuple[int, ...]) -> Alternative:
    lines = zip(rules.side_bets[bet].pays, odds, strict=True)
    pays = {line: Fraction(each) for line, each in lines}
    because = "Side Bets names the lines only; the published return follows from the other table."
    return Alternative(bet, "side_bets", says, because, _side_bet(rules, bet, pays=pays))


def _side_bet(rules: Rules, bet: str, **changes: Any) -> Rules:
    changed = msgspec.structs.replace(rules.side_bets[bet], **changes)
    return _change(rules, side_bets={**rules.side_bets, bet: changed})


def _with(rules: Rules, field: str, **changes: Any) -> Rules:
    """Return the rules with fields of one clause changed."""
    return _change(rules, **{field: msgspec.structs.replace(getattr(rules, field), **changes)})


def _change(rules: Rules, **changes: Any) -> Rules:
    return msgspec.structs.replace(rules, **changes)


def _down_first(rules: Rules) -> Rules:
    return _change(rules, deal_order=("seats", "down", "seats", "up"))


def _line(name: str, when: When, pays: str) -> SettlementLine:
    return SettlementLine(name=name, when=when, pays=pays)


def _replaced(rules: Rules, line: SettlementLine) -> tuple[SettlementLine, ...]:
    return tuple(line if other.name == line.name else other for other in rules.settlement)
