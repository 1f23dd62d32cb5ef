"""A recorded round decomposed: the moves and the payments of its events."""

from collections import Counter
from collections.abc import Iterator

from shoeproof.ledger.leaf.events import (
    BetSettled,
    CardDealt,
    DealerChecked,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    EventData,
    HoleCardShown,
    RoundClosed,
)
from shoeproof.replay.engine.cards import FACE_DOWN
from shoeproof.replay.engine.round import (
    NATURAL,
    NO_NATURAL,
    Deal,
    RoundState,
    Settle,
    apply,
    open_round,
)
from shoeproof.replay.errors import IllegalMove
from shoeproof.replay.luck.one_round import Decomposition, Symbol, decompose
from shoeproof.replay.rounds.replayer import Replay


def decompose_replay(replay: Replay) -> Decomposition | None:
    """Decompose a closed round; None for one that is void, open, or cannot be followed.

    A round in which a move is missing, or one was made that the rules do not allow, cannot be
    followed: what should have come instead is unknown. A wrong settlement is the bet's error.
    """
    state, requested = replay.state, replay.requested
    if not isinstance(replay.ending, RoundClosed) or not replay.judged:
        return None
    if state is None or requested is None or not isinstance(state.due, Settle):
        return None
    first = open_round(state.rules, requested.stakes)
    try:
        return decompose(first, symbols_of(replay, first), _paid(replay))
    except (IllegalMove, ValueError):
        return None


def symbols_of(replay: Replay, first: RoundState) -> Iterator[Symbol]:
    """Yield the moves that the events of a round made, with the values at which hands were sold.

    Raises IllegalMove at an event that made a move other than its own, as where the replayer filled
    in what is missing before it.
    """
    before = first
    shown_minor: int | None = None
    for step in replay.steps:
        data, after = step.recorded.event.data, step.state
        if isinstance(data, DecisionOffered):
            shown_minor = data.cash_out_minor
        if after is None or after is before:
            continue
        if isinstance(data, DealRequested):
            before = after
            continue
        symbol = _symbol(data, before, shown_minor)
        if symbol is None or apply(before, *symbol) != after:
            raise IllegalMove(f"{type(data).__name__} is not all that happened")
        yield symbol
        before = after


def _symbol(data: EventData, before: RoundState, shown_minor: int | None) -> Symbol | None:
    match data:
        case CardDealt(card=card):
            down = isinstance(before.due, Deal) and before.due.down
            return (FACE_DOWN if down or not isinstance(card, str) else card), None
        case DealerChecked(natural=natural):
            return (NATURAL if natural else NO_NATURAL), None
        case HoleCardShown(card=card):
            return card, None
        case DecisionMade(act=act):
            return act, shown_minor
    return None


def _paid(replay: Replay) -> Counter[tuple[str, str]]:
    # A bet that was settled twice was paid twice.
    paid: Counter[tuple[str, str]] = Counter()
    for step in replay.steps:
        data = step.recorded.event.data
        if isinstance(data, BetSettled):
            paid[data.hand, data.bet] += data.paid_minor
    return paid
