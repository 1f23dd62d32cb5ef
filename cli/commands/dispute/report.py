"""`dispute report`: a case as a file that is sent on."""

from pathlib import Path
from typing import Annotated

import typer

from shoeproof.audit_reports.case_report.model import Audience, Receipt
from shoeproof.cli.commands.dispute.cases import ShownOption, find_case, read_shown
from shoeproof.cli.errors import UsageError
from shoeproof.cli.input.options import (
    UTC_ZONE,
    LedgerOption,
    ZoneOption,
    check_suffix,
    open_to_read,
    open_to_write,
    parse_zone,
)
from shoeproof.cli.screen.render import console, error_console, plain, print_sentence
from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import LedgerError
from shoeproof.ledger.exchange.bundle import make_bundle
from shoeproof.ledger.files.durable import write_durably
from shoeproof.ledger.store.directory import is_url


def register(disputes: typer.Typer) -> None:
    """Add the command to the group of disputes."""
    disputes.command(
        "report",
        epilog="Example: shoeproof dispute report 01a22c2b.1 --for player -o letter.html",
    )(report_command)


def report_command(
    case_id: Annotated[
        str, typer.Argument(metavar="ROUND|CASE", help="A round or a case, or how it begins.")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="A file ending in .html, .pdf, .json or .txt.")
    ],
    audience: Annotated[
        Audience,
        typer.Option("--for", help="A player gets a one-page letter; others also get the annex."),
    ] = "adjudicator",
    bundle: Annotated[
        Path | None, typer.Option(help="Write the round's receipt to this file, to go with it.")
    ] = None,
    shown: ShownOption = None,
    zone: ZoneOption = None,
    path: LedgerOption = None,
) -> None:
    """Write the report on a case or a round: the answer, then why.

    A decided case is reported as it was decided. A player's letter in HTML holds the round's
    receipt; for it, and for --bundle, a checkpoint is signed where none covers the round. HTML,
    JSON and text are the same bytes for the same ledger.
    """
    # Templates and what draws pages take longer to load than most commands to run.
    from shoeproof.audit_reports.case_report.from_ledger import report_on
    from shoeproof.audit_reports.case_report.write import FORMS, is_embedded, write_case_report

    check_suffix(output, FORMS)
    if bundle is not None and bundle.resolve() == output.resolve():
        raise UsageError("the report and --bundle need two files: one would replace the other")
    shown_in = parse_zone(zone) or UTC_ZONE
    screen = read_shown(shown)
    is_letter = audience == "player" and output.suffix.lower() == ".html"
    signs = bundle is not None or (is_letter and not is_url(path or ""))
    with open_to_write(path) if signs else open_to_read(path) as ledger:
        round_id, number = find_case(ledger, case_id)
        receipt = _receipt(ledger, round_id, bundle) if signs else None
        try:
            report = report_on(
                ledger,
                round_id,
                audience,
                case_number=number,
                shown=screen,
                zone=shown_in,
                receipt=receipt,
            )
        except ValueError as error:
            raise UsageError(str(error)) from None
    write_case_report(report, output)
    if bundle is not None and receipt is not None:
        write_durably(bundle, receipt.content)
    out = console()
    print_sentence(out, report.headline)
    out.print(f"Written to {plain(str(output))}", soft_wrap=True)
    if bundle is not None:
        out.print(f"Send {plain(str(bundle))} with it: the receipt of the round", soft_wrap=True)
    elif is_letter and is_embedded(report):
        out.print("The receipt of the round is inside it")
    elif audience == "player":
        out.print("No receipt of the round goes with it: --bundle FILE writes one to be attached")


def _receipt(ledger: Ledger, round_id: str, bundle: Path | None) -> Receipt | None:
    """Return the round's receipt, named after its file; None where none can be made and none was
    asked for.
    """
    from shoeproof.audit_reports.case_report.from_ledger import receipt_name, receipt_of

    try:
        content = make_bundle(ledger, round_id)
    except (LedgerError, OSError) as error:
        if bundle is not None:
            raise
        print_sentence(error_console(), f"No receipt could be made: {error}")
        return None
    return receipt_of(receipt_name(round_id) if bundle is None else bundle.name, content)
