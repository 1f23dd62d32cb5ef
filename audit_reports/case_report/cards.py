"""The table as it stood at a moment, ready to be drawn, and the card in dispute marked on it.

What nobody had seen stays face down.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from shoeproof.audit_reports.case_report.model import DisputedCard, ReportedHand, TableView
from shoeproof.audit_reports.pages.cards import card_words
from shoeproof.ledger.leaf.events import CardDealt, DealerChecked, HoleCardShown
from shoeproof.replay.disputes.facts import Facts
from shoeproof.replay.engine.cards import FACE_DOWN, VALUE
from shoeproof.replay.engine.round import DEALER, RoundState
from shoeproof.replay.errors import ShoeError
from shoeproof.replay.rounds.narrative import dealer_cards, dealer_total, hand_total
from shoeproof.replay.rounds.replayer import Replay, Step

AT_FAULT: Final = "at the time of the fault"


class CardPlace(NamedTuple):
    """Where a card lies: in whose hand, and its 0-based place there."""

    hand: str
    card: int


def table_views(
    replay: Replay, fault_leaf: int | None, mark: CardPlace | None
) -> tuple[TableView, ...]:
    """Return the table at the time of the fault and at the end, once where those are the same.

    `fault_leaf` is the leaf of the event at fault, None where there is none, and `mark` the place
    of the card in dispute. A round before its first card has no table.
    """
    dealt = [step for step in replay.steps if step.state is not None and step.state.dealt]
    if not dealt:
        return ()
    ended = "at the end" if replay.ending is not None else "as the round stands"
    label = ended if replay.judged else "as far as the play can be followed"
    last = _view(label, dealt[-1], mark)
    before = [step for step in dealt if step.recorded.leaf_index <= (fault_leaf or -1)]
    if not before or before[-1].state is dealt[-1].state:
        return (last,)
    return (_view(AT_FAULT, before[-1], mark), last)


def card_in_dispute(facts: Facts, fault_leaves: Sequence[int]) -> DisputedCard | None:
    """Return the first card that was dealt, shown or looked at by an event at fault."""
    steps = () if facts.replay is None else facts.replay.steps
    for step in steps:
        leaf_index, data = step.recorded.leaf_index, step.recorded.event.data
        if leaf_index not in fault_leaves:
            continue
        if isinstance(data, CardDealt):
            card = data.card if isinstance(data.card, str) else FACE_DOWN
            receiver: str = data.receiver
            index: int | None = data.shoe_index
        elif isinstance(data, HoleCardShown | DealerChecked) and facts.replay is not None:
            card = data.card if isinstance(data, HoleCardShown) else facts.replay.hole or FACE_DOWN
            receiver, index = DEALER, facts.replay.hole_index
        else:
            continue
        due = _in_shoe(facts, index)
        texts = [each.text for each in facts.findings if each.leaf_index == leaf_index]
        says = _says(card, due, receiver) or f"{'; '.join(texts)}."
        return DisputedCard(leaf_index, receiver, index, card, due, says)
    return None


def place_of(replay: Replay, disputed: DisputedCard) -> CardPlace | None:
    """Return where the card in dispute lies, None where play could not be followed to it."""
    if disputed.receiver == DEALER and disputed.shoe_index == replay.hole_index:
        # The hole card lies beside the up card, whichever was dealt first.
        return CardPlace(DEALER, 1)
    for step in replay.steps:
        if step.recorded.leaf_index == disputed.leaf_index and step.state is not None:
            return CardPlace(disputed.receiver, len(_cards_of(step.state, disputed.receiver)) - 1)
    return None


def _view(label: str, step: Step, mark: CardPlace | None) -> TableView:
    state = step.state
    assert state is not None
    total = dealer_total(state.dealer) if state.dealer.count else ""
    cards = dealer_cards(state)
    dealer = ReportedHand(DEALER, cards, total, None, _marked(mark, DEALER, cards))
    hands = tuple(
        ReportedHand(
            held.name,
            held.cards,
            hand_total(held.hand),
            held.stake_minor,
            _marked(mark, held.name, held.cards),
        )
        for held in state.hands
    )
    return TableView(label, step.recorded.leaf_index, dealer, hands)


def _marked(mark: CardPlace | None, hand: str, cards: Sequence[str]) -> int | None:
    """Return the place of the marked card in a hand; a split takes it to one of the halves."""
    if mark is None:
        return None
    name, place = mark
    if hand.startswith(f"{name}."):
        name, place = f"{name}.{place + 1}", 0
    return place if hand == name and 0 <= place < len(cards) else None


def _cards_of(state: RoundState, receiver: str) -> Sequence[str]:
    if receiver == DEALER:
        return dealer_cards(state)
    return next((held.cards for held in state.hands if held.name == receiver), ())


def _says(card: str, due: str | None, receiver: str) -> str | None:
    """Say in plain words that a card is not the one of the shoe; None where it is."""
    if due is None or card == due or card not in VALUE:
        return None
    to = "was the dealer's" if receiver == DEALER else f"was dealt to hand {receiver}"
    return f"The {card_words(card)} {to}; the committed shoe has the {card_words(due)} there."


def _in_shoe(facts: Facts, index: int | None) -> str | None:
    if facts.shoe is None or index is None:
        return None
    try:
        return facts.shoe[index]
    except ShoeError:
        return None
