"""The life of a case in words: when it came in, what was late, who signed, and what comes next."""

from collections.abc import Iterator, Sequence
from datetime import timedelta, tzinfo
from typing import Final

from shoeproof.audit_reports.case_report.model import Authorised, CaseHistory, Sums
from shoeproof.audit_reports.case_report.words import moment_words
from shoeproof.ledger.leaf.clock import format_time, parse_time
from shoeproof.ledger.leaf.events import CLOSING
from shoeproof.replay.cases.assessment import Assessment
from shoeproof.replay.cases.case import RESUME, Case
from shoeproof.replay.disputes.evidence import Evidence
from shoeproof.replay.games.policies import Policy
from shoeproof.replay.rounds.narrative import decision_words


def history_of(case: Case, as_of: str) -> CaseHistory:
    """Return what a case says of itself; `as_of` is the time by which it may be overdue."""
    last = case.decisions[-1].data if case.decisions else None
    return CaseHistory(
        case=case.id,
        claim=case.opened.claim,
        note=case.opened.note,
        attachments={each.name: each.sha256 for each in case.opened.attachments},
        received_at=case.received_at,
        opened_at=case.opened_at,
        deadline=case.opened.deadline,
        decided_at=case.decided_at,
        late=_late(case, as_of),
        state=case.state,
        remedy=None if last is None else last.remedy,
        reference=None if last is None else last.reference,
    )


def authorised(case: Case, currency: str) -> tuple[Authorised, ...]:
    """Return every signature under a case, with what was signed."""
    opened = Authorised(case.opened_at, "opened the case", case.opened_by)
    decided = [
        Authorised(decision.at, f"signed: {decision_words(decision.data, currency)}", key)
        for decision in case.decisions
        for key in decision.keys
    ]
    return (opened, *decided)


def next_steps(
    assessment: Assessment,
    case: Case | None,
    sums: Sums,
    policy: Policy | None,
    as_of: str,
    zone: tzinfo,
) -> tuple[str, ...]:
    """Return in sentences, to the player, what happens next; `as_of` is the time it is now."""
    if case is None:
        waits = assessment.governing.name == RESUME and sums.is_open
        owed = (f"{sums.text(sums.due_minor)} is to be paid to you.",) if sums.due_minor else ()
        ask = "If you think that something went wrong in this round, tell us its number."
        return (*((_GO_ON,) if waits else ()), *owed, ask)
    if case.state == "referred":
        referral = case.decisions[-1]
        paid = sums.text(referral.data.amount_minor)
        at = moment_words(referral.at, zone)
        undisputed = (f"{paid}, which nobody disputes, was paid to you on {at}.",)
        return (
            *(undisputed if referral.data.amount_minor else ()),
            "An adjudicator weighs the case next, and gets the whole record of the round.",
            "You do not need to do anything; you will be told when it is decided.",
        )
    if case.state == "decided":
        return tuple(_after_decision(case, sums, policy, zone))
    signed = "One person has signed a decision, and a second must: until then nothing is paid."
    first = signed if case.state == "awaiting_second_key" else "Nobody has decided yet."
    if case.opened.deadline is None or case.is_overdue(parse_time(as_of)):
        return (first,)
    return (first, f"You will be answered by {moment_words(case.opened.deadline, zone)}.")


def since(
    case: Case,
    then: Evidence,
    now: Evidence,
    reassessed: Assessment | None,
    cases: Sequence[Case],
    zone: tzinfo,
) -> tuple[str, ...]:
    """Return in sentences what came after the decision that a report is frozen to.

    `then` is the evidence when the round was decided. `now` is the evidence as the ledger stands,
    and `reassessed` the assessment of it, if there is one. `cases` are all those about the round.
    """
    told = []
    if len(now.events) > len(then.events):
        last = now.events[-1].event
        what = "ended" if last.type in CLOSING else "last went on"
        told.append(f"The round {what} at {moment_words(last.at, zone)}, after the decision.")
    if reassessed is not None and reassessed.corrected_by == case.id and case.moved_minor:
        told.append(f"Assessed again, the round was corrected by case {case.id}: nothing is due.")
    told += [
        f"Case {other.id} about the same round was opened at {moment_words(other.opened_at, zone)}."
        for other in cases
        if other.number > case.number
    ]
    return tuple(told)


_GO_ON: Final = "Open the game to go on from where it stopped."


def _after_decision(case: Case, sums: Sums, policy: Policy | None, zone: tzinfo) -> Iterator[str]:
    decision = case.decisions[-1]
    remedy, reference = decision.data.remedy, decision.data.reference
    if sums.is_open and remedy == RESUME:
        yield _GO_ON
        if policy is not None and policy.default is not None:
            period = timedelta(seconds=policy.default.after_seconds)
            until = moment_words(format_time(parse_time(decision.at) + period), zone)
            yield (
                f"You have {period.total_seconds() // 60:.0f} minutes from the decision, until "
                f"{until}; after that it is played to its end under the disclosed rule."
            )
    if sums.moved_minor:
        yield f"{sums.text(sums.moved_minor)} was paid to you on {moment_words(decision.at, zone)}."
    if sums.due_minor:
        yield f"{sums.text(sums.due_minor)} is still to be paid to you."
    if sums.held_minor:
        yield f"{sums.text(sums.held_minor)} is paid once a person has verified the win."
    if remedy == "withdraw":
        yield "You may make the complaint again."
    elif reference is None:
        yield (
            "If you do not agree, you may go to an adjudicator: give the number of the case and "
            "the receipt of the round."
        )
    else:
        yield "The adjudicator's decision closes the case."


def _late(case: Case, as_of: str) -> str | None:
    """Say what came too late."""
    if case.is_overdue(parse_time(as_of)):
        return "The answer is overdue."
    opened = "the case was opened after the answer was due" if case.is_late else ""
    answered = "the answer came late" if case.was_answered_late else ""
    told = ", and ".join(filter(None, (opened, answered)))
    return f"{told[:1].upper()}{told[1:]}." if told else None
