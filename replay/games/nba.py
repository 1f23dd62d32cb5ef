"""NBA First Person Blackjack, from its rule page of 18 December 2024.

The cash-out ratios are unpublished. `nba_cash_out.csv` was calibrated to the published return and
range; an operator puts its own table in its place with a rules file.
"""

import csv
from importlib.resources import files
from typing import Final

from shoeproof.replay.engine.rules import UP_COLUMNS
from shoeproof.replay.games.game import Assumption, Page, Published, assumed, game, said


def _cash_out_table() -> dict[str, dict[str, list[str]]]:
    text = files("shoeproof.replay.games").joinpath("nba_cash_out.csv").read_text(encoding="ascii")
    blocks: dict[str, dict[str, list[str]]] = {"first": {}, "later": {}}
    for row in csv.DictReader(text.splitlines()):
        blocks[row["decision"]][row["hand"]] = [row[up] for up in UP_COLUMNS]
    return blocks


NBA: Final = game(
    "nba",
    title="NBA First Person Blackjack",
    currency="EUR",
    page=Page(
        title="NBA Blackjack, help page",
        sha256="49743d8d13a4ffd30cd5f3159c0d71cb77198b63b64e2cc89a3ee86995c96f85",
        date="2024-12-18",
        clauses={
            "payouts": ("Payouts; Outcome", "blackjack pays 3 to 2, a win 1 to 1, a tie pushes"),
            "insurance": (
                "Insurance; Payouts",
                "half the main bet that the dealer has blackjack, settled by itself, paid 2 to 1",
            ),
            "side_bets": (
                "Side Bets",
                "decided by the first two cards, and the up card, whatever the main bet does",
            ),
            "cash_out": ("Cash Out; Outcome", "a hand that is cashed out gets the value shown"),
            "acts": ("Make a Decision", "hit, stand, double, split and cash out"),
            "malfunction": ("Payouts", "a malfunction voids the round and all its payouts"),
            "disconnection": (
                "Disconnection Policy",
                "before DEAL NOW the bet goes back; after it the round resumes, and after 20 "
                "minutes every open hand stands; idling counts as disconnection",
            ),
            "history": ("Game History", "Game History shows rounds and results"),
            "large_win": ("", "the page has no clause of its own"),
        },
    ),
    published=(
        Published("main", "99.29", "Return to Player"),
        Published("perfect_pairs", "95.90", "Return to Player"),
        Published("twenty_one_plus_three", "96.30", "Return to Player"),
        Published("cash_out_always", "96.80", "Return to Player"),
    ),
    limits={},
    decks=said(8, "eight decks, shuffled before each round", "Game Rules; For shuffling"),
    seats=said(5, "one to five hands", "Game Rules"),
    deal_order=said(
        ("seats", "up", "seats", "down"),
        "a card to each seat and the up card, a second card to each seat and the hole card",
        "Game Rules",
    ),
    dealer_hits_soft_17=said(False, "the dealer draws to 16 and stands on every 17", "Outcome"),
    dealer_checks=said(
        ("ace",),
        "the dealer checks for a natural with an ace up only, after insurance",
        "Insurance",
    ),
    insurance=said(
        {"odds": "2/1", "to_naturals": True},
        "half the main stake at 2:1 on an ace up, also with a natural",
        "Insurance; Payouts",
    ),
    even_money=said(False, "there is no even money", "Payouts"),
    double=said(
        {"totals": None, "soft_by_low_total": False, "after_split": False, "after_zap": False},
        "any two initial cards, not after a split; one card follows",
        "Game Objective; Double, Hit, or Stand",
    ),
    split=said(
        {"pair_by": "value", "aces": True, "aces_draw_on": False},
        "two cards of one value, once; split aces get one card each and stop",
        "Game Objective; Split",
    ),
    zap=said(None, "there is no zap", "Make a Decision"),
    cash_out=assumed(
        {**_cash_out_table(), "split_hands": True},
        "a hand may be sold at any decision for the value shown, by its total and the up card",
        "Cash Out publishes the range 0.40 to 1.77 and not the ratios; calibrated to 96.80%",
    ),
    max_cards=said(None, "a hand may have any number of cards", "Double, Hit, or Stand"),
    settlement=said(
        [
            {"name": "cash_out", "when": {"player": "cash_out"}, "pays": "offer"},
            {"name": "bust", "when": {"player": "bust"}, "pays": "lose"},
            {
                "name": "both_natural",
                "when": {"player": "natural", "dealer": "natural"},
                "pays": "push",
            },
            {"name": "dealer_natural", "when": {"dealer": "natural"}, "pays": "lose"},
            {"name": "natural", "when": {"player": "natural"}, "pays": "3/2"},
            {"name": "dealer_bust", "when": {"dealer": "bust"}, "pays": "1/1"},
            {"name": "win", "when": {"comparison": "above"}, "pays": "1/1"},
            {"name": "push", "when": {"comparison": "equal"}, "pays": "push"},
            {"name": "loss", "when": {}, "pays": "lose"},
        ],
        "a natural 3:2, a win 1:1, a tie pushes, a cash out pays the value shown",
        "Payouts; Outcome",
    ),
    side_bets=assumed(
        {
            "perfect_pairs": {
                "on": "pair",
                "pays": {"perfect_pair": "25/1", "coloured_pair": "12/1", "mixed_pair": "6/1"},
            },
            "twenty_one_plus_three": {
                "on": "three_card",
                "pays": {
                    "suited_trips": "100/1",
                    "straight_flush": "40/1",
                    "three_of_a_kind": "30/1",
                    "straight": "10/1",
                    "flush": "5/1",
                },
                "ace_high_and_low": True,
            },
        },
        "Perfect Pairs 25, 12, 6; 21+3 100, 40, 30, 10, 5, the ace high and low",
        "Side Bets names the lines and not the odds; these give the published returns",
    ),
    rounding=assumed("half_up", "a win is rounded half up to the minor unit", "the page is silent"),
    insurance_rounding=assumed(
        "down", "half of an odd stake is rounded down to the minor unit", "the page is silent"
    ),
    assumptions=(
        Assumption(
            "cash_out",
            "split hands may be sold too",
            "Cash Out excludes other hands only",
            "cash_out_of_split",
        ),
        Assumption(
            "cash_out",
            "a sold hand is over: a natural found later with a ten up no longer touches it",
            "Cash Out ends the game for that hand",
            "cash_out_stands",
        ),
        Assumption(
            "cash_out",
            "the ratios after the first decision differ from those of the initial cards",
            "with one table the optimum would return more than the page publishes",
        ),
        Assumption(
            "settlement",
            "a dealer natural found at the end takes doubles and splits whole",
            "the page gives no part back",
            "natural_takes_all",
        ),
        Assumption("settlement", "21 stands by itself", "Make a Decision offers nothing on 21"),
    ),
)
