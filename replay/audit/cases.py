"""The audit of a ledger's cases: what each records, and what it was decided on.

Every decision that stands is held to an assessment of the evidence as it was just before it. What
moves more than the governing remedy was priced at, or follows another remedy, is an adjudicator's,
with a reference and two persons, or it is unfounded. Goodwill and a withdrawal rest on no
assessment: the policy's limit binds the one, the other moves nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from shoeproof.ledger import Finding, Ledger, Recorded
from shoeproof.ledger.keys.trust import build_ring
from shoeproof.ledger.leaf.recorded import readable
from shoeproof.ledger.leaf.streams import DISPUTES_PREFIX, KEYS_STREAM, POLICIES_STREAM
from shoeproof.ledger.verify.beside import Leaves, read_before
from shoeproof.replay import findings as codes
from shoeproof.replay.cases.case import Case, Decision, dispute_stream
from shoeproof.replay.cases.check import CaseWalk
from shoeproof.replay.currency import amount_text
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.complaints.cases import complaint_ids
from shoeproof.replay.disputes.decide import priced_moves
from shoeproof.replay.disputes.evidence import currency_of, evidence_of_case
from shoeproof.replay.rounds.catalogue import policies_in

_ADJUDICATORS: Final = 2
"""How many persons sign what an adjudicator decided."""


def check_cases(
    ledger: Ledger,
    leaves: Leaves,
    size: int,
    concerns: Callable[[Sequence[Recorded]], bool],
    from_leaf: int = 0,
) -> list[Finding]:
    """Return what is wrong with the cases in a ledger's first `size` leaves, stream by stream.

    `leaves` are the ledger's, as they were verified or as its store has them. `concerns` tells of a
    round's events whether its cases are asked for; cases without an event at `from_leaf` or later
    are not judged. What cannot be read is passed over: to report it is for verification.
    """
    names = build_ring(leaves.stream(KEYS_STREAM), None)[0].persons()
    policies = policies_in(readable(leaves.stream(POLICIES_STREAM)))
    found: list[Finding] = []
    for stream in _streams(leaves):
        round_id = stream.removeprefix(DISPUTES_PREFIX)
        events = read_before(leaves, stream, size)
        if not events or events[-1].leaf_index < from_leaf:
            continue
        of_round = read_before(leaves, round_id, size)
        if of_round and not concerns(of_round):
            continue
        walk = CaseWalk(round_id, of_round, policies, names)
        found += walk.findings(events)
        if of_round:
            found += _unfounded(ledger, leaves, round_id, walk.cases)
    return found


def _streams(leaves: Leaves) -> list[str]:
    """Return the streams of cases, those in which money moved and no case was opened among them.

    A complaint's is not one: it is judged by itself.
    """
    opened = {leaf.stream for leaf in leaves.under(DISPUTES_PREFIX)}
    return sorted(opened - {dispute_stream(each) for each in complaint_ids(leaves)})


def _unfounded(
    ledger: Ledger, leaves: Leaves, round_id: str, cases: Sequence[Case]
) -> Iterator[Finding]:
    for case in cases:
        if case.state != "decided":
            continue
        decision = case.decisions[-1]
        text = _objection(ledger, leaves, round_id, case, decision)
        if text is not None:
            place = decision.leaf_index, decision.seq
            yield Finding(codes.DECISION_UNFOUNDED, text, dispute_stream(round_id), *place)


def _objection(
    ledger: Ledger, leaves: Leaves, round_id: str, case: Case, decision: Decision
) -> str | None:
    """Return what a decision lacks support for, None if it has enough."""
    data = decision.data
    if data.reference is not None and len(decision.keys) >= _ADJUDICATORS:
        return None
    if data.remedy == "goodwill" or (data.remedy == "withdraw" and not data.amount_minor):
        return None
    evidence = evidence_of_case(ledger, round_id, case, leaves)
    governing = assess(evidence, case.claim).governing
    priced = sum(move.amount_minor for move in priced_moves(evidence, governing))
    if data.remedy == governing.name and data.amount_minor <= priced:
        return None
    currency = currency_of(evidence)
    decided = f"{data.remedy} was decided at {amount_text(data.amount_minor, currency)}"
    right = f"{governing.name} governs and moves {amount_text(priced, currency)}"
    return (
        f"{decided} without an adjudicator's reference signed by two persons; by what the ledger "
        f"held before, {right}"
    )
