"""What a turn comes to: where the round stands, what was decided, how a round ends. Pure."""

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from shoeproof.ledger.leaf.events import (
    BetSettled,
    ConnectionLost,
    ConnectionRestored,
    EventData,
    InputRefused,
    RoundClosed,
    ShoeRevealed,
    ViewAcknowledged,
    WinHeld,
)
from shoeproof.replay.engine.hand import Act
from shoeproof.replay.engine.outcomes import outcomes
from shoeproof.replay.engine.round import RoundState, Stakes

ASIDES: Final = (InputRefused, ViewAcknowledged, ConnectionLost, ConnectionRestored)
"""What may stand in a round at any time without changing its play."""


class Position(NamedTuple):
    """Where a dealt round stands: its state, its settlements and the acts on offer.

    Where it `is_unpaid` something was decided that the wallet is still to be asked for, and only
    then it is settled and the next decision offered.
    """

    state: RoundState
    settled: tuple[BetSettled, ...]
    offered: tuple[Act, ...]
    is_unpaid: bool = False


Made: TypeAlias = tuple[Position, list[EventData]]
"""A turn that was made up: where it leads, and its events."""


def newly_decided(state: RoundState, settled: tuple[BetSettled, ...]) -> list[BetSettled]:
    """Return the settlements of the bets that are decided and not settled yet."""
    done = {(bet.hand, bet.bet) for bet in settled}
    return [
        BetSettled(
            bet.seat, bet.hand, bet.bet, bet.stake_minor, bet.paid_minor, bet.line or "", None
        )
        for bet in outcomes(state)
        if bet.paid_minor is not None and (bet.hand, bet.bet) not in done
    ]


def ending(
    settled: tuple[BetSettled, ...], held_minor: int, round_id: str, seed: bytes | None
) -> Iterator[EventData]:
    """Yield the events that end a settled round; `seed` is None where it was revealed before."""
    if seed is not None:
        yield ShoeRevealed(seed.hex())
    if held_minor:
        yield WinHeld(round_id, held_minor, "the net win awaits verification")
    yield RoundClosed(
        sum(bet.stake_minor for bet in settled), sum(bet.paid_minor for bet in settled)
    )


def plain_stakes(stakes: Stakes) -> dict[str, dict[str, int]]:
    """Return stakes as events hold them."""
    return {seat: dict(bets) for seat, bets in stakes.items()}
