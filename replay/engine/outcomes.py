"""What every bet of a round is paid, as far as it is decided.

A bet is decided once nothing that can still come changes it: side bets on the initial cards,
insurance at the check, a hand when the settlement line it meets no longer asks about the dealer.
"""

import msgspec

from shoeproof.replay.engine.round import RoundState, Seat, SeatHand, Settle
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.engine.settlement import paid_minor, settle, settle_early, win_minor
from shoeproof.replay.engine.side_bets import side_bet_line, side_bet_odds

MAIN = "main"
INSURANCE_BET = "insurance"
LOST = "lost"


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """One bet: its whole stake, and what it is paid with the settlement line, None while open.

    `paid_minor` includes the stake coming back. Amounts are minor units.
    """

    seat: str
    hand: str
    bet: str
    stake_minor: int
    paid_minor: int | None
    line: str | None


def outcomes(state: RoundState) -> list[Outcome]:
    """Return every bet of the round: by seat its hands, its insurance, its side bets."""
    found: list[Outcome] = []
    for seat in state.seats:
        found.extend(_main_bet(state, held) for held in state.hands if held.seat == seat.name)
        if seat.insurance_minor:
            found.append(_insurance(state, seat))
        if len(seat.stakes) > 1:
            found.extend(
                _side_bet(state, seat, bet) for bet in state.rules.side_bets if bet in seat.stakes
            )
    return found


def total_staked_minor(bets: list[Outcome]) -> int:
    """Return the sum of all stakes."""
    return sum(bet.stake_minor for bet in bets)


def total_paid_minor(bets: list[Outcome]) -> int:
    """Return the sum of what the decided bets are paid."""
    return sum(bet.paid_minor or 0 for bet in bets)


def _main_bet(state: RoundState, held: SeatHand) -> Outcome:
    line = None
    if isinstance(state.due, Settle):
        line = settle(state.rules, held.hand, state.dealer)
    elif held.hand.over:
        line = settle_early(state.rules, held.hand)
    if line is None:
        return Outcome(held.seat, held.name, MAIN, held.stake_minor, None, None)
    paid = paid_minor(line, held.stake_minor, held.shown_minor, state.rules.rounding)
    return Outcome(held.seat, held.name, MAIN, held.stake_minor, paid, line.name)


def _insurance(state: RoundState, seat: Seat) -> Outcome:
    stake = seat.insurance_minor
    natural = state.dealer.natural if isinstance(state.due, Settle) else state.hole_natural
    if natural is None:
        return Outcome(seat.name, seat.name, INSURANCE_BET, stake, None, None)
    return insurance_outcome(state.rules, seat.name, stake, natural=natural)


def insurance_outcome(rules: Rules, seat: str, stake_minor: int, *, natural: bool) -> Outcome:
    """Return how an insurance stake is settled once the dealer's natural is known."""
    if not natural or rules.insurance is None:
        return Outcome(seat, seat, INSURANCE_BET, stake_minor, 0, LOST)
    paid = stake_minor + win_minor(rules.insurance.odds, stake_minor, rules.rounding)
    return Outcome(seat, seat, INSURANCE_BET, stake_minor, paid, "dealer_natural")


def _side_bet(state: RoundState, seat: Seat, bet: str) -> Outcome:
    stake = seat.stakes[bet]
    if len(seat.initial_cards) < 2 or not state.dealer.up:
        return Outcome(seat.name, seat.name, bet, stake, None, None)
    table = state.rules.side_bets[bet]
    line = side_bet_line(table, seat.initial_cards, state.dealer.up)
    if line is None:
        return Outcome(seat.name, seat.name, bet, stake, 0, LOST)
    paid = stake + win_minor(side_bet_odds(table, line), stake, state.rules.rounding)
    return Outcome(seat.name, seat.name, bet, stake, paid, line)
