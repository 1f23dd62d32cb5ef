"""Hold what was offered, staked and paid to what the rules say."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ledger.events import (
    BetSettled,
    DecisionMade,
    DecisionOffered,
    Funds,
    Limit,
    Refund,
    RoundClosed,
)
from replay import findings as codes
from replay.engine.hand import CASH_OUT, DOUBLE, INSURANCE, SPLIT
from replay.engine.outcomes import Outcome
from replay.engine.round import Decide
from replay.limits import outside_limits
from replay.shoe_check import Problem

Bet = tuple[str, str]
"""A hand and its bet, `("s1.2", "main")`."""

_BARS = {"funds": (DOUBLE, SPLIT, INSURANCE), "hidden": (CASH_OUT,)}
"""The acts each reason may bar: too little money those that cost some, the player's choice one."""


def check_offer(offer: DecisionOffered, due: Decide) -> Iterator[Problem]:
    """Hold an offer to every act the rules allow and to what cash out pays."""
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
        sentence = f"{offer.hand} was offered {offer.cash_out_minor} to cash out"
        yield codes.CASH_OUT_OFFER_WRONG, f"{sentence}, the rules' table says {due.cash_out_minor}"


def check_decision_stake(made: DecisionMade, added_minor: int) -> Iterator[Problem]:
    """Hold the stake a decision added, and its debit, to what the act costs."""
    if made.added_stake_minor != added_minor:
        sentence = f"{made.act} of {made.hand} added a stake of {made.added_stake_minor}"
        yield codes.STAKE_MISMATCH, f"{sentence}, it costs {added_minor}"
    yield from check_debit(made.funds, added_minor, f"{made.act} of {made.hand}")


def check_debit(funds: Funds | None, amount_minor: int, what: str) -> Iterator[Problem]:
    """Hold a debit, where the operator gives one, to the stake it is for."""
    if funds is not None and (funds.direction, _moved(funds)) != ("debit", amount_minor):
        sentence = f"the {funds.direction} for {what} is {_moved(funds)}"
        yield codes.DEBIT_MISMATCH, f"{sentence}, the stake is {amount_minor}"


HELD: Final = "held"
"""The wallet's answer where part of a payment waits for verification and is not credited yet."""


def check_credit(settled: BetSettled, name: str) -> Iterator[Problem]:
    """Hold a credit, where the operator gives one, to the payment it is for.

    Of one that is held, a part; which part is `interruptions.check_policy`'s business.
    """
    funds = settled.funds
    if funds is None:
        return
    held = funds.answer == HELD and 0 <= _moved(funds) <= settled.paid_minor
    right = held or _moved(funds) == settled.paid_minor
    if funds.direction != "credit" or not right:
        sentence = f"the {funds.direction} for {name} is {_moved(funds)}"
        yield codes.CREDIT_MISMATCH, f"{sentence}, {settled.paid_minor} was paid"


def not_credited_minor(settled: Iterable[BetSettled]) -> int | None:
    """Return what of the payments was held back from the wallet, None where no wallet answers."""
    told = [(bet.paid_minor, bet.funds) for bet in settled if bet.funds is not None]
    if not told:
        return None
    return sum(paid - _moved(funds) for paid, funds in told if funds.answer == HELD)


def check_limits(
    limits: Mapping[str, Limit] | None, stakes: Mapping[str, Mapping[str, int]]
) -> Iterator[Problem]:
    """Hold the initial stakes to the limits the round was opened with."""
    bounds = {bet: (limit.min_minor, limit.max_minor) for bet, limit in (limits or {}).items()}
    unknown = sorted({bet for bets in stakes.values() for bet in bets} - set(bounds))
    if unknown:
        yield codes.LIMITS_UNKNOWN, f"the round was opened without limits for {', '.join(unknown)}"
    for sentence in outside_limits(bounds, stakes):
        yield codes.STAKE_OUTSIDE_LIMITS, sentence


def check_placed(
    placed: Mapping[str, Mapping[str, int]], stakes: Mapping[str, Mapping[str, int]]
) -> Iterator[Problem]:
    """Hold the final stakes to the chips last laid: none may have vanished."""
    for seat, bets in placed.items():
        for bet, minor in bets.items():
            final = stakes.get(seat, {}).get(bet, 0)
            if final < minor:
                sentence = f"{minor} was laid on {bet} of {seat}, the deal took {final}"
                yield codes.STAKE_MISMATCH, sentence


class Settlements:
    """The settlements a round recorded, held to the outcomes as they come."""

    def __init__(self) -> None:
        """Begin with none."""
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
        yield from check_credit(settled, name)
        outcome = _find(expected, bet)
        if outcome is not None and outcome.paid_minor is not None:
            yield from _compare(settled, outcome)
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
        """Hold the whole to the final outcomes and to the totals of the closing event."""
        missing = False
        for outcome in expected:
            bet = (outcome.hand, outcome.bet)
            if outcome.paid_minor is None:
                continue
            if bet not in self.recorded:
                missing = True
                sentence = f"{outcome.bet} of {outcome.hand} is due {outcome.paid_minor}"
                yield codes.PAYOUT_MISSING, f"{sentence} and was never settled"
            elif bet in self._early:
                yield from _compare(self.recorded[bet], outcome)
        if not missing and not self._doubled:
            yield from self._check_totals(closed)

    def _check_totals(self, closed: RoundClosed) -> Iterator[Problem]:
        staked = sum(settled.stake_minor for settled in self.recorded.values())
        paid = sum(settled.paid_minor for settled in self.recorded.values())
        if (closed.total_staked_minor, closed.total_paid_minor) != (staked, paid):
            sentence = f"the round closed at {closed.total_staked_minor} staked"
            sentence += f" and {closed.total_paid_minor} paid"
            yield codes.TOTALS_MISMATCH, f"{sentence}, its settlements come to {staked} and {paid}"


def check_refunds(
    refunds: list[Refund], stakes: Mapping[Bet, int], settled: Mapping[Bet, BetSettled]
) -> Iterator[Problem]:
    """Hold the refunds of a void to the stakes: each comes back whole, what was paid included."""
    returned: dict[Bet, int] = {}
    for refund in refunds:
        bet = (refund.hand, refund.bet)
        returned[bet] = returned.get(bet, 0) + refund.amount_minor
    for bet in {**stakes, **returned}:
        paid = settled[bet].paid_minor if bet in settled else 0
        due = max(0, stakes.get(bet, 0) - paid)
        if returned.get(bet, 0) != due:
            sentence = f"{returned.get(bet, 0)} went back for {bet[1]} of {bet[0]}"
            sentence += f", staked {stakes.get(bet, 0)}, paid before {paid}"
            yield codes.REFUND_MISMATCH, f"{sentence}: {due} is due"


def check_void(expected: list[Outcome], settled: Mapping[Bet, BetSettled]) -> Iterator[Problem]:
    """Name the bets that a void takes a win from: decided, above their stake, and not paid."""
    for outcome in expected:
        unpaid = (outcome.hand, outcome.bet) not in settled
        if unpaid and outcome.paid_minor is not None and outcome.paid_minor > outcome.stake_minor:
            sentence = f"{outcome.bet} of {outcome.hand} was decided at {outcome.paid_minor}"
            yield codes.WIN_VOIDED, f"{sentence} ({outcome.line}) when the round was voided"


def _compare(settled: BetSettled, outcome: Outcome) -> Iterator[Problem]:
    name = f"{settled.bet} of {settled.hand}"
    if settled.seat != outcome.seat:
        yield codes.SETTLEMENT_MISMATCH, f"{name} was settled for seat {settled.seat}"
    if settled.stake_minor != outcome.stake_minor:
        sentence = f"{name} was settled on a stake of {settled.stake_minor}"
        yield codes.STAKE_MISMATCH, f"{sentence}, it is {outcome.stake_minor}"
    if (settled.paid_minor, settled.line) != (outcome.paid_minor, outcome.line):
        sentence = f"{name} was paid {settled.paid_minor} ({settled.line})"
        sentence += f", the rules pay {outcome.paid_minor} ({outcome.line})"
        yield codes.SETTLEMENT_MISMATCH, sentence


def _find(expected: list[Outcome], bet: Bet) -> Outcome | None:
    for outcome in expected:
        if (outcome.hand, outcome.bet) == bet:
            return outcome
    return None


def _moved(funds: Funds) -> int:
    return funds.cash_minor + funds.incentive_minor
