"""`project`: bring the tables that figures are counted from up to date, and publish them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress
from rich.text import Text

from cli.errors import UsageError
from cli.exit_codes import FINDINGS
from cli.options import JsonOption, LedgerOption, open_to_read
from cli.render import console, plain, print_json, progress_bar
from ledger import Ledger

if TYPE_CHECKING:
    from audit_reports.par_sheets import ParSheet
    from audit_reports.tables import Tables

RebuildOption = Annotated[
    bool,
    typer.Option(
        "--rebuild",
        help="Recount from the signed events and ignore cached figures. "
        "Use this for any ledger you did not write.",
    ),
]
CachedOption = Annotated[
    bool,
    typer.Option("--cached", help="Do not reread the leaves that were counted before."),
]
VerifiedOnlyOption = Annotated[
    bool,
    typer.Option(
        "--verified-only", help="If verification fails, count the leaves before the failure."
    ),
]

ParSheetsOption = Annotated[
    Path | None,
    typer.Option("--par-sheets", help="The approved returns, a JSON file; see the README."),
]


CACHED = (
    "These figures are cached: the leaves they were counted from were not read again. Leave out "
    "--cached to have them verified."
)
WAITING = "another process is counting this ledger; waiting for it to end"


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("project", epilog="Example: shoeproof project --json")(project_command)


def project_command(
    path: LedgerOption = None,
    rebuild: RebuildOption = False,
    verified_only: VerifiedOnlyOption = False,
    as_json: JsonOption = False,
) -> None:
    """Bring the tables up to date; publish them as Parquet.

    They are of rounds, bets, cards and decisions. Only verified leaves are counted. The segments
    lie in the ledger's directory, under projection/segments, with a manifest of their digests.
    Checks that must find nothing are run.
    """
    from audit_reports.checks import run_checks

    with (
        open_to_read(path) as ledger,
        up_to_date(ledger, rebuild=rebuild, verified_only=verified_only) as tables,
    ):
        found = run_checks(tables)
        if as_json:
            print_json(
                {
                    "sound": not found and tables.objection is None,
                    "origin": tables.origin,
                    "size": tables.size,
                    "checkpoint_size": tables.checkpoint_size,
                    "manifest_sha256": tables.manifest_digest,
                    "objection": tables.objection,
                    "checks": [each.as_data() for each in found],
                }
            )
        else:
            print_objection(tables)
            out = console()
            vouched = tables.checkpoint_size or 0
            out.print(
                f"{tables.size:,} leaves of {plain(tables.origin)}, {vouched:,} under a checkpoint"
            )
            for each in found:
                out.print(Text(f"{each.name}: {each.total:,} rows: {each.asks}", "red"))
            if not found:
                out.print("every check finds nothing")
    if found or tables.objection is not None:
        raise typer.Exit(FINDINGS)


def up_to_date(
    ledger: Ledger,
    *,
    rebuild: bool = False,
    cached: bool = False,
    verified_only: bool = False,
    par_sheets: "list[ParSheet] | None" = None,
) -> "Tables":
    """Bring a ledger's tables up to date, with a bar while it takes, and return them."""
    if rebuild and cached:
        raise UsageError("--rebuild recounts and --cached does not: give one of them")
    # DuckDB and Arrow take longer to load than most commands to run.
    from audit_reports.tables import open_tables

    with progress_bar() as bar:
        task = bar.add_task("counting")
        return open_tables(
            ledger,
            rebuild=rebuild,
            cached=cached,
            verified_only=verified_only,
            par_sheets=par_sheets or [],
            progress=lambda done, size: bar.update(task, completed=done, total=size),
            waiting=told_of_waiting(bar),
        )


@contextmanager
def all_up_to_date(
    ledgers: Sequence[Ledger],
    *,
    rebuild: bool = False,
    cached: bool = False,
    verified_only: bool = False,
    par_sheets: "list[ParSheet] | None" = None,
) -> "Iterator[Tables]":
    """Bring the tables of ledgers up to date, and open them as one until the block ends."""
    from audit_reports.tables import together

    with ExitStack() as stack:
        opened = [
            stack.enter_context(
                up_to_date(
                    each,
                    rebuild=rebuild,
                    cached=cached,
                    verified_only=verified_only,
                    par_sheets=par_sheets,
                )
            )
            for each in ledgers
        ]
        if len(opened) == 1:
            yield opened[0]
            return
        with together(opened, par_sheets or []) as tables:
            yield tables


def told_of_waiting(bar: Progress) -> Callable[[], object] | None:
    """Return what says once, where there is a terminal, that another process is waited for."""
    return None if bar.disable else lambda: bar.console.print(WAITING)


def par_sheets_in(file: Path | None) -> "list[ParSheet]":
    """Return the PAR sheets in a file, none where there is none."""
    from audit_reports.par_sheets import read_par_sheets

    return [] if file is None else read_par_sheets(file)


def print_objection(tables: "Tables") -> None:
    """Say in red, where a part alone was counted, which and why."""
    if tables.objection_text is not None:
        console().print(Text(plain(tables.objection_text), "bold red"))
