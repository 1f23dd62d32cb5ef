"""Lies about stakes, limits, payments, money moved and the end of a round."""

from collections.abc import Mapping
from fractions import Fraction

from msgspec.structs import replace

from shoeproof.ledger.leaf.events import (
    BetSettled,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    EventData,
    Limit,
    Refund,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    ShoeRevealed,
    StakesPlaced,
)
from shoeproof.replay.engine.rules import Insurance, Rules
from tests.replay.helpers import Played, prefer
from tests.replay.lies_of_wallet import WALLET
from tests.replay.lying import (
    STAND,
    CreditedAsDebit,
    DoubleDebitedTwice,
    ShortCredited,
    TwiceDebited,
    acts,
    both,
    changing,
    credited,
    dealer_natural,
    does,
    dropped,
    ends,
    having,
    held_back,
    hit_to,
    line,
    paying,
    ruling,
    settled,
    twice,
    up,
    voiding,
    without_balances,
)
from tests.replay.lying_table import Alter, Lie, Turn

SIDE_BETS: Mapping[str, Mapping[str, int]] = {
    "s1": {"main": 100, "perfect_pairs": 50, "twenty_one_plus_three": 10}
}
TWO_SEATS: Mapping[str, Mapping[str, int]] = {"s1": {"main": 100}, "s2": {"main": 100}}


def _doubled_21_against_21(moves: list[Played]) -> bool:
    state = moves[-1].after
    hand = state.hands[0].hand
    return hand.doubled and hand.total == 21 == state.dealer.total and not dealer_natural(moves)


def _one_half_pushes(moves: list[Played]) -> bool:
    return [line(moves, hand) for hand in ("s1.1", "s1.2")].count("push") == 1


def _insured_against_a_natural(moves: list[Played]) -> bool:
    return acts(moves) == ["insurance"] and dealer_natural(moves)


def _sold_at_six_fifths(rules: Rules) -> Rules:
    """An operator's own variant: every first offer is 1.20 of the stake."""
    assert rules.cash_out is not None
    first = {name: (Fraction(6, 5),) * len(row) for name, row in rules.cash_out.first.items()}
    return replace(rules, cash_out=replace(rules.cash_out, first=first))


def _is_perfect_pairs(data: EventData) -> bool:
    return isinstance(data, BetSettled) and data.bet == "perfect_pairs"


def _natural_beside_an_open_hand(moves: list[Played]) -> bool:
    return line(moves) == "natural" and acts(moves) == ["stand"] and up(moves)[0] in "23456789"


_NATURAL = BetSettled("s1", "s1", "main", 100, 250, "natural", credited(250))


def _natural_settled_at_once(turn: Turn) -> Turn:
    if isinstance(turn[-1], DecisionOffered):
        return [*turn[:-1], _NATURAL, turn[-1]]
    return [data for data in turn if not (isinstance(data, BetSettled) and data.hand == "s1")]


def _laying(stakes: dict[str, dict[str, int]]) -> Alter:
    """Record other chips than the deal takes."""

    def alter(turn: Turn) -> Turn:
        laid = (
            [StakesPlaced(stakes)] if any(isinstance(data, DealRequested) for data in turn) else []
        )
        return [*laid, *turn]

    return alter


MONEY: dict[str, Lie] = {
    # Payments
    "natural paid 1:1": Lie(
        game="nba",
        findings=["settlement_mismatch"],
        choose=STAND,
        plays=paying("natural", "1/1"),
        wanted=ends("natural"),
    ),
    "natural paid 0": Lie(
        game="zappit",
        findings=["settlement_mismatch"],
        choose=STAND,
        plays=paying("natural", "lose"),
        wanted=ends("natural"),
    ),
    "suited natural paid 3:2": Lie(
        game="zero",
        findings=["settlement_mismatch"],
        choose=STAND,
        plays=paying("suited_natural", "3/2"),
        wanted=ends("suited_natural"),
    ),
    "5-card 21 paid 1:1": Lie(
        game="zero",
        findings=["settlement_mismatch"],
        choose=hit_to(5),
        plays=paying("five_card_21", "1/1"),
        wanted=ends("five_card_21"),
    ),
    "push scored as loss": Lie(
        game="zero",
        findings=["settlement_mismatch"],
        choose=STAND,
        wanted=ends("push"),
        alter=settled("main", paid_minor=0, line="loss", funds=None),
    ),
    "dealer 22 paid as a loss in Zappit": Lie(
        game="zappit",
        findings=["settlement_mismatch"],
        choose=STAND,
        plays=paying("dealer_22", "lose"),
        wanted=ends("dealer_22"),
    ),
    "doubled 21 against 21 paid as win": Lie(
        game="nba",
        findings=["settlement_mismatch"],
        choose=prefer("double", "stand", "decline"),
        plays=paying("push", "1/1"),
        wanted=_doubled_21_against_21,
    ),
    "split push paid as win": Lie(
        game="zero",
        findings=["settlement_mismatch"],
        choose=prefer("split", "stand", "decline"),
        plays=paying("push", "1/1"),
        wanted=_one_half_pushes,
    ),
    "insurance underpaid": Lie(
        game="zappit",
        findings=["settlement_mismatch"],
        choose=prefer("insurance", "stand"),
        plays=ruling(insurance=Insurance(odds=Fraction(1), to_naturals=True)),
        wanted=_insured_against_a_natural,
    ),
    "perfect pair paid as a mixed one": Lie(
        game="nba",
        findings=["settlement_mismatch"],
        choose=STAND,
        stakes=SIDE_BETS,
        wanted=ends("perfect_pair", bet="perfect_pairs"),
        alter=both(
            settled("perfect_pairs", paid_minor=350, line="mixed_pair", funds=credited(350)),
            without_balances,
        ),
    ),
    "cash out shown 1.20 and paid 1.02": Lie(
        game="nba",
        findings=["settlement_mismatch"],
        choose=prefer("cash-out", "decline"),
        logs=_sold_at_six_fifths,
        wanted=does("cash-out"),
        alter=settled("main", paid_minor=102, funds=credited(102)),
    ),
    "right payment by the wrong line": Lie(
        game="zero",
        findings=["settlement_mismatch"],
        choose=STAND,
        wanted=ends("win"),
        alter=settled("main", line="dealer_bust"),
    ),
    # Settlements
    "settlement missing": Lie(
        game="zappit",
        findings=["payout_missing"],
        choose=STAND,
        wanted=ends("win"),
        alter=changing(BetSettled, dropped),
    ),
    "two settlements": Lie(
        game="zero",
        findings=["duplicate_settlement"],
        choose=STAND,
        wanted=ends("win"),
        alter=changing(BetSettled, twice),
    ),
    "settled before it was decided": Lie(
        game="nba",
        findings=["settlement_early"],
        choose=STAND,
        stakes=TWO_SEATS,
        wanted=_natural_beside_an_open_hand,
        alter=lambda: _natural_settled_at_once,
    ),
    "side bet settled a turn late": Lie(
        game="nba",
        findings=["settlement_late"],
        choose=STAND,
        stakes={"s1": {"main": 100, "perfect_pairs": 50}},
        wanted=does("stand"),
        alter=held_back(_is_perfect_pairs, ShoeRevealed),
    ),
    "bets settled after the seed was revealed": Lie(
        game="zero",
        findings=["event_out_of_place"],
        choose=STAND,
        wanted=does("stand"),
        alter=held_back(lambda data: isinstance(data, BetSettled), RoundClosed),
    ),
    "settled for another seat": Lie(
        game="zero",
        findings=["settlement_mismatch"],
        choose=STAND,
        wanted=does("stand"),
        alter=changing(BetSettled, having(seat="s2")),
    ),
    "settlement of a bet nobody made": Lie(
        game="nba",
        findings=["settlement_mismatch"],
        choose=STAND,
        wanted=ends("loss"),
        alter=changing(
            BetSettled,
            lambda data: (data, replace(data, bet="perfect_pairs", paid_minor=0, line="lost")),
        ),
    ),
    "settled on half the stake": Lie(
        game="zero",
        findings=["stake_mismatch"],
        choose=STAND,
        wanted=ends("loss"),
        alter=settled("main", stake_minor=50),
    ),
    "totals wrong": Lie(
        game="zappit",
        findings=["totals_mismatch"],
        choose=STAND,
        alter=changing(RoundClosed, having(total_staked_minor=1)),
        books_true_totals=True,
    ),
    # Stakes
    "stake debited twice": Lie(
        game="zero", findings=["debit_mismatch"], choose=STAND, wallet=lambda: TwiceDebited(10_000)
    ),
    "stake of a double debited twice": Lie(
        game="nba",
        findings=["debit_mismatch"],
        choose=prefer("double", "decline"),
        wanted=does("double"),
        wallet=lambda: DoubleDebitedTwice(10_000),
    ),
    "double booked without its stake": Lie(
        game="zappit",
        findings=["stake_mismatch"],
        choose=prefer("double", "decline"),
        wanted=does("double"),
        alter=changing(DecisionMade, having(added_stake_minor=0)),
    ),
    "win credited short": Lie(
        game="zero",
        findings=["credit_mismatch"],
        choose=STAND,
        wanted=ends("win"),
        wallet=lambda: ShortCredited(10_000),
    ),
    "win taken from the player": Lie(
        game="zero",
        findings=["credit_mismatch"],
        choose=STAND,
        wanted=ends("win"),
        wallet=lambda: CreditedAsDebit(10_000),
    ),
    "stake over the limit": Lie(
        game="zappit",
        findings=["stake_outside_limits"],
        choose=STAND,
        alter=changing(RoundOpened, having(limits={"main": Limit(1, 99)})),
    ),
    "stake under the limit": Lie(
        game="zappit",
        findings=["stake_outside_limits"],
        choose=STAND,
        alter=changing(RoundOpened, having(limits={"main": Limit(101, None)})),
    ),
    "limits never named": Lie(
        game="zero",
        findings=["limits_unknown"],
        choose=STAND,
        alter=changing(RoundOpened, having(limits=None)),
    ),
    "a side bet without a main stake": Lie(
        game="nba",
        findings=["stake_not_allowed", "stake_mismatch", "stake_mismatch"],
        choose=STAND,
        alter=changing(DealRequested, having(stakes={"s1": {"perfect_pairs": 100}})),
    ),
    "deal requested twice": Lie(
        game="nba",
        findings=["event_out_of_place"],
        choose=STAND,
        alter=changing(DealRequested, twice),
    ),
    # Voids
    "refund short": Lie(
        game="zero",
        findings=["refund_mismatch", "void_unfounded"],
        choose=STAND,
        alter=lambda: voiding(Refund("s1", "main", 99, credited(99))),
    ),
    "refund missing": Lie(
        game="zero",
        findings=["refund_mismatch", "void_unfounded"],
        choose=STAND,
        alter=lambda: voiding(),
    ),
    "refund above the stake": Lie(
        game="zero",
        findings=["refund_mismatch", "void_unfounded"],
        choose=STAND,
        alter=lambda: voiding(*[Refund("s1", "main", 60, credited(60))] * 2),
    ),
    "a natural voided away": Lie(
        game="zero",
        findings=["win_voided", "void_unfounded"],
        choose=STAND,
        alter=lambda: voiding(Refund("s1", "main", 100, credited(100))),
        wanted=ends("natural"),
    ),
    "a push voided, which takes nothing": Lie(
        game="zero",
        findings=["void_unfounded"],
        choose=STAND,
        alter=lambda: voiding(Refund("s1", "main", 100, credited(100))),
        wanted=ends("push"),
    ),
    "a paid win refunded on top": Lie(
        game="zero",
        findings=["refund_mismatch", "void_unfounded"],
        choose=STAND,
        alter=lambda: changing(
            RoundClosed,
            lambda _: RoundVoided("a malfunction", [Refund("s1", "main", 100, credited(100))]),
        )(),
        wanted=ends("natural"),
    ),
    "chips that vanish before the deal": Lie(
        game="zero",
        findings=["stake_mismatch"],
        choose=STAND,
        alter=lambda: _laying({"s1": {"main": 5000}}),
    ),
    **WALLET,
}
