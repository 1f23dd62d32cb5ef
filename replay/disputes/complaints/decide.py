"""A complaint decided: what is recorded, by whom, and the money an award or goodwill moves.

What is due by a round is due by a case about that round: to uphold a complaint opens one for each
faulty round that has none. An award names a sum, the adjudicator's reference and needs two persons.
Goodwill is the operator's, of one person up to the policies' limit.
"""

from collections.abc import Iterator

import msgspec

from shoeproof.ledger import Ledger, Recorded
from shoeproof.ledger.keys.key import Signer
from shoeproof.ledger.leaf.events import Awarded, DisputeDecided, DisputeOpened, EventData
from shoeproof.replay.cases.assessment import Claim
from shoeproof.replay.cases.case import dispute_stream, key_names, read_cases
from shoeproof.replay.currency import amount_text
from shoeproof.replay.disputes.complaints.cases import (
    Complaint,
    ComplaintRemedy,
    Question,
    complaints_in,
)
from shoeproof.replay.disputes.complaints.persons import (
    gifts,
    given_minor,
    goodwill_limit,
    persons_needed,
    policies_before,
)
from shoeproof.replay.disputes.complaints.played import FaultyRound
from shoeproof.replay.disputes.complaints.records import ComplaintAssessment
from shoeproof.replay.disputes.record import must_be_whole, sign_as_staff
from shoeproof.replay.errors import DisputeRefused
from shoeproof.replay.rounds.narrative import decision_word
from shoeproof.replay.wallet.credit import credited
from shoeproof.replay.wallet.wallet import AnyWallet, in_unit

_CLAIM_OF: dict[Question, Claim] = {"fairness": "fairness", "balance": "settlement"}


class ComplaintPlan(msgspec.Struct, frozen=True):
    """A decision that may be signed: what it says, and what it does once it stands.

    `award` is the money it moves, None for none. `opens` are the faulty rounds, each of which gets
    a case unless one is open, or was decided and nothing is due any more. `confirms`
    are the persons who signed the same before; `stands` is whether the next signature is the last
    one needed.
    """

    complaint: Complaint
    decided: DisputeDecided
    award: Awarded | None
    opens: tuple[FaultyRound, ...]
    confirms: tuple[str, ...]
    stands: bool


def plan_complaint(
    assessment: ComplaintAssessment,
    remedy: ComplaintRemedy,
    *,
    person: str,
    limit_minor: int | None = 0,
    before_minor: int = 0,
    reference: str | None = None,
    amount_minor: int = 0,
    currency: str = "",
    note: str | None = None,
) -> ComplaintPlan:
    """Return what deciding a complaint by a remedy would record.

    `person` is whose key would sign. `limit_minor` is what one person may give in goodwill in
    `currency`, None for any amount, `before_minor` what the player was given already. `note` is why
    goodwill is given, or what a player who withdrew said. Raises DisputeRefused for a complaint
    that is decided, a remedy that is not lawful and comes without an adjudicator's reference, an
    award without a reference or an amount, and a person who would sign twice.
    """
    complaint = assessment.complaint
    _must_be_undecided(complaint, remedy)
    option = next(each for each in assessment.options if each.name == remedy)
    if not option.lawful and (remedy != "reject" or reference is None):
        raise DisputeRefused(f"{remedy} is not lawful here: {option.why}")
    pays = remedy in ("award", "goodwill")
    if pays and amount_minor <= 0:
        raise DisputeRefused(f"say how much: {remedy} needs an amount above 0")
    if amount_minor and not pays:
        raise DisputeRefused(f"{remedy} moves no money: leave out the amount")
    if remedy == "award" and reference is None:
        raise DisputeRefused("an award needs the reference of the adjudicator's decision")
    clause = option.why
    if pays:
        clause = f"{remedy} of {amount_text(amount_minor, currency)}"
    if note is not None:
        clause = f"{clause}: {note}" if pays else note
    decided = DisputeDecided(
        round=complaint.id,
        findings=sorted({finding.code for finding in assessment.findings}),
        clause=clause,
        verdict=assessment.verdict,
        remedy=remedy,
        reference=reference,
        amount_minor=amount_minor,
        keys_needed=persons_needed(remedy, amount_minor, reference, limit_minor, before_minor),
        case=1,
    )
    last = complaint.decisions[-1] if complaint.state == "awaiting_second_key" else None
    confirms = last.keys if last is not None and last.data == decided else ()
    if person in confirms:
        raise DisputeRefused(
            f"{person} has signed this decision already: it needs the key of another person"
        )
    stands = len(confirms) + 1 >= decided.keys_needed
    award = Awarded(complaint.id, None, None, amount_minor, currency, None) if pays else None
    opens = assessment.faults if remedy == "uphold" else ()
    return ComplaintPlan(complaint, decided, award, opens, confirms, stands)


def decide_complaint(
    ledger: Ledger,
    assessment: ComplaintAssessment,
    remedy: ComplaintRemedy,
    signer: Signer,
    *,
    reference: str | None = None,
    amount_minor: int = 0,
    currency: str = "",
    note: str | None = None,
) -> tuple[ComplaintPlan, list[Recorded]]:
    """Sign a decision of a complaint, and carry it out where it stands with this signature.

    Raises DisputeRefused as `plan_complaint` does, for a key that is not for staff and where leaves
    that may have paid before are missing; StreamConflict when the complaint or one of its rounds'
    cases went on since it was assessed, and what `Ledger.append` does; then nothing is recorded.
    """
    plan = plan_for(
        ledger,
        assessment,
        remedy,
        signer,
        reference=reference,
        amount_minor=amount_minor,
        currency=currency,
        note=note,
    )
    return plan, carry_out_complaint(ledger, plan, signer)


def plan_for(
    ledger: Ledger,
    assessment: ComplaintAssessment,
    remedy: ComplaintRemedy,
    signer: Signer,
    *,
    reference: str | None = None,
    amount_minor: int = 0,
    currency: str = "",
    note: str | None = None,
) -> ComplaintPlan:
    """Return the plan of a signer's decision, by the ledger's persons and policies."""
    key, size = signer.key_id_hex, ledger.size()
    given = gifts(complaints_in(ledger.store, size).values())
    player = assessment.complaint.opened.player
    return plan_complaint(
        assessment,
        remedy,
        person=key_names(ledger).get(key, key),
        limit_minor=goodwill_limit(policies_before(ledger.store, size), currency),
        before_minor=given_minor(given, player, currency, size),
        reference=reference,
        amount_minor=amount_minor,
        currency=currency,
        note=note,
    )


def carry_out_complaint(
    ledger: Ledger, plan: ComplaintPlan, signer: Signer, wallet: AnyWallet | None = None
) -> list[Recorded]:
    """Sign a planned decision, and what it does where it stands; see `decide_complaint`.

    A sum that it pays is credited by `wallet`, where there is one and the player is known.
    """
    sign_as_staff(ledger, signer)
    if plan.stands and plan.award is not None:
        must_be_whole(ledger, plan.complaint.id)
    stream = dispute_stream(plan.complaint.id)
    after = {stream: plan.complaint.last_seq}
    drafts: list[tuple[str, EventData]] = [(stream, plan.decided)]
    cases = list(_cases(ledger, plan)) if plan.stands else []
    after |= {of_round: last_seq for of_round, _, last_seq in cases}
    award = plan.award if plan.stands else None
    player = plan.complaint.opened.player
    currency = "" if award is None else award.currency
    asked = {} if award is None or player is None else {plan.complaint.id: award.amount_minor}
    paying = in_unit(wallet, currency)
    with credited(ledger, stream, paying, player or "", asked, currency) as paid:
        if award is not None:
            funds = paid.answers.get(plan.complaint.id)
            drafts.append((stream, msgspec.structs.replace(award, funds=funds)))
        drafts += [(of_round, opened) for of_round, opened, _ in cases]
        return ledger.append(*drafts, after=after, records=paid.records)


def _cases(ledger: Ledger, plan: ComplaintPlan) -> Iterator[tuple[str, DisputeOpened, int]]:
    """Yield the cases to open: the stream, what opens it, and the last event seen there."""
    complaint = plan.complaint
    for fault in plan.opens:
        stream = dispute_stream(fault.round)
        head = ledger.store.head(stream)
        before = read_cases(ledger, fault.round)
        if before and (before[-1].state != "decided" or not fault.due_minor):
            continue
        opened = DisputeOpened(
            round=fault.round,
            claim=_CLAIM_OF.get(complaint.question, "other"),
            note=f"found by complaint {complaint.id}: {complaint.opened.claim}",
            attachments=[],
            deadline=complaint.opened.deadline,
            received=complaint.opened.received,
        )
        yield stream, opened, -1 if head is None else head.version - 1


def _must_be_undecided(complaint: Complaint, remedy: str) -> None:
    if complaint.state == "decided":
        word = decision_word(complaint.decisions[-1].data)
        raise DisputeRefused(
            f"the complaint {complaint.id} was decided ({word}, {complaint.decided_at}): a "
            "complaint is decided only once"
        )
    if remedy == "refer" and complaint.state == "referred":
        raise DisputeRefused(
            f"the complaint {complaint.id} has already been referred: it waits for the "
            "adjudicator's reference"
        )
