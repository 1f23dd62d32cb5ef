"""`project`: bring the tables that figures are counted from up to date, and publish them."""

from typing import TYPE_CHECKING

import typer
from rich.text import Text

from shoeproof.cli.exit_codes import FINDINGS
from shoeproof.cli.input.counting import (
    RebuildOption,
    VerifiedOnlyOption,
    print_objection,
    up_to_date,
)
from shoeproof.cli.input.options import JsonOption, LedgerOption, open_to_read
from shoeproof.cli.screen.render import console, plain, print_verdict

if TYPE_CHECKING:
    pass


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
    from shoeproof.audit_reports.tables.checks.run import run_checks

    with (
        open_to_read(path) as ledger,
        up_to_date(ledger, rebuild=rebuild, verified_only=verified_only) as tables,
    ):
        found = run_checks(tables)
        sound = not found and tables.objection is None
        if as_json:
            print_verdict(
                {
                    "origin": tables.origin,
                    "size": tables.size,
                    "checkpoint_size": tables.checkpoint_size,
                    "manifest_sha256": tables.manifest_digest,
                    "objection": tables.objection,
                    "checks": [each.as_data() for each in found],
                },
                sound=sound,
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
    if not sound:
        raise typer.Exit(FINDINGS)
