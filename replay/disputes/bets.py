"""The bets of a round as facts: what each staked, what reached the player, what the rules pay.

Pure. What a wallet says it moved counts before what was recorded as paid, and what earlier cases
moved counts with it, so that nothing is due twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from ledger import Finding, Recorded
from ledger.events import (
    BetResettled,
    BetSettled,
    DealRequested,
    DecisionMade,
    Funds,
    Refunded,
    RoundVoided,
    StakesPlaced,
)
from replay.disputes.assessment import Class
from replay.disputes.evidence import Evidence
from replay.engine.outcomes import Outcome, outcomes
from replay.engine.round import RoundState
from replay.money_check import Bet
from replay.replayer import Replay

SURPLUS: Final = "surplus_debit"
"""The name of what was taken beyond a stake, priced as a bet of its own that is due back."""

_OF_THE_WHOLE_ROUND: Final[frozenset[Class]] = frozenset({"shoe_error", "evidence_missing"})
"""Classes whose fault lies before the first card, wherever it shows."""


class BetFacts(msgspec.Struct, frozen=True):
    """One bet: its stake, what reached the player (None while unsettled), what the rules pay on
    the recorded play (None where play decides it) by which line, and whether that was decided
    before anything went wrong.
    """

    seat: str
    hand: str
    bet: str
    stake_minor: int
    paid_minor: int | None
    right_minor: int | None
    line: str | None
    decided_before_fault: bool

    @property
    def is_underpaid(self) -> bool:
        """Whether the rules pay more than reached the player."""
        return self.right_minor is not None and self.right_minor > (self.paid_minor or 0)


def bets_of(
    evidence: Evidence, replay: Replay | None, decides: Class, faults: Sequence[Finding]
) -> tuple[BetFacts, ...]:
    """Return every bet, and what was taken beyond the stakes.

    `decides` is the class that decides and `faults` the findings of it: what was decided before the
    first of them is none of its.
    """
    return (*_bets(evidence, replay, decides, faults), *_surplus(evidence))


def _bets(
    evidence: Evidence, replay: Replay | None, decides: Class, faults: Sequence[Finding]
) -> Iterator[BetFacts]:
    if replay is None:
        for (hand, bet), stake in _stakes(evidence.events).items():
            yield BetFacts(hand, hand, bet, stake, None, None, None, False)
        return
    paid = _paid(evidence)
    safe = _decided_before(replay, decides, faults)
    rows = {(each.hand, each.bet): each for each in replay.expected}
    if not rows:
        rows = {
            (hand, bet): Outcome(hand, hand, bet, stake, None, None)
            for (hand, bet), stake in _stakes(evidence.events).items()
        }
    if not replay.judged:
        # Where play could not be followed, the hands that were settled are the ones there were.
        settled_at = {(each.seat, each.bet) for each in replay.settled.values()}
        rows = {
            key: row
            for key, row in rows.items()
            if key in replay.settled or (row.seat, row.bet) not in settled_at
        }
    for key, settled in replay.settled.items():
        unknown = Outcome(settled.seat, *key, settled.stake_minor, None, None)
        rows.setdefault(key, unknown)
    for key, row in rows.items():
        right = row.paid_minor
        if isinstance(replay.ending, RoundVoided):
            right = max(row.stake_minor, right or 0)
        yield BetFacts(
            row.seat, row.hand, row.bet, row.stake_minor, paid.get(key), right, row.line,
            key in safe,
        )  # fmt: skip


def _stakes(events: Sequence[Recorded]) -> dict[Bet, int]:
    """Return the initial stakes, the last that were laid or requested."""
    stakes: Mapping[str, Mapping[str, int]] = {}
    for each in events:
        if isinstance(each.event.data, StakesPlaced | DealRequested):
            stakes = each.event.data.stakes
    return {(seat, bet): minor for seat, bets in stakes.items() for bet, minor in bets.items()}


def _paid(evidence: Evidence) -> dict[Bet, int]:
    """Return what reached the player for each bet: by settlements, a void, and earlier cases.

    What a wallet says it moved counts before what was recorded as paid. A held win counts as
    paid: it is released by its own event and by nothing else.
    """
    paid: dict[Bet, int] = {}
    is_held = bool(evidence.holds)
    for each in (*evidence.events, *evidence.disputes):
        data = each.event.data
        if isinstance(data, BetSettled):
            _add(paid, (data.hand, data.bet), data.paid_minor if is_held else _reached(data))
        elif isinstance(data, RoundVoided):
            for refund in data.refunds:
                _add(paid, (refund.hand, refund.bet), refund.amount_minor)
        elif isinstance(data, Refunded):
            _add(paid, (data.hand, data.bet), data.amount_minor)
        elif isinstance(data, BetResettled):
            _add(paid, (data.hand, data.bet), data.paid_minor - data.paid_before_minor)
    return paid


def _add(paid: dict[Bet, int], bet: Bet, minor: int) -> None:
    paid[bet] = paid.get(bet, 0) + minor


def _reached(settled: BetSettled) -> int:
    return settled.paid_minor if settled.funds is None else -_taken(settled.funds)


def _taken(funds: Funds) -> int:
    moved = funds.cash_minor + funds.incentive_minor
    return moved if funds.direction == "debit" else -moved


def _decided_before(replay: Replay, decides: Class, faults: Sequence[Finding]) -> frozenset[Bet]:
    """Return the bets whose outcome was fixed before the first fault, and so is none of its."""
    if decides == "interrupted_unrecoverable" and replay.judged:
        return _decided(replay.expected)
    if decides in _OF_THE_WHOLE_ROUND or not faults:
        return frozenset()
    first = min((each.seq if each.seq is not None else 0) for each in faults)
    state: RoundState | None = None
    for step in replay.steps:
        if step.recorded.event.seq >= first:
            break
        state = step.state
    return _decided(outcomes(state) if state is not None else [])


def _decided(bets: Iterable[Outcome]) -> frozenset[Bet]:
    return frozenset((each.hand, each.bet) for each in bets if each.paid_minor is not None)


def _surplus(evidence: Evidence) -> Iterator[BetFacts]:
    """Yield what a wallet took beyond the stakes it was for."""
    paid = _paid(evidence)
    for each in evidence.events:
        data = each.event.data
        if isinstance(data, DealRequested):
            seat = next(iter(data.stakes), "s1")
            stake = sum(sum(bets.values()) for bets in data.stakes.values())
        elif isinstance(data, DecisionMade):
            seat, stake = data.hand, data.added_stake_minor
        else:
            continue
        over = 0 if data.funds is None else _taken(data.funds) - stake
        if over > 0:
            back = paid.get((seat, SURPLUS))
            yield BetFacts(seat.split(".")[0], seat, SURPLUS, over, back, over, SURPLUS, True)
