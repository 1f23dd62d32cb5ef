"""The tables that figures are counted from: brought up to date, and the options that say how."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress
from rich.text import Text

from shoeproof.cli.errors import UsageError
from shoeproof.cli.screen.render import console, plain, progress_bar
from shoeproof.ledger import Ledger

if TYPE_CHECKING:
    from shoeproof.audit_reports.rtp_report.figures import Scope
    from shoeproof.audit_reports.rtp_report.model import Judged
    from shoeproof.audit_reports.tables.par_sheets import ParSheet
    from shoeproof.audit_reports.tables.views import Tables

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
    typer.Option(
        "--par-sheets", help="The approved returns, a JSON file; see audit_reports/README.md."
    ),
]


CACHED = (
    "From figures that were kept: the leaves they were counted from were not read again. Leave out "
    "--cached to have them verified."
)
WAITING = "another process is counting this ledger; waiting for it to end"

FromOption = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="TIME", help="Rounds that ended at or after: 2026-01-31T20:15+01:00."
    ),
]
ToOption = Annotated[
    str | None, typer.Option("--to", metavar="TIME", help="Rounds that ended before.")
]
ByOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SLICE",
        help="Slices: table, player, channel, stake_band, ledger, day, week, month, or "
        "table,day. May repeat.",
    ),
]


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
        raise UsageError("--rebuild counts anew, --cached does not: give one of them")
    # DuckDB and Arrow take longer to load than most commands to run.
    from shoeproof.audit_reports.tables.views import open_tables

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
    from shoeproof.audit_reports.tables.views import together

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
    from shoeproof.audit_reports.tables.par_sheets import read_par_sheets

    return [] if file is None else read_par_sheets(file)


def print_objection(tables: "Tables") -> None:
    """Say in red, where a part alone was counted, which and why."""
    if tables.objection_text is not None:
        console().print(Text(plain(tables.objection_text), "bold red"))


def count(
    ledgers: Sequence[Ledger],
    scope: "Scope | None" = None,
    slices: Sequence[tuple[str, ...]] = (),
    *,
    rebuild: bool = False,
    cached: bool = False,
    verified_only: bool = False,
) -> "tuple[Judged, str | None]":
    """Bring the ledgers' tables up to date, or make them anew, and return what they say, judged.

    `cached` leaves be what was counted before, unread.
    The second value is what verification says of the first leaf not counted, None where all are.
    """
    from shoeproof.audit_reports.rtp_report.figures import Scope
    from shoeproof.audit_reports.rtp_report.from_ledger import judged_of

    with all_up_to_date(
        ledgers, rebuild=rebuild, cached=cached, verified_only=verified_only
    ) as tables:
        return judged_of(ledgers, tables, scope or Scope(), slices), tables.objection_text
