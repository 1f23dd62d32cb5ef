"""`report rtp`: realised return as one file that is sent on."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cli.errors import FINDINGS
from cli.options import (
    LedgerOption,
    check_suffix,
    open_to_read,
    parse_local,
    parse_moment,
    parse_zone,
)
from cli.project import (
    ParSheetsOption,
    RebuildOption,
    VerifiedOnlyOption,
    par_sheets_in,
    told_of_waiting,
    up_to_date,
)
from cli.render import console, plain, print_sentence, progress_bar

app = typer.Typer(no_args_is_help=True, help="Reports for whoever must judge the games.")

FromOption = Annotated[
    str | None, typer.Option("--from", help="Rounds that ended at or after: 2026-01-31T00:00Z.")
]
ToOption = Annotated[str | None, typer.Option("--to", help="Rounds that ended before.")]
ZoneOption = Annotated[
    str | None,
    typer.Option(help="The time zone of times without an offset, such as Europe/Malta."),
]
ByOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Slices: table, player, channel, stake_band, day, week, month, or table,day. "
        "May repeat."
    ),
]


@app.callback()
def reports() -> None:
    """Reports for whoever must judge the games."""


@app.command("rtp")
def rtp_report_command(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="A file ending in .html, .pdf, .csv or .json.")
    ],
    since: FromOption = None,
    until: ToOption = None,
    zone: ZoneOption = None,
    by: ByOption = None,
    at: Annotated[
        str | None, typer.Option(help="The time of making it, as the report is to state it.")
    ] = None,
    operator: Annotated[
        str | None, typer.Option(help="The operator's name, as the report is to state it.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="The report's title.")] = None,
    without_shuffle_tests: Annotated[
        bool,
        typer.Option(
            "--no-shuffle-tests", help="Leave out the shuffle, which at first takes longest."
        ),
    ] = False,
    par_sheets: ParSheetsOption = None,
    rebuild: RebuildOption = False,
    verified_only: VerifiedOnlyOption = False,
    path: LedgerOption = None,
) -> None:
    """Write the report on realised returns: what was, what should have been, what it means.

    HTML, CSV and JSON are the same bytes for the same ledger and options. The exit code is 1 where
    a game is out of range, the shuffle fails, a check finds what must not be, or only a part of the
    ledger could be counted.
    """
    # Templates, statistics and what draws pages take longer to load than most commands to run.
    from audit_reports.rtp_report.figures import Scope, read_slices
    from audit_reports.rtp_report.from_ledger import TITLE, Asked, report_on
    from audit_reports.rtp_report.write import FORMS, write_rtp_report
    from audit_reports.statistics.verdict import OUT_OF_RANGE

    check_suffix(output, FORMS)
    shown_in = parse_zone(zone)
    asked = Asked(
        scope=Scope(parse_local(since, shown_in), parse_local(until, shown_in, last=True)),
        by=tuple(map(read_slices, by or ("table", "stake_band", "month"))),
        title=title or TITLE,
        operator=operator,
        generated_at=parse_moment(at),
        shuffle_tests=not without_shuffle_tests,
    )
    with (
        open_to_read(path) as ledger,
        up_to_date(
            ledger,
            rebuild=rebuild,
            verified_only=verified_only,
            par_sheets=par_sheets_in(par_sheets),
        ) as tables,
        progress_bar() as bar,
    ):
        task = bar.add_task("shuffling")
        report = report_on(
            ledger,
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
