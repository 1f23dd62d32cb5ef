"""`shuffle-tests`: whether shoes and deals look shuffled."""

from itertools import groupby
from typing import TYPE_CHECKING

import msgspec
import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from shoeproof.cli.exit_codes import FINDINGS
from shoeproof.cli.input.counting import RebuildOption, told_of_waiting
from shoeproof.cli.input.options import JsonOption, LedgerOption, open_to_read
from shoeproof.cli.screen.render import (
    console,
    plain,
    plain_table,
    print_findings,
    print_verdict,
    progress_bar,
)
from shoeproof.replay.rounds.narrative import counted

WIDE_ENOUGH = 110
"""The width, in characters, from which the kind of each test is shown as well."""

if TYPE_CHECKING:
    from shoeproof.audit_reports.shuffle_tests.battery import Battery
    from shoeproof.audit_reports.shuffle_tests.results import ShuffleTest


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("shuffle-tests", epilog="Example: shoeproof shuffle-tests --rebuild")(
        shuffle_tests_command
    )


def shuffle_tests_command(
    path: LedgerOption = None, rebuild: RebuildOption = False, as_json: JsonOption = False
) -> None:
    """Test every shoe and deal for randomness.

    Shoes are re-derived from their seeds. The tests are those that GLI-19 names, judged together at
    99% confidence: of a hundred ledgers shuffled by chance at most one fails. Cards other than
    their seeds give, repeated seeds, shoes and commitments, and commitments made after the stakes
    are findings. Only verified leaves are read. What was counted is kept in the ledger's directory,
    under projection, so that the next run derives the new shoes alone.
    """
    # NumPy takes longer to load than most commands to run.
    from shoeproof.audit_reports.shuffle_tests.battery import run_shuffle_tests

    with open_to_read(path) as ledger, progress_bar() as bar:
        task = bar.add_task("shuffling")
        battery = run_shuffle_tests(
            ledger,
            rebuild=rebuild,
            progress=lambda done, size: bar.update(task, completed=done, total=size),
            waiting=told_of_waiting(bar),
        )
    if as_json:
        counts = {"tested": battery.tested, "rejected": len(battery.rejected)}
        sound = not (battery.rejected or battery.findings)
        print_verdict({**counts, **msgspec.to_builtins(battery)}, sound=sound)
    else:
        print_battery(console(), battery)
    if battery.rejected or battery.findings:
        raise typer.Exit(FINDINGS)


def print_battery(out: Console, battery: "Battery") -> None:
    """Print each game's tests as a table, then times of commitments, findings and the outcome."""
    if not battery.rounds:
        out.print("the ledger has no rounds")
        return
    kinds = ("kind",) if out.width >= WIDE_ENOUGH else ()
    right = ("n", "statistic", "df", "p", "Holm")
    for game, tests in groupby(battery.tests, lambda test: test.game):
        out.print(Text(plain(game), "bold"))
        table = plain_table("test", *kinds, *right, right=right, gap=2 if kinds else 1)
        for test in tests:
            kind = (test.kind,) if kinds else ()
            style = "bold red" if test.rejected else ""
            table.add_row(test.name, *kind, *_figures(test), style=style)
        out.print(Padding(table, (0, 0, 0, 2)))
    ages = [f"{count:,} {name}" for name, count in battery.commitment_ages.items() if count]
    if ages:
        out.print(f"time between commitment and stakes, rounds: {', '.join(ages)}")
    print_findings(out, battery.findings)
    out.print(
        f"{counted(battery.rounds, 'round')}, {counted(battery.shoes, 'shoe')} re-derived, "
        f"{counted(battery.deals, 'initial deal')}"
    )
    confidence = f"at {1 - battery.level:.0%} confidence over all of them"
    count, failed = battery.tested, len(battery.rejected)
    if failed:
        out.print(Text(f"{failed} of {count} tests failed, {confidence}", "bold red"))
    elif count:
        out.print(f"no evidence against the shuffle in {count} tests, {confidence}")
    else:
        out.print("too few rounds for any test")


def _figures(test: "ShuffleTest") -> tuple[str, ...]:
    observed = f"{test.observations:,}"
    if test.p_value is None or test.statistic is None:
        return observed, f"needs {test.needs}", "", "", ""
    freedom = "" if test.degrees_of_freedom is None else f"{test.degrees_of_freedom:,}"
    if test.expected is not None:
        statistic = f"{test.statistic:,.0f} of {test.expected:,.1f}"
    else:
        statistic = f"{test.statistic:,.2f}"
    return observed, statistic, freedom, _chance(test.p_value), _chance(test.adjusted or 0.0)


def _chance(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 or not value else f"{value:.0e}"
