"""The assessment of one round: pure, from evidence and claim to verdict and remedies."""

from collections.abc import Iterator

import msgspec

from ledger.events import DecisionMade, InputRefused, ServiceStopped, ViewAcknowledged
from ledger.findings import CLOCK_BACKWARDS
from replay.currency import amount_text
from replay.disputes.assessment import Assessment, BetPrice, Claim, Class, Verdict
from replay.disputes.classify import CLASS_OF, COVERS, FAULTS, by_severity
from replay.disputes.evidence import Evidence
from replay.disputes.facts import Facts, establish
from replay.disputes.remedies import price_remedies
from replay.disputes.screen import differences, shown_bets
from replay.round_text import RoundText

_SAYS: dict[Class, str] = {
    "evidence_missing": "evidence of this round is forged or missing, so it shows nothing for "
    "certain and counts against nobody",
    "shoe_error": "the shoe cannot be shown to be the one committed to before the stakes",
    "deal_error": "a card was not dealt as the shoe and the rules have it",
    "decision_error": "a decision was not offered, not recorded, or not allowed",
    "system_decision_error": "the platform decided, or failed to, otherwise than its policy says",
    "settlement_error": "the money moved is not what the rules give on the cards dealt",
    "held_win": "a win is held until a person has verified it",
    "interrupted_unrecoverable": "the round was interrupted and cannot be taken up again",
    "interrupted_recoverable": "the round is open and can go on from where it stopped",
    "screen_differs": "the screen showed what the ledger does not say",
    "sound": "cards, decisions and payments are what the rules make of the shoe committed to",
}


def assess(
    evidence: Evidence, claim: Claim | None = None, shown: RoundText | None = None
) -> Assessment:
    """Return what the evidence comes to: classes, verdict, and every remedy priced bet by bet.

    `claim` is what the player says went wrong, None where nobody complained. `shown` is what the
    player's screen showed, as a `.round` text. `touched` is left empty: finding other rounds reads
    the ledger (`touched.with_touched`). Never raises for evidence that is forged, missing or
    contradicts itself: that is what it tells of.
    """
    facts = establish(evidence)
    differing = [] if shown is None else list(differences(facts, shown))
    if differing:
        classes = by_severity((*facts.classes, "screen_differs"))
        facts = msgspec.structs.replace(facts, classes=classes)
    on_screen = () if shown is None else _on_screen(facts, shown)
    shown_minor = None if shown is None else sum(bet.due_minor or 0 for bet in on_screen)
    remedies = price_remedies(facts, shown_minor if differing else None)
    moves = any(each.governs and each.moves_minor for each in remedies)
    verdict = _verdict(facts, claim, moves_money=moves)
    return Assessment(
        round=evidence.round_id,
        size=evidence.size,
        claim=claim,
        classes=facts.classes,
        verdict=verdict,
        reasons=(*_reasons(facts), *differing, _on_claim(facts, claim, verdict)),
        findings=facts.findings,
        remedies=remedies,
        operator_at_fault=_is_at_fault(facts),
        money_may_move=facts.decides != "evidence_missing",
        shown_minor=shown_minor,
        shown_bets=on_screen,
        touched=(),
        lacks=tuple(_lacks(facts)),
    )


def _verdict(facts: Facts, claim: Claim | None, *, moves_money: bool) -> Verdict:
    decides = facts.decides
    if decides == "evidence_missing":
        return "inconclusive"
    if not _has_fault(facts) and "screen_differs" in facts.classes:
        return "inconclusive"
    covered = COVERS[claim or "other"]
    if not covered.isdisjoint(facts.classes):
        return "upheld" if decides in covered else "partly_upheld"
    # Who is still owed money did not complain of nothing.
    return "partly_upheld" if _is_at_fault(facts) or moves_money else "rejected"


def _has_fault(facts: Facts) -> bool:
    return not FAULTS.isdisjoint(facts.classes)


def _is_at_fault(facts: Facts) -> bool:
    return _has_fault(facts) or any(CLASS_OF[each.code] == "held_win" for each in facts.findings)


def _reasons(facts: Facts) -> Iterator[str]:
    """Yield what was found, in sentences an agent can pass on."""
    for each in facts.classes:
        if each != "screen_differs":
            yield _SAYS[each]
            yield from (f.text for f in facts.findings if CLASS_OF[f.code] == each != "sound")
    notes = [f for f in facts.findings if CLASS_OF[f.code] == "sound"]
    for note in notes:
        if note.code == CLOCK_BACKWARDS:
            yield (
                f"{note.text}: the order of the ledger rules, and an event counts at the latest "
                "time before it"
            )
        else:
            yield f"{note.text}: this changed no card, no decision and no payment"
    yield from _of_inputs(facts)
    for bet in facts.bets:
        if bet.right_minor is not None and (bet.paid_minor or 0) > bet.right_minor:
            over = amount_text((bet.paid_minor or 0) - bet.right_minor, facts.currency)
            yield f"{bet.bet} of {bet.hand} was paid {over} too much, which is not debited"
    if facts.held_minor:
        yield f"{amount_text(facts.held_minor, facts.currency)} of the win is held and not lost"


def _of_inputs(facts: Facts) -> Iterator[str]:
    for recorded in facts.decided_for_player:
        made = recorded.event.data
        if isinstance(made, DecisionMade):
            yield f"the {made.actor} decided {made.act} for {made.hand} at {recorded.event.at}"
    for recorded in facts.evidence.events:
        refused = recorded.event.data
        if isinstance(refused, InputRefused):
            late = ": the ledger's time counts, not the device's" * (refused.reason == "late")
            sentence = f"{refused.input!r} was refused as {refused.reason}"
            yield f"{sentence} at {recorded.event.at}{late}"


def _on_claim(facts: Facts, claim: Claim | None, verdict: Verdict) -> str:
    what = "what was complained of" if claim is None else f"the claim of {_CLAIMS[claim]}"
    return {
        "upheld": f"{what} is borne out",
        "partly_upheld": f"{what} is borne out in part: something else went wrong",
        "rejected": f"{what} is not borne out",
        "inconclusive": f"{what} can neither be borne out nor refused by the ledger alone",
    }[verdict]


_CLAIMS: dict[Claim, str] = {
    "disconnection": "a disconnection",
    "malfunction": "a malfunction",
    "settlement": "a wrong payment",
    "fairness": "an unfair deal",
    "other": "something gone wrong",
}


def _on_screen(facts: Facts, shown: RoundText) -> tuple[BetPrice, ...]:
    recorded = {(bet.hand, bet.bet): bet.paid_minor for bet in facts.bets}
    return tuple(
        BetPrice(
            each.seat, each.hand, each.bet, each.stake_minor, recorded.get(bet), each.paid_minor,
            each.line,
        )
        for bet, each in shown_bets(facts, shown).items()
    )  # fmt: skip


def _lacks(facts: Facts) -> Iterator[str]:
    """Yield what the ledger cannot show of this round."""
    evidence = facts.evidence
    last = max((each.leaf_index for each in evidence.events), default=-1)
    if evidence.covered <= last:
        yield (
            f"the last checkpoint covers {evidence.covered} leaves and not this whole round: "
            "nobody outside holds proof of it yet"
        )
    if facts.opened is not None and facts.policy is None:
        yield "the round names no policy the ledger carries: no deadline of it can be checked"
    if facts.waits_for is not None:
        yield "the cards to come are sealed: what play would still decide is not known"
    leaves = {each.leaf_index for each in evidence.events}
    said = (each.event.data for each in evidence.events)
    # An acknowledgement of what is not this round's shows nothing of it.
    if not any(isinstance(each, ViewAcknowledged) and each.leaf_index in leaves for each in said):
        yield "no device acknowledged what it showed: what the player saw is not recorded"
    if any(isinstance(each.event.data, ServiceStopped) for each in evidence.operations):
        yield "the service's stops are as the operator recorded them"
    yield "what befell the player's own device and network is not recorded"
