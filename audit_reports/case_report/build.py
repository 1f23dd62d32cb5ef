"""From evidence and assessment to a report: pure, so that equal input makes equal bytes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from shoeproof.audit_reports.case_report.annex import build_annex
from shoeproof.audit_reports.case_report.bets import bet_views, moved_by, sums_of
from shoeproof.audit_reports.case_report.cards import card_in_dispute, place_of, table_views
from shoeproof.audit_reports.case_report.facts import fault_leaves
from shoeproof.audit_reports.case_report.headline import headline
from shoeproof.audit_reports.case_report.history import history_of, next_steps
from shoeproof.audit_reports.case_report.model import (
    Audience,
    CaseReport,
    DisputedCard,
    Proof,
    Receipt,
)
from shoeproof.audit_reports.case_report.rules_text import game_of
from shoeproof.audit_reports.case_report.words import in_zone, plain_words, sentence
from shoeproof.ledger import Finding, Recorded
from shoeproof.replay.cases.assessment import Assessment
from shoeproof.replay.cases.case import Case
from shoeproof.replay.cases.faults import KINDS
from shoeproof.replay.disputes.evidence import Evidence
from shoeproof.replay.disputes.facts import establish
from shoeproof.replay.findings import SEED_PREDICTABLE, SEED_REPEATED

_OF_OTHER_ROUNDS: Final = (SEED_REPEATED, SEED_PREDICTABLE)


class ReportSubject(NamedTuple):
    """What a report is about.

    `before` is the evidence that `assessment` is of: what a decided case was decided on, else what
    the ledger holds. `after` has the decision and what it paid as well, and is the same where there
    is none. `case` is None where nobody complained, `cases` are all about the round. `since` says
    what came after the decision.
    """

    before: Evidence
    after: Evidence
    assessment: Assessment
    case: Case | None
    cases: Sequence[Case] = ()
    since: tuple[str, ...] = ()


def build_report(
    told: ReportSubject,
    audience: Audience,
    zone: ZoneInfo,
    *,
    proof: Proof,
    names: Mapping[str, str],
    commands: tuple[str, ...],
    receipt: Receipt | None = None,
) -> CaseReport:
    """Return the report about one round for one audience, with its times as in `zone`.

    `proof` and `commands` say how to check it, `names` maps the ids of the ledger's keys to their
    names, `receipt` is the bundle that goes with it. Never raises for evidence that is forged,
    missing or contradicts itself.
    """
    before, after, assessment, case, cases, since = told
    facts = establish(before)
    replay = facts.replay
    rules = None if replay is None else replay.rules
    game = game_of(rules)
    sums = sums_of(facts, assessment, case, cases, after.events)
    # Chips that go back before a deal move no money, though the void names them.
    moved = moved_by(_of_decision(after, case) if sums.moved_minor else ())
    faults = fault_leaves(before, assessment)
    disputed = card_in_dispute(facts, faults)
    mark = None if replay is None or disputed is None else place_of(replay, disputed)
    fault = disputed.leaf_index if disputed else next(iter(faults), None)
    annex = build_annex(
        after, facts, assessment, case, names, faults, proof, zone,
        with_incident=audience == "regulator",
    ) if audience != "player" else None  # fmt: skip
    return CaseReport(
        format="shoeproof/case-report/v2",
        audience=audience,
        as_of=after.as_of,
        zone=str(zone),
        round=before.round_id,
        played_at=before.events[0].event.at if before.events else None,
        game="unknown rules" if rules is None else (game.title if game else rules.id),
        currency=facts.currency,
        headline=headline(assessment, case, sums),
        answer=assessment.answer,
        clause=assessment.clause,
        verdict=None if case is None else assessment.verdict,
        case=None if case is None else history_of(case, after.as_of),
        paid_minor=sums.paid_minor,
        due_minor=sums.due_minor,
        moved_minor=sums.moved_minor,
        held_minor=sums.held_minor,
        beside_bets_minor=moved[None],
        bets=bet_views(assessment, moved, sums),
        tables=() if replay is None else table_views(replay, fault, mark),
        disputed_card=disputed,
        found=tuple(_found(assessment, disputed, audience, zone)),
        next_steps=next_steps(assessment, case, sums, facts.policy, after.as_of, zone),
        since=since,
        receipt=receipt,
        commands=commands,
        annex=annex,
    )


def _of_decision(after: Evidence, case: Case | None) -> list[Recorded]:
    """Return the events by which a decided case paid, and ended its round."""
    leaf = None if case is None else case.decided_leaf
    if leaf is None:
        return []
    return [each for each in (*after.events, *after.disputes) if each.leaf_index >= leaf]


def _found(
    assessment: Assessment, disputed: DisputedCard | None, audience: Audience, zone: ZoneInfo
) -> Iterator[str]:
    """Yield in plain words what was found, beyond what the answer and the card in dispute say.

    A player's answer says itself what went wrong where something is due for it, and what may name
    persons or rounds of others is not told to a player. What the ledger lacks is among it where
    that keeps the complaint from being decided.
    """
    if audience == "player" and assessment.governing.moves_minor:
        return
    untold = {
        finding.text
        for finding in assessment.findings
        if (disputed is not None and finding.leaf_index == disputed.leaf_index)
        or (audience == "player" and (_is_forgery(finding) or finding.code in _OF_OTHER_ROUNDS))
    }
    lacking = assessment.lacks if assessment.verdict == "inconclusive" else ()
    for each in (*assessment.reasons, *lacking):
        if each not in untold and each not in assessment.answer:
            yield sentence(plain_words(in_zone(each, zone)))


def _is_forgery(finding: Finding) -> bool:
    return KINDS[finding.code].reach == "evidence"
