"""A round as a value; live play, replay and theory differ only in who supplies the next move.

`open_round` gives the first state, its `due` says what comes next, `apply` takes it. The state
never holds a card that lies face down: the hole card is dealt as `FACE_DOWN`, and when the rules
look at it, `due` asks for what they see (`Check`) or for the card itself (`Show`). So no state, and
nothing printed from one, can betray it. Invariant: `due` is always the one thing that can happen
next.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

import msgspec

from shoeproof.replay.engine.cards import FACE_DOWN, VALUE
from shoeproof.replay.engine.cash_out import cash_out_ratio
from shoeproof.replay.engine.dealer import EMPTY_DEALER, Dealer, dealer_draws, dealer_step
from shoeproof.replay.engine.hand import (
    CASH_OUT,
    DECLINE,
    DOUBLE,
    EMPTY_HAND,
    EVEN_MONEY,
    INSURANCE,
    SPLIT,
    Act,
    Hand,
    legal_acts,
    split,
    step,
)
from shoeproof.replay.engine.money import round_minor
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.errors import IllegalMove, StakeRefused

Stakes: TypeAlias = Mapping[str, Mapping[str, int]]
"""Seat (`s1`) to bet (`main`, `perfect_pairs`, …) to minor units."""

DEALER: Final = "dealer"
NATURAL: Final = "natural"
NO_NATURAL: Final = "no-natural"


class Deal(msgspec.Struct, frozen=True):
    """A card is due to `receiver` (`s1`, `s1.2`, `dealer`), face down for the hole card."""

    receiver: str
    down: bool = False


class Check(msgspec.Struct, frozen=True):
    """The dealer looks at the hole card: `natural` or `no-natural` is due."""


class Show(msgspec.Struct, frozen=True):
    """The hole card is turned over: its face is due."""


class Decide(msgspec.Struct, frozen=True, gc=False):
    """A decision is due: every legal act, and what cash out pays now in minor units."""

    hand: str
    legal: tuple[Act, ...]
    cash_out_minor: int | None = None


class Settle(msgspec.Struct, frozen=True):
    """Nothing more can happen; every bet is decided."""


Turn: TypeAlias = Deal | Check | Show | Decide | Settle


class SeatHand(msgspec.Struct, frozen=True, gc=False):
    """One hand at a seat: its cards and stake beside what the rules know of it.

    `shown_minor` is the value at which it was cashed out.
    """

    name: str
    seat: str
    hand: Hand
    cards: tuple[str, ...]
    stake_minor: int
    shown_minor: int = 0


class Seat(msgspec.Struct, frozen=True, gc=False):
    """A seat's stakes, its answer to insurance, and the two cards its side bets rest on."""

    name: str
    stakes: Mapping[str, int]
    answer: Act | None = None
    insurance_minor: int = 0
    initial_cards: tuple[str, ...] = ()


class RoundState(msgspec.Struct, frozen=True, gc=False):
    """Everything that has happened in a round and the one thing that is due.

    `hole_natural` is what the check showed, None while nobody looked.
    """

    rules: Rules
    seats: tuple[Seat, ...]
    hands: tuple[SeatHand, ...]
    dealer: Dealer
    dealer_cards: tuple[str, ...]
    dealt: int
    hole_natural: bool | None
    due: Turn


_SETTLE: Final = Settle()
_CHECK: Final = Check()
_SHOW: Final = Show()
_DEAL_TO_DEALER: Final = Deal(DEALER)


def open_round(rules: Rules, stakes: Stakes) -> RoundState:
    """Return the state before the first card.

    `stakes` maps seats to bets to minor units. Raises StakeRefused for stakes the rules cannot
    take: no seat, a seat the table lacks, no main stake, an unknown bet, an amount that is not a
    positive integer. Limits are the table's and are checked by `limits.py`.
    """
    check_stakes(rules, stakes)
    names = sorted(stakes)
    seats = tuple(Seat(name=name, stakes=dict(stakes[name])) for name in names)
    hands = tuple(
        SeatHand(name=name, seat=name, hand=EMPTY_HAND, cards=(), stake_minor=stakes[name]["main"])
        for name in names
    )
    return _state(rules, seats, hands, EMPTY_DEALER, (), 0, None)


def check_stakes(rules: Rules, stakes: Stakes) -> None:
    """Raise StakeRefused for stakes the rules cannot take; see `open_round`."""
    if not stakes:
        raise StakeRefused("no seat has a stake; a round needs at least one")
    table = [f"s{number}" for number in range(1, rules.seats + 1)]
    for seat, bets in stakes.items():
        if seat not in table:
            raise StakeRefused(f"there is no seat {seat}; {rules.id} has {table[0]} to {table[-1]}")
        if "main" not in bets:
            raise StakeRefused(f"{seat} has a side bet without a main stake")
        for bet, amount in bets.items():
            if bet not in rules.bets:
                raise StakeRefused(f"{rules.id} has no bet {bet}; it has {', '.join(rules.bets)}")
            if type(amount) is not int or amount <= 0:
                raise StakeRefused(f"the {bet} stake of {seat} must be a whole number above 0")


def apply(state: RoundState, symbol: str, shown_minor: int | None = None) -> RoundState:
    """Return the state after one move: a card, `FACE_DOWN`, what a check showed, or an act.

    `shown_minor` is the value shown with a cash-out offer where that was not the table's own.
    Raises IllegalMove when the move is not what is due; the state given is never changed.
    """
    due = state.due
    if isinstance(due, Decide):
        return _decide(state, due, symbol, shown_minor)
    if isinstance(due, Deal):
        return _deal(state, due, symbol)
    if isinstance(due, Check) and symbol in (NATURAL, NO_NATURAL):
        return _with(state, hole_natural=symbol == NATURAL)
    if isinstance(due, Show) and symbol in VALUE:
        return _with(
            state,
            dealer=dealer_step(state.rules, state.dealer, symbol),
            dealer_cards=(*state.dealer_cards, symbol),
        )
    raise IllegalMove(f"{symbol} came where {describe(due)} was due")


def describe(due: Turn) -> str:
    """Return in words what is due."""
    match due:
        case Deal(receiver=receiver, down=down):
            return f"a card to {receiver}{', face down' if down else ''}"
        case Decide(hand=hand, legal=legal):
            return f"a decision of {hand} ({', '.join(legal)})"
        case Check():
            return "the check for a natural"
        case Show():
            return "the hole card"
        case Settle():
            return "settlement"


def added_stake_minor(state: RoundState, act: Act) -> int:
    """Return the stake that an act adds at the decision that is due, in minor units."""
    due = state.due
    if not isinstance(due, Decide):
        return 0
    if act == INSURANCE:
        return insurance_stake_minor(state.rules, _seat(state, due.hand))
    if act in (DOUBLE, SPLIT):
        return state.hands[_index(state, due.hand)].stake_minor
    return 0


def insurance_stake_minor(rules: Rules, seat: Seat) -> int:
    """Return half the main stake, rounded as the rules say; 0 when there is no half."""
    return round_minor(Fraction(seat.stakes["main"], 2), rules.insurance_rounding)


def stakes_minor(stakes: Stakes) -> int:
    """Return the total of all stakes of all seats, in minor units."""
    return sum(sum(bets.values()) for bets in stakes.values())


def initial_deal_length(seats: int) -> int:
    """Return how many cards `deal_plan` has for a number of seats, the hole card among them.

    Each of them gets two, and so does the dealer, in whichever order the rules deal them.
    """
    return 2 * seats + 2


def in_initial_deal(state: RoundState) -> bool:
    """Tell whether cards of the initial deal are still to come."""
    return state.dealt < initial_deal_length(len(state.seats))


@lru_cache(maxsize=1024)
def deal_plan(order: tuple[str, ...], seats: tuple[str, ...]) -> tuple[Deal, ...]:
    """Return the initial deal, card by card, for the seats that play."""
    plan: list[Deal] = []
    for place in order:
        if place == "seats":
            plan.extend(Deal(seat) for seat in seats)
        else:
            plan.append(Deal(DEALER, down=place == "down"))
    return tuple(plan)


def _with(
    state: RoundState,
    *,
    seats: tuple[Seat, ...] | None = None,
    hands: tuple[SeatHand, ...] | None = None,
    dealer: Dealer | None = None,
    dealer_cards: tuple[str, ...] | None = None,
    dealt: int = 0,
    hole_natural: bool | None = None,
) -> RoundState:
    return _state(
        state.rules,
        state.seats if seats is None else seats,
        state.hands if hands is None else hands,
        state.dealer if dealer is None else dealer,
        state.dealer_cards if dealer_cards is None else dealer_cards,
        dealt or state.dealt,
        state.hole_natural if hole_natural is None else hole_natural,
    )


def _state(
    rules: Rules,
    seats: tuple[Seat, ...],
    hands: tuple[SeatHand, ...],
    dealer: Dealer,
    dealer_cards: tuple[str, ...],
    dealt: int,
    hole_natural: bool | None,
) -> RoundState:
    due = due_next(rules, seats, hands, dealer, dealt, hole_natural)
    return RoundState(rules, seats, hands, dealer, dealer_cards, dealt, hole_natural, due)


def due_next(
    rules: Rules,
    seats: tuple[Seat, ...],
    hands: tuple[SeatHand, ...],
    dealer: Dealer,
    dealt: int,
    hole_natural: bool | None,
) -> Turn:
    """Return the one thing that can happen next; the arguments are the fields of a RoundState.

    Of the hands it reads only whether they owe a card, are over, or are a natural; of the dealer
    the up card's value, the count, and whether the rules draw on: tables of it rest on that.
    """
    plan = deal_plan(rules.deal_order, tuple([seat.name for seat in seats]))
    if dealt < len(plan):
        return plan[dealt]
    if dealer.count == 1:
        if dealer.up_value == 1:
            # Hands and seats run side by side until the first split, which comes later.
            for seat, held in zip(seats, hands, strict=False):
                if seat.answer is None and (legal := insurance_acts(rules, seat, held.hand)):
                    return Decide(seat.name, legal)
        if hole_natural is None and _checks(rules, dealer):
            return _CHECK
        if not hole_natural:
            for held in hands:
                if held.hand.owed:
                    return Deal(held.name)
            for held in hands:
                if not held.hand.over:
                    return _decision(rules, held, dealer)
        return _SHOW
    return _DEAL_TO_DEALER if dealer_draws(rules, dealer) else _SETTLE


def _checks(rules: Rules, dealer: Dealer) -> bool:
    value = dealer.up_value
    return (value == 1 and "ace" in rules.dealer_checks) or (
        value == 10 and "ten" in rules.dealer_checks
    )


def insurance_acts(rules: Rules, seat: Seat, hand: Hand) -> tuple[Act, ...]:
    """Return what a seat may answer with an ace up, nothing where it is not asked."""
    natural = hand.over == NATURAL
    if natural and rules.even_money:
        return (EVEN_MONEY, DECLINE)
    if rules.insurance is None or (natural and not rules.insurance.to_naturals):
        return ()
    return (INSURANCE, DECLINE) if insurance_stake_minor(rules, seat) else ()


def _decision(rules: Rules, held: SeatHand, dealer: Dealer) -> Decide:
    legal = legal_acts(rules, held.hand)
    offer = None
    if CASH_OUT in legal and rules.cash_out is not None:
        ratio = cash_out_ratio(rules.cash_out, held.hand, dealer.up_value)
        offer = round_minor(ratio * held.stake_minor, rules.rounding)
    return Decide(held.name, legal, offer)


def _deal(state: RoundState, due: Deal, symbol: str) -> RoundState:
    initial = state.dealt + 1 if isinstance(state.due, Deal) and in_initial_deal(state) else 0
    if due.down:
        if symbol != FACE_DOWN:
            raise IllegalMove("the hole card falls face down")
        return _with(state, dealt=initial)
    if symbol not in VALUE:
        raise IllegalMove(f"{symbol} came where {describe(due)} was due")
    if due.receiver == DEALER:
        return _with(
            state,
            dealer=dealer_step(state.rules, state.dealer, symbol),
            dealer_cards=(*state.dealer_cards, symbol),
            dealt=initial,
        )
    index = _index(state, due.receiver)
    held = state.hands[index]
    after = SeatHand(
        held.name,
        held.seat,
        step(state.rules, held.hand, symbol),
        (*held.cards, symbol),
        held.stake_minor,
    )
    seats = state.seats
    if initial:
        seat = seats[index]
        dealt_seat = Seat(seat.name, seat.stakes, initial_cards=(*seat.initial_cards, symbol))
        seats = (*seats[:index], dealt_seat, *seats[index + 1 :])
    return _with(state, seats=seats, hands=_replaced(state.hands, index, after), dealt=initial)


def _decide(state: RoundState, due: Decide, act: str, shown_minor: int | None) -> RoundState:
    if act not in due.legal:
        raise IllegalMove(f"{act} came where {describe(due)} was due")
    if act in (INSURANCE, DECLINE, EVEN_MONEY):
        return _answer(state, due, act)
    index = _index(state, due.hand)
    held = state.hands[index]
    if act == SPLIT:
        return _with(state, hands=_split(state, index))
    after = SeatHand(
        name=held.name,
        seat=held.seat,
        hand=step(state.rules, held.hand, act),
        cards=held.cards if act != "zap" else (),
        stake_minor=held.stake_minor + (held.stake_minor if act == DOUBLE else 0),
        shown_minor=_shown(due, act, shown_minor),
    )
    return _with(state, hands=_replaced(state.hands, index, after))


def _shown(due: Decide, act: str, shown_minor: int | None) -> int:
    if act != CASH_OUT:
        return 0
    return due.cash_out_minor or 0 if shown_minor is None else shown_minor


def _answer(state: RoundState, due: Decide, act: Act) -> RoundState:
    index = _index(state, due.hand)
    seat, held = state.seats[index], state.hands[index]
    hands = state.hands
    if act == EVEN_MONEY:
        taken = msgspec.structs.replace(held, hand=step(state.rules, held.hand, act))
        hands = _replaced(hands, index, taken)
    insurance = insurance_stake_minor(state.rules, seat) if act == INSURANCE else 0
    answered = Seat(seat.name, seat.stakes, act, insurance, seat.initial_cards)
    return _with(
        state, seats=(*state.seats[:index], answered, *state.seats[index + 1 :]), hands=hands
    )


def _split(state: RoundState, index: int) -> tuple[SeatHand, ...]:
    held = state.hands[index]
    halves = split(state.rules, held.hand)
    pair = tuple(
        SeatHand(f"{held.seat}.{number}", held.seat, half, (card,), held.stake_minor)
        for number, (half, card) in enumerate(zip(halves, held.cards, strict=True), start=1)
    )
    return (*state.hands[:index], *pair, *state.hands[index + 1 :])


def _replaced(hands: tuple[SeatHand, ...], index: int, after: SeatHand) -> tuple[SeatHand, ...]:
    return (*hands[:index], after, *hands[index + 1 :])


def _index(state: RoundState, name: str) -> int:
    for index, held in enumerate(state.hands):
        if held.name == name:
            return index
    raise IllegalMove(f"there is no hand {name}")


def _seat(state: RoundState, name: str) -> Seat:
    for seat in state.seats:
        if seat.name == name:
            return seat
    raise IllegalMove(f"there is no seat {name}")
