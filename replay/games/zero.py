"""Zero Blackjack, from its rule page."""

from typing import Final

from shoeproof.replay.games.game import Assumption, Page, Published, assumed, game, said

ZERO: Final = game(
    "zero",
    title="Zero Blackjack",
    currency="GBP",
    page=Page(
        title="Zero Blackjack, help page",
        sha256="fe4db525a31b4982b34081dee1554187434a57cce5d04d45a042288c21868daa",
        date="undated",
        clauses={
            "payouts": (
                "Payouts",
                "a win 1 to 1, 21 with five cards and a suited natural 2 to 1, blackjack 3 to 2",
            ),
            "insurance": (
                "Insurance; Payouts",
                "half the bet that the dealer's hidden card is a ten, paid 2 to 1",
            ),
            "even_money": ("Even Money", "a blackjack may be paid 1 to 1 at once against an ace"),
            "acts": ("Options", "split, double down, insurance and even money"),
            "malfunction": ("Note on malfunctions", "a malfunction voids pays and plays"),
            "disconnection": (
                "Note on disconnections",
                "log back in; History shows the result and a win is credited",
            ),
            "history": ("Menu", "History shows the latest results of the game"),
            "large_win": (
                "Note on large wins",
                "a win above 10,000.00 GBP waits for a person's verification",
            ),
        },
    ),
    published=(Published("main", "100.00", "Expected Return"),),
    limits={},
    decks=said(8, "eight decks, reshuffled after each round", "Rules"),
    seats=assumed(5, "one to five seats", "the page speaks of bet areas and gives no number"),
    deal_order=said(
        ("seats", "down", "seats", "up"),
        "a card to each seat, the hole card, a second card to each seat, the up card",
        "Rules: the dealer's first card lies face down",
    ),
    dealer_hits_soft_17=said(False, "the dealer draws to 16 and stands on every 17", "Rules"),
    dealer_checks=assumed(
        ("ace",),
        "the dealer checks an ace up for a natural, after insurance; a ten up is not checked",
        "Insurance settles the insurance bet before the hand is played out",
    ),
    insurance=said(
        {"odds": "2/1", "to_naturals": False},
        "half the main stake at 2:1 on an ace up",
        "Insurance; Payouts",
    ),
    even_money=said(True, "a natural against an ace may be paid 1:1 at once", "Even Money"),
    double=said(
        {
            "totals": [8, 9, 10, 11],
            "soft_by_low_total": True,
            "after_split": True,
            "after_zap": False,
        },
        "two cards that total 8, 9, 10 or 11, also after a split; one card follows",
        "Doubling Down",
    ),
    split=said(
        {"pair_by": "value", "aces": False, "aces_draw_on": False},
        "two cards of one value, never aces, once",
        "Splitting",
    ),
    zap=said(None, "there is no zap", "Options"),
    cash_out=said(None, "there is no cash out", "Options"),
    max_cards=said(None, "a hand may have any number of cards", "Rules"),
    settlement=said(
        [
            {"name": "even_money", "when": {"player": "even_money"}, "pays": "1/1"},
            {
                "name": "five_card_21",
                "when": {"player": "made", "cards": 5, "total": 21},
                "pays": "2/1",
            },
            {"name": "bust", "when": {"player": "bust"}, "pays": "lose"},
            {
                "name": "both_natural",
                "when": {"player": "natural", "dealer": "natural"},
                "pays": "push",
            },
            {"name": "dealer_natural", "when": {"dealer": "natural"}, "pays": "lose"},
            {
                "name": "suited_natural",
                "when": {"player": "natural", "suited": True},
                "pays": "2/1",
            },
            {"name": "natural", "when": {"player": "natural"}, "pays": "3/2"},
            {"name": "dealer_bust", "when": {"dealer": "bust"}, "pays": "1/1"},
            {"name": "win", "when": {"comparison": "above"}, "pays": "1/1"},
            {"name": "push", "when": {"comparison": "equal"}, "pays": "push"},
            {"name": "loss", "when": {}, "pays": "lose"},
        ],
        "a five-card 21 2:1 at once, a suited natural 2:1, a natural 3:2, a win 1:1; ties push",
        "Zero Blackjack Additional Features; Payouts",
    ),
    side_bets=said({}, "there are no side bets", "Payouts"),
    rounding=assumed("half_up", "a win is rounded half up to the minor unit", "the page is silent"),
    insurance_rounding=assumed(
        "down", "half of an odd stake is rounded down to the minor unit", "the page is silent"
    ),
    assumptions=(
        Assumption(
            "double",
            "A-7, A-8 and A-9 may double, as 8, 9 and 10",
            "Rules calls A-4 a total of 5 or soft 15",
            "soft_double",
        ),
        Assumption(
            "even_money",
            "a natural is offered even money in place of insurance",
            "Even Money names the natural's own offer",
            "even_money_offered",
        ),
        Assumption(
            "even_money",
            "a suited natural that declines even money keeps its 2:1",
            "Even Money says 3:2 there, the pay table and the feature say 2:1",
            "suited_natural_keeps_odds",
        ),
        Assumption(
            "settlement",
            "a five-card 21 was paid at once and survives a dealer natural found later",
            "5-Card 21 pays immediately, and says that it does not beat a dealer Blackjack",
            "five_card_21_stands",
        ),
        Assumption(
            "settlement",
            "a five-card 21 counts after a split",
            "5-Card 21 excludes none",
            "five_card_21_of_split",
        ),
        Assumption(
            "settlement",
            "a dealer natural found at the end takes doubles and splits whole",
            "Rules give no part back",
            "natural_takes_all",
        ),
        Assumption("settlement", "21 stands by itself", "the page is silent"),
    ),
)
