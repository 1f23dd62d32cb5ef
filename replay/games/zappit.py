"""Zappit Blackjack, from its rule page of 13 July 2020."""

from typing import Final

from shoeproof.replay.games.game import Assumption, Page, Published, assumed, game, said

ZAPPIT: Final = game(
    "zappit",
    title="Zappit Blackjack",
    currency="EUR",
    page=Page(
        title="Zappit Blackjack, help page",
        sha256="5dabdfeff72e250b9ddd4a8f71fef902f4f5fae34e1fea66175e9e6ff24f4b9d",
        date="2020-07-13",
        clauses={
            "payouts": (
                "Payouts",
                "blackjack pays 3 to 2, a win 1 to 1, a draw gives the bet back",
            ),
            "insurance": (
                "Insurance; Payouts",
                "a bet of half the stake that the house has blackjack, paid 2 to 1",
            ),
            "acts": ("Player Actions; Rules", "hit, stand, double, split and Zappit"),
            "malfunction": ("Disclaimer", "a malfunction voids pays and plays"),
            "disconnection": ("", "the page has no clause of its own"),
            "history": ("", "the page has no clause of its own"),
            "large_win": ("", "the page has no clause of its own"),
        },
    ),
    published=(
        Published("main", "98.87", "Disclaimer"),
        Published("insurance", "92.60", "Disclaimer"),
    ),
    limits={"main": (None, 10_000)},
    decks=said(6, "six decks, reshuffled for each round", "Overview"),
    seats=said(3, "one to three initial hands", "How to Play"),
    deal_order=assumed(
        ("seats", "up", "seats", "down"),
        "a card to each seat, the dealer's up card, a second card to each seat, the hole card",
        "How to Play gives the numbers of cards and not their order",
    ),
    dealer_hits_soft_17=said(True, "the dealer draws to 16 and hits soft 17", "Rules"),
    dealer_checks=assumed(
        ("ace", "ten"),
        "the dealer checks an ace or a ten up for a natural, after insurance",
        "the page is silent",
    ),
    insurance=said(
        {"odds": "2/1", "to_naturals": True},
        "half the main stake at 2:1 on an ace up, for each hand in play",
        "Insurance; Payouts",
    ),
    even_money=said(False, "there is no even money", "Player Actions"),
    double=said(
        {"totals": None, "soft_by_low_total": False, "after_split": True, "after_zap": True},
        "any two cards; one card follows; not after a hit",
        "Rules; Player Actions",
    ),
    split=said(
        {"pair_by": "rank", "aces": True, "aces_draw_on": False},
        "two cards of one rank, as the first act, once; split aces stop at one card each",
        "Rules",
    ),
    zap=said(
        {"totals": [15, 16, 17, 18], "soft": False},
        "two cards of hard 15 to 18, as the first act, are swapped for two new ones",
        "Rules; Player Actions",
    ),
    cash_out=said(None, "there is no cash out", "Player Actions"),
    max_cards=said(13, "a hand of 13 cards that has not bust stands", "Rules"),
    settlement=said(
        [
            {"name": "bust", "when": {"player": "bust"}, "pays": "lose"},
            {
                "name": "both_natural",
                "when": {"player": "natural", "dealer": "natural"},
                "pays": "push",
            },
            {"name": "dealer_natural", "when": {"dealer": "natural"}, "pays": "lose"},
            {"name": "natural", "when": {"player": "natural"}, "pays": "3/2"},
            {"name": "dealer_22", "when": {"dealer_total": 22}, "pays": "push"},
            {"name": "dealer_bust", "when": {"dealer": "bust"}, "pays": "1/1"},
            {"name": "win", "when": {"comparison": "above"}, "pays": "1/1"},
            {"name": "draw", "when": {"comparison": "equal"}, "pays": "push"},
            {"name": "loss", "when": {}, "pays": "lose"},
        ],
        "a natural 3:2, a win 1:1, a draw pushes, a dealer 22 pushes every hand but a natural",
        "Payouts; How to Play",
    ),
    side_bets=said({}, "there are no side bets", "Payouts"),
    rounding=assumed("half_up", "a win is rounded half up to the minor unit", "the page is silent"),
    insurance_rounding=assumed(
        "down", "half of an odd stake is rounded down to the minor unit", "the page is silent"
    ),
    assumptions=(
        Assumption(
            "double",
            "doubling is allowed after a split",
            "the page is silent",
            "double_after_split",
        ),
        Assumption(
            "double",
            "doubling is allowed after a zap, which is no hit",
            "Rules bars doubling after a hit alone",
            "double_after_zap",
        ),
        Assumption(
            "insurance",
            "insurance is offered to naturals too",
            "the page says each hand",
            "insurance_to_naturals",
        ),
        Assumption("zap", "8-8 and 9-9 may be zapped", "their hard totals are 16 and 18"),
        Assumption(
            "settlement",
            "a dealer natural also beats a 21 of three cards or after a zap",
            "How to Play compares totals only where neither hand is a natural",
            "natural_beats_21",
        ),
    ),
)
