"""A round in sentences: for each event, who acted and what it says.

Screens and reports print the same words. They are as recorded: the printing code makes what does
not print visible first (names are whatever somebody chose).
"""

from collections.abc import Mapping
from datetime import UTC, tzinfo
from typing import Final

from shoeproof.ledger.leaf.events import (
    AlarmClosed,
    AlarmInvestigated,
    AlarmRaised,
    Awarded,
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
from shoeproof.replay.currency import amount_text
from shoeproof.replay.engine.cards import FACE_DOWN, VALUE, pretty
from shoeproof.replay.engine.dealer import Dealer
from shoeproof.replay.engine.hand import Hand
from shoeproof.replay.engine.round import DEALER, RoundState, in_initial_deal
from shoeproof.replay.local_time import clock_text

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


BETS: Final = {
    "main": "the main bet",
    "insurance": "insurance",
    "perfect_pairs": "Perfect Pairs",
    "twenty_one_plus_three": "21+3",
}
"""What bets are called."""

LINES: Final = {
    "bust": "you went over 21, which loses",
    "both_natural": "both had blackjack, a push",
    "dealer_natural": "the dealer had blackjack, which beats you",
    "natural": "blackjack, which wins 3 to 2",
    "suited_natural": "a suited blackjack, which wins 2 to 1",
    "five_card_21": "21 with five cards, which wins 2 to 1",
    "dealer_bust": "the dealer went over 21, so you won",
    "dealer_22": "the dealer went over with 22, a push",
    "win": "your total was higher, so you won",
    "push": "the totals were equal, a push",
    "draw": "the totals were equal, a push",
    "loss": "the dealer's total was higher, so you lost",
    "lost": "it lost",
    "cash_out": "you sold the hand for the value shown",
    "even_money": "you took even money",
}
"""What the lines of settlement tables mean to a player."""


_VERDICTS: Final = {
    "upheld": "complaint upheld",
    "partly_upheld": "complaint upheld in part",
    "rejected": "complaint rejected",
    "inconclusive": "complaint not decided by the evidence",
}
_REMEDIES: Final = {
    "honour": "the result stands",
    "resume": "the round is restored and resumed",
    "apply_default": "the disclosed default is applied",
    "resettle": "each bet is paid what is due",
    "void": "the round is void and the stakes go back",
}

_IN_A_WORD: Final = {
    "honour": "result stands",
    "apply_default": "default applied",
    "resettle": "resettled",
    "resume": "resumed",
    "void": "voided",
    "refer": "referred",
    "award": "awarded",
    "withdraw": "withdrawn",
    "reject": "rejected",
    "uphold": "upheld",
}
_PAYS: Final = ("honour", "apply_default", "resettle")


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return how many there are of something: `1 round`, `1,100 rounds`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


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


def describe(data: EventData, state: RoundState | None, currency: str, zone: tzinfo = UTC) -> str:
    """Return in one sentence what an event says.

    `state` is the round after it, from which a card's receiver gets the running total, None where
    the play cannot be followed; `currency` is the round's. Times are as clocks
    of `zone` show them.
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
            return _offer(data, currency, zone)
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


def decision_words(decided: DisputeDecided, currency: str) -> str:
    """Return what a case decided and paid, in the round's `currency`."""
    amount = amount_text(decided.amount_minor, currency)
    match decided.remedy:
        case "refer":
            what = "referred to an adjudicator"
        case "withdraw":
            what = decided.clause
        case "award":
            what = f"{amount} awarded by an adjudicator"
        case "goodwill":
            what = f"{amount} given, {decided.clause}"
        case remedy:
            verdict = _VERDICTS.get(decided.verdict, decided.verdict)
            paid = f", {amount} paid" if decided.amount_minor else ""
            what = f"{verdict}, {_REMEDIES.get(remedy, remedy)}{paid}"
    reference = "" if decided.reference is None else f" (reference {decided.reference})"
    needed = f"; {decided.keys_needed} persons must sign" if decided.keys_needed > 1 else ""
    return f"{what}{reference}{needed}"


def decision_word(decided: DisputeDecided) -> str:
    """Return the decision in the word that staff use: rejected, paid, voided.

    A complaint is rejected where the evidence says so and the result is honoured; of one that the
    evidence leaves open, the result stands.
    """
    remedy = decided.remedy
    if remedy in _PAYS and decided.amount_minor:
        return "paid"
    if remedy == "honour" and decided.verdict == "rejected":
        return "rejected"
    return _IN_A_WORD.get(remedy, remedy.replace("_", " "))


def hand_total(hand: Hand) -> str:
    """Return a hand's total in words, `soft 18`, `natural`, `bust 24`."""
    if hand.over == "natural":
        return "natural"
    if hand.over == "bust":
        return f"bust {hand.total}"
    return f"soft {hand.total}" if hand.soft else str(hand.total)


def dealer_total(dealer: Dealer) -> str:
    """Return the dealer's total in words, `soft 17`, `natural`."""
    return "natural" if dealer.natural else f"{'soft ' if dealer.soft else ''}{dealer.total}"


def dealer_cards(state: RoundState) -> tuple[str, ...]:
    """Return the dealer's cards as they lie; the hole card is face down until it is shown."""
    hole_lies = state.dealer.count == 1 and not in_initial_deal(state)
    return (*state.dealer_cards, FACE_DOWN) if hole_lies else state.dealer_cards


def _record(data: EventData) -> str | None:
    """Describe events that begin or end a round or a case, or change an alarm."""
    match data:
        case RoundOpened(rules_digest=digest):
            return f"round opened under rules {digest[:16]}…"
        case ShoeCommitted(commitment=commitment):
            return f"shoe committed to, {commitment[:16]}…"
        case ShoeRevealed(seed=seed):
            return f"server seed revealed, {seed[:16]}…"
        case RoundVoided(reason=reason):
            return f"round voided: {reason}"
        case AlarmInvestigated(alarm=number, note=note):
            return f"alarm {number} investigated: {note}"
        case AlarmClosed(alarm=number, note=note):
            return f"alarm {number} closed: {note}"
        case DisputeOpened(claim=claim, note=note):
            return f"dispute opened, claim: {claim}{f' ({note})' if note else ''}"
    return None


def _money(data: EventData, currency: str) -> str | None:
    """Describe events that settle or move money."""
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
        case Awarded(amount_minor=minor):
            of_bet = "" if data.bet is None else f" for {data.bet} of {data.hand}"
            return f"pays {amount_text(minor, currency)} beyond what is due{of_bet}"
        case DisputeDecided():
            return f"dispute decided: {decision_words(data, currency)}"
    return None


def _incident(data: Incident) -> str:
    name = _INCIDENTS.get(type(data), type(data).__name__)
    cause = f"cause {data.cause}, {CAUSES.get(data.cause, 'not a known cause')}"
    scope = f" of {data.scope}" if data.scope else ""
    return f"{name}{scope}: {cause}{f' ({data.note})' if data.note else ''}"


def _offer(offer: DecisionOffered, currency: str, zone: tzinfo) -> str:
    parts = [f"offers {offer.hand}: {', '.join(offer.legal)}"]
    if offer.cash_out_minor is not None:
        parts.append(f" (cash out pays {amount_text(offer.cash_out_minor, currency)})")
    parts += [f" · {act} barred: {reason}" for act, reason in offer.barred.items()]
    if offer.deadline is not None:
        parts.append(f" · until {clock_text(offer.deadline, zone)[11:]} {zone}")
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
