"""What a round would have come to had its disclosed default been applied when it was due.

The round is played on by the engine from before the input that came too late, with the cards the
revealed seed gives: known only once the seed is revealed, and so never while a round is open.
"""

from collections.abc import Mapping, Sequence

from ledger import Recorded
from ledger.events import CardDealt
from replay.engine.cards import FACE_DOWN
from replay.engine.dealer import makes_natural
from replay.engine.hand import DECLINE
from replay.engine.outcomes import Outcome, outcomes
from replay.engine.round import NATURAL, NO_NATURAL, Check, Deal, Decide, RoundState, Settle, apply
from replay.engine.shoe import Shoe
from replay.errors import ShoeError
from replay.money_check import Bet
from replay.policies import Default
from replay.replayer import Replay
from replay.shoe_check import ShoeCheck


def default_outcomes(
    events: Sequence[Recorded], replay: Replay, default: Default, late_seq: int
) -> Mapping[Bet, Outcome] | None:
    """Return what each bet comes to under the default in place of the input at `late_seq`.

    `events` are the round's, as they were replayed. None where the seed is not revealed, or is not
    the one committed to, or play could not be followed to there.
    """
    before = [step for step in replay.steps if step.recorded.event.seq < late_seq]
    digest = replay.opened.rules_digest
    shoe = ShoeCheck(replay.round_id, digest, replay.rules, events).shoe
    state = before[-1].state if before else None
    if shoe is None or state is None:
        return None
    dealt = [step.recorded.event.data for step in before]
    places = [each.shoe_index for each in dealt if isinstance(each, CardDealt)]
    down = [
        each.shoe_index
        for each in dealt
        if isinstance(each, CardDealt) and not isinstance(each.card, str)
    ]
    try:
        final = _play_on(state, default, shoe, max(places, default=-1) + 1, down)
    except ShoeError:
        return None
    return {(each.hand, each.bet): each for each in outcomes(final)}


def _play_on(
    state: RoundState, default: Default, shoe: Shoe, next_index: int, down: list[int]
) -> RoundState:
    """Play to the end; `down` are the places of the cards that lie face down."""
    while not isinstance(due := state.due, Settle):
        if isinstance(due, Decide):
            symbol: str = default.insurance if DECLINE in due.legal else default.act
        elif isinstance(due, Deal):
            symbol = FACE_DOWN if due.down else shoe[next_index]
            down = [*down, next_index] if due.down else down
            next_index += 1
        elif isinstance(due, Check):
            natural = makes_natural(state.dealer, shoe[down[-1]])
            symbol = NATURAL if natural else NO_NATURAL
        else:
            symbol = shoe[down[-1]]
        state = apply(state, symbol)
    return state
