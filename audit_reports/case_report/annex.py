"""The technical annex of a report: everything its verdict rests on, for an adjudicator to check."""

from collections.abc import Collection, Mapping, Sequence
from datetime import tzinfo

from shoeproof.audit_reports.case_report.facts import (
    circumstances,
    incident,
    money,
    offers,
    platform_decisions,
    timeline,
)
from shoeproof.audit_reports.case_report.history import authorised
from shoeproof.audit_reports.case_report.model import Annex, FindingView, Proof
from shoeproof.audit_reports.case_report.rules_text import rules_text
from shoeproof.audit_reports.case_report.words import in_zone
from shoeproof.replay.cases.assessment import Assessment, BetPrice, Remedy, Source
from shoeproof.replay.cases.case import Case
from shoeproof.replay.disputes.evidence import Evidence
from shoeproof.replay.disputes.facts import Facts


def build_annex(
    told: Evidence,
    facts: Facts,
    assessment: Assessment,
    case: Case | None,
    names: Mapping[str, str],
    faults: Collection[int],
    proof: Proof,
    zone: tzinfo,
    *,
    with_incident: bool,
) -> Annex:
    """Return the annex; the arguments are those of `build_report`.

    `faults` are the leaves at fault; an incident notice is for a regulator alone.
    """
    opened, replay = facts.opened, facts.replay
    return Annex(
        circumstances=circumstances(told, opened, zone),
        classes=assessment.classes,
        findings=tuple(
            FindingView(each.code, in_zone(each.text, zone), each.leaf_index)
            for each in assessment.findings
        ),
        basis=_basis(assessment),
        remedies=assessment.remedies,
        sources=_sources(assessment.remedies),
        timeline=timeline(told, facts.replay, names, faults, zone),
        offers=offers(told),
        platform_decisions=platform_decisions(told, zone),
        money=money(told),
        other_rounds=assessment.touched,
        incident=incident(told, assessment, replay, zone) if with_incident else None,
        rules_digest="" if opened is None else opened.rules_digest,
        rules_text=rules_text(None if replay is None else replay.rules),
        lacks=assessment.lacks,
        authorised=() if case is None else authorised(case, facts.currency),
        proof=proof,
    )


def _basis(assessment: Assessment) -> tuple[str, ...]:
    governing = assessment.governing
    fault = (
        "The operator's side failed: nobody may gain from their own fault, so no remedy "
        "that leaves the player below what was shown or recorded is applied without an "
        "adjudicator.",
    )
    return (governing.why, *(fault if assessment.operator_at_fault else ()))


def _sources(remedies: Sequence[Remedy]) -> tuple[Source, ...]:
    """Return everything that remedies and their bets rest on, once each, what is assumed last."""
    prices: list[BetPrice] = [price for remedy in remedies for price in remedy.bets]
    of_bets = [price.source for price in prices if price.source is not None]
    whole = [*(remedy.source for remedy in remedies), *of_bets]
    each = dict.fromkeys(part for source in whole for part in source.parts)
    return tuple(sorted(each, key=lambda source: source.assumed))
