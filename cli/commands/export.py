"""`export`: a ledger's leaves as a stream, and its rounds in the forms that others read."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from shoeproof.cli.errors import UsageError
from shoeproof.cli.input.options import LedgerOption, open_to_read
from shoeproof.cli.screen.render import console, print_sentence, progress_bar
from shoeproof.ledger.exchange.transfer import export_leaves
from shoeproof.ledger.files.durable import write_parts_durably
from shoeproof.replay.bulk.export.manifest import CANNOT_PROVE
from shoeproof.replay.bulk.export.write import export_parquet
from shoeproof.replay.rounds.narrative import counted

app = typer.Typer(
    rich_markup_mode=None,
    invoke_without_command=True,
    epilog="Example: shoeproof export -o casino.leaves",
)


def register(commands: typer.Typer) -> None:
    """Add this group."""
    commands.add_typer(app, name="export")


@app.callback()
def export_command(
    context: typer.Context,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write to this file, not to a pipe.")
    ] = None,
    path: LedgerOption = None,
) -> None:
    """Write every leaf as a stream, or rounds as Parquet.

    Leaves are verbatim, each after its length in two bytes, and then comes their root. `export
    parquet DIR` writes rounds as columns instead.
    """
    if context.invoked_subcommand is not None:
        return
    if output is None and sys.stdout.isatty():
        raise UsageError("leaves are binary: give -o FILE, or pipe them into `import`")
    with open_to_read(path) as ledger:
        if output is None:
            sys.stdout.buffer.writelines(export_leaves(ledger))
            sys.stdout.buffer.flush()
            return
        if output.exists():
            raise UsageError(f"{output} is there already: name another file, or remove it")
        write_parts_durably(output, export_leaves(ledger))


@app.command("parquet", epilog="Example: shoeproof export parquet ./rounds")
def parquet_command(
    place: Annotated[
        str,
        typer.Argument(
            metavar="DIR|URL",
            help="A folder to make, or empty; s3://… and other URLs name one in an object store.",
        ),
    ],
    path: LedgerOption = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A signed checkpoint to put into the manifest."),
    ] = None,
) -> None:
    """Write every round as Parquet columns.

    They are for `audit --parquet` and for analysts. The manifest lists the files' digests and says
    what the columns cannot prove.
    """
    note = None if checkpoint is None else checkpoint.read_bytes()
    with open_to_read(path) as ledger, progress_bar() as bar:
        task = bar.add_task("exporting leaves", total=ledger.size())
        manifest = export_parquet(
            ledger,
            place,
            checkpoint=note,
            progress=lambda done, size: bar.update(task, completed=done, total=size),
        )
    out = console()
    rounds = sum(part.rounds for part in manifest.parts)
    out.print(
        f"Wrote {counted(rounds, 'round')} of {manifest.size:,} leaves to {place}", soft_wrap=True
    )
    out.print("This export cannot prove:")
    for lack in CANNOT_PROVE:
        print_sentence(out, lack, 2)
