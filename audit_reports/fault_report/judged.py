"""One round that a fault touched, as a case about it would be judged: pure.

The judge is that of every case (`shoeproof.replay.disputes.assess`): what it makes due is what is
owed here. What was paid beyond the rules is summed beside it and never set off against it.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from shoeproof.audit_reports.fault_report.counted import CountedRound
from shoeproof.ledger.leaf.events import ShoeRevealed
from shoeproof.replay import findings as codes
from shoeproof.replay.cases.assessment import Assessment, RemedyName
from shoeproof.replay.cases.case import Case, fold_cases
from shoeproof.replay.cases.faults import KINDS
from shoeproof.replay.disputes.assess import assess_facts
from shoeproof.replay.disputes.evidence import Evidence
from shoeproof.replay.disputes.facts import Facts, establish
from shoeproof.replay.disputes.grounds import bets_of
from shoeproof.replay.disputes.money import paid_of

Waits: TypeAlias = Literal["nobody", "adjudicator", "play", "case"]
"""What a round waits for before all of it can be paid: `case` is a case that is not decided."""

_NOT_OWED: Final = frozenset({"goodwill", "withdraw"})
"""Decisions whose money answers no fault."""


class JudgedRound(msgspec.Struct, frozen=True, kw_only=True):
    """What one round comes to; amounts are minor units of its currency.

    `underpaid_minor` is all the player was short of by the plan of remedies: `put_right_minor` of
    it was paid by decided cases, `owed_minor` is still to be paid. `overpaid_minor` is what was
    paid beyond every ground for it, by the round or by an unfounded decision. `right_minor` is what
    each bet comes to, by the name of the bet. `is_sealed` tells that no seed was revealed and the
    sealed one was used.
    """

    round: str
    player: str
    opened_at: str
    ended_at: str | None
    state: str
    mode: str
    table: str | None
    build: str | None
    rules_digest: str
    currency: str
    findings: tuple[str, ...]
    remedy: RemedyName
    why: str
    clause: str
    underpaid_minor: int
    overpaid_minor: int
    put_right_minor: int
    owed_minor: int
    waits: Waits
    right_minor: Mapping[str, int]
    is_sealed: bool = False

    @property
    def is_wrong(self) -> bool:
        """Whether anything was found in it that changed cards, decisions or money, or is due."""
        found = any(KINDS[code].shows != "sound" for code in self.findings)
        return found or bool(self.underpaid_minor or self.overpaid_minor)


def needs_judging(counted: CountedRound, cases: AbstractSet[str]) -> bool:
    """Tell whether a round can come to anything but what it booked.

    A closed round in which an audit finds nothing, and that no case is about, was paid rightly.
    """
    found = any(KINDS[code].shows != "sound" for code in counted.codes)
    return found or counted.state != "closed" or counted.round in cases


def judge_round(counted: CountedRound, evidence: Evidence) -> JudgedRound:
    """Return what a round comes to by its evidence."""
    cases = fold_cases(evidence.disputes, evidence.persons)
    facts = establish(evidence)
    assessment = assess_facts(facts)
    governing = assessment.governing
    found = {each.code for each in assessment.findings} | counted.codes
    is_play_money = counted.mode == "fun" and codes.MONEY_IN_FUN_ROUND not in found
    is_payable = assessment.money_may_move and governing.name != "refer" and not is_play_money
    sums = _held_to_grounds(counted, facts)
    owed = governing.moves_minor if is_payable else 0
    by_cases = sum(map(_moved, cases))
    put_right = min(by_cases, max(0, sums.short_minor - owed))
    beyond = sums.beyond_minor
    if codes.DECISION_UNFOUNDED in found:
        beyond += by_cases - put_right
    if is_play_money:
        put_right = beyond = 0
    revealed = any(isinstance(each.event.data, ShoeRevealed) for each in evidence.events)
    return JudgedRound(
        round=counted.round,
        player=counted.player,
        opened_at=counted.opened_at,
        ended_at=counted.ended_at,
        state=counted.state,
        mode=counted.mode,
        table=counted.table,
        build=counted.build,
        rules_digest=counted.rules_digest,
        currency=counted.currency,
        findings=tuple(sorted(found)),
        remedy=governing.name,
        why=governing.why,
        clause=assessment.clause.cited,
        underpaid_minor=owed + put_right,
        overpaid_minor=beyond,
        put_right_minor=put_right,
        owed_minor=owed,
        waits=_waits(assessment, cases),
        right_minor=sums.right_minor,
        is_sealed=evidence.sealed_seed is not None and not revealed,
    )


class _Sums(NamedTuple):
    """What a round paid too little and too much, before any case, and what each bet comes to."""

    short_minor: int
    beyond_minor: int
    right_minor: dict[str, int]


def _held_to_grounds(counted: CountedRound, facts: Facts) -> _Sums:
    """Compare what reached the player for each bet with the best ground for it.

    That something was paid is itself no ground here. Of a round that was not closed nothing was
    paid too much: play, or who voided it, had the word, not settlement.
    """
    events = facts.evidence.events
    reached = paid_of(events, (), facts.hold)
    short = beyond = 0
    right: dict[str, int] = {}
    for bet in bets_of(facts):
        key = bet.hand, bet.bet
        by_cases = facts.paid.get(key, 0) - reached.get(key, 0)
        before = (bet.paid_minor or 0) - by_cases
        grounds = [each for each in bet.grounds if each.name != "recorded_payment"]
        entitled = max((each.amount_minor for each in grounds), default=before)
        short += max(0, entitled - before)
        if counted.state == "closed":
            beyond += max(0, before - entitled)
        right[bet.bet] = right.get(bet.bet, 0) + entitled
    return _Sums(short, beyond, right)


def _moved(case: Case) -> int:
    """Return what a case paid in answer to a fault."""
    is_gift = bool(case.decisions) and case.decisions[-1].data.remedy in _NOT_OWED
    return 0 if is_gift else case.moved_minor


def _waits(assessment: Assessment, cases: Sequence[Case]) -> Waits:
    governing = assessment.governing
    if not assessment.money_may_move or governing.name == "refer":
        return "adjudicator"
    if any(case.state != "decided" for case in cases):
        return "case"
    return "play" if governing.due_minor is None else "nobody"
