"""Write a replayed round as `.round` text, so that it can be judged without the ledger."""

from ledger.events import CardDealt, DecisionMade, DecisionOffered
from replay.engine.cards import FACE_DOWN
from replay.engine.hand import CASH_OUT
from replay.errors import RoundTextError, RoundUnreadable
from replay.replayer import Replay
from replay.round_text import ActMove, DealMove, Move, read_round, write_round


def as_round_text(replay: Replay) -> str:
    """Return the round as round/v1 text, with what was paid as the expectation.

    Raises RoundUnreadable for a round in which nothing was dealt, whose rules are unknown, or in
    which something was recorded that is no card, act or stake.
    """
    if replay.requested is None or replay.rules is None:
        raise RoundUnreadable("nothing was dealt in this round: there is nothing to write down")
    text = write_round(
        replay.rules.id,
        replay.requested.stakes,
        moves_of(replay),
        {bet: settled.paid_minor for bet, settled in replay.settled.items()},
        source=f"round {replay.round_id}",
        currency=replay.opened.currency,
        rules_digest=replay.opened.rules_digest,
    )
    try:
        read_round(text.encode())
    except RoundTextError as error:
        raise RoundUnreadable(f"this round has no text in the format: {error}") from None
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
        elif isinstance(data, DecisionMade):
            shown = shown_minor if data.act == CASH_OUT else None
            moves.append(ActMove(data.hand, data.act, shown))
    return moves
