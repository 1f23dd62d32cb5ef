"""`export`: a ledger's rounds in the forms that others read."""

from pathlib import Path
from typing import Annotated

import typer

from cli.options import LedgerOption, open_to_read
from cli.render import console, progress_bar
from replay.bulk.export import export_parquet

_group = typer.Typer(
    name="export",
    help="Write a ledger's rounds in the forms that others read.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    _group.command("parquet")(parquet_command)
    app.add_typer(_group)


def parquet_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder to make, or empty.")],
    path: LedgerOption = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A checkpoint to put into the manifest.")
    ] = None,
) -> None:
    """Write every round as Parquet columns, for `audit --parquet` and for analysts.

    The manifest lists the files' digests and says what the columns cannot prove.
    """
    text = None if checkpoint is None else checkpoint.read_text(encoding="utf-8")
    with open_to_read(path) as ledger, progress_bar() as bar:
        task = bar.add_task("exporting leaves", total=ledger.size())
        manifest = export_parquet(
            ledger,
            folder,
            checkpoint=text,
            progress=lambda done, size: bar.update(task, completed=done, total=size),
        )
    out = console()
    rounds = sum(part.rounds for part in manifest.parts)
    out.print(f"Wrote {rounds:,} rounds of {manifest.size:,} leaves to {folder}/", soft_wrap=True)
    out.print("This export cannot prove:")
    for lack in manifest.cannot_prove:
        out.print(f"  {lack}")
