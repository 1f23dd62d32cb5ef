"""The `shoeproof` command: its commands, each loaded when asked for, and how errors are told."""

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from shoeproof.cli.exit_codes import INTERRUPTED, READER_GONE, SOUND, USAGE
from shoeproof.cli.panels import PANELS
from shoeproof.cli.streams import are_for_machines, error_json


class _Commands(TyperGroup):
    """The commands as they are listed; the one that was asked for is loaded in its place."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that the first word names, loaded, and the other words."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, None if command is None or name is None else loaded(name), rest

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each command does, a section for each kind of user."""
        width = max(len(name) for name in self.commands)
        for panel, commands in PANELS.items():
            with formatter.section(panel):
                formatter.write_dl([(f"{each.name:<{width}}", each.says) for each in commands])


app = typer.Typer(
    name="shoeproof",
    cls=_Commands,
    help="Audit and replay RNG blackjack: every seed, card, decision and payment, signed.",
    epilog="Example: shoeproof demo",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

for panel, commands in PANELS.items():
    for listed in commands:
        app.command(listed.name, help=listed.says, rich_help_panel=panel)(lambda: None)


@cache
def loaded(name: str) -> Any:
    """Return the command of a name, from the module that registers it."""
    modules = {each.name: each.module for commands in PANELS.values() for each in commands}
    registered = typer.Typer(rich_markup_mode=None)
    register: Callable[[typer.Typer], None] = import_module(
        f"shoeproof.cli.commands.{modules[name]}"
    ).register
    register(registered)
    return get_group(registered).commands[name]


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

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
    """Run the command line; the exit code is one of `shoeproof.cli.exit_codes`."""
    try:
        _refuse_bytes(sys.argv[1:])
        code = _call()
        # At its own end Python would tell of a full disk by a traceback.
        print(end="", flush=True)
    except Exception as error:
        # What tells of errors loads the ledger, which `--help` does without.
        from shoeproof.cli.errors import KNOWN, exit_code, tell

        if not isinstance(error, KNOWN):
            raise
        tell(error)
        code = exit_code(error)
    sys.exit(code)


def _call() -> int:
    """Have Typer run the command; return its exit code."""
    stdout = sys.stdout
    try:
        return int(app(standalone_mode=False) or SOUND)
    except typer.Abort:
        return INTERRUPTED
    except typer.TyperException as error:
        _tell_usage(error)
        return USAGE
    except SystemExit as ending:
        # Typer puts another stdout in place when whoever read it has gone (`| head`), and then
        # exits with 1, which would say that there are findings.
        return READER_GONE if sys.stdout is not stdout else int(ending.code or SOUND)


def _tell_usage(error: typer.TyperException) -> None:
    """Say what is wrong with the words of a command line, and where its help is."""
    context = getattr(error, "ctx", None)
    message = error.format_message().replace("Value error, ", "").removesuffix(".")
    if are_for_machines():
        print(error_json("usage_error", message), file=sys.stderr)
    elif context is not None and message == context.get_help():
        # A group of commands was named alone: Typer's error is the list of them.
        print(message, file=sys.stderr)
    else:
        from shoeproof.cli.errors import say

        hint = "" if context is None else f" (`{context.command_path} -h` shows what it takes)"
        say(f"{message}{hint}")


def _refuse_bytes(words: list[str]) -> None:
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            from shoeproof.cli.errors import UsageError

            raise UsageError(f"{word!r} is not text in UTF-8") from None
