"""What left the player's money for each bet of a round, and what came back.

Pure. Debits are counted from what the wallet says it took, else from what was booked, and never
from what the engine holds the stake to be. What was taken beyond the cost of an act or of the deal
is a bet of its own, `surplus_debit`. Of payments, what earlier cases moved counts too, so that
nothing is due twice; a win that waits for a person counts as paid, since its own event pays it.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from shoeproof.ledger import Recorded
from shoeproof.ledger.leaf.events import (
    BetSettled,
    DealRequested,
    DecisionMade,
    DisputeDecided,
    RoundVoided,
    Stakes,
    StakesPlaced,
    WinHeld,
    WinReleased,
)
from shoeproof.replay.engine.hand import INSURANCE, SPLIT
from shoeproof.replay.engine.outcomes import INSURANCE_BET, MAIN
from shoeproof.replay.engine.round import stakes_minor
from shoeproof.replay.rounds.money_check import Bet, not_credited_minor
from shoeproof.replay.rounds.replayer import Replay
from shoeproof.replay.rounds.wallet_check import answered, movements
from shoeproof.replay.wallet.wallet import is_held

SURPLUS: Final = "surplus_debit"
"""The name of what was taken beyond a stake, priced as a bet of its own that is due back."""


class Debits(NamedTuple):
    """What was debited for each bet, and by seat or hand what was taken beyond all costs."""

    by_bet: Mapping[Bet, int]
    surplus: Mapping[str, int]


class HoldBalance(NamedTuple):
    """Of a round's win: what still waits for a person lawfully, what is kept back beyond it, and
    what was released beyond all that was kept back.
    """

    waits_minor: int
    overdue_minor: int
    beyond_minor: int = 0


def beyond_laid(events: Iterable[Recorded]) -> Mapping[Bet, Fraction]:
    """Return by bet which part of the stake it was dealt on was never laid, where chips were laid.

    The deal takes the chips that lie; what it took beyond them was not the player's to lose.
    """
    laid: Stakes = {}
    for each in events:
        data = each.event.data
        if isinstance(data, StakesPlaced):
            laid = data.stakes
        elif isinstance(data, DealRequested) and laid:
            return {
                (seat, bet): Fraction(dealt - chips, dealt)
                for seat, bets in data.stakes.items()
                for bet, dealt in bets.items()
                if (chips := laid.get(seat, {}).get(bet, 0)) < dealt
            }
    return {}


def chips_laid(events: Iterable[Recorded]) -> dict[Bet, int]:
    """Return the chips that lie where no deal was requested; nothing was debited for them."""
    laid: Stakes = {}
    for each in events:
        data = each.event.data
        if isinstance(data, DealRequested):
            return {}
        if isinstance(data, StakesPlaced):
            laid = data.stakes
    return {(seat, bet): minor for seat, bets in laid.items() for bet, minor in bets.items()}


def debits_of(events: Sequence[Recorded], replay: Replay | None) -> Debits:
    """Return what was debited for a round, by what its deal and its acts cost."""
    walk = _DebitWalk(events, replay)
    for recorded in events:
        data = recorded.event.data
        if isinstance(data, DealRequested):
            walk.deal(recorded, data)
        elif isinstance(data, DecisionMade):
            walk.decide(recorded, data)
    return Debits(walk.by_bet, {seat: minor for seat, minor in walk.surplus.items() if minor})


class _DebitWalk:
    """The walk along a round's debits."""

    def __init__(self, events: Sequence[Recorded], replay: Replay | None) -> None:
        self.by_bet: dict[Bet, int] = {}
        self.surplus: dict[str, int] = {}
        self._taken = answered(events)
        self._costs = {} if replay is None else replay.costs

    def deal(self, recorded: Recorded, data: DealRequested) -> None:
        left = self._taken.get(recorded.event.seq, stakes_minor(data.stakes))
        for seat, bets in data.stakes.items():
            for bet, stake in bets.items():
                self.by_bet[seat, bet] = min(stake, left)
                left -= min(stake, left)
        self._beyond(next(iter(data.stakes), "s1"), left)

    def decide(self, recorded: Recorded, data: DecisionMade) -> None:
        taken = self._taken.get(recorded.event.seq, data.added_stake_minor)
        # What an act costs is not known where it was illegal: then all of it was for the bet.
        cost = self._costs.get(recorded.event.seq, taken)
        self._beyond(data.hand, taken - cost)
        bet, taken = (data.hand, MAIN), min(cost, taken)
        if data.act == SPLIT:
            self.by_bet[f"{data.hand}.1", MAIN] = self.by_bet.pop(bet, 0)
            bet = f"{data.hand}.2", MAIN
        elif data.act == INSURANCE:
            bet = data.hand, INSURANCE_BET
        if taken:
            self.by_bet[bet] = self.by_bet.get(bet, 0) + taken

    def _beyond(self, hand: str, minor: int) -> None:
        if minor > 0:
            self.surplus[hand] = self.surplus.get(hand, 0) + minor


def paid_of(
    events: Sequence[Recorded], disputes: Sequence[Recorded], hold: HoldBalance
) -> dict[Bet, int]:
    """Return what reached the player for each bet: by settlements, a void, and cases.

    What `hold` keeps back of the last settlements beyond right reached nobody, what it released
    beyond them reached the player. What a decision pays counts as it was booked where no wallet
    answered: it may be paid by hand, and an audit names it.
    """
    paid: dict[Bet, int] = {}
    by_case = any(isinstance(each.event.data, DisputeDecided) for each in disputes)
    is_dealt = any(isinstance(each.event.data, DealRequested) for each in events)
    for each, moved in zip(events, movements(events), strict=True):
        data = each.event.data
        if isinstance(data, BetSettled):
            waits = data.funds is not None and is_held(data.funds)
            reached = data.paid_minor if waits else sum(one.moved_minor for one in moved)
            _add(paid, (data.hand, data.bet), reached)
        elif isinstance(data, RoundVoided):
            booked = by_case or not is_dealt
            for refund in data.refunds:
                of_bet = [one for one in moved if one.bet == (refund.hand, refund.bet)]
                reached = sum(one.moved_minor for one in of_bet)
                answered_for = refund.funds is not None
                minor = refund.amount_minor if booked and not answered_for else reached
                _add(paid, (refund.hand, refund.bet), minor)
    kept_minor = hold.overdue_minor
    all_settled = [e.event.data for e in events if isinstance(e.event.data, BetSettled)]
    if all_settled and hold.beyond_minor:
        most = max(all_settled, key=lambda settled: settled.paid_minor)
        _add(paid, (most.hand, most.bet), hold.beyond_minor)
    for settled in reversed(all_settled):
        back = min(kept_minor, settled.paid_minor)
        paid[settled.hand, settled.bet] -= back
        kept_minor -= back
    for each, moved in zip(disputes, movements(disputes, events), strict=True):
        for one in moved:
            funds = getattr(each.event.data, "funds", None)
            if one.bet is not None:
                _add(paid, one.bet, one.booked_minor if funds is None else one.moved_minor)
    return paid


def _add(paid: dict[Bet, int], bet: Bet, minor: int) -> None:
    paid[bet] = paid.get(bet, 0) + minor


def hold_of(
    holds: Sequence[Recorded], settled: Sequence[BetSettled], lawful_minor: int
) -> HoldBalance:
    """Return what of a win waits, and what is kept back without right.

    `lawful_minor` is what the policy lets wait. A release says that a person has verified the win:
    whatever of it was not released then is due. What the wallet was not asked to pay counts before
    what was recorded as held.
    """
    data = [each.event.data for each in holds]
    held = sum(each.amount_minor for each in data if isinstance(each, WinHeld))
    released = sum(each.amount_minor for each in data if isinstance(each, WinReleased))
    kept = not_credited_minor(settled)
    kept = held if kept is None else kept
    waits = 0 if released else min(kept, held, lawful_minor)
    return HoldBalance(waits, max(0, kept - released - waits), max(0, released - kept))
