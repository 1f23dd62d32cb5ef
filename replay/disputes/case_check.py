"""Hold what a ledger records of disputes to what a case may be: decided once, by as many keys as
its policy demands, and paid what was decided and no more.

An audit asks this of every case. Whether the remedy was the right one is for an assessment to say.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from ledger import Finding, Ledger, Recorded
from ledger.envelope import claimed_key_id
from ledger.errors import EventUnreadable
from ledger.events import (
    DISPUTES_PREFIX,
    BetResettled,
    BetSettled,
    DisputeDecided,
    DisputeOpened,
    EventData,
    Refunded,
    RoundOpened,
    RoundVoided,
)
from ledger.recorded import read_leaf
from replay import findings as codes
from replay.catalogue import policies_by_digest
from replay.currency import amount_text
from replay.disputes.cases import key_names
from replay.disputes.decide import keys_needed, staked_minor
from replay.policies import Policy
from replay.shoe_check import Problem


def check_cases(
    ledger: Ledger,
    size: int,
    concerns: Callable[[Sequence[Recorded]], bool],
    from_leaf: int = 0,
) -> list[Finding]:
    """Return what is wrong with the cases in a ledger's first `size` leaves, stream by stream.

    `concerns` tells of a round's events whether its cases are asked for; cases without an event at
    `from_leaf` or later are not judged. What cannot be read is passed over: to report it is
    the business of verification.
    """
    names, policies = key_names(ledger), policies_by_digest(ledger)
    found: list[Finding] = []
    for stream in ledger.disputed():
        round_id = stream.removeprefix(DISPUTES_PREFIX)
        events = _readable(ledger, stream, size)
        if not events or events[-1].leaf_index < from_leaf:
            continue
        of_round = _readable(ledger, round_id, size)
        if not of_round or concerns(of_round):
            found += CaseWalk(round_id, of_round, policies, names).findings(events)
    return found


class CaseWalk:
    """The walk along the cases about one round; `events` are those of the round itself."""

    def __init__(
        self,
        round_id: str,
        events: Sequence[Recorded],
        policies: Mapping[str, Policy],
        names: Mapping[str, str],
    ) -> None:
        self._round_id, self._round, self._names = round_id, events, names
        opened = events[0].event.data if events else None
        digest = opened.policy_digest if isinstance(opened, RoundOpened) else None
        self._currency = opened.currency if isinstance(opened, RoundOpened) else ""
        self._policy = None if digest is None else policies.get(digest)
        self._staked = staked_minor(events)
        self._refunded = sum(_refunds(each.event.data) for each in events)
        self._is_open = False
        self._signed: DisputeDecided | None = None
        self._keys: set[str] = set()
        self._unpaid = 0

    def findings(self, events: Sequence[Recorded]) -> Iterator[Finding]:
        """Yield what is wrong with the events of the disputes' stream, in order."""
        for recorded in events:
            for code, text in self._take(recorded):
                event = recorded.event
                yield Finding(code, text, event.stream, recorded.leaf_index, event.seq)
        if self._unpaid > 0:
            last = events[-1]
            text = f"{self._text(self._unpaid)} of what was decided was never paid"
            event = last.event
            yield Finding(codes.PAYMENT_MISSING, text, event.stream, last.leaf_index, event.seq)

    def _take(self, recorded: Recorded) -> Iterator[Problem]:
        data = recorded.event.data
        if getattr(data, "round", None) != self._round_id:
            yield codes.CASE_OUT_OF_PLACE, "the event names another round than its stream"
        match data:
            case DisputeOpened():
                if self._is_open:
                    yield codes.CASE_OUT_OF_PLACE, "a case was opened before the last was decided"
                self._is_open, self._signed, self._keys = True, None, set()
            case DisputeDecided():
                key = claimed_key_id(recorded.leaf)
                yield from self._decide(data, self._names.get(key, key), recorded.leaf_index)
            case BetResettled() | Refunded():
                yield from self._pay(data)

    def _decide(self, data: DisputeDecided, key: str, leaf_index: int) -> Iterator[Problem]:
        if not self._is_open:
            yield codes.CASE_OUT_OF_PLACE, "a decision was made of a case that is not open"
        needed = keys_needed(self._policy, data.remedy, data.amount_minor, data.reference)
        if data.keys_needed < needed:
            sentence = f"{self._text(data.amount_minor)} was decided by {data.keys_needed} keys"
            yield codes.KEYS_MISSING, f"{sentence}, the policy demands {needed}"
        if data != self._signed:
            self._signed, self._keys = data, set()
        self._keys.add(key)
        if len(self._keys) >= data.keys_needed and data.remedy != "refer":
            self._is_open = False
            self._unpaid = data.amount_minor - self._paid_by_void(leaf_index)

    def _paid_by_void(self, leaf_index: int) -> int:
        """Return what the round itself paid after a decision, which ended it by a void."""
        after = [each.event.data for each in self._round if each.leaf_index > leaf_index]
        if not any(isinstance(data, RoundVoided) for data in after):
            return 0
        won = sum(data.paid_minor for data in after if isinstance(data, BetSettled))
        return won + sum(_refunds(data) for data in after)

    def _pay(self, data: BetResettled | Refunded) -> Iterator[Problem]:
        if isinstance(data, Refunded):
            amount = data.amount_minor
            self._refunded += amount
            if self._refunded > self._staked:
                sentence = f"refunds of this round come to {self._text(self._refunded)}"
                yield codes.REFUND_MISMATCH, f"{sentence}, {self._text(self._staked)} was staked"
        else:
            amount = data.paid_minor - data.paid_before_minor
        self._unpaid -= max(0, amount)
        if amount < 0:
            yield codes.PAYMENT_UNDECIDED, f"{self._text(-amount)} was taken back from the player"
        elif self._is_open or self._signed is None or self._unpaid < 0:
            sentence = f"{self._text(amount)} was paid"
            yield codes.PAYMENT_UNDECIDED, f"{sentence} and no decision in force says so"

    def _text(self, minor: int) -> str:
        return amount_text(minor, self._currency)


def _refunds(data: EventData) -> int:
    if not isinstance(data, RoundVoided):
        return 0
    return sum(refund.amount_minor for refund in data.refunds)


def _readable(ledger: Ledger, stream: str, size: int) -> list[Recorded]:
    events = []
    for leaf in ledger.store.stream(stream):
        try:
            events += [read_leaf(leaf)] if leaf.leaf_index < size else []
        except EventUnreadable:
            continue
    return events
