"""The assessment of one round: pure, from evidence and claim to verdict, answer and remedies."""

from collections.abc import Iterator, Sequence
from datetime import UTC, tzinfo

import msgspec

from shoeproof.ledger.findings import CLOCK_BACKWARDS
from shoeproof.ledger.leaf.events import (
    DecisionMade,
    InputRefused,
    ServiceStopped,
    ViewAcknowledged,
)
from shoeproof.replay.cases.assessment import Assessment, BetPrice, Claim, Class, Remedy, Verdict
from shoeproof.replay.cases.case import Case, fold_cases
from shoeproof.replay.cases.faults import FAULTS, KINDS, in_order
from shoeproof.replay.currency import amount_text
from shoeproof.replay.disputes.answers import ALL_MATCH, answer, clause, overpaid
from shoeproof.replay.disputes.evidence import Evidence
from shoeproof.replay.disputes.facts import Facts, classes_shown, establish
from shoeproof.replay.disputes.grounds import BetFacts, Ground, bets_of
from shoeproof.replay.disputes.readings import with_its_readings
from shoeproof.replay.disputes.remedies import Shown, price_remedies
from shoeproof.replay.disputes.screen import contradictions, differences, shown_bets, shown_minor
from shoeproof.replay.disputes.sources import NO_GAIN_BY_FAULT
from shoeproof.replay.disputes.verdict import bars_unproven, judge_claim, no_wallet, unanswered
from shoeproof.replay.findings import REFUSAL_WRONG
from shoeproof.replay.written.round_text import RoundText

_SAYS: dict[Class, str] = {
    "evidence_missing": "Evidence of this round is forged or missing, so it shows nothing for "
    "certain and counts against nobody.",
    "shoe_error": "The shoe cannot be shown to be the one committed to before the stakes.",
    "deal_error": "A card was not dealt as the shoe and the rules require.",
    "decision_error": "A decision was withheld, refused or not allowed, or the round was ended "
    "without a reason.",
    "system_decision_error": "The platform decided against its policy, or failed to decide.",
    "settlement_error": "The money moved is not what the rules pay for the cards dealt.",
    "held_win": "A win is held until a person has verified it.",
    "interrupted_unrecoverable": "The round was interrupted and cannot be resumed.",
    "interrupted_recoverable": "The round is open and can go on from where it stopped.",
    "screen_differs": "The screen showed something that the ledger does not record.",
    "sound": ALL_MATCH,
}


def assess(
    evidence: Evidence,
    claim: Claim | None = None,
    shown: RoundText | None = None,
    zone: tzinfo = UTC,
) -> Assessment:
    """Return what the evidence comes to: verdict, answer, and every remedy priced bet by bet.

    `claim` is what the player says went wrong, None where nobody complained. `shown` is what the
    player's screen showed, as a `.round` text; `zone` is that of the times in the answer. `touched`
    is left empty: finding other rounds reads the ledger (`touched.with_touched`). Never raises for
    evidence that is forged, missing or contradicts itself: that is what it tells of.
    """
    return assess_facts(establish(evidence), claim, shown, zone)


def assess_facts(
    facts: Facts,
    claim: Claim | None = None,
    shown: RoundText | None = None,
    zone: tzinfo = UTC,
) -> Assessment:
    """Return the assessment of established facts, as `assess` does."""
    evidence, bets = facts.evidence, bets_of(facts)
    case = _deciding(evidence)
    if case is not None and case.decisions[-1].data.reference is not None and not facts.is_open:
        bets = tuple(map(_settled_by_adjudicator, bets))
    owes = any(bet.moves_minor for bet in bets)
    classes = classes_shown(facts, owes=owes)
    differing = [] if shown is None else differences(facts, bets, shown)
    if differing:
        classes = in_order((*classes, "screen_differs"))
    on_screen = () if shown is None else _on_screen(facts, bets, shown)
    in_all = None if shown is None else shown_minor(facts, shown)
    remedies = tuple(
        _with_readings(facts, bets, each)
        for each in price_remedies(facts, bets, Shown(in_all) if differing else None)
    )
    governing = next(each for each in remedies if each.governs)
    is_corrected = case is not None and not facts.is_open and not governing.moves_minor
    corrected_by = case.id if case is not None and is_corrected else None
    verdict = judge_claim(facts, bets, classes, governing, claim, is_differing=bool(differing))
    if case is not None and corrected_by is not None:
        verdict = _as_decided(verdict, case, claim)
    return Assessment(
        round=evidence.round_id,
        size=evidence.size,
        claim=claim,
        classes=classes,
        verdict=verdict,
        answer=answer(facts, bets, governing, claim, corrected_by=corrected_by, zone=zone),
        clause=clause(facts, bets, governing, claim),
        reasons=(
            *_reasons(facts, bets, classes, corrected_by),
            *differing,
            *_contradictions(facts, shown),
        ),
        findings=facts.findings,
        remedies=remedies,
        operator_at_fault=_is_at_fault(facts, classes),
        money_may_move=facts.is_trusted,
        corrected_by=corrected_by,
        shown_minor=in_all,
        shown_bets=on_screen,
        touched=(),
        lacks=tuple(
            dict.fromkeys(filter(None, (unanswered(facts, bets, claim), *_lacks(facts, bets))))
        ),
    )


def _with_readings(facts: Facts, bets: Sequence[BetFacts], remedy: Remedy) -> Remedy:
    priced = zip(bets, remedy.bets, strict=True)
    prices = tuple(with_its_readings(facts, bet, price) for bet, price in priced)
    return msgspec.structs.replace(remedy, bets=prices)


def _deciding(evidence: Evidence) -> Case | None:
    """Return the last case about the round whose decision put something right, or confirmed it."""
    cases = fold_cases(evidence.disputes, evidence.persons)
    decided = [
        case
        for case in cases
        if case.state == "decided" and case.decisions[-1].data.remedy not in ("resume", "withdraw")
    ]
    return decided[-1] if decided else None


def _as_decided(verdict: Verdict, case: Case, claim: Claim | None) -> Verdict:
    """Return the verdict on a claim about a round that a case put right.

    What was due and has been paid is no longer found; the claim was not unfounded all the same.
    """
    decided = case.decisions[-1].data.verdict
    if verdict != "rejected" or decided not in ("upheld", "partly_upheld"):
        return verdict
    return "upheld" if decided == "upheld" and claim == case.claim else "partly_upheld"


def _settled_by_adjudicator(bet: BetFacts) -> BetFacts:
    """Return a bet as an adjudicator's decision left it: the ledger makes nothing more due."""
    ground = Ground("corrected", bet.paid_minor or 0, NO_GAIN_BY_FAULT)
    return msgspec.structs.replace(bet, grounds=(ground,))


def _is_at_fault(facts: Facts, classes: Sequence[Class]) -> bool:
    held = any(KINDS[each.code].shows == "held_win" for each in facts.findings)
    return held or not FAULTS.isdisjoint(classes)


def _reasons(
    facts: Facts, bets: Sequence[BetFacts], classes: Sequence[Class], corrected_by: str | None
) -> Iterator[str]:
    """Yield what was found, in sentences an agent can pass on."""
    if corrected_by is not None:
        yield f"what was due was decided by case {corrected_by}: this is what is left besides"
    for each in classes:
        # What a case paid is not as the round paid it, though nothing is wrong any more.
        if each != "screen_differs" and (each != "sound" or corrected_by is None):
            yield _SAYS[each]
            yield from (f.text for f in facts.findings if KINDS[f.code].shows == each != "sound")
    for note in (f for f in facts.findings if KINDS[f.code].shows == "sound"):
        if note.code == CLOCK_BACKWARDS:
            yield (
                f"{note.text}: the order of the ledger decides, and the event counts at the "
                "latest time recorded before it"
            )
        else:
            yield f"{note.text}: this changed no card, no decision and no payment"
    yield from _of_inputs(facts)
    yield from overpaid(facts, bets)
    if facts.hold.waits_minor:
        held = amount_text(facts.hold.waits_minor, facts.currency)
        yield f"{held} of the win is held and not lost"


def _of_inputs(facts: Facts) -> Iterator[str]:
    """Yield what was decided for the player, and what was refused."""
    for recorded in facts.decided_for_player:
        made = recorded.event.data
        if isinstance(made, DecisionMade):
            yield f"the {made.actor} decided {made.act} for {made.hand} at {recorded.event.at}"
    wrong = {fault.seq for fault in facts.faults if fault.code == REFUSAL_WRONG}
    for recorded in facts.evidence.events:
        refused = recorded.event.data
        if isinstance(refused, InputRefused) and recorded.event.seq not in wrong:
            late = ": the ledger's time counts, not the device's" * (refused.reason == "late")
            sentence = f"{refused.input!r} was refused as {refused.reason}"
            yield f"{sentence} at {recorded.event.at}{late}"


def _contradictions(facts: Facts, shown: RoundText | None) -> list[str]:
    rules = None if facts.replay is None else facts.replay.rules
    return [] if shown is None else contradictions(shown, rules, facts.currency)


def _on_screen(facts: Facts, bets: Sequence[BetFacts], shown: RoundText) -> tuple[BetPrice, ...]:
    recorded = {(bet.hand, bet.bet): bet.paid_minor for bet in bets}
    return tuple(
        BetPrice(
            each.seat, each.hand, each.bet, each.stake_minor, recorded.get(bet), each.paid_minor,
            each.line,
        )
        for bet, each in shown_bets(facts, shown).items()
    )  # fmt: skip


def _lacks(facts: Facts, bets: Sequence[BetFacts]) -> Iterator[str]:
    """Yield what the ledger cannot show of this round."""
    evidence = facts.evidence
    last = max((each.leaf_index for each in evidence.events), default=-1)
    if evidence.covered <= last:
        yield (
            f"the last checkpoint covers {evidence.covered} leaves but not the whole of "
            "this round: nobody outside holds proof of it yet"
        )
    if facts.opened is not None and facts.policy is None:
        yield "the ledger lacks the policy of this round, so its deadlines cannot be checked"
    if facts.waits_for is not None:
        yield "the cards to come are sealed, so how play would end is not known"
    yield from filter(None, (no_wallet(facts, bets), bars_unproven(facts)))
    leaves = {each.leaf_index for each in evidence.events}
    said = (each.event.data for each in evidence.events)
    # An acknowledgement of another round's leaf shows nothing about this one.
    if not any(isinstance(each, ViewAcknowledged) and each.leaf_index in leaves for each in said):
        yield "no device acknowledged what it showed: what the player saw is not recorded"
    if any(isinstance(each.event.data, ServiceStopped) for each in evidence.operations):
        yield "the service's stops are as the operator recorded them"
    yield "what happened to the player's own device and network is not recorded"
