"""Check what a ledger records about disputes against what a case may be: decided once, by as many
persons as its policy demands, and paid exactly what was decided.

Pure. Whether the remedy was the right one is for an assessment to say (`case_audit`).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from shoeproof.ledger import Finding, Recorded
from shoeproof.ledger.leaf.events import (
    Awarded,
    BetResettled,
    BetSettled,
    DisputeDecided,
    DisputeOpened,
    EventData,
    Refunded,
    RoundOpened,
    RoundVoided,
)
from shoeproof.replay import findings as codes
from shoeproof.replay.cases.bounds import keys_needed, staked_minor
from shoeproof.replay.cases.case import Case, CaseFold, Payment, goodwill_minor
from shoeproof.replay.cases.parts_back import parts_back
from shoeproof.replay.currency import amount_text, unit_of
from shoeproof.replay.games.policies import Policy
from shoeproof.replay.rounds.shoe_check import Problem
from shoeproof.replay.rounds.wallet_check import movements


class CaseWalk:
    """The walk along the cases about one round; `events` are those of the round itself.

    `names` maps the ids of keys to the persons whose keys they are (`cases.key_names`).
    """

    def __init__(
        self,
        round_id: str,
        events: Sequence[Recorded],
        policies: Mapping[str, Policy],
        names: Mapping[str, str],
    ) -> None:
        self._round_id, self._round = round_id, events
        opened = events[0].event.data if events else None
        digest = opened.policy_digest if isinstance(opened, RoundOpened) else None
        self._currency = unit_of(opened) if isinstance(opened, RoundOpened) else ""
        self._policy = None if digest is None else policies.get(digest)
        self._staked = staked_minor(events)
        self._refunded = sum(_refunds(each.event.data) for each in events)
        self._fold = CaseFold(names)
        self._unpaid: dict[int, int] = {}

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases walked along so far."""
        return tuple(self._fold.cases)

    def findings(self, events: Sequence[Recorded]) -> Iterator[Finding]:
        """Yield what is wrong with the events of the disputes' stream, in order."""
        moved = movements(events, before=self._round)
        for recorded, of_event in zip(events, moved, strict=True):
            answers = (problem for each in of_event for problem in each.problems)
            for code, text in chain(self._take(recorded), answers):
                event = recorded.event
                yield Finding(code, text, event.stream, recorded.leaf_index, event.seq)
        for code, text, last in parts_back(self._round, events, self._currency):
            yield Finding(code, text, last.event.stream, last.leaf_index, last.event.seq)
        for case in self.cases:
            unpaid = self._unpaid.get(case.number, 0)
            if unpaid > 0:
                stream, decision = events[0].event.stream, case.decisions[-1]
                text = f"{self._text(unpaid)} of what was decided was never paid"
                place = decision.leaf_index, decision.seq
                yield Finding(codes.PAYMENT_MISSING, text, stream, *place)

    def _take(self, recorded: Recorded) -> Iterator[Problem]:
        data = recorded.event.data
        if getattr(data, "round", None) != self._round_id:
            yield codes.CASE_OUT_OF_PLACE, "the event names a round that is not that of its stream"
        before = self.cases
        case = self._fold.take(recorded)
        match data:
            case DisputeOpened() if any(each.bars_another for each in before):
                yield codes.CASE_OUT_OF_PLACE, "a case was opened before the last one was decided"
            case DisputeDecided():
                yield from self._decide(data, case, before)
            case BetResettled() | Refunded() | Awarded():
                yield from self._pay(data, case)

    def _decide(
        self, data: DisputeDecided, case: Case | None, before: Sequence[Case]
    ) -> Iterator[Problem]:
        if case is None:
            yield codes.CASE_OUT_OF_PLACE, "a decision was made on a case that is not open"
        amount = data.amount_minor
        counted = amount + (goodwill_minor(before) if data.remedy == "goodwill" else 0)
        needed = keys_needed(self._policy, self._currency, data.remedy, counted, data.reference)
        if data.keys_needed < needed:
            sentence = f"{self._text(amount)} was decided by {data.keys_needed} of the {needed}"
            yield codes.KEYS_MISSING, f"{sentence} persons that this decision needs"
        if case is not None and case.decisions[-1].stands:
            leaf_index = case.decisions[-1].leaf_index
            self._unpaid[case.number] = amount - self._paid_at_end(leaf_index)

    def _paid_at_end(self, leaf_index: int) -> int:
        """Return what the round itself paid where the decision at a leaf ended it.

        Both are one transaction, whose leaves follow each other.
        """
        place = {each.leaf_index: each.event.data for each in self._round}
        paid = 0
        while (data := place.get(leaf_index := leaf_index + 1)) is not None:
            paid += data.paid_minor if isinstance(data, BetSettled) else _refunds(data)
        return paid

    def _pay(self, data: Payment, case: Case | None) -> Iterator[Problem]:
        if isinstance(data, BetResettled):
            amount = data.paid_minor - data.paid_before_minor
        else:
            amount = data.amount_minor
        if isinstance(data, Refunded):
            self._refunded += amount
            if self._refunded > self._staked:
                sentence = f"refunds of this round come to {self._text(self._refunded)}"
                yield codes.REFUND_MISMATCH, f"{sentence}, {self._text(self._staked)} was staked"
        if case is not None:
            self._unpaid[case.number] -= max(0, amount)
        if amount < 0:
            yield codes.PAYMENT_UNDECIDED, f"{self._text(-amount)} was taken back from the player"
        elif case is None or self._unpaid[case.number] < 0:
            sentence = f"{self._text(amount)} was paid"
            yield codes.PAYMENT_UNDECIDED, f"{sentence}, but no decision in force allows it"

    def _text(self, minor: int) -> str:
        return amount_text(minor, self._currency)


def _refunds(data: EventData) -> int:
    if not isinstance(data, RoundVoided):
        return 0
    return sum(refund.amount_minor for refund in data.refunds)
