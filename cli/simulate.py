"""`simulate`: recorded rounds by a simulated player."""

from typing import Annotated

import typer

from cli.errors import UsageError
from cli.options import JsonOption, LedgerOption, open_to_write
from cli.render import amount, console, print_json, progress_bar
from cli.tables import even_stakes, table_settings
from replay.catalogue import current_rules
from replay.players import PLAYERS, make_player
from replay.simulation import simulate


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("simulate")(simulate_command)


def simulate_command(
    game: Annotated[str, typer.Argument(help="zappit, zero or nba, or a variant's id.")],
    path: LedgerOption = None,
    rounds: Annotated[int, typer.Option(min=1, help="How many rounds.")] = 1000,
    seed: Annotated[int, typer.Option(help="The player's choices follow from it.")] = 1,
    player: Annotated[str, typer.Option(help=f"{', '.join(PLAYERS)}.")] = "basic",
    seats: Annotated[int, typer.Option(min=1, help="How many seats to play.")] = 1,
    stake: Annotated[int, typer.Option(help="The main stake of each seat, minor units.")] = 1000,
    side_stake: Annotated[int, typer.Option(help="The stake of each side bet, if any.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Play and record rounds by a simulated player; the shoes are fresh each time."""
    if player not in PLAYERS:
        raise UsageError(f"unknown player {player!r}; there are {', '.join(PLAYERS)}")
    with open_to_write(path) as ledger:
        rules = current_rules(ledger, game)
        settings = table_settings(rules)
        stakes = even_stakes(rules, seats=seats, stake_minor=stake, side_stake_minor=side_stake)
        with progress_bar() as bar:
            task = bar.add_task(f"playing {game}", total=rounds)
            result = simulate(
                ledger,
                rules,
                settings,
                stakes,
                make_player(player, seed),
                rounds,
                lambda done: bar.update(task, completed=done),
            )
    if as_json:
        print_json(result)
        return
    staked = amount(result.staked_minor, settings.currency)
    paid = amount(result.paid_minor, settings.currency)
    console().print(
        f"Recorded {result.rounds:,} round{'s' * (result.rounds != 1)} of {game} "
        f"({result.events:,} events) by the {player} player: staked {staked}, paid {paid}"
    )
