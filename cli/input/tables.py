"""The table that this command line is: what it records with the rounds played at it."""

from importlib.metadata import version
from typing import Annotated

import typer

from shoeproof.cli.errors import UsageError
from shoeproof.cli.input.options import read_minor_units
from shoeproof.ledger.leaf.events import Mode
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.errors import StakeRefused
from shoeproof.replay.games.game import Game
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.live.table import TableSettings

GameArgument = Annotated[
    str, typer.Argument(metavar="GAME", help="zappit, zero or nba, or a variant's id.")
]
StakeOption = Annotated[
    str,
    typer.Option(metavar="AMOUNT", help="The main stake of each seat, in the table's currency."),
]
SideStakeOption = Annotated[
    str, typer.Option(metavar="AMOUNT", help="The stake of each side bet, 0 for none.")
]
SeatsOption = Annotated[int, typer.Option(min=1, metavar="N", help="How many seats to play.")]

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


def stakes_in_words(
    unit: str, rules: Rules, *, seats: int, stake: str, side_stake: str
) -> dict[str, dict[str, int]]:
    """Return the same stakes for each seat, of amounts of a currency's `unit` like `12.50`.

    Raises UsageError for text that is not an amount, and StakeRefused as `even_stakes` does.
    """
    return even_stakes(
        rules,
        seats=seats,
        stake_minor=read_minor_units(stake, unit),
        side_stake_minor=read_minor_units(side_stake, unit),
    )


def even_stakes(
    rules: Rules, *, seats: int, stake_minor: int, side_stake_minor: int
) -> dict[str, dict[str, int]]:
    """Return the same stakes for seats s1 to the last, each side bet of the game included.

    Raises StakeRefused for more seats than the table has, and for side stakes where there is no
    side bet.
    """
    if seats > rules.seats:
        raise StakeRefused(f"{rules.id} has {rules.seats} seats, not {seats}")
    if side_stake_minor and not rules.side_bets:
        raise StakeRefused(f"{rules.id} has no side bets")
    bets = {"main": stake_minor}
    if side_stake_minor:
        bets |= dict.fromkeys(rules.side_bets, side_stake_minor)
    return {f"s{number}": bets for number in range(1, seats + 1)}


def find_game(name: str) -> Game:
    """Return a published game; raise UsageError for an id that is none."""
    if name not in GAMES:
        raise UsageError(f"unknown game {name!r}; there are {', '.join(GAMES)}")
    return GAMES[name]
