"""What a report says first: the outcome for the player, what was paid in all, what is due.

Pure. Its reader knows the game but not our terms.
"""

from collections.abc import Iterable
from typing import Final

from shoeproof.audit_reports.case_report.model import Sums
from shoeproof.audit_reports.case_report.words import sentence
from shoeproof.replay.cases.assessment import Assessment
from shoeproof.replay.cases.case import Case

_DECIDED: Final = {
    "upheld": "Complaint upheld",
    "partly_upheld": "Complaint upheld in part",
    "rejected": "Complaint rejected",
    "inconclusive": "Complaint not upheld",
}
_PROPOSED: Final = {
    "upheld": "uphold the complaint",
    "partly_upheld": "uphold the complaint in part",
    "rejected": "reject the complaint",
    "inconclusive": "the evidence cannot decide the complaint",
}
_OPEN: Final = {
    "resume": "the round waits for you as it was, with the same cards to come",
    "apply_default": "the round is played to its end under the disclosed rule",
    "honour": "nothing is left for you to decide: the table finishes the round and pays it",
    "void": "the round ends, and every stake goes back",
}
"""What becomes of an open round by the remedy that governs."""

_CHIPS: Final = "your chips go back, and no money had been debited for them"
_STANDS: Final = "the result stands"


def headline(assessment: Assessment, case: Case | None, sums: Sums) -> str:
    """Return the outcome of a case, or of a round nobody complained about, in a few sentences.

    `sums` is what the round comes to, with what the decision of the case paid.
    """
    outcome = _outcome(assessment, case, sums)
    if sums.paid_minor and assessment.money_may_move and not sums.is_shown:
        return f"{outcome} No wallet is on record to show that it reached you."
    return outcome


def _outcome(assessment: Assessment, case: Case | None, sums: Sums) -> str:
    if case is not None and case.state == "decided":
        return _decided(assessment, case, sums)
    what = _standing(assessment, sums)
    refers = assessment.governing.name == "refer"
    if case is not None and case.state == "referred":
        first = what[0] if refers else f"according to the record, {what[0]}"
        return _said("This goes to an adjudicator", [first, *what[1:]])
    if refers:
        what = ["this goes to an adjudicator", *what]
    if case is None:
        return _said("Nobody complained", what)
    if what[0] == _STANDS and assessment.verdict == "rejected" and not sums.held_minor:
        what = [f"{_STANDS} and nothing more is due", _were_paid(sums).partition(";")[0]]
    proposal = [] if refers else [_PROPOSED[assessment.verdict]]
    return _said("Recommendation (not yet decided)", [*proposal, *what])


def _decided(assessment: Assessment, case: Case, sums: Sums) -> str:
    decided = case.decisions[-1].data
    lead = _DECIDED.get(decided.verdict, "Complaint decided")
    if decided.reference is not None:
        lead = f"Decided by an adjudicator (reference {decided.reference})"
    elif decided.remedy == "withdraw":
        lead = "Complaint withdrawn"
    moved = sums.text(sums.moved_minor)
    paid = [_were_paid(sums)] if assessment.money_may_move else []
    if decided.remedy == "goodwill":
        stands = _standing(assessment, sums)[0]
        return _said(lead, [stands, f"the operator also gave you {moved} as goodwill", *paid])
    if decided.remedy == "award":
        return _said(lead, [f"{moved} was awarded and has been paid to you", *paid])
    if sums.moved_minor and decided.remedy == "void":
        void = f"the round is void, and {moved}" if sums.is_void else f"{moved} of your stakes"
        return _said(lead, [f"{void} went back to you", *paid])
    if sums.moved_minor:
        return _said(lead, [f"{moved} more was due and has been paid to you", *paid])
    if sums.is_open and decided.remedy in _OPEN:
        due = [f"{sums.text(sums.due_minor)} more is due to you"] if sums.due_minor else []
        return _said(lead, [_OPEN[decided.remedy], *due, *paid])
    if decided.reference is not None:
        return _said(lead, [_STANDS, *paid])
    return _said(lead, _standing(assessment, sums))


def _standing(assessment: Assessment, sums: Sums) -> list[str]:
    """Return in sentences what holds by the remedy that governs, as far as nobody changed it."""
    governing = assessment.governing
    paid = [_were_paid(sums)] if assessment.money_may_move else []
    due = [f"{sums.text(sums.due_minor)} more is due to you"] if sums.due_minor else []
    if governing.name == "refer":
        beside = [f"{each} whatever is decided" for each in due]
        so_far = f"you were paid {sums.text(sums.paid_minor)} for this round so far"
        return [governing.why, *beside, *([so_far] if paid else [])]
    if governing.name == "void" and not sums.is_dealt:
        return [_CHIPS]
    if sums.is_open:
        return [_OPEN.get(governing.name, _STANDS), *due, *paid]
    if due:
        return [*due, *paid]
    if sums.corrected_minor:
        corrected = f"this was corrected by case {assessment.corrected_by}, which paid"
        return [f"{corrected} {sums.text(sums.corrected_minor)}", *paid]
    if governing.name == "void":
        return ["the round was voided, and every stake has gone back", *paid]
    if assessment.verdict == "inconclusive":
        shown = f"the record shows {sums.text(sums.paid_minor)} paid to you for this round"
        return [f"{shown} and nothing further due"]
    if assessment.verdict in ("upheld", "partly_upheld"):
        return ["something went wrong, and you were already paid all that is due", *paid]
    return [_STANDS, *paid]


def _were_paid(sums: Sums) -> str:
    """Return what was paid, and that nothing further is due where that is so."""
    reached = sums.text(sums.paid_minor - sums.held_minor)
    paid = f"you were paid {reached} for this round"
    if sums.held_minor:
        held = sums.text(sums.held_minor)
        return f"{paid} so far, and {held} more waits until a person has verified the win"
    if sums.is_open and sums.in_play_minor:
        return f"{paid} so far, and {sums.text(sums.in_play_minor)} is still in play"
    if sums.due_minor or sums.is_open:
        return f"{paid} so far"
    return f"{paid}{' in all' if sums.moved_minor else ''}; nothing further is due"


def _said(lead: str, sentences: Iterable[str]) -> str:
    first, *rest = sentences
    return " ".join(map(sentence, (f"{lead}: {first}", *rest)))
