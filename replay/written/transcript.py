"""Write a replayed round as `.round` text, so that it can be judged without the ledger."""

from collections.abc import Sequence

from shoeproof.ledger.leaf.events import CardDealt, DecisionMade, DecisionOffered, RoundClosed
from shoeproof.replay.currency import unit_of
from shoeproof.replay.engine.cards import FACE_DOWN
from shoeproof.replay.engine.hand import CASH_OUT
from shoeproof.replay.engine.round import DEALER, Deal
from shoeproof.replay.errors import RoundTextError, RoundUnreadable
from shoeproof.replay.rounds.replayer import Replay
from shoeproof.replay.written.round_text import (
    ActMove,
    DealMove,
    Move,
    OfferMove,
    StopMove,
    read_round,
    write_round,
)


def as_round_text(replay: Replay) -> str:
    """Return the round as text, with what was paid as the expectation.

    It is round/v2, which holds what was offered, wherever a decision was due. Raises
    RoundUnreadable for a round in which nothing was dealt, whose rules are unknown, or in which
    something was recorded that is not a card, act or stake.
    """
    if replay.requested is None or replay.rules is None:
        raise RoundUnreadable("nothing was dealt in this round: there is nothing to write down")
    text = write_round(
        replay.rules.id,
        replay.requested.stakes,
        moves_of(replay),
        {bet: settled.paid_minor for bet, settled in replay.settled.items()},
        source=f"round {replay.round_id}",
        currency=unit_of(replay.opened),
        rules_digest=replay.opened.rules_digest,
    )
    try:
        read_round(text.encode())
    except RoundTextError as error:
        raise RoundUnreadable(f"this round cannot be written in the format: {error}") from None
    return text


def moves_of(replay: Replay) -> list[Move]:
    """Return the moves of a replayed round; a hole card never shown is written as unknown."""
    moves: list[Move] = []
    shown_minor: int | None = None
    for step in replay.steps:
        data = step.recorded.event.data
        if isinstance(data, CardDealt):
            if isinstance(data.card, str):
                moves.append(DealMove(data.receiver, data.card))
            else:
                moves.append(DealMove(data.receiver, replay.hole or FACE_DOWN, down=True))
        elif isinstance(data, DecisionOffered):
            shown_minor = data.cash_out_minor
            moves.append(_offer(data))
        elif isinstance(data, DecisionMade):
            shown = shown_minor if data.act == CASH_OUT else None
            moves.append(ActMove(data.hand, data.act, shown))
    if _stopped_short(replay, moves):
        moves.append(StopMove())
    return moves


def _offer(offered: DecisionOffered) -> OfferMove:
    barred = tuple(offered.barred.items())
    value = offered.cash_out_minor if CASH_OUT in offered.legal else None
    return OfferMove(offered.hand, tuple(offered.legal), barred, value)


def _stopped_short(replay: Replay, moves: Sequence[Move]) -> bool:
    """Tell whether the round was closed while the rules had the dealer draw on."""
    if not isinstance(replay.ending, RoundClosed) or replay.state is None:
        return False
    lying = len(replay.state.dealer_cards)
    dealt = sum(isinstance(move, DealMove) and move.receiver == DEALER for move in moves)
    return replay.state.due == Deal(DEALER) and lying == dealt >= 2
