"""A round told in sentences: for each event who acted and what it says.

Screens and reports print the same words. They are as recorded: whoever prints them makes what does
not print visible first (names are whatever somebody chose).
"""

from collections.abc import Mapping
from typing import Final

from ledger.events import (
    AlarmRaised,
    BetResettled,
    BetSettled,
    CardDealt,
    ConnectionLost,
    ConnectionRestored,
    DealerChecked,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    DisputeDecided,
    DisputeOpened,
    EventData,
    GameDisabled,
    GameEnabled,
    HoleCardShown,
    Incident,
    InputRefused,
    Refunded,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    ServiceStarted,
    ServiceStopped,
    ShoeCommitted,
    ShoeRevealed,
    StakesPlaced,
    ViewAcknowledged,
    WinHeld,
    WinReleased,
)
from replay.currency import amount_text
from replay.engine.cards import VALUE, pretty
from replay.engine.round import DEALER, RoundState

CAUSES: Final = {
    1: "complete",
    2: "loss of communication",
    3: "platform restart",
    4: "device restart",
    5: "client crash",
    6: "game disabled",
    7: "unknown",
}
"""What the cause codes of interruptions mean."""

_INCIDENTS: Final[dict[type[EventData], str]] = {
    ConnectionLost: "connection lost",
    ConnectionRestored: "connection restored",
    ServiceStopped: "service stopped",
    ServiceStarted: "service started",
    GameDisabled: "game disabled",
    GameEnabled: "game enabled",
    AlarmRaised: "alarm raised",
}


def actor_of(data: EventData) -> str:
    """Return who acted: the player, the dealer, staff or the system."""
    match data:
        case StakesPlaced() | DealRequested() | InputRefused() | ViewAcknowledged():
            return "player"
        case DecisionMade(actor=actor):
            return actor or "NOBODY"
        case CardDealt() | DealerChecked() | HoleCardShown():
            return "dealer"
    return "staff" if data.signer == "staff" else "system"


def describe(data: EventData, state: RoundState | None, currency: str) -> str:
    """Return in one sentence what an event says.

    `state` is the round after it, from which a card's receiver gets the running total, None where
    the play cannot be followed; `currency` is the round's.
    """
    match data:
        case CardDealt(card=str(card), receiver=receiver):
            return f"{receiver} gets {_card(card)}{_total(state, receiver)}"
        case CardDealt(receiver=receiver):
            return f"{receiver} gets a card face down"
        case HoleCardShown(card=card):
            return f"shows the hole card {_card(card)}{_total(state, DEALER)}"
        case DealerChecked(natural=natural):
            return f"checks the hole card: {'a natural' if natural else 'no natural'}"
        case DecisionOffered():
            return _offer(data, currency)
        case DecisionMade():
            return _decision(data, currency)
        case StakesPlaced(stakes=stakes):
            return f"places {_stakes(stakes, currency)}"
        case DealRequested(stakes=stakes, client_seed=client_seed):
            seed = f", client seed {client_seed}" if client_seed else ""
            return f"stakes {_stakes(stakes, currency)}{seed}"
        case InputRefused(input=text, reason=reason):
            return f"input {text!r} refused: {reason}"
        case ViewAcknowledged(leaf_index=leaf_index):
            return f"device showed everything up to leaf {leaf_index}"
        case Incident():
            return _incident(data)
    return _record(data) or _money(data, currency) or type(data).__name__


def _record(data: EventData) -> str | None:
    """Tell what begins and ends a round or a case."""
    match data:
        case RoundOpened(rules_digest=digest):
            return f"round opened under rules {digest[:16]}…"
        case ShoeCommitted(commitment=commitment):
            return f"shoe committed to, {commitment[:16]}…"
        case ShoeRevealed(seed=seed):
            return f"server seed revealed, {seed[:16]}…"
        case RoundVoided(reason=reason):
            return f"round voided: {reason}"
        case DisputeOpened(claim=claim, note=note):
            return f"dispute opened, claim: {claim}{f' ({note})' if note else ''}"
        case DisputeDecided(verdict=verdict, remedy=remedy):
            return f"dispute decided: {verdict}, remedy {remedy}"
    return None


def _money(data: EventData, currency: str) -> str | None:
    """Tell what money was settled or moved."""
    match data:
        case BetSettled():
            paid = amount_text(data.paid_minor, currency)
            staked = amount_text(data.stake_minor, currency)
            return f"settles {data.bet} of {data.hand}: {staked} → {paid} ({data.line})"
        case RoundClosed():
            staked = amount_text(data.total_staked_minor, currency)
            paid = amount_text(data.total_paid_minor, currency)
            return f"round closed: staked {staked}, paid {paid}"
        case WinHeld(amount_minor=minor, reason=reason):
            return f"holds a win of {amount_text(minor, currency)}: {reason}"
        case WinReleased(amount_minor=minor):
            return f"releases a held win of {amount_text(minor, currency)}"
        case BetResettled():
            before = amount_text(data.paid_before_minor, currency)
            after = amount_text(data.paid_minor, currency)
            return f"resettles {data.bet} of {data.hand}: {before} → {after} ({data.line})"
        case Refunded(amount_minor=minor):
            return f"refunds {amount_text(minor, currency)} of {data.bet} of {data.hand}"
    return None


def _incident(data: Incident) -> str:
    name = _INCIDENTS.get(type(data), type(data).__name__)
    cause = f"cause {data.cause}, {CAUSES.get(data.cause, 'not a known cause')}"
    scope = f" of {data.scope}" if data.scope else ""
    return f"{name}{scope}: {cause}{f' ({data.note})' if data.note else ''}"


def _offer(offer: DecisionOffered, currency: str) -> str:
    parts = [f"offers {offer.hand}: {', '.join(offer.legal)}"]
    if offer.cash_out_minor is not None:
        parts.append(f" (cash out pays {amount_text(offer.cash_out_minor, currency)})")
    parts += [f" · {act} barred: {reason}" for act, reason in offer.barred.items()]
    if offer.deadline is not None:
        parts.append(f" · until {offer.deadline[11:19]} UTC")
    return "".join(parts)


def _decision(made: DecisionMade, currency: str) -> str:
    added = made.added_stake_minor
    more = f", stakes {amount_text(added, currency)} more" if added else ""
    return f"{made.hand} {made.act}{more}{f' ({made.reason})' if made.reason else ''}"


def _stakes(stakes: Mapping[str, Mapping[str, int]], currency: str) -> str:
    return ", ".join(
        f"{seat} {bet} {amount_text(minor, currency)}"
        for seat, bets in stakes.items()
        for bet, minor in bets.items()
    )


def _card(card: str) -> str:
    return pretty(card) if card in VALUE else repr(card)


def _total(state: RoundState | None, receiver: str) -> str:
    if state is None:
        return ""
    if receiver == DEALER:
        return f", {'soft ' if state.dealer.soft else ''}{state.dealer.total}"
    for held in state.hands:
        if held.name == receiver:
            return f", {'soft ' if held.hand.soft else ''}{held.hand.total}"
    return ""
