"""The round bet by bet as the remedy that governs has it, and what a decision paid for each."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from shoeproof.audit_reports.case_report.model import ReportedBet, Sums
from shoeproof.audit_reports.case_report.words import ground_words
from shoeproof.ledger import Recorded
from shoeproof.ledger.leaf.events import (
    Awarded,
    BetResettled,
    BetSettled,
    EventData,
    Refunded,
    RoundClosed,
    RoundVoided,
)
from shoeproof.replay.cases.assessment import Assessment
from shoeproof.replay.cases.case import Case
from shoeproof.replay.disputes.facts import Facts
from shoeproof.replay.rounds.money_check import Bet

_ENDING: Final = (RoundClosed, RoundVoided)


def moved_by(events: Iterable[Recorded]) -> Counter[Bet | None]:
    """Return what the events of one decision paid by bet, as a sum beside all bets by None."""
    moved: Counter[Bet | None] = Counter()
    for each in events:
        for bet, minor in _payments(each.event.data):
            moved[bet] += minor
    return moved


def bet_views(
    assessment: Assessment, moved: Counter[Bet | None], sums: Sums
) -> tuple[ReportedBet, ...]:
    """Return each bet by the remedy that governs, with what a decision paid for it."""
    governing = assessment.governing
    views = []
    for price in governing.bets:
        paid = moved[price.hand, price.bet]
        views.append(
            ReportedBet(
                seat=price.seat,
                hand=price.hand,
                bet=price.bet,
                stake_minor=price.stake_minor,
                paid_minor=price.paid_minor,
                due_minor=price.due_minor,
                moved_minor=paid,
                to_pay_minor=max(0, price.moves_minor - paid) if sums.due_minor else 0,
                line=price.line,
                ground=price.ground,
                why=ground_words(
                    price, is_referred=governing.name == "refer" and price.due_minor is None
                ),
                source=price.source,
                could_have=price.could_have,
            )
        )
    return tuple(views)


def sums_of(
    facts: Facts,
    assessment: Assessment,
    case: Case | None,
    cases: Sequence[Case],
    after: Sequence[Recorded],
) -> Sums:
    """Return what a round comes to.

    An adjudicator's decision settles all that was due; goodwill and a withdrawal settle none of it.
    `cases` are all about the round, `after` its events with those by which the decision ended it.
    """
    governing = assessment.governing
    moved, due = 0, governing.moves_minor
    if case is not None and case.state == "decided":
        decided = case.decisions[-1].data
        moved = decided.amount_minor
        if decided.reference is not None:
            due = 0
        elif decided.remedy not in ("goodwill", "withdraw"):
            due = max(0, due - moved)
    ending = next((e for each in after if isinstance(e := each.event.data, _ENDING)), None)
    open_bets = (price for price in governing.bets if price.due_minor is None)
    return Sums(
        paid_minor=sum(price.paid_minor or 0 for price in governing.bets) + moved,
        due_minor=due,
        moved_minor=moved,
        corrected_minor=sum(
            each.moved_minor for each in cases if each.id == assessment.corrected_by
        ),
        held_minor=facts.hold.waits_minor,
        in_play_minor=0 if ending else sum(price.stake_minor for price in open_bets),
        currency=facts.currency,
        is_open=ending is None,
        is_void=isinstance(ending, RoundVoided),
        is_dealt=facts.is_dealt,
        is_shown=facts.shows_payments,
    )


def _payments(data: EventData) -> Iterable[tuple[Bet | None, int]]:
    match data:
        case BetResettled():
            yield (data.hand, data.bet), data.paid_minor - data.paid_before_minor
        case Refunded():
            yield (data.hand, data.bet), data.amount_minor
        case BetSettled():
            yield (data.hand, data.bet), data.paid_minor
        case RoundVoided(refunds=refunds):
            yield from (((each.hand, each.bet), each.amount_minor) for each in refunds)
        case Awarded(hand=str(hand), bet=str(bet)):
            yield (hand, bet), data.amount_minor
        case Awarded():
            yield None, data.amount_minor
