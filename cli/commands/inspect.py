"""`inspect`: one command, one key, one verdict on whole ledgers."""

import shlex
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.progress import TaskID

from shoeproof.cli.errors import UsageError
from shoeproof.cli.exit_codes import FINDINGS, INCONCLUSIVE, UNREADABLE
from shoeproof.cli.input.options import (
    EverySignatureOption,
    JsonOption,
    KeptCheckpointOption,
    LedgersOption,
    PolicyOption,
    ZoneOption,
    given_ledgers,
    given_public_key,
    open_all_to_read,
    parse_zone,
)
from shoeproof.cli.screen.render import console, plain, print_sentence, print_verdict, progress_bar

_CODES: Final = {
    "sound": 0, "findings": FINDINGS, "untrusted": UNREADABLE, "inconclusive": INCONCLUSIVE
}  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command(
        "inspect", epilog="Example: shoeproof inspect --public-key operator.vkey -o inspection"
    )(inspect_command)


def inspect_command(
    public_keys: Annotated[
        list[str],
        typer.Option(
            "--public-key",
            help="The operator's public key, obtained independently: the key or a file. Give "
            "one for all "
            "ledgers, or one for each in the same order.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The folder to write the report into.")
    ],
    places: LedgersOption = None,
    checkpoint: KeptCheckpointOption = None,
    policy: PolicyOption = None,
    statement: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV", help="The wallet's statement of all movements: time, amount, reference."
        ),
    ] = None,
    every_signature: EverySignatureOption = False,
    zone: ZoneOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify, audit, test and count; end in one verdict.

    The verdict on whole ledgers stands on one page. Every leaf, round, seed and case is judged, the
    shuffle tested, the returns counted, and a wallet's statement compared with what was recorded.
    The exit code is 0 where that is sound, 1 with findings, 3 where the ledger is not to be
    trusted, 4 where not everything could be judged. What was stopped goes on where the same folder
    is given.
    """
    # Statistics, DuckDB and templates take longer to load than most commands to run.
    from shoeproof.audit_reports.inspection.run import InspectionRequest, inspect
    from shoeproof.audit_reports.inspection.write import inspection_text, write_inspection
    from shoeproof.replay.disputes.complaints.statement import read_statement

    keys = tuple(filter(None, map(given_public_key, public_keys)))
    given = given_ledgers(places)
    if len(keys) not in (1, len(given)):
        raise UsageError(
            f"there are {len(given)} ledgers and {len(keys)} keys: give one key for all, or one "
            "for each"
        )
    if output.exists() and not output.is_dir():
        raise UsageError(f"{output} is not a folder: name one to write the report into")
    shown_in = parse_zone(zone)
    stated = None
    if statement is not None:
        content = statement.read_bytes()
        lines = read_statement(content, statement.name, shown_in)
        stated = (statement.name, content, lines)
    asked = InspectionRequest(
        keys,
        every_signature,
        None if checkpoint is None else checkpoint.read_bytes(),
        None if policy is None else policy.read_bytes(),
        stated,
    )
    output.mkdir(parents=True, exist_ok=True)
    with open_all_to_read(places) as ledgers, progress_bar() as bar:
        tasks: dict[str, TaskID] = {}

        def told(part: str, done: int, size: int) -> None:
            if part not in tasks:
                tasks[part] = bar.add_task(plain(part), total=size)
            bar.update(tasks[part], completed=done, total=size)

        names = [str(each.path or place) for each, place in zip(ledgers, given, strict=True)]
        command = _command(keys, output, names, checkpoint, policy, statement, zone)
        found = inspect(ledgers, asked, output, command, told)
    written, missing = write_inspection(found, output)
    if as_json:
        print_verdict(found, sound=found.word == "sound")
    else:
        for line in inspection_text(found).splitlines():
            typer.echo(plain(line))
        for file in written:
            print_sentence(console(), f"Written to {plain(str(file))}")
        if missing is not None:
            print_sentence(console(), plain(f"No PDF: {missing}"))
    raise typer.Exit(_CODES[found.word])


def _command(
    keys: tuple[str, ...],
    output: Path,
    ledgers: list[str],
    checkpoint: Path | None,
    policy: Path | None,
    statement: Path | None,
    zone: str | None,
) -> str:
    """Return the command line that repeats an inspection."""
    words = ["shoeproof", "inspect"]
    words += [word for key in keys for word in ("--public-key", key)]
    words += [word for ledger in ledgers for word in ("--ledger", ledger)]
    given = {
        "--checkpoint": checkpoint, "--policy": policy, "--statement": statement, "--zone": zone,
        "-o": output,
    }  # fmt: skip
    for option, value in given.items():
        if value is not None:
            words += [option, str(value)]
    return shlex.join(words)
