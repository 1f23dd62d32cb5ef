"""The `shoeproof` command: every group of commands, and how errors reach the user."""

import os
import sys
from importlib.metadata import version

import typer

from cli import audit, demo, ledger, play, rounds, rtp, rules, shoe, simulate
from cli.errors import KNOWN, exit_code, tell

app = typer.Typer(
    name="shoeproof",
    help="Audit and replay RNG blackjack: every seed, card, decision and payment, signed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

for group in (ledger, play, simulate, rounds, audit, rtp, shoe, demo):
    group.register(app)
app.add_typer(rules.app, name="rules")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"shoeproof {version('shoeproof')}")
        raise typer.Exit


@app.callback()
def main(
    show_version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version."
    ),
) -> None:
    """Audit and replay RNG blackjack: every seed, card, decision and payment, signed."""


def run() -> None:
    """Run the command line; the exit code is 0 sound, 1 findings, 2 usage, 3 not to be trusted."""
    try:
        app(standalone_mode=True)
    except KNOWN as error:
        if isinstance(error, BrokenPipeError):
            # The reader has gone (`| head`): nothing more can be told, not even at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        tell(error)
        sys.exit(exit_code(error))
