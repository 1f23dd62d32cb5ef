"""`dispute report`: a case as a file that is sent on."""

from pathlib import Path
from typing import Annotated

import typer

from audit_reports.case_report.model import Audience
from cli.dispute import ShownOption, find_case
from cli.errors import UsageError
from cli.options import LedgerOption, check_suffix, open_to_read
from cli.render import console, print_sentence
from replay.round_text import read_round


def register(disputes: typer.Typer) -> None:
    """Add the command to the group of disputes."""
    disputes.command("report")(report_command)


def report_command(
    case_id: Annotated[
        str, typer.Argument(metavar="ROUND|CASE", help="A round or a case, or how it begins.")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="A file ending in .html, .pdf, .json or .txt.")
    ],
    audience: Annotated[
        Audience,
        typer.Option("--for", help="A player gets no names of staff and nothing of others."),
    ] = "adjudicator",
    shown: ShownOption = None,
    path: LedgerOption = None,
) -> None:
    """Write the report on a case, or on a round nobody complained of, for whoever must check it.

    It holds the verdict, the clause, the cards, the timeline, every remedy with its amount, and how
    to verify it. HTML, JSON and text are the same bytes for the same ledger.
    """
    # Templates and what draws pages take longer to load than most commands to run.
    from audit_reports.case_report.from_ledger import report_on
    from audit_reports.case_report.write import FORMS, write_case_report

    check_suffix(output, FORMS)
    screen = None if shown is None else read_round(shown.read_bytes())
    with open_to_read(path) as ledger:
        round_id, number = find_case(ledger, case_id)
        try:
            report = report_on(ledger, round_id, audience, case_number=number, shown=screen)
        except ValueError as error:
            raise UsageError(str(error)) from None
    write_case_report(report, output)
    out = console()
    print_sentence(out, report.headline)
    out.print(f"Written to {output}", soft_wrap=True)
