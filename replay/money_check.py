"""Hold what was offered, staked and paid to what the rules say.

Findings tell amounts as people write them, in the round's `currency`.
"""

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
from replay.currency import amount_text
from replay.engine.hand import CASH_OUT, DOUBLE, INSURANCE, SPLIT
from replay.engine.outcomes import Outcome
from replay.engine.round import Decide
from replay.limits import outside_limits
from replay.shoe_check import Problem

Bet = tuple[str, str]
"""A hand and its bet, `("s1.2", "main")`."""

_BARS = {"funds": (DOUBLE, SPLIT, INSURANCE), "hidden": (CASH_OUT,)}
"""The acts each reason may bar: too little money those that cost some, the player's choice one."""


def check_offer(offer: DecisionOffered, due: Decide, currency: str = "") -> Iterator[Problem]:
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
        sentence = f"{offer.hand} was offered {amount_text(offer.cash_out_minor, currency)} to cash"
        right = amount_text(due.cash_out_minor, currency)
        yield codes.CASH_OUT_OFFER_WRONG, f"{sentence} out, the rules' table says {right}"


def check_decision_stake(
    made: DecisionMade, added_minor: int, currency: str = ""
) -> Iterator[Problem]:
    """Hold the stake a decision added, and its debit, to what the act costs."""
    if made.added_stake_minor != added_minor:
        added = amount_text(made.added_stake_minor, currency)
        sentence = f"{made.act} of {made.hand} added a stake of {added}"
        yield codes.STAKE_MISMATCH, f"{sentence}, it costs {amount_text(added_minor, currency)}"
    yield from check_debit(made.funds, added_minor, f"{made.act} of {made.hand}", currency)


def check_debit(
    funds: Funds | None, amount_minor: int, what: str, currency: str = ""
) -> Iterator[Problem]:
    """Hold a debit, where the operator gives one, to the stake it is for."""
    if funds is not None and (funds.direction, _moved(funds)) != ("debit", amount_minor):
        sentence = f"the {funds.direction} for {what} is {amount_text(_moved(funds), currency)}"
        yield (
            codes.DEBIT_MISMATCH,
            f"{sentence}, the stake is {amount_text(amount_minor, currency)}",
        )


HELD: Final = "held"
"""The wallet's answer where part of a payment waits for verification and is not credited yet."""


def check_credit(settled: BetSettled, name: str, currency: str = "") -> Iterator[Problem]:
    """Hold a credit, where the operator gives one, to the payment it is for.

    Of one that is held, a part; which part is `interruptions.check_policy`'s business.
    """
    funds = settled.funds
    if funds is None:
        return
    held = funds.answer == HELD and 0 <= _moved(funds) <= settled.paid_minor
    right = held or _moved(funds) == settled.paid_minor
    if funds.direction != "credit" or not right:
        sentence = f"the {funds.direction} for {name} is {amount_text(_moved(funds), currency)}"
        paid = amount_text(settled.paid_minor, currency)
        yield codes.CREDIT_MISMATCH, f"{sentence}, {paid} was paid"


def not_credited_minor(settled: Iterable[BetSettled]) -> int | None:
    """Return what of the payments was held back from the wallet, None where no wallet answers."""
    told = [(bet.paid_minor, bet.funds) for bet in settled if bet.funds is not None]
    if not told:
        return None
    return sum(paid - _moved(funds) for paid, funds in told if funds.answer == HELD)


def check_limits(
    limits: Mapping[str, Limit] | None,
    stakes: Mapping[str, Mapping[str, int]],
    currency: str = "",
) -> Iterator[Problem]:
    """Hold the initial stakes to the limits the round was opened with."""
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
    """Hold the final stakes to the chips last laid: none may have vanished."""
    for seat, bets in placed.items():
        for bet, minor in bets.items():
            final = stakes.get(seat, {}).get(bet, 0)
            if final < minor:
                sentence = f"{amount_text(minor, currency)} was laid on {bet} of {seat}"
                taken = amount_text(final, currency)
                yield codes.STAKE_MISMATCH, f"{sentence}, the deal took {taken}"


class Settlements:
    """The settlements a round recorded, held to the outcomes as they come."""

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
        yield from check_credit(settled, name, self._currency)
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
        """Hold the whole to the final outcomes and to the totals of the closing event."""
        missing = False
        for outcome in expected:
            bet = (outcome.hand, outcome.bet)
            if outcome.paid_minor is None:
                continue
            if bet not in self.recorded:
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
    currency: str,
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


def _moved(funds: Funds) -> int:
    return funds.cash_minor + funds.incentive_minor
