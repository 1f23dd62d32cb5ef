"""The table as it stood at a moment, ready to be drawn; what nobody had seen stays face down."""

from audit_reports.case_report.model import HandView, TableView
from replay.engine.round import DEALER
from replay.narrative import dealer_cards, dealer_total, hand_total
from replay.replayer import Replay, Step


def table_views(replay: Replay, fault_leaf: int | None) -> tuple[TableView, ...]:
    """Return the table at the time of the fault and at the end, once where those are the same.

    `fault_leaf` is the leaf of the event at fault, None where there is none. A round before its
    first card has no table.
    """
    dealt = [step for step in replay.steps if step.state is not None and step.state.dealt]
    if not dealt:
        return ()
    ended = "at the end" if replay.ending is not None else "as the round stands"
    last = _view(ended if replay.judged else "as far as the play can be followed", dealt[-1])
    before = [step for step in dealt if step.recorded.leaf_index <= (fault_leaf or -1)]
    if not before or before[-1].state is dealt[-1].state:
        return (last,)
    return (_view("at the time of the fault", before[-1]), last)


def _view(label: str, step: Step) -> TableView:
    state = step.state
    assert state is not None
    total = dealer_total(state.dealer) if state.dealer.count else ""
    dealer = HandView(DEALER, dealer_cards(state), total, None)
    hands = tuple(
        HandView(held.name, held.cards, hand_total(held.hand), held.stake_minor)
        for held in state.hands
    )
    return TableView(label, step.recorded.leaf_index, dealer, hands)
