"""The facts of a case read off its evidence: who, when, what was offered, decided and moved."""

from collections.abc import Collection, Iterable, Mapping
from datetime import tzinfo
from itertools import islice

from shoeproof.audit_reports.case_report.bets import moved_by
from shoeproof.audit_reports.case_report.model import IncidentReport, Money, Offer, TimelineRow
from shoeproof.audit_reports.case_report.words import moment_words
from shoeproof.ledger import Recorded
from shoeproof.ledger.leaf.events import (
    BetSettled,
    ConnectionLost,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    EventData,
    Funds,
    GameDisabled,
    GameEnabled,
    RoundClosed,
    RoundOpened,
    RoundVoided,
)
from shoeproof.ledger.leaf.layout import claimed_key_id
from shoeproof.replay.cases.assessment import Assessment
from shoeproof.replay.cases.faults import KINDS
from shoeproof.replay.currency import unit_of, unit_words
from shoeproof.replay.disputes.evidence import Evidence
from shoeproof.replay.engine.round import stakes_minor
from shoeproof.replay.rounds.narrative import actor_of, describe
from shoeproof.replay.rounds.replayer import Replay


def everything(evidence: Evidence) -> list[Recorded]:
    """Return all events about the round, in the order of their leaves."""
    streams = (evidence.events, evidence.operations, evidence.holds, evidence.disputes)
    return sorted((each for stream in streams for each in stream), key=lambda at: at.leaf_index)


def fault_leaves(evidence: Evidence, assessment: Assessment) -> tuple[int, ...]:
    """Return the leaves of the events at fault, in order: those of what was found, else that of the
    interruption.
    """
    found = {
        finding.leaf_index
        for finding in assessment.findings
        if finding.leaf_index is not None and KINDS[finding.code].shows != "sound"
    }
    lost = (
        each.leaf_index for each in evidence.events if isinstance(each.event.data, ConnectionLost)
    )
    return tuple(sorted(found)) or tuple(islice(lost, 1))


def circumstances(evidence: Evidence, opened: RoundOpened | None, zone: tzinfo) -> dict[str, str]:
    """Return what is known of the round's setting, as labels and texts."""
    if opened is None:
        return {"round": "it does not begin with a readable RoundOpened"}
    ended = evidence.events[-1].event
    over = isinstance(ended.data, RoundClosed | RoundVoided)
    told = {
        "opened": moment_words(evidence.events[0].event.at, zone),
        "ended" if over else "last event": moment_words(ended.at, zone),
        "player": opened.player,
        "currency": unit_words(unit_of(opened)),
        "money": "real money" if opened.mode == "real" else "play for fun",
    }
    optional = {
        "table": opened.table,
        "channel": opened.channel,
        "session": opened.session,
        "operator": opened.operator,
        "software build": opened.build,
    }
    return told | {label: text for label, text in optional.items() if text is not None}


def timeline(
    evidence: Evidence,
    replay: Replay | None,
    names: Mapping[str, str],
    faults: Collection[int],
    zone: tzinfo,
) -> tuple[TimelineRow, ...]:
    """Return every event about the round in words, with its clock, actor and signer."""
    currency = "" if replay is None else unit_of(replay.opened)
    steps = () if replay is None else replay.steps
    states = {step.recorded.leaf_index: step.state for step in steps}
    return tuple(
        TimelineRow(
            leaf_index=each.leaf_index,
            stream=each.event.stream,
            seq=each.event.seq,
            at=each.event.at,
            actor=actor_of(each.event.data),
            says=describe(each.event.data, states.get(each.leaf_index), currency, zone),
            signed_by=_name_of(each, names),
            is_fault=each.leaf_index in faults,
        )
        for each in everything(evidence)
    )


def _is_about(replay: Replay | None, recorded: Recorded) -> bool:
    """Tell whether an event of the service is about the round's game or table, or about all."""
    scope = getattr(recorded.event.data, "scope", None)
    if scope is None or replay is None:
        return True
    return scope in (replay.opened.table, None if replay.rules is None else replay.rules.id)


def offers(evidence: Evidence) -> tuple[Offer, ...]:
    """Return every offer, and what was chosen from it and by whom."""
    made: list[Offer] = []
    for place, each in enumerate(evidence.events):
        data = each.event.data
        if not isinstance(data, DecisionOffered):
            continue
        chosen = _answer(evidence.events[place + 1 :], data.hand)
        made.append(
            Offer(
                at=each.event.at,
                hand=data.hand,
                legal=tuple(data.legal),
                barred=data.barred,
                cash_out_minor=data.cash_out_minor,
                deadline=data.deadline,
                chosen=None if chosen is None else chosen.act,
                chosen_by=None if chosen is None else chosen.actor,
            )
        )
    return tuple(made)


def money(evidence: Evidence) -> Money:
    """Return the player's funds before and after, wagered and won (GLI-19 v3.0, 4.14.2)."""
    data = [each.event.data for each in everything(evidence)]
    funds = [each for each in (getattr(one, "funds", None) for one in data) if each is not None]
    balances = [each.balance_after_minor for each in funds]
    return Money(
        balance_before_minor=_before(funds),
        balance_after_minor=next((each for each in reversed(balances) if each is not None), None),
        wagered_minor=sum(map(_wagered, data)),
        won_minor=sum(each.paid_minor for each in data if isinstance(each, BetSettled)),
        returned_minor=sum(
            refund.amount_minor
            for each in data
            if isinstance(each, RoundVoided)
            for refund in each.refunds
        ),
        paid_by_decision_minor=moved_by(evidence.disputes).total(),
    )


def platform_decisions(evidence: Evidence, zone: tzinfo) -> tuple[str, ...]:
    """Return in sentences every decision the platform or its staff made for the player."""
    told = []
    for each in evidence.events:
        data, at = each.event.data, moment_words(each.event.at, zone)
        if isinstance(data, DecisionMade) and data.actor != "player":
            by = data.actor or "nobody named"
            why = f", because: {data.reason}" if data.reason else ", without a reason given"
            told.append(f"{at}: {data.hand} {data.act}, by {by}{why}")
        elif isinstance(data, RoundVoided):
            told.append(f"{at}: the round was voided: {data.reason}")
    return tuple(told)


def incident(
    evidence: Evidence, assessment: Assessment, replay: Replay | None, zone: tzinfo
) -> IncidentReport:
    """Return the incident notice for a regulator."""
    opened = None if replay is None else replay.opened
    about = [each for each in evidence.operations if _is_about(replay, each)]
    disabled = [each for each in about if isinstance(each.event.data, GameDisabled)]
    enabled = [each for each in about if isinstance(each.event.data, GameEnabled)]
    if not disabled:
        says = "the ledger records no GameDisabled of this game or table around this round"
    else:
        says = f"disabled at {moment_words(disabled[0].event.at, zone)}, "
        is_again = enabled and enabled[-1].leaf_index > disabled[-1].leaf_index
        again = f"enabled again at {moment_words(enabled[-1].event.at, zone)}" if is_again else ""
        says += again or "not enabled since"
    classes = ", ".join(each.replace("_", " ") for each in assessment.classes)
    side = "the operator's side failed" if assessment.operator_at_fault else "no operator's fault"
    return IncidentReport(
        summary=f"{classes}; {side}",
        rounds_affected=len(assessment.touched) + 1,
        software_build=None if opened is None else opened.build,
        table=None if opened is None else opened.table,
        game_disabled=says,
        operations=tuple(
            f"{moment_words(each.event.at, zone)}: {describe(each.event.data, None, '')}"
            for each in evidence.operations
        ),
    )


def _wagered(data: EventData) -> int:
    if isinstance(data, DealRequested):
        return stakes_minor(data.stakes)
    return data.added_stake_minor if isinstance(data, DecisionMade) else 0


def _answer(later: Iterable[Recorded], hand: str) -> DecisionMade | None:
    for each in later:
        data = each.event.data
        if isinstance(data, DecisionMade) and data.hand == hand:
            return data
        if isinstance(data, DecisionOffered):
            return None
    return None


def _before(funds: list[Funds]) -> int | None:
    for each in funds:
        if each.balance_after_minor is not None:
            return each.balance_after_minor - each.change_minor
    return None


def _name_of(recorded: Recorded, names: Mapping[str, str]) -> str:
    key = claimed_key_id(recorded.leaf)
    return names.get(key, key)
