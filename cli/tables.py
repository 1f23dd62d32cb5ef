"""The table that this command line is: what it records with the rounds played at it."""

from importlib.metadata import version

from ledger.events import Mode
from replay.engine.rules import Rules
from replay.games import GAMES
from replay.table import TableSettings

LEAST_STAKE_MINOR = 1
MOST_STAKE_MINOR = 1_000_000


def table_settings(rules: Rules, mode: Mode = "real") -> TableSettings:
    """Return a game's settings: the page's limits where it names some, wide ones elsewhere."""
    game = GAMES.get(rules.id)
    limits: dict[str, tuple[int | None, int | None]] = dict.fromkeys(
        rules.bets, (LEAST_STAKE_MINOR, MOST_STAKE_MINOR)
    )
    if game is not None:
        for bet, (least, most) in game.limits.items():
            limits[bet] = (least or LEAST_STAKE_MINOR, most or MOST_STAKE_MINOR)
    return TableSettings(
        limits=limits,
        currency="EUR" if game is None else game.currency,
        mode=mode,
        table="terminal",
        channel="command line",
        build=f"shoeproof {version('shoeproof')}",
    )
