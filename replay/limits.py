"""Limits on initial stakes: they belong to the table and the moment, never to the rules."""

from collections.abc import Mapping
from typing import TypeAlias

Limits: TypeAlias = Mapping[str, tuple[int | None, int | None]]
"""Bet to its smallest and largest stake in minor units; None is no bound."""


def outside_limits(limits: Limits, stakes: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return one sentence for each stake below or above its bet's limit."""
    found = []
    for seat, bets in stakes.items():
        for bet, amount in bets.items():
            least, most = limits.get(bet, (None, None))
            if least is not None and amount < least:
                found.append(f"the {bet} stake of {seat} is {amount}, the least is {least}")
            if most is not None and amount > most:
                found.append(f"the {bet} stake of {seat} is {amount}, the most is {most}")
    return found
