"""The `shoeproof` command: every group of commands, and how errors reach the user."""

import sys
from importlib.metadata import version

import typer

from cli import (
    adjudicate,
    audit,
    bundle,
    case_report,
    checkpoint,
    demo,
    dispute,
    export,
    keys,
    ledger,
    play,
    project,
    publish,
    report,
    rounds,
    rtp,
    rules,
    shoe,
    shuffle_tests,
    simulate,
    sql,
    table,
    theory,
    witness,
)
from cli.errors import KNOWN, UsageError, exit_code, tell
from cli.render import READER_GONE

app = typer.Typer(
    name="shoeproof",
    help="Audit and replay RNG blackjack: every seed, card, decision and payment, signed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

for group in (
    ledger, checkpoint, publish, play, simulate, rounds, audit, adjudicate, rtp, project, sql,
    shuffle_tests, shoe, theory, demo,
):  # fmt: skip
    group.register(app)
app.add_typer(rules.app, name="rules")
app.add_typer(table.app, name="table")
app.add_typer(keys.app, name="keys")
app.add_typer(witness.app, name="witness")
app.add_typer(bundle.app, name="bundle")
case_report.register(dispute.app)
app.add_typer(dispute.app, name="dispute")
app.add_typer(report.app, name="report")
app.add_typer(export.app, name="export")


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
    stdout = sys.stdout
    try:
        for word in sys.argv[1:]:
            if not word.isascii() and not _is_text(word):
                raise UsageError(f"{word!r} is not text in UTF-8")
        app()
    except KNOWN as error:
        tell(error)
        sys.exit(exit_code(error))
    except SystemExit:
        # Typer puts another stdout in place when whoever read it has gone (`| head`), and then
        # exits with 1, which would say that there are findings.
        if sys.stdout is not stdout:
            sys.exit(READER_GONE)
        raise


def _is_text(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True
