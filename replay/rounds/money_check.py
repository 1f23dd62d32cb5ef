"""Check what was offered, staked and paid against the rules.

Findings write amounts as people write them, in the round's `currency`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from shoeproof.ledger.leaf.events import (
    BetSettled,
    DecisionMade,
    DecisionOffered,
    Funds,
    Limit,
    Refund,
    RoundClosed,
)
from shoeproof.replay import findings as codes
from shoeproof.replay.currency import amount_text
from shoeproof.replay.engine.hand import CASH_OUT, DOUBLE, INSURANCE, SPLIT
from shoeproof.replay.engine.outcomes import Outcome
from shoeproof.replay.engine.round import Decide, RoundState, added_stake_minor, describe
from shoeproof.replay.rounds.limits import outside_limits
from shoeproof.replay.rounds.shoe_check import Problem
from shoeproof.replay.wallet.wallet import is_accepted, is_held

Bet = tuple[str, str]
"""A hand and its bet, `("s1.2", "main")`."""

FUNDS: Final = "funds"
"""The reason that bars an act for lack of money."""

HIDDEN: Final = "hidden"
"""The reason that bars an act the player chose not to be shown."""

_BARS = {FUNDS: (DOUBLE, SPLIT, INSURANCE), HIDDEN: (CASH_OUT,)}
"""The acts each reason may bar: too little money those that cost some, the player's choice one."""


def check_offer(offer: DecisionOffered, due: Decide, currency: str = "") -> Iterator[Problem]:
    """Check an offer against the acts the rules allow and what cash out pays."""
    for act in offer.legal:
        if act not in due.legal:
            yield codes.OFFER_NOT_ALLOWED, f"{act} was offered to {offer.hand} against the rules"
    for act in due.legal:
        if act in offer.legal:
            continue
        reason = offer.barred.get(act)
        if act not in _BARS.get(reason or "", ()):
            yield codes.OFFER_WITHHELD, f"{act} was not offered to {offer.hand}"
    offered = CASH_OUT in offer.legal and CASH_OUT in due.legal
    if offered and offer.cash_out_minor != due.cash_out_minor:
        sentence = f"{offer.hand} was offered {amount_text(offer.cash_out_minor, currency)} to cash"
        right = amount_text(due.cash_out_minor, currency)
        yield codes.CASH_OUT_OFFER_WRONG, f"{sentence} out, the rules' table says {right}"


def offer_problems(
    offer: DecisionOffered, state: RoundState, balance_minor: int | None, currency: str
) -> Iterator[Problem]:
    """Check an offer against what is due, and its bars for lack of money against what was left.

    `balance_minor` is the last balance recorded in the round; where there is none, a bar is
    believed.
    """
    due = state.due
    if not isinstance(due, Decide) or due.hand != offer.hand:
        sentence = f"{offer.hand} was offered a decision where {describe(due)} was due"
        yield codes.OFFER_NOT_ALLOWED, sentence
        return
    yield from check_offer(offer, due, currency)
    if balance_minor is None:
        return
    for act in due.legal:
        cost, barred = added_stake_minor(state, act), offer.barred.get(act) == FUNDS
        if barred and act not in offer.legal and act in _BARS[FUNDS] and cost <= balance_minor:
            left, needed = amount_text(balance_minor, currency), amount_text(cost, currency)
            sentence = f"{act} was barred to {offer.hand} for lack of money"
            yield codes.OFFER_WITHHELD, f"{sentence}: it costs {needed}, the wallet had {left} left"


def check_decision_stake(
    made: DecisionMade, added_minor: int, currency: str = ""
) -> Iterator[Problem]:
    """Check the stake a decision added, and its debit, against what the act costs."""
    if made.added_stake_minor != added_minor:
        added = amount_text(made.added_stake_minor, currency)
        sentence = f"{made.act} of {made.hand} added a stake of {added}"
        yield codes.STAKE_MISMATCH, f"{sentence}, it costs {amount_text(added_minor, currency)}"
    yield from check_debit(made.funds, added_minor, f"{made.act} of {made.hand}", currency)


def check_debit(
    funds: Funds | None, amount_minor: int, what: str, currency: str = ""
) -> Iterator[Problem]:
    """Check a debit, where the operator gives one, against the stake it is for.

    What was taken are the positive parts: a negative one gives back money of another kind. A debit
    that the wallet declined took nothing, which `wallet_check` says.
    """
    if funds is None or not is_accepted(funds.answer) or moves(funds, "debit", amount_minor):
        return
    sentence = f"the {funds.direction} for {what} is {_moved_text(funds, currency)}"
    yield codes.DEBIT_MISMATCH, f"{sentence}, the stake is {amount_text(amount_minor, currency)}"


def check_credit(
    funds: Funds | None,
    amount_minor: int,
    what: str,
    currency: str = "",
    *,
    may_wait: bool = False,
) -> Iterator[Problem]:
    """Check a credit, where the operator gives one, against the payment it is for.

    Of one that `may_wait` and is held, a part; which part is `interruptions.check_policy`'s
    business.
    """
    if funds is None or not is_accepted(funds.answer) or moves(funds, "credit", amount_minor):
        return
    part = funds.total_minor
    if may_wait and is_held(funds) and part <= amount_minor and moves(funds, "credit", part):
        return
    sentence = f"the {funds.direction} for {what} is {_moved_text(funds, currency)}"
    yield codes.CREDIT_MISMATCH, f"{sentence}, {amount_text(amount_minor, currency)} was paid"


def moves(funds: Funds, direction: str, amount_minor: int) -> bool:
    """Tell whether funds move an amount in a direction, no part of it the other way."""
    parts = funds.cash_minor, funds.incentive_minor
    return funds.direction == direction and min(parts) >= 0 and sum(parts) == amount_minor


def not_credited_minor(settled: Iterable[BetSettled]) -> int | None:
    """Return how much of the payments was kept from the wallet, None where no wallet answers."""
    told = [(bet.paid_minor, bet.funds) for bet in settled if bet.funds is not None]
    if not told:
        return None
    return sum(paid - funds.total_minor for paid, funds in told if is_held(funds))


def check_limits(
    limits: Mapping[str, Limit] | None,
    stakes: Mapping[str, Mapping[str, int]],
    currency: str = "",
) -> Iterator[Problem]:
    """Check the initial stakes against the limits the round was opened with."""
    bounds = {bet: (limit.min_minor, limit.max_minor) for bet, limit in (limits or {}).items()}
    unknown = sorted({bet for bets in stakes.values() for bet in bets} - set(bounds))
    if unknown:
        yield codes.LIMITS_UNKNOWN, f"the round was opened without limits for {', '.join(unknown)}"
    for sentence in outside_limits(bounds, stakes, currency):
        yield codes.STAKE_OUTSIDE_LIMITS, sentence


def check_placed(
    placed: Mapping[str, Mapping[str, int]],
    stakes: Mapping[str, Mapping[str, int]],
    currency: str = "",
) -> Iterator[Problem]:
    """Check the final stakes against the chips last laid, if any: the deal takes what lies."""
    bets = dict.fromkeys(
        (seat, bet) for each in (placed, stakes) for seat in each for bet in each[seat]
    )
    for seat, bet in bets if any(placed.values()) else ():
        laid, final = placed.get(seat, {}).get(bet, 0), stakes.get(seat, {}).get(bet, 0)
        if final != laid:
            sentence = f"{amount_text(laid, currency)} was laid on {bet} of {seat}"
            taken = amount_text(final, currency)
            yield codes.STAKE_MISMATCH, f"{sentence}, the deal took {taken}"


def as_the_rules_pay(
    settled: Sequence[BetSettled], expected: Iterable[Outcome]
) -> list[BetSettled]:
    """Return settlements with what the rules pay in place of what was paid, where that is known."""
    right = {(each.hand, each.bet): each.paid_minor for each in expected}
    found = []
    for bet in settled:
        paid = right.get((bet.hand, bet.bet))
        found.append(bet if paid is None else msgspec.structs.replace(bet, paid_minor=paid))
    return found


class Settlements:
    """The settlements a round recorded, checked against the outcomes as they come."""

    def __init__(self, currency: str) -> None:
        """Begin with none; amounts are in `currency`."""
        self._currency = currency
        self.recorded: dict[Bet, BetSettled] = {}
        self._early: set[Bet] = set()
        self._overdue: set[Bet] = set()
        self._doubled = False

    def record(
        self, settled: BetSettled, expected: list[Outcome], *, judged: bool
    ) -> Iterator[Problem]:
        """Take one settlement; where the play is no longer judged, only decided bets are held."""
        bet = (settled.hand, settled.bet)
        name = f"{settled.bet} of {settled.hand}"
        if bet in self.recorded:
            self._doubled = True
            yield codes.DUPLICATE_SETTLEMENT, f"{name} was settled before"
            return
        self.recorded[bet] = settled
        yield from check_credit(
            settled.funds, settled.paid_minor, name, self._currency, may_wait=True
        )
        outcome = _find(expected, bet)
        if outcome is not None and outcome.paid_minor is not None:
            yield from _compare(settled, outcome, self._currency)
            if bet in self._overdue:
                yield codes.SETTLEMENT_LATE, f"{name} was decided in an earlier turn"
        elif not judged:
            return
        elif outcome is not None:
            self._early.add(bet)
            yield codes.SETTLEMENT_EARLY, f"{name} was settled before it was decided"
        else:
            yield codes.SETTLEMENT_MISMATCH, f"the round has no {name}"

    def turn_ends(self, expected: list[Outcome]) -> None:
        """Note the bets that a turn decided and did not settle."""
        self._overdue |= {
            (bet.hand, bet.bet)
            for bet in expected
            if bet.paid_minor is not None and (bet.hand, bet.bet) not in self.recorded
        }

    def finish(self, expected: list[Outcome], closed: RoundClosed) -> Iterator[Problem]:
        """Check the whole against the final outcomes and the totals of the closing event."""
        missing, told = False, self.recorded.values()
        for outcome in expected:
            bet = (outcome.hand, outcome.bet)
            if outcome.paid_minor is None:
                if not any((each.seat, each.bet) == (outcome.seat, outcome.bet) for each in told):
                    missing = True
                    name = f"{outcome.bet} of {outcome.hand}"
                    yield codes.PAYOUT_MISSING, f"{name} was never settled"
            elif bet not in self.recorded:
                missing = True
                due = amount_text(outcome.paid_minor, self._currency)
                sentence = f"{outcome.bet} of {outcome.hand} is due {due}"
                yield codes.PAYOUT_MISSING, f"{sentence} and was never settled"
            elif bet in self._early:
                yield from _compare(self.recorded[bet], outcome, self._currency)
        if not missing and not self._doubled:
            yield from self._check_totals(closed)

    def _check_totals(self, closed: RoundClosed) -> Iterator[Problem]:
        staked = sum(settled.stake_minor for settled in self.recorded.values())
        paid = sum(settled.paid_minor for settled in self.recorded.values())
        if (closed.total_staked_minor, closed.total_paid_minor) != (staked, paid):
            said = self._total_text(closed.total_staked_minor, closed.total_paid_minor)
            sentence = f"the round closed at {said}, its settlements come to"
            yield codes.TOTALS_MISMATCH, f"{sentence} {self._total_text(staked, paid)}"

    def _total_text(self, staked_minor: int, paid_minor: int) -> str:
        staked = amount_text(staked_minor, self._currency)
        return f"{staked} staked and {amount_text(paid_minor, self._currency)} paid"


def check_refunds(
    refunds: list[Refund],
    stakes: Mapping[Bet, int],
    settled: Mapping[Bet, BetSettled],
    decided: Collection[Bet],
    currency: str,
) -> Iterator[Problem]:
    """Check the refunds of a void against the stakes: each comes back whole, what was paid
    included.

    A bet that was `decided` and settled before the void stands; its stake may come back, too.
    """
    returned: dict[Bet, int] = {}
    for refund in refunds:
        bet = (refund.hand, refund.bet)
        returned[bet] = returned.get(bet, 0) + refund.amount_minor
    for bet in {**stakes, **returned}:
        paid = settled[bet].paid_minor if bet in settled else 0
        due = max(0, stakes.get(bet, 0) - paid)
        if bet in settled and bet in decided and not returned.get(bet, 0):
            continue
        if returned.get(bet, 0) != due:
            back = amount_text(returned.get(bet, 0), currency)
            sentence = f"{back} went back for {bet[1]} of {bet[0]}"
            sentence += f", staked {amount_text(stakes.get(bet, 0), currency)}"
            sentence += f", paid before {amount_text(paid, currency)}"
            yield codes.REFUND_MISMATCH, f"{sentence}: {amount_text(due, currency)} is due"


def check_void(
    expected: list[Outcome], settled: Mapping[Bet, BetSettled], currency: str
) -> Iterator[Problem]:
    """Name the bets that a void takes a win from: decided, above their stake, and not paid."""
    for outcome in expected:
        unpaid = (outcome.hand, outcome.bet) not in settled
        if unpaid and outcome.paid_minor is not None and outcome.paid_minor > outcome.stake_minor:
            won = amount_text(outcome.paid_minor, currency)
            sentence = f"{outcome.bet} of {outcome.hand} was decided at {won}"
            yield codes.WIN_VOIDED, f"{sentence} ({outcome.line}) when the round was voided"


def _compare(settled: BetSettled, outcome: Outcome, currency: str) -> Iterator[Problem]:
    name = f"{settled.bet} of {settled.hand}"
    if settled.seat != outcome.seat:
        yield codes.SETTLEMENT_MISMATCH, f"{name} was settled for seat {settled.seat}"
    if settled.stake_minor != outcome.stake_minor:
        stake = amount_text(settled.stake_minor, currency)
        sentence = f"{name} was settled on a stake of {stake}"
        right = amount_text(outcome.stake_minor, currency)
        yield codes.STAKE_MISMATCH, f"{sentence}, it is {right}"
    if (settled.paid_minor, settled.line) != (outcome.paid_minor, outcome.line):
        sentence = f"{name} was paid {amount_text(settled.paid_minor, currency)} ({settled.line})"
        sentence += f", the rules pay {amount_text(outcome.paid_minor, currency)} ({outcome.line})"
        yield codes.SETTLEMENT_MISMATCH, sentence


def _find(expected: list[Outcome], bet: Bet) -> Outcome | None:
    for outcome in expected:
        if (outcome.hand, outcome.bet) == bet:
            return outcome
    return None


def _moved_text(funds: Funds, currency: str) -> str:
    if min(funds.cash_minor, funds.incentive_minor) >= 0:
        return amount_text(funds.total_minor, currency)
    cash = amount_text(funds.cash_minor, currency)
    return f"{cash} of cash and {amount_text(funds.incentive_minor, currency)} of incentives"
