"""`alarms`: what monitoring raised, and what staff found of it: listed, investigated, closed."""

from typing import Annotated

import msgspec
import typer

from shoeproof.cli.exit_codes import FINDINGS
from shoeproof.cli.input.options import (
    UTC_ZONE,
    JsonOption,
    KeyOption,
    LedgerOption,
    ZoneOption,
    open_to_read,
    open_to_write,
    parse_zone,
    staff_signer,
)
from shoeproof.cli.screen.render import console, plain, print_sentence, print_verdict
from shoeproof.replay.live.alarms import Alarm, alarms_of, close, investigate
from shoeproof.replay.local_time import zoned_text

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List, investigate and close what `rtp --raise` recorded.",
    epilog="Example: shoeproof alarms list",
)


def register(commands: typer.Typer) -> None:
    """Add this group."""
    commands.add_typer(app, name="alarms")


NumberArgument = Annotated[
    int, typer.Argument(metavar="NUMBER", help="The alarm, as `alarms list` numbers it.")
]
NoteOption = Annotated[str, typer.Option("--note", help="What was found, signed with the event.")]


@app.callback()
def alarms() -> None:
    """List, investigate and close what `rtp --raise` recorded."""


@app.command("list", epilog="Example: shoeproof alarms list --all")
def list_command(
    everything: Annotated[bool, typer.Option("--all", help="Closed ones too.")] = False,
    zone: ZoneOption = None,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the alarms that are not closed.

    Each has its state, since when, by whom, and the last note. The exit code is 1 if there is one.
    """
    shown_in = parse_zone(zone) or UTC_ZONE
    with open_to_read(path) as ledger:
        found = alarms_of(ledger)
    shown = [alarm for alarm in found if everything or not alarm.is_closed]
    sound = all(alarm.is_closed for alarm in found)
    if as_json:
        rows = [{"state": each.state, **msgspec.structs.asdict(each)} for each in shown]
        print_verdict({"alarms": rows}, sound=sound)
    for alarm in () if as_json else shown:
        last = alarm.steps[-1]
        since, out = zoned_text(last.at, shown_in), console()
        print_sentence(out, f"alarm {alarm.number}, {alarm.state} since {since} by {last.by}")
        print_sentence(out, alarm.says, 2)
        for step in alarm.steps[1:]:
            print_sentence(out, f"{step.state} by {step.by}: {step.note}", 2)
    if not shown and not as_json:
        console().print("no alarm was raised" if not found else "every alarm is closed")
    if not sound:
        raise typer.Exit(FINDINGS)


@app.command(
    "investigate",
    epilog='Example: shoeproof alarms investigate 1 --note "looking into it" --key ann',
)
def investigate_command(
    number: NumberArgument, note: NoteOption, key: KeyOption, path: LedgerOption = None
) -> None:
    """Record that an alarm is being looked into.

    It says by whom, and what is known so far. It stays among what `inspect` watches until it is
    closed.
    """
    with open_to_write(path) as ledger:
        _tell(investigate(ledger, number, note, staff_signer(ledger, key)))


@app.command("close", epilog='Example: shoeproof alarms close 1 --note "a test table" --key ann')
def close_command(
    number: NumberArgument, note: NoteOption, key: KeyOption, path: LedgerOption = None
) -> None:
    """Close an alarm with a note on why.

    The key that signs answers for it. `rtp --raise` raises it again only once rounds that ended
    since are out of range too.
    """
    with open_to_write(path) as ledger:
        _tell(close(ledger, number, note, staff_signer(ledger, key)))


def _tell(alarm: Alarm) -> None:
    last = alarm.steps[-1]
    told = f"alarm {alarm.number} {last.state} by {last.by}, leaf {last.leaf_index}"
    console().print(plain(told))
