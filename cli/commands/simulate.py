"""`simulate`: recorded rounds by a simulated player."""

from typing import Annotated

import typer

from shoeproof.cli.errors import UsageError
from shoeproof.cli.input.options import JsonOption, LedgerOption, ZoneOption, open_to_write
from shoeproof.cli.input.rehearsal import AtOption, rehearsed_clock
from shoeproof.cli.input.tables import (
    GameArgument,
    SeatsOption,
    SideStakeOption,
    StakeOption,
    stakes_in_words,
    table_settings,
)
from shoeproof.cli.screen.render import amount, console, print_json, progress_bar
from shoeproof.ledger.leaf.clock import parse_time
from shoeproof.ledger.leaf.recorded import read_leaf
from shoeproof.replay.live.players import PLAYERS, make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.rounds.catalogue import current_rules
from shoeproof.replay.rounds.narrative import counted


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("simulate", epilog="Example: shoeproof simulate nba --rounds 200 --stake 5.00")(
        simulate_command
    )


def simulate_command(
    game: GameArgument,
    path: LedgerOption = None,
    rounds: Annotated[int, typer.Option(min=1, help="How many rounds.")] = 1000,
    seed: Annotated[int, typer.Option(help="The seed of the player's choices.")] = 1,
    player: Annotated[str, typer.Option(help=f"{', '.join(PLAYERS)}.")] = "basic",
    seats: SeatsOption = 1,
    stake: StakeOption = "10.00",
    side_stake: SideStakeOption = "0",
    players: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="How many players take turns.")
    ] = 1,
    name: Annotated[
        str,
        typer.Option(help="The player's name in the ledger; of several players NAME-1, NAME-2, …."),
    ] = "simulated",
    at: AtOption = None,
    zone: ZoneOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play and record rounds by a simulated player.

    The shoes are fresh each time. To rehearse a complaint, say whose rounds they are by --name and
    when they were played by --at: each step of a round then takes a second.
    """
    if player not in PLAYERS:
        raise UsageError(f"unknown player {player!r}; there are {', '.join(PLAYERS)}")
    clock = rehearsed_clock(at, zone)
    with open_to_write(path, clock) as ledger:
        began = parse_time(read_leaf(next(ledger.leaves(0, 1))).event.at)
        if clock is not None and clock() < began:
            raise UsageError(
                f"the ledger begins later, at {began:%FT%TZ}: make one with `init --at`"
            )
        rules = current_rules(ledger, game)
        settings = table_settings(rules)
        stakes = stakes_in_words(
            settings.unit, rules, seats=seats, stake=stake, side_stake=side_stake
        )
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
                [name] if players == 1 else [f"{name}-{each}" for each in range(1, players + 1)],
            )
    if as_json:
        print_json(result)
        return
    staked = amount(result.staked_minor, settings.unit)
    paid = amount(result.paid_minor, settings.unit)
    console().print(
        f"Recorded {counted(result.rounds, 'round')} of {game} "
        f"({result.events:,} events) by the {player} player: staked {staked}, paid {paid}"
    )
