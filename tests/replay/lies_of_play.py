"""Lies about the shoe, the cards, the offers and the decisions."""

from fractions import Fraction
from typing import Final

from msgspec.structs import replace

from shoeproof.ledger.leaf.events import (
    BetSettled,
    CardDealt,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    HoleCardShown,
    RoundClosed,
    RoundOpened,
    ShoeCommitted,
    ShoeRevealed,
    StakesPlaced,
)
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.engine.rules import Rules, Split
from tests.replay.helpers import Played, prefer
from tests.replay.lying import (
    STAND,
    acts,
    both,
    cards,
    changing,
    credited,
    dealer_natural,
    debited,
    does,
    dropped,
    ends,
    having,
    held_back,
    hit_to,
    offering,
    ruling,
    settled,
    split_then_hit,
    twice,
    up,
    withholding,
    without_balances,
)
from tests.replay.lying_table import Lie, Turn

NOTHING_DOWN: Final = CardDealt(0, "dealer").card


def _hard_15_to_18(moves: list[Played]) -> bool:
    hand = moves[-1].after.hands[0].hand
    return acts(moves) == ["stand"] and not hand.soft and 15 <= hand.total <= 18


def _one_offer(moves: list[Played]) -> bool:
    return acts(moves) == ["stand"]


def _king_and_queen(moves: list[Played]) -> bool:
    tens = sorted(card[0] for card in moves[-1].after.seats[0].initial_cards)
    return tens == ["K", "Q"] and "split" in acts(moves)


def _dealer_stands_on_soft_17(moves: list[Played]) -> bool:
    dealer = moves[-1].after.dealer
    return dealer.soft and dealer.total == 17 and acts(moves) == ["stand"]


def _dealer_draws_one_on_soft_17(moves: list[Played]) -> bool:
    before = moves[-1].before.dealer
    return before.soft and before.total == 17 and ends("bust")(moves)


def _asked_ace(moves: list[Played]) -> bool:
    return up(moves)[0] == "A" and not dealer_natural(moves) and acts(moves) == ["stand"]


def _a_tenth_more(rules: Rules) -> Rules:
    assert rules.cash_out is not None
    first = {
        name: tuple(ratio + Fraction(1, 10) for ratio in row)
        for name, row in rules.cash_out.first.items()
    }
    return replace(rules, cash_out=replace(rules.cash_out, first=first))


def _cash_out_of_a_double(turn: Turn) -> Turn:
    """After the card of a double, offer to sell the hand, and have it sold."""
    made = next((data for data in turn if isinstance(data, DecisionMade)), None)
    if made is None or made.act != "double":
        return turn
    place = next(i for i, data in enumerate(turn) if isinstance(data, CardDealt)) + 1
    sold: Turn = [
        DecisionOffered("s1", ["stand", "cash-out"], {}, 150, "2026-01-02T12:20:00.000000Z"),
        DecisionMade("s1", "cash-out", "player", None, 0, None),
    ]
    return turn[:place] + sold + turn[place:]


def _exposed(turn: Turn) -> Turn:
    """Deal the hole card face up, in a turn that also shows it."""
    shown = next((data.card for data in turn if isinstance(data, HoleCardShown)), None)
    if shown is None:
        return turn
    return [
        replace(data, card=shown)
        if isinstance(data, CardDealt) and not isinstance(data.card, str)
        else data
        for data in turn
    ]


_MAY_HIT = DecisionOffered("s1", ["hit", "stand"], {}, None, None)


def _nothing_but_the_end(turn: Turn) -> Turn:
    """Settle and close a round without the decision and what it causes."""
    if not any(isinstance(data, RoundClosed) for data in turn):
        return turn
    return [data for data in turn if isinstance(data, BetSettled | ShoeRevealed | RoundClosed)]


PLAY: dict[str, Lie] = {
    # The shoe
    "wrong card dealt": Lie(game="zero", findings=["card_mismatch"], choose=STAND, faces={2: "7c"}),
    "hole card swapped": Lie(
        game="zero", findings=["card_mismatch"], choose=STAND, faces={1: "Ks"}
    ),
    "card dealt twice": Lie(game="nba", findings=["shoe_index_wrong"], choose=STAND, draws={2: 1}),
    "card skipped": Lie(game="zappit", findings=["shoe_index_wrong"], choose=STAND, draws={2: 3}),
    "a 417th card": Lie(
        game="nba",
        findings=["shoe_index_wrong"],
        choose=STAND,
        draws={4: 416},
        faces={416: "Ks"},
        wanted=lambda moves: cards(moves) == 5,
    ),
    "seed not matching its commitment": Lie(
        game="nba",
        findings=["commitment_mismatch"],
        choose=STAND,
        alter=changing(ShoeRevealed, having(seed="ab" * 32)),
    ),
    "seed that is no seed": Lie(
        game="nba",
        findings=["commitment_mismatch"],
        choose=STAND,
        alter=changing(ShoeRevealed, having(seed="not hexadecimal")),
    ),
    "seed never revealed": Lie(
        game="nba",
        findings=["seed_not_revealed"],
        choose=STAND,
        alter=changing(ShoeRevealed, dropped),
    ),
    "shoe never committed to": Lie(
        game="zero",
        findings=["commitment_mismatch"],
        choose=STAND,
        alter=changing(ShoeCommitted, dropped),
    ),
    "two shoes committed to": Lie(
        game="zero",
        findings=["commitment_mismatch"],
        choose=STAND,
        alter=changing(ShoeCommitted, lambda data: (data, replace(data, commitment="ab" * 32))),
    ),
    "commitment after the stakes": Lie(
        game="zappit",
        findings=["event_out_of_place"],
        choose=STAND,
        alter=held_back(lambda data: isinstance(data, ShoeCommitted), StakesPlaced, after=True),
    ),
    "a client seed that is no hexadecimal": Lie(
        game="nba",
        findings=["client_seed_invalid"],
        choose=STAND,
        alter=changing(DealRequested, having(client_seed="lucky seven")),
    ),
    "a client seed too long for any shoe": Lie(
        game="nba",
        findings=["client_seed_invalid"],
        choose=STAND,
        alter=changing(DealRequested, having(client_seed="ab" * 65)),
    ),
    "card face never recorded": Lie(
        game="nba",
        findings=["card_missing"],
        choose=STAND,
        alter=changing(CardDealt, having(card=NOTHING_DOWN), only=0),
    ),
    "cards dealt in the wrong order": Lie(
        game="nba",
        findings=["card_order_wrong"],
        choose=STAND,
        plays=ruling(deal_order=("seats", "seats", "up", "down")),
    ),
    # The dealer
    "dealer standing on soft 17 in Zappit": Lie(
        game="zappit",
        findings=["card_missing"],
        choose=STAND,
        plays=ruling(dealer_hits_soft_17=False),
        wanted=_dealer_stands_on_soft_17,
    ),
    "dealer drawing on soft 17 in Zero": Lie(
        game="zero",
        findings=["card_order_wrong"],
        choose=hit_to(21),
        plays=ruling(dealer_hits_soft_17=True),
        wanted=_dealer_draws_one_on_soft_17,
    ),
    "a natural denied at the check": Lie(
        game="zero",
        findings=["check_wrong"],
        choose=STAND,
        check=False,
        wanted=lambda moves: up(moves)[0] == "A" and dealer_natural(moves),
    ),
    "a natural claimed at the check": Lie(
        game="zappit",
        findings=["check_wrong"],
        choose=STAND,
        check=True,
        wanted=lambda moves: up(moves)[0] == "A" and not dealer_natural(moves),
    ),
    "a natural denied at the check of a shoe never revealed": Lie(
        game="zero",
        findings=["check_wrong", "seed_not_revealed"],
        choose=STAND,
        check=False,
        wanted=lambda moves: up(moves)[0] == "A" and dealer_natural(moves),
        alter=changing(ShoeRevealed, dropped),
    ),
    "a natural claimed at the check of a shoe never revealed": Lie(
        game="zappit",
        findings=["check_wrong", "seed_not_revealed"],
        choose=STAND,
        check=True,
        wanted=lambda moves: up(moves)[0] == "A" and not dealer_natural(moves),
        alter=changing(ShoeRevealed, dropped),
    ),
    "no check where the rules demand one": Lie(
        game="zappit",
        findings=["check_wrong"],
        choose=STAND,
        plays=ruling(dealer_checks=("ace",)),
        wanted=lambda moves: up(moves)[0] in "TJQK" and acts(moves) == ["stand"],
    ),
    "a check where the rules have none": Lie(
        game="nba",
        findings=["check_wrong"],
        choose=STAND,
        plays=ruling(dealer_checks=("ace", "ten")),
        wanted=lambda moves: up(moves)[0] in "TJQK" and acts(moves) == ["stand"],
    ),
    "hole card exposed": Lie(
        game="nba",
        findings=["hole_card_exposed"],
        choose=STAND,
        wanted=ends("natural"),
        alter=lambda: _exposed,
    ),
    "hole card exposed, then shown as another": Lie(
        game="nba",
        findings=["hole_card_exposed", "card_mismatch"],
        choose=STAND,
        wanted=lambda moves: (
            ends("natural")(moves) and up(moves)[0] == "7" and moves[-1].after.dealer.count == 2
        ),
        alter=both(lambda: _exposed, changing(HoleCardShown, having(card="Ts"))),
    ),
    "hole card exposed, then shown as another from a shoe never revealed": Lie(
        game="nba",
        findings=["hole_card_exposed", "card_mismatch", "seed_not_revealed"],
        choose=STAND,
        wanted=lambda moves: (
            ends("natural")(moves) and up(moves)[0] == "7" and moves[-1].after.dealer.count == 2
        ),
        alter=both(
            lambda: _exposed,
            changing(HoleCardShown, having(card="Ts")),
            changing(ShoeRevealed, dropped),
        ),
    ),
    # Offers
    "split offered after a hit": Lie(
        game="nba",
        findings=["offer_not_allowed"],
        choose=hit_to(3),
        wanted=does("hit", "stand"),
        alter=changing(DecisionOffered, offering("split"), only=1),
    ),
    "insurance withheld": Lie(
        game="nba",
        findings=["offer_withheld"],
        choose=STAND,
        plays=ruling(insurance=None),
        wanted=_asked_ace,
    ),
    "insurance left out of the offer": Lie(
        game="zero",
        findings=["offer_withheld"],
        choose=STAND,
        wanted=does("decline", "stand"),
        alter=changing(DecisionOffered, withholding("insurance"), only=0),
    ),
    "even money withheld": Lie(
        game="zero",
        findings=["offer_withheld"],
        choose=STAND,
        plays=ruling(even_money=False),
        wanted=lambda moves: up(moves)[0] == "A" and ends("natural")(moves),
    ),
    "zap withheld": Lie(
        game="zappit",
        findings=["offer_withheld"],
        choose=STAND,
        plays=ruling(zap=None),
        wanted=_hard_15_to_18,
    ),
    "split withheld": Lie(
        game="zappit",
        findings=["offer_withheld"],
        choose=STAND,
        wanted=lambda moves: (
            _one_offer(moves)
            and any(
                isinstance(due := move.before.due, Decide) and "split" in due.legal
                for move in moves
            )
        ),
        alter=changing(DecisionOffered, withholding("split")),
    ),
    "cash out withheld": Lie(
        game="nba",
        findings=["offer_withheld"],
        choose=STAND,
        plays=ruling(cash_out=None),
        wanted=_one_offer,
    ),
    "double barred for a reason that bars none": Lie(
        game="nba",
        findings=["offer_withheld"],
        choose=STAND,
        wanted=_one_offer,
        alter=changing(DecisionOffered, withholding("double", double="hidden")),
    ),
    "offer never made": Lie(
        game="nba",
        findings=["offer_withheld"],
        choose=STAND,
        wanted=_one_offer,
        alter=changing(DecisionOffered, dropped),
    ),
    "cash out offered off the table": Lie(
        game="nba",
        findings=["cash_out_offer_wrong"],
        choose=prefer("cash-out", "decline"),
        wanted=does("cash-out"),
        plays=_a_tenth_more,
    ),
    # Decisions
    "split K-Q in Zappit": Lie(
        game="zappit",
        findings=["offer_not_allowed", "illegal_decision"],
        choose=prefer("split", "stand", "decline"),
        plays=ruling(split=Split(pair_by="value", aces=True, aces_draw_on=False)),
        wanted=_king_and_queen,
    ),
    "second split": Lie(
        game="zero",
        findings=["offer_not_allowed", "illegal_decision"],
        choose=split_then_hit,
        wanted=lambda moves: acts(moves)[:2] == ["split", "hit"],
        alter=both(
            changing(DecisionOffered, offering("split"), only=1),
            changing(
                DecisionMade, having(act="split", added_stake_minor=100, funds=debited(100)), only=1
            ),
            without_balances,
        ),
    ),
    "zap after a hit": Lie(
        game="zappit",
        findings=["offer_not_allowed", "illegal_decision"],
        choose=hit_to(4),
        wanted=lambda moves: acts(moves)[:2] == ["hit", "hit"],
        alter=both(
            changing(DecisionOffered, offering("zap"), only=1),
            changing(DecisionMade, having(act="zap"), only=1),
        ),
    ),
    "cash out after a double": Lie(
        game="nba",
        findings=["offer_not_allowed", "illegal_decision"],
        choose=prefer("double", "decline"),
        wanted=lambda moves: acts(moves) == ["double"] and not ends("bust")(moves),
        alter=both(
            lambda: _cash_out_of_a_double,
            settled("main", paid_minor=150, line="cash_out", funds=credited(150)),
        ),
    ),
    "double barred for lack of money with 9,999.00 left": Lie(
        game="zappit",
        findings=["offer_withheld"],
        choose=STAND,
        wanted=_one_offer,
        alter=changing(DecisionOffered, withholding("double", double="funds")),
    ),
    "a barred act taken": Lie(
        game="zappit",
        findings=["offer_withheld", "illegal_decision"],
        choose=prefer("double", "decline"),
        wanted=does("double"),
        alter=changing(DecisionOffered, withholding("double", double="funds")),
    ),
    "a decision by nobody": Lie(
        game="zero",
        findings=["actor_missing"],
        choose=STAND,
        wanted=_one_offer,
        alter=changing(DecisionMade, having(actor=None)),
    ),
    "a decision recorded twice": Lie(
        game="zero",
        findings=["decision_repeated"],
        choose=STAND,
        wanted=_one_offer,
        alter=changing(DecisionMade, lambda made: (made, made)),
    ),
    "a hit that nobody decided": Lie(
        game="zero",
        findings=["missing_decision"],
        choose=hit_to(3),
        wanted=does("hit", "stand"),
        alter=changing(DecisionMade, dropped, only=0),
    ),
    "a stand that nobody decided": Lie(
        game="nba",
        findings=["missing_decision"],
        choose=STAND,
        stakes={"s1": {"main": 100}, "s3": {"main": 100}},
        wanted=does("stand", "stand"),
        alter=changing(DecisionMade, dropped, only=0),
    ),
    "insurance declined by nobody": Lie(
        game="nba",
        findings=["missing_decision"],
        choose=STAND,
        wanted=does("decline", "stand"),
        alter=changing(DecisionMade, dropped, only=0),
    ),
    "round closed over an open decision": Lie(
        game="zappit",
        findings=["missing_decision"],
        choose=STAND,
        wanted=lambda moves: _one_offer(moves) and ends("loss")(moves),
        alter=lambda: _nothing_but_the_end,
    ),
    "a hand asked again after it stood": Lie(
        game="zero",
        findings=["offer_not_allowed"],
        choose=STAND,
        wanted=_one_offer,
        alter=changing(DecisionMade, lambda made: (made, _MAY_HIT)),
    ),
    "an invented card for a hand that stood": Lie(
        game="zero",
        findings=["card_mismatch", "card_order_wrong"],
        choose=STAND,
        wanted=lambda moves: _one_offer(moves) and cards(moves) == 4,
        alter=changing(DecisionMade, lambda made: (made, CardDealt(4, "s1", "2c"))),
    ),
    # The opening
    "rules that the ledger does not carry": Lie(
        game="zero", findings=["rules_digest_unknown"], choose=STAND, claims="ab" * 32
    ),
    "round opened twice": Lie(
        game="zero",
        findings=["event_out_of_place"],
        choose=STAND,
        alter=changing(RoundOpened, twice),
    ),
}
