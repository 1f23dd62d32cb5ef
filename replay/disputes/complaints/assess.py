"""The assessment of a complaint: pure, from what was gathered to a verdict and its reasons."""

from collections import Counter
from collections.abc import Iterator, Sequence

from shoeproof.ledger import Finding
from shoeproof.replay.cases.assessment import Source, Verdict
from shoeproof.replay.disputes.complaints.cases import ComplaintRemedy
from shoeproof.replay.disputes.complaints.luck import luck_of
from shoeproof.replay.disputes.complaints.played import FaultyRound, PlayedRound
from shoeproof.replay.disputes.complaints.records import (
    ComplaintAssessment,
    ComplaintEvidence,
    Option,
    Session,
    Totals,
)
from shoeproof.replay.disputes.complaints.runs import Ended, longest_runs
from shoeproof.replay.disputes.complaints.statement import StatementLine, compare
from shoeproof.replay.disputes.complaints.wallet import jumps, sums
from shoeproof.replay.disputes.complaints.words import (
    AssessmentParts,
    answer_of,
    lacks_of,
    reasons_of,
)
from shoeproof.replay.disputes.sources import PRACTICE
from shoeproof.replay.rounds.narrative import counted

_SOURCE = Source(PRACTICE, "Complaints", "", assumed=True)


def assess_complaint(
    evidence: ComplaintEvidence, statement: Sequence[StatementLine] = ()
) -> ComplaintAssessment:
    """Return what the evidence about a complaint comes to.

    `statement` holds the movements of a wallet's statement, empty where none was handed in. Never
    raises for evidence that is forged, missing or contradicts itself: that is what it tells of.
    """
    real = [each for each in evidence.rounds if each.mode == "real"]
    moved = sorted(
        (movement for each in real for movement in each.movements), key=lambda m: m.leaf_index
    )
    faults = tuple(each.fault for each in evidence.rounds if each.fault is not None)
    told = AssessmentParts(
        evidence=evidence,
        totals=tuple(_totals(evidence.rounds)),
        luck=luck_of(each.parts for each in real if each.parts is not None),
        runs=longest_runs(
            [
                Ended(each.round, each.won_minor, each.chance)
                for each in evidence.rounds
                if each.state == "closed"
            ]
        ),
        wallet=sums(moved),
        jumps=tuple(jumps(moved)),
        faults=faults,
        compared=compare(statement, moved) if statement else None,
    )
    due: Counter[str] = Counter()
    for fault in faults:
        due[fault.currency] += fault.due_minor
    verdict = _verdict(told)
    return ComplaintAssessment(
        complaint=evidence.complaint,
        size=evidence.size,
        verdict=verdict,
        answer=answer_of(told, verdict),
        reasons=tuple(reasons_of(told)),
        options=tuple(_options(told, verdict)),
        rounds=evidence.rounds,
        totals=told.totals,
        luck=told.luck,
        runs=told.runs,
        wallet=told.wallet,
        jumps=told.jumps,
        sessions=tuple(_sessions(evidence.rounds)),
        faults=faults,
        others=evidence.others,
        due_minor={currency: minor for currency, minor in sorted(due.items()) if minor},
        compared=told.compared,
        findings=tuple(_findings(evidence, faults)),
        lacks=tuple(lacks_of(told)),
    )


def _verdict(told: AssessmentParts) -> Verdict:
    evidence = told.evidence
    shown = any(fault.verdict in ("upheld", "partly_upheld") for fault in told.faults)
    unclear = (
        bool(evidence.integrity or evidence.unreadable)
        or not evidence.is_whole
        or any(fault.verdict == "inconclusive" for fault in told.faults)
    )
    if evidence.complaint.opened.missing_round or not evidence.rounds:
        return "inconclusive"
    if shown:
        return "partly_upheld" if unclear else "upheld"
    if unclear:
        return "inconclusive"
    if any(each.is_beyond_chance for each in told.luck):
        return "inconclusive"
    if evidence.complaint.question == "balance" and not told.follows_the_money:
        return "inconclusive"
    if told.compared is not None and not told.compared.agrees:
        return "inconclusive"
    return "rejected"


def _options(told: AssessmentParts, verdict: Verdict) -> Iterator[Option]:
    """Yield every way to decide, the one that governs among them."""
    governs = verdict in ("upheld", "partly_upheld")
    has_faults = any(fault.verdict != "inconclusive" for fault in told.faults)
    named = counted(len(told.faults), "round has", "rounds have")
    upholds = (
        f"{named} something wrong: each gets a case of its own, which says what is due and pays it"
    )
    reasons: dict[ComplaintRemedy, tuple[bool, bool, str]] = {
        "reject": (
            verdict == "rejected",
            verdict == "rejected",
            "nothing is wrong in any round, nothing is due, and the ledger answers the question"
            if verdict == "rejected"
            else "the ledger does not show that nothing is wrong: only an adjudicator may reject",
        ),
        "uphold": (has_faults, governs, upholds if has_faults else "no round has anything wrong"),
        "refer": (
            True,
            verdict == "inconclusive",
            "an adjudicator decides what the ledger alone cannot",
        ),
        "award": (True, False, "an adjudicator's award, by its reference and two persons"),
        "goodwill": (True, False, "the operator may give what is not due"),
        "withdraw": (True, False, "the player may withdraw the complaint"),
    }
    for name, (lawful, governs, why) in reasons.items():
        yield Option(name, lawful, governs, why, _SOURCE)


def _totals(rounds: Sequence[PlayedRound]) -> Iterator[Totals]:
    for currency, mode in sorted({(each.currency, each.mode) for each in rounds}):
        own = [each for each in rounds if (each.currency, each.mode) == (currency, mode)]
        ended = [each for each in own if each.state == "closed"]
        yield Totals(
            currency=currency,
            mode=mode,
            rounds=len(own),
            staked_minor=sum(each.staked_minor for each in own),
            paid_minor=sum(each.paid_minor for each in own),
            refunded_minor=sum(each.refunded_minor for each in own),
            won=sum(each.won_minor > 0 for each in ended),
            pushed=sum(each.won_minor == 0 for each in ended),
            lost=sum(each.won_minor < 0 for each in ended),
        )


def _sessions(rounds: Sequence[PlayedRound]) -> Iterator[Session]:
    """Yield the sessions in the order they began; rounds that name none are one."""
    names = list(dict.fromkeys(each.session for each in rounds))
    for name in names:
        own = [each for each in rounds if each.session == name]
        yield Session(name, own[0].opened_at, max(each.last_at for each in own), len(own))


def _findings(evidence: ComplaintEvidence, faults: Sequence[FaultyRound]) -> Iterator[Finding]:
    yield from evidence.integrity
    for fault in faults:
        yield from fault.findings
