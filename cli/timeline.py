"""One line of text for each event of a round."""

from rich.text import Text

from cli.render import amount, cards_text, plain
from ledger.events import (
    BetSettled,
    CardDealt,
    ConnectionLost,
    ConnectionRestored,
    DealerChecked,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    EventData,
    HoleCardShown,
    InputRefused,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    ShoeCommitted,
    ShoeRevealed,
    StakesPlaced,
    ViewAcknowledged,
)
from replay.engine.cards import FACE_DOWN
from replay.engine.round import DEALER, RoundState
from replay.replayer import Step


def actor_of(data: EventData) -> str:
    """Return who acted: the player, the dealer, or the system."""
    match data:
        case StakesPlaced() | DealRequested() | InputRefused() | ViewAcknowledged():
            return "player"
        case DecisionMade(actor=actor):
            return actor or "NOBODY"
        case CardDealt() | DealerChecked() | HoleCardShown():
            return "dealer"
    return "system"


def describe_event(step: Step, opened: RoundOpened) -> Text:
    """Return in one line what an event says, with the running total after a card."""
    currency = opened.currency
    data = step.recorded.event.data
    match data:
        case CardDealt(card=str(card), receiver=receiver):
            return Text.assemble(
                f"{plain(receiver)} gets ",
                cards_text([card]),
                (_total(step.state, receiver), "dim"),
            )
        case CardDealt(receiver=receiver):
            return Text.assemble(f"{plain(receiver)} gets ", cards_text([FACE_DOWN]), " face down")
        case HoleCardShown(card=card):
            return Text.assemble(
                "shows the hole card ", cards_text([card]), (_total(step.state, DEALER), "dim")
            )
        case DecisionOffered():
            return _offer(data, currency)
        case DecisionMade():
            return _decision(data, currency)
    return Text(plain(_in_words(data, currency)))


def _in_words(data: EventData, currency: str) -> str:
    match data:
        case RoundOpened(rules_digest=digest):
            return f"round opened under rules {digest[:16]}…"
        case ShoeCommitted(commitment=commitment):
            return f"shoe committed to, {commitment[:16]}…"
        case ShoeRevealed(seed=seed):
            return f"server seed revealed, {seed[:16]}…"
        case StakesPlaced(stakes=stakes):
            return f"places {_stakes(stakes, currency)}"
        case DealRequested(stakes=stakes, client_seed=client_seed):
            seed = f", client seed {client_seed}" if client_seed else ""
            return f"stakes {_stakes(stakes, currency)}{seed}"
        case InputRefused(input=text, reason=reason):
            return f"input {text!r} refused: {reason}"
        case DealerChecked(natural=natural):
            return f"checks the hole card: {'a natural' if natural else 'no natural'}"
        case BetSettled():
            paid = f"{amount(data.stake_minor, currency)} → {amount(data.paid_minor, currency)}"
            return f"settles {data.bet} of {data.hand}: {paid} ({data.line})"
        case RoundClosed():
            staked = amount(data.total_staked_minor, currency)
            return f"round closed: staked {staked}, paid {amount(data.total_paid_minor, currency)}"
        case RoundVoided(reason=reason):
            return f"round voided: {reason}"
        case ViewAcknowledged(leaf_index=leaf_index):
            return f"device showed everything up to leaf {leaf_index}"
        case ConnectionLost() | ConnectionRestored():
            return f"{type(data).__name__}, cause {data.cause}"
    return type(data).__name__


def _offer(offer: DecisionOffered, currency: str) -> Text:
    text = Text(plain(f"offers {offer.hand}: {', '.join(offer.legal)}"))
    if offer.cash_out_minor is not None:
        text.append(f" (cash out pays {amount(offer.cash_out_minor, currency)})")
    for act, reason in offer.barred.items():
        text.append(plain(f" · {act} barred: {reason}"), "dim")
    return text


def _decision(made: DecisionMade, currency: str) -> Text:
    text = Text.assemble(f"{plain(made.hand)} ", (plain(made.act), "bold"))
    if made.added_stake_minor:
        text.append(f", stakes {amount(made.added_stake_minor, currency)} more")
    if made.reason:
        text.append(plain(f" ({made.reason})"))
    return text


def _stakes(stakes: dict[str, dict[str, int]], currency: str) -> str:
    parts = [
        f"{seat} {bet} {amount(minor, currency)}"
        for seat, bets in stakes.items()
        for bet, minor in bets.items()
    ]
    return ", ".join(parts)


def _total(state: RoundState | None, receiver: str) -> str:
    if state is None:
        return ""
    if receiver == DEALER:
        return f"  {'soft ' if state.dealer.soft else ''}{state.dealer.total}"
    for held in state.hands:
        if held.name == receiver:
            return f"  {'soft ' if held.hand.soft else ''}{held.hand.total}"
    return ""
