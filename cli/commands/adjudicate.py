"""`adjudicate`: written rounds checked against the rules."""

import os
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from shoeproof.cli.errors import error_code, say
from shoeproof.cli.exit_codes import FINDINGS, UNREADABLE
from shoeproof.cli.input.options import JsonOption, LedgerOption, open_to_read
from shoeproof.cli.screen.render import amount, console, json_text, plain, plain_table
from shoeproof.replay.engine.rules import Rules, rules_from_json
from shoeproof.replay.errors import ReplayError, RoundTextError, UnknownGame
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.rounds.catalogue import rules_by_digest
from shoeproof.replay.rounds.limits import Limits
from shoeproof.replay.written.adjudicate import Judgement, adjudicate
from shoeproof.replay.written.round_text import RoundText, read_round


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("adjudicate", epilog="Example: shoeproof adjudicate disputed.round")(
        adjudicate_command
    )


def adjudicate_command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="`.round` files.")],
    rules_file: Annotated[
        Path | None, typer.Option("--rules", help="Judge by this rules file instead.")
    ] = None,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what each bet of written rounds is paid.

    A round that names its rules by digest is judged by those where --ledger carries them. Exit 0
    when nothing contradicts the rules, 1 with findings, 3 when a file cannot be read as a round;
    the other files are judged all the same.
    """
    variant = None if rules_file is None else rules_from_json(rules_file.read_bytes())
    carried: dict[str, Rules] = {}
    if path is not None:
        with open_to_read(path) as ledger:
            carried = rules_by_digest(ledger)
    worst = 0
    for file in files:
        try:
            text = read_round(file.read_bytes())
            rules, limits = _rules_of(text, variant or carried.get(text.rules_digest or ""))
            judgement = adjudicate(text, rules, limits)
        except (ReplayError, OSError) as error:
            worst = UNREADABLE
            _tell_error(file, error, as_json)
            continue
        worst = max(worst, FINDINGS if judgement.findings else 0)
        if as_json:
            print(json_text(_judgement_json(file, judgement), indent=None))
        else:
            _print_judgement(console(), file, text, judgement)
    if worst:
        raise typer.Exit(worst)


def _rules_of(text: RoundText, variant: Rules | None) -> tuple[Rules, Limits]:
    game = GAMES.get(text.game)
    if variant is not None:
        if variant.id != text.game:
            raise RoundTextError(f"the round is of {text.game!r}, the rules are of {variant.id!r}")
        return variant, {} if game is None else game.limits
    if game is None:
        raise UnknownGame(f"unknown game {text.game!r}; there are {', '.join(GAMES)}")
    return game.rules, game.limits


def _judgement_json(file: Path, judgement: Judgement) -> dict[str, object]:
    return {
        "sound": not judgement.findings,
        "file": _name(file),
        "complete": judgement.complete,
        "bets": [
            {
                "hand": bet.hand,
                "bet": bet.bet,
                "stake_minor": bet.stake_minor,
                "paid_minor": bet.paid_minor,
                "line": bet.line,
            }
            for bet in judgement.bets
        ],
        "total_staked_minor": judgement.total_staked_minor,
        "total_paid_minor": judgement.total_paid_minor,
        "findings": msgspec.to_builtins(judgement.findings),
    }


def _tell_error(file: Path, error: Exception, as_json: bool) -> None:
    reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    if as_json:
        told = {"error": {"code": error_code(error), "message": reason}}
        print(json_text({"sound": False, "file": _name(file), **told}, indent=None))
    else:
        say(f"{_name(file)}: {reason}")


def _name(file: Path) -> str:
    # A name that is not UTF-8 is text to no reader of JSON.
    return os.fsencode(file).decode(errors="backslashreplace")


def _print_judgement(out: Console, file: Path, text: RoundText, judgement: Judgement) -> None:
    currency = text.currency or ""
    out.print(Text(plain(str(file)), "bold"), soft_wrap=True)
    if text.name:
        out.print(f"  {plain(text.name)}")
    table = plain_table("  hand", "bet", "stake", "paid", "line", right=("stake", "paid"))
    for bet in judgement.bets:
        table.add_row(
            f"  {bet.hand}",
            bet.bet,
            amount(bet.stake_minor, currency),
            amount(bet.paid_minor, currency),
            bet.line or "undecided",
        )
    out.print(table)
    for finding in judgement.findings:
        place = "" if finding.move is None else f" at move {finding.move}"
        said = Text.assemble((finding.code, "bold red"), place, f": {plain(finding.text)}")
        out.print(Padding(said, (0, 0, 0, 2)))
    if not judgement.complete and not judgement.findings:
        undecided = any(bet.paid_minor is None for bet in judgement.bets)
        what = (
            "undecided bets depend on" if undecided else "every bet is decided, but the round lacks"
        )
        out.print(f"  incomplete: {what} cards or acts that are unknown or not written down")
