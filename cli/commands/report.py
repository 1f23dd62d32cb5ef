"""`report rtp`: realised return as one file that is sent on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from shoeproof.cli.exit_codes import FINDINGS
from shoeproof.cli.input.counting import (
    ByOption,
    FromOption,
    ParSheetsOption,
    RebuildOption,
    ToOption,
    VerifiedOnlyOption,
    all_up_to_date,
    par_sheets_in,
    told_of_waiting,
)
from shoeproof.cli.input.options import (
    UTC_ZONE,
    LedgersOption,
    ZoneOption,
    check_suffix,
    given_ledgers,
    open_all_to_read,
    parse_local,
    parse_zone,
)
from shoeproof.cli.screen.render import console, plain, print_sentence, progress_bar

app = typer.Typer(
    no_args_is_help=True,
    help="Write reports for regulators and test labs.",
    epilog="Example: shoeproof report rtp -o returns.html",
)


def register(commands: typer.Typer) -> None:
    """Add this group."""
    commands.add_typer(app, name="report")


_SHOWN_BY: Final = ("table", "stake_band", "month")
"""The slices of a report that was asked for none."""


def _shown_by(places: Sequence[str | None]) -> tuple[str, ...]:
    """Return the slices of a report that was asked for none; several ledgers are named apart."""
    return ("ledger", *_SHOWN_BY) if len(places) > 1 else _SHOWN_BY


@app.callback()
def reports() -> None:
    """Write reports for regulators and test labs."""


@app.command("rtp", epilog="Example: shoeproof report rtp -o returns.html --by day")
def rtp_report_command(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="A file ending in .html, .pdf, .csv or .json.")
    ],
    since: FromOption = None,
    until: ToOption = None,
    zone: ZoneOption = None,
    by: ByOption = None,
    at: Annotated[
        str | None, typer.Option(help="When the report was made, as it should state.")
    ] = None,
    operator: Annotated[
        str | None, typer.Option(help="The operator's name, as the report should state it.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="The report's title.")] = None,
    without_shuffle_tests: Annotated[
        bool,
        typer.Option(
            "--no-shuffle-tests",
            help="Leave out the shuffle tests, the slowest part of a first run.",
        ),
    ] = False,
    par_sheets: ParSheetsOption = None,
    rebuild: RebuildOption = False,
    verified_only: VerifiedOnlyOption = False,
    places: LedgersOption = None,
) -> None:
    """Write the report on realised returns.

    It says what was, what should have been, and what that means. HTML, CSV and JSON are the same
    bytes for the same ledger and options. The exit code is 1 where a game is out of range, the
    shuffle fails, a check finds what must not be, or only a part of the ledger could be counted.
    """
    # Templates, statistics and what draws pages take longer to load than most commands to run.
    from shoeproof.audit_reports.rtp_report.figures import Scope, read_slices
    from shoeproof.audit_reports.rtp_report.from_ledger import TITLE, ReportRequest, report_on
    from shoeproof.audit_reports.rtp_report.write import FORMS, write_rtp_report
    from shoeproof.audit_reports.statistics.verdict import OUT_OF_RANGE

    check_suffix(output, FORMS)
    shown_in = parse_zone(zone)
    asked = ReportRequest(
        scope=Scope(
            parse_local(since, shown_in), parse_local(until, shown_in), str(shown_in or UTC_ZONE)
        ),
        by=tuple(map(read_slices, by or _shown_by(given_ledgers(places)))),
        title=title or TITLE,
        operator=operator,
        generated_at=parse_local(at, shown_in),
        shuffle_tests=not without_shuffle_tests,
    )
    with (
        open_all_to_read(places) as ledgers,
        all_up_to_date(
            ledgers,
            rebuild=rebuild,
            verified_only=verified_only,
            par_sheets=par_sheets_in(par_sheets),
        ) as tables,
        progress_bar() as bar,
    ):
        task = bar.add_task("shuffling")
        report = report_on(
            ledgers,
            tables,
            asked,
            rebuild=rebuild,
            progress=lambda done, size: bar.update(task, completed=done, total=size),
            waiting=told_of_waiting(bar),
        )
    write_rtp_report(report, output)
    out = console()
    if report.objection is not None:
        print_sentence(out, report.objection, style="bold red")
    print_sentence(out, f"{report.headline}.")
    out.print(f"Written to {plain(str(output))}", soft_wrap=True)
    if report.faults:
        out.print(Text(f"Findings: {report.faults:,}, listed in it", "bold red"))
    failed = report.faults or (report.shuffle is not None and report.shuffle.failed)
    if report.objection is not None or report.word == OUT_OF_RANGE or failed:
        raise typer.Exit(FINDINGS)
