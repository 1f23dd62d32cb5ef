"""From evidence and assessment to a report: pure, so that equal input makes equal bytes."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from audit_reports.case_report.facts import (
    bet_views,
    circumstances,
    fault_leaf,
    incident,
    money,
    offers,
    platform_decisions,
    timeline,
)
from audit_reports.case_report.model import (
    Audience,
    Authorised,
    CaseHistory,
    CaseReport,
    Proof,
)
from audit_reports.case_report.rules_text import game_of, rules_text
from audit_reports.case_report.table_views import table_views
from ledger import Finding
from ledger.events import KEYS_STREAM
from ledger.findings import KEY_NOT_VALID
from replay.currency import amount_text
from replay.disputes.assessment import Assessment, Remedy, Source, Verdict
from replay.disputes.cases import Case
from replay.disputes.evidence import Evidence
from replay.errors import RoundUnreadable
from replay.replayer import Replay, replay_round

VERDICT_WORDS: Final[Mapping[Verdict, str]] = {
    "upheld": "by the evidence the complaint is to be upheld",
    "partly_upheld": "by the evidence the complaint is to be partly upheld",
    "rejected": "by the evidence the complaint is to be rejected",
    "inconclusive": "the evidence cannot decide this complaint",
}
"""What the evidence says of a complaint that nobody decided yet."""

REMEDY_WORDS: Final[Mapping[str, str]] = {
    "honour": "honour the outcome as it stands",
    "resume": "restore the round and resume it",
    "apply_default": "apply the disclosed default",
    "resettle": "resettle the bet that was wrongly paid",
    "void": "void the round and return every stake",
    "refer": "refer to an adjudicator",
}


def build_report(
    evidence: Evidence,
    assessment: Assessment,
    case: Case | None,
    proof: Proof,
    names: Mapping[str, str],
    audience: Audience,
) -> CaseReport:
    """Return the report about one round for one audience.

    `case` is the case it answers, None for a report without a complaint; `proof` says how to check
    it; `names` maps the ids of the ledger's keys to their names. Never raises for evidence that is
    forged, missing or contradicts itself.
    """
    replay = _replay(evidence)
    opened = None if replay is None else replay.opened
    rules = None if replay is None else replay.rules
    game = game_of(rules)
    currency = "" if opened is None else opened.currency
    governing = assessment.governing
    fault = fault_leaf(evidence, assessment)
    for_player = audience == "player"
    if for_player:
        assessment = _without_names_of_keys(assessment)
    return CaseReport(
        format="shoeproof/case-report/v1",
        audience=audience,
        as_of=evidence.as_of,
        round=evidence.round_id,
        game="unknown rules" if rules is None else (game.title if game else rules.id),
        case=None if case is None else _history(case),
        verdict=assessment.verdict,
        headline=headline(assessment, case, currency),
        amount_minor=governing.moves_minor if assessment.money_may_move else None,
        currency=currency,
        circumstances=circumstances(evidence, opened, for_player=for_player),
        classes=assessment.classes,
        reasons=assessment.reasons,
        governing=governing,
        basis=_basis(assessment, governing),
        timeline=timeline(evidence, replay, names, fault, for_player=for_player),
        tables=() if replay is None else table_views(replay, fault),
        offers=offers(evidence),
        bets=bet_views(replay, evidence),
        findings=tuple(_place(finding) for finding in assessment.findings),
        remedies=assessment.remedies,
        sources=_sources(assessment.remedies),
        other_rounds=() if for_player else assessment.touched,
        other_rounds_count=len(assessment.touched),
        money=money(evidence),
        platform_decisions=platform_decisions(evidence),
        rules_digest="" if opened is None else opened.rules_digest,
        rules_text=rules_text(rules),
        lacks=assessment.lacks,
        authorised=() if case is None else _authorised(case, for_player=for_player),
        incident=incident(evidence, assessment, replay) if audience == "regulator" else None,
        proof=proof,
    )


def _without_names_of_keys(assessment: Assessment) -> Assessment:
    """Return the assessment as a player may read it: what it finds about keys names persons."""
    said = "a key signed what it was not allowed to, or its own record does not verify"
    about_keys = {
        finding.text
        for finding in assessment.findings
        if finding.code == KEY_NOT_VALID or finding.stream == KEYS_STREAM
    }
    return msgspec.structs.replace(
        assessment,
        findings=tuple(
            msgspec.structs.replace(each, text=said) if each.text in about_keys else each
            for each in assessment.findings
        ),
        reasons=tuple(
            dict.fromkeys(said if each in about_keys else each for each in assessment.reasons)
        ),
    )


def headline(assessment: Assessment, case: Case | None, currency: str) -> str:
    """Return the verdict and what follows from it, or what was decided, in one sentence."""
    if case is not None and case.state == "decided":
        decided = case.decisions[-1].data
        remedy = REMEDY_WORDS.get(decided.remedy, decided.remedy)
        return (
            f"Decided: {remedy}; {amount_text(case.moved_minor, currency)} was paid to the player."
        )
    governing = assessment.governing
    verdict = f"Not decided yet; {VERDICT_WORDS[assessment.verdict]}"
    if assessment.claim is None:
        verdict = "Nobody complained"
    remedy = f"{verdict}: {REMEDY_WORDS[governing.name]}"
    if not assessment.money_may_move:
        return f"{remedy}; no money moves on evidence that is forged or missing."
    if governing.moves_minor:
        return f"{remedy}; {amount_text(governing.moves_minor, currency)} is to be paid."
    return f"{remedy}; nothing further is to be paid."


def _replay(evidence: Evidence) -> Replay | None:
    try:
        return replay_round(evidence.events, evidence.rules)
    except RoundUnreadable:
        return None


def _history(case: Case) -> CaseHistory:
    return CaseHistory(
        case=case.id,
        opened_at=case.opened_at,
        claim=case.opened.claim,
        note=case.opened.note,
        attachments={each.name: each.sha256 for each in case.opened.attachments},
        deadline=case.opened.deadline,
        state=case.state,
        reference=case.decisions[-1].data.reference if case.decisions else None,
    )


def _authorised(case: Case, *, for_player: bool) -> tuple[Authorised, ...]:
    opened = Authorised(
        case.opened_at, "opened the case", "staff" if for_player else case.opened_by
    )
    decided = [
        Authorised(
            decision.at,
            f"decided: {decision.data.verdict}, {decision.data.remedy}",
            f"staff, {count} of {decision.data.keys_needed} keys" if for_player else key,
        )
        for decision in case.decisions
        for count, key in enumerate(decision.keys, start=1)
    ]
    return (opened, *decided)


def _basis(assessment: Assessment, governing: Remedy) -> tuple[str, ...]:
    source = governing.source
    rests = f"{source.document}, {source.section}: {source.says}"
    assumed = ("The sources are silent here: this reading is assumed.",) if source.assumed else ()
    fault = (
        "The operator's side failed: nobody gains by their own fault, so no remedy that leaves the "
        "player below what was shown or recorded is applied without an adjudicator.",
    )
    return (governing.why, rests, *assumed, *(fault if assessment.operator_at_fault else ()))


def _sources(remedies: Sequence[Remedy]) -> tuple[Source, ...]:
    return tuple(dict.fromkeys(remedy.source for remedy in remedies))


def _place(finding: Finding) -> str:
    place = "" if finding.leaf_index is None else f" (leaf {finding.leaf_index})"
    return f"{finding.code}: {finding.text}{place}"
