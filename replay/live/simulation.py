"""Play and record many rounds by a simulated player.

The player's choices follow from the seed; the shoes are fresh each time, as at a live table.
"""

from collections.abc import Callable, Sequence

import msgspec

from shoeproof.ledger import Ledger
from shoeproof.replay.engine.round import Decide, Stakes
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.live.batch import Batch
from shoeproof.replay.live.players import Player
from shoeproof.replay.live.table import LiveTable, TableSettings

ROUNDS_A_BATCH = 100
"""Rounds written in one transaction; more save little time and lose more to a crash."""


class SimulationResult(msgspec.Struct, frozen=True):
    """What was played; amounts are minor units."""

    rounds: int
    events: int
    staked_minor: int
    paid_minor: int


def simulate(
    ledger: Ledger,
    rules: Rules,
    settings: TableSettings,
    stakes: Stakes,
    player: Player,
    rounds: int,
    progress: Callable[[int], None] | None = None,
    names: Sequence[str] = ("simulated",),
) -> SimulationResult:
    """Play `rounds` rounds with the same stakes and record them, many in one transaction.

    The players of the ledger's `names` take turns, and all choose as `player` does.
    `progress` is told how many rounds are recorded. Raises StakeRefused for stakes the table
    cannot take and InputRefusedError for a game out of service, before anything is recorded.
    """
    batch = Batch(ledger)
    table = LiveTable(ledger, rules, settings, journal=batch)
    table.check_in_service()
    table.check_stakes(stakes)
    events = staked = paid = 0
    for number in range(1, rounds + 1):
        live = table.open_round(names[(number - 1) % len(names)])
        live.deal(stakes)
        while isinstance(live.due, Decide) and live.state is not None:
            hand = live.due.hand
            live.decide(hand, player(live.state, hand, live.offered))
        staked += sum(bet.stake_minor for bet in live.settled)
        paid += sum(bet.paid_minor for bet in live.settled)
        if number % ROUNDS_A_BATCH == 0 or number == rounds:
            events += batch.flush()
            if progress is not None:
                progress(number)
    return SimulationResult(rounds, events, staked, paid)
