"""Limits on initial stakes: they belong to the table and the moment, never to the rules."""

from collections.abc import Mapping
from typing import TypeAlias

from shoeproof.replay.currency import amount_text

Limits: TypeAlias = Mapping[str, tuple[int | None, int | None]]
"""Bet to its smallest and largest stake in minor units; None means no bound."""


def outside_limits(
    limits: Limits, stakes: Mapping[str, Mapping[str, int]], currency: str = ""
) -> list[str]:
    """Return one sentence for each stake below or above its bet's limit."""
    found = []
    for seat, bets in stakes.items():
        for bet, minor in bets.items():
            least, most = limits.get(bet, (None, None))
            sentence = f"the {bet} stake of {seat} is {amount_text(minor, currency)}"
            if least is not None and minor < least:
                found.append(f"{sentence}, the least is {amount_text(least, currency)}")
            if most is not None and minor > most:
                found.append(f"{sentence}, the most is {amount_text(most, currency)}")
    return found
