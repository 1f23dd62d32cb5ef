"""The facts of a case read off its evidence: who, when, what was offered, decided and paid."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from audit_reports.case_report.model import BetView, Incident, Money, Offer, TimelineRow
from ledger import Recorded
from ledger.envelope import claimed_key_id
from ledger.events import (
    OPERATIONS_STREAM,
    BetResettled,
    BetSettled,
    ConnectionLost,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    DisputeDecided,
    EventData,
    Funds,
    GameDisabled,
    GameEnabled,
    Refunded,
    RoundClosed,
    RoundOpened,
    RoundVoided,
)
from ledger.events import Incident as Interruption
from replay.disputes.assessment import Assessment
from replay.disputes.evidence import Evidence
from replay.narrative import actor_of, describe
from replay.replayer import Replay

_STARTS_A_FAULT: Final = (ConnectionLost,)


def everything(evidence: Evidence) -> list[Recorded]:
    """Return all events about the round, in the order of their leaves."""
    streams = (evidence.events, evidence.operations, evidence.holds, evidence.disputes)
    return sorted((each for stream in streams for each in stream), key=lambda at: at.leaf_index)


def fault_leaf(evidence: Evidence, assessment: Assessment) -> int | None:
    """Return the leaf of the first event at fault: the first finding's, else the interruption's."""
    of_findings = [
        finding.leaf_index for finding in assessment.findings if finding.leaf_index is not None
    ]
    if of_findings:
        return min(of_findings)
    return next(
        (
            each.leaf_index
            for each in everything(evidence)
            if isinstance(each.event.data, _STARTS_A_FAULT)
        ),
        None,
    )


def circumstances(
    evidence: Evidence, opened: RoundOpened | None, *, for_player: bool
) -> dict[str, str]:
    """Return what is known of the round's setting, as labels and texts."""
    told: dict[str, str] = {}
    if opened is None:
        return {"round": "it does not begin with a readable RoundOpened"}
    ended = evidence.events[-1].event
    over = isinstance(ended.data, RoundClosed | RoundVoided)
    told["opened"] = evidence.events[0].event.at
    told["ended" if over else "last event"] = ended.at
    told["player"] = opened.player
    told["currency"] = opened.currency
    told["money"] = "real money" if opened.mode == "real" else "play for fun"
    optional = {"table": opened.table, "channel": opened.channel, "session": opened.session}
    if not for_player:
        optional |= {"operator": opened.operator, "software build": opened.build}
    told |= {label: text for label, text in optional.items() if text is not None}
    return told


def timeline(
    evidence: Evidence,
    replay: Replay | None,
    names: Mapping[str, str],
    fault: int | None,
    *,
    for_player: bool,
) -> tuple[TimelineRow, ...]:
    """Return every event about the round in words, with its clock, actor and signer.

    A player is told of the service only what befell the round's own table or game while it lasted,
    without the operator's notes: they may name staff, or other players.
    """
    currency = "" if replay is None else replay.opened.currency
    steps = () if replay is None else replay.steps
    states = {step.recorded.leaf_index: step.state for step in steps}
    return tuple(
        TimelineRow(
            leaf_index=each.leaf_index,
            stream=each.event.stream,
            seq=each.event.seq,
            at=each.event.at,
            actor=actor_of(each.event.data),
            says=describe(
                _without_note(each.event.data) if for_player else each.event.data,
                states.get(each.leaf_index),
                currency,
            ),
            signed_by=each.event.data.signer if for_player else _name_of(each, names),
            is_fault=each.leaf_index == fault,
        )
        for each in everything(evidence)
        if not for_player or _befell(evidence, replay, each)
    )


def _befell(evidence: Evidence, replay: Replay | None, recorded: Recorded) -> bool:
    """Tell whether an event is the round's own, or befell its table or game while it lasted."""
    if recorded.event.stream != OPERATIONS_STREAM:
        return True
    if replay is None:
        return False
    first, last = evidence.events[0], evidence.events[-1]
    stop = evidence.size if replay.ending is None else last.leaf_index
    return first.leaf_index < recorded.leaf_index < stop and _is_about(replay, recorded)


def _is_about(replay: Replay | None, recorded: Recorded) -> bool:
    """Tell whether an event of the service is about the round's game or table, or about all."""
    scope = getattr(recorded.event.data, "scope", None)
    if scope is None or replay is None:
        return True
    return scope in (replay.opened.table, None if replay.rules is None else replay.rules.id)


def _without_note(data: EventData) -> EventData:
    return msgspec.structs.replace(data, note=None) if isinstance(data, Interruption) else data


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


def bet_views(replay: Replay | None, evidence: Evidence) -> tuple[BetView, ...]:
    """Return for each bet what the rules pay and what was paid."""
    if replay is None:
        return ()
    moved: dict[tuple[str, str], int] = {}
    for each in evidence.disputes:
        data = each.event.data
        if isinstance(data, BetResettled | Refunded):
            moved[data.hand, data.bet] = moved.get((data.hand, data.bet), 0) + _moved(data)
    views = []
    for bet in replay.expected:
        paid = replay.settled.get((bet.hand, bet.bet))
        views.append(
            BetView(
                seat=bet.seat,
                hand=bet.hand,
                bet=bet.bet,
                stake_minor=bet.stake_minor,
                expected_minor=bet.paid_minor if replay.judged else None,
                expected_line=bet.line if replay.judged else None,
                paid_minor=None if paid is None else paid.paid_minor,
                paid_line=None if paid is None else paid.line,
                moved_minor=moved.get((bet.hand, bet.bet), 0),
            )
        )
    return tuple(views)


def money(evidence: Evidence) -> Money:
    """Return the player's funds before and after, wagered and won (GLI-19 v3.0, 4.14.2)."""
    data = [each.event.data for each in everything(evidence)]
    funds = [each for each in (getattr(one, "funds", None) for one in data) if each is not None]
    wagered = sum(
        sum(sum(bets.values()) for bets in one.stakes.values())
        for one in data
        if isinstance(one, DealRequested)
    ) + sum(one.added_stake_minor for one in data if isinstance(one, DecisionMade))
    won = sum(one.paid_minor for one in data if isinstance(one, BetSettled))
    by_decision = sum(_moved(one) for one in data if isinstance(one, BetResettled | Refunded))
    return Money(
        balance_before_minor=_before(funds),
        balance_after_minor=next(
            (
                each.balance_after_minor
                for each in reversed(funds)
                if each.balance_after_minor is not None
            ),
            None,
        ),
        wagered_minor=wagered,
        won_minor=won,
        paid_by_decision_minor=by_decision,
    )


def platform_decisions(evidence: Evidence) -> tuple[str, ...]:
    """Return in sentences every decision the platform or its staff made for the player."""
    told = []
    for each in everything(evidence):
        data = each.event.data
        at = each.event.at
        if isinstance(data, DecisionMade) and data.actor != "player":
            by = data.actor or "nobody named"
            why = f", because: {data.reason}" if data.reason else ", without a reason given"
            told.append(f"{at}: {data.hand} {data.act}, by {by}{why}")
        elif isinstance(data, RoundVoided):
            told.append(f"{at}: the round was voided: {data.reason}")
        elif isinstance(data, DisputeDecided):
            told.append(f"{at}: the dispute was decided: {data.verdict}, {data.remedy}")
    return tuple(told)


def incident(evidence: Evidence, assessment: Assessment, replay: Replay | None) -> Incident:
    """Return the incident notice for a regulator."""
    opened = None if replay is None else replay.opened
    about = [each for each in evidence.operations if _is_about(replay, each)]
    disabled = [each for each in about if isinstance(each.event.data, GameDisabled)]
    enabled = [each for each in about if isinstance(each.event.data, GameEnabled)]
    if not disabled:
        says = "the ledger records no GameDisabled of this game or table around this round"
    elif enabled and enabled[-1].leaf_index > disabled[-1].leaf_index:
        says = f"disabled at {disabled[0].event.at}, enabled again at {enabled[-1].event.at}"
    else:
        says = f"disabled at {disabled[0].event.at}, not enabled since"
    classes = ", ".join(each.replace("_", " ") for each in assessment.classes)
    side = "the operator's side failed" if assessment.operator_at_fault else "no operator's fault"
    return Incident(
        summary=f"{classes}; {side}",
        rounds_affected=len(assessment.touched) + 1,
        software_build=None if opened is None else opened.build,
        table=None if opened is None else opened.table,
        game_disabled=says,
        operations=tuple(
            f"{each.event.at}: {describe(each.event.data, None, '')}"
            for each in evidence.operations
        ),
    )


def _answer(later: Iterable[Recorded], hand: str) -> DecisionMade | None:
    for each in later:
        data = each.event.data
        if isinstance(data, DecisionMade) and data.hand == hand:
            return data
        if isinstance(data, DecisionOffered):
            return None
    return None


def _moved(payment: BetResettled | Refunded) -> int:
    if isinstance(payment, Refunded):
        return payment.amount_minor
    return payment.paid_minor - payment.paid_before_minor


def _before(funds: list[Funds]) -> int | None:
    for each in funds:
        if each.balance_after_minor is not None:
            moved = each.cash_minor + each.incentive_minor
            return each.balance_after_minor + (moved if each.direction == "debit" else -moved)
    return None


def _name_of(recorded: Recorded, names: Mapping[str, str]) -> str:
    key = claimed_key_id(recorded.leaf)
    return names.get(key, key)
