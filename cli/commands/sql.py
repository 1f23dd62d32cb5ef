"""`sql`: an auditor's own questions to the published tables, read-only."""

import io
import sys
from collections.abc import Iterator
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.measure import Measurement

from shoeproof.audit_reports.pages.cells import write_rows
from shoeproof.cli.errors import UsageError
from shoeproof.cli.exit_codes import FINDINGS
from shoeproof.cli.input.counting import (
    CACHED,
    CachedOption,
    ParSheetsOption,
    RebuildOption,
    VerifiedOnlyOption,
    all_up_to_date,
    par_sheets_in,
    print_objection,
)
from shoeproof.cli.input.options import JsonOption, LedgersOption, open_all_to_read
from shoeproof.cli.screen.render import (
    console,
    json_text,
    plain,
    plain_table,
    print_error,
    print_verdict,
)
from shoeproof.ledger.files.durable import write_durably

if TYPE_CHECKING:
    import pyarrow as pa

MOST_ON_SCREEN = 1000
"""How many rows the terminal shows; files get all."""


BATCH = 10_000
"""How many rows are printed together."""

COLUMNS = """
SELECT table_name AS "table", column_name AS "column", data_type AS "type"
FROM duckdb_columns() WHERE NOT internal ORDER BY table_name, column_index
"""
"""Asks for every table and its columns, in their order."""

WIDEST = 10_000
"""A width, in characters, to find out how much of it a table would like to have."""


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command(
        "sql", epilog='Example: shoeproof sql "SELECT game, COUNT(*) FROM rounds GROUP BY 1"'
    )(sql_command)


def sql_command(
    select: Annotated[
        str | None,
        typer.Argument(help='One SELECT: "SELECT game, COUNT(*) FROM rounds GROUP BY 1".'),
    ] = None,
    places: LedgersOption = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV (RFC 4180).")] = False,
    as_json: JsonOption = False,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", help="Write the answer to a Parquet file.")
    ] = None,
    checks: Annotated[
        bool, typer.Option("--checks", help="Run the checks that must find nothing instead.")
    ] = False,
    tables_only: Annotated[
        bool, typer.Option("--tables", help="List the tables and their columns instead.")
    ] = False,
    par_sheets: ParSheetsOption = None,
    rebuild: RebuildOption = False,
    cached: CachedOption = False,
    verified_only: VerifiedOnlyOption = False,
) -> None:
    """Ask the tables a question of your own.

    The tables of rounds, bets, cards, decisions, interruptions and disputes are brought up to date
    first; nothing can be changed and no other file be read. Of several ledgers the column `ledger`
    says whose a row is, in every table. audit_reports/README.md says what each column holds.
    """
    if (select is not None) + checks + tables_only != 1:
        raise UsageError("give one SELECT, or --tables, or --checks")
    if as_csv + as_json + (parquet is not None) > 1:
        raise UsageError("give one of --csv, --json and --parquet")
    with (
        open_all_to_read(places) as ledgers,
        all_up_to_date(
            ledgers,
            rebuild=rebuild,
            cached=cached,
            verified_only=verified_only,
            par_sheets=par_sheets_in(par_sheets),
        ) as tables,
    ):
        if cached:
            print_error(CACHED)
        if not (as_csv or as_json):
            print_objection(tables)
        if not checks:
            from shoeproof.audit_reports.tables.sql_types import ANYWHERE, PLAIN

            answer = tables.ask(
                COLUMNS if select is None else select, PLAIN if parquet is None else ANYWHERE
            )
            _show(answer, as_csv=as_csv, as_json=as_json, parquet=parquet)
            return
        from shoeproof.audit_reports.tables.checks.run import run_checks

        found = run_checks(tables)
    if as_json:
        print_verdict({"checks": [each.as_data() for each in found]}, sound=not found)
    for each in () if as_json else found:
        console().print(f"{each.name}: {each.total:,} rows: {plain(each.asks)}")
        _print(list(each.rows[0]), each.rows)
    if not found and not as_json:
        console().print("every check finds nothing")
    if found:
        raise typer.Exit(FINDINGS)


def _show(answer: "pa.Table", *, as_csv: bool, as_json: bool, parquet: Path | None) -> None:
    names = answer.column_names
    if parquet is not None:
        _write_parquet(answer, parquet)
        console().print(f"wrote {answer.num_rows:,} rows to {plain(str(parquet))}")
        return
    if as_json:
        _print_json(answer)
    elif as_csv:
        write_rows(sys.stdout, names, chain.from_iterable(_in_batches(answer)))
    else:
        shown = answer.slice(0, MOST_ON_SCREEN)
        _print(names, _rows(shown))
        if shown.num_rows < answer.num_rows:
            console().print(f"{shown.num_rows:,} of {answer.num_rows:,} rows; --csv prints all")


def _in_batches(answer: "pa.Table") -> Iterator[list[dict[str, Any]]]:
    """Yield an answer's rows, few at a time: as objects they take many times its memory."""
    for start in range(0, answer.num_rows, BATCH):
        yield _rows(answer.slice(start, BATCH))


def _rows(answer: "pa.Table") -> list[dict[str, Any]]:
    return [{name: _value(each) for name, each in row.items()} for row in answer.to_pylist()]


def _print_json(answer: "pa.Table") -> None:
    """Print rows as `print_json` would print them together."""
    begins = "[\n"
    for rows in _in_batches(answer):
        text = json_text(rows)
        sys.stdout.write(begins + text.removeprefix("[\n").removesuffix("\n]"))
        begins = ",\n"
    print("\n]" if answer.num_rows else "[]")


def _print(names: list[str], rows: list[dict[str, Any]]) -> None:
    numbers = [name for name in names if any(isinstance(row[name], int | float) for row in rows)]
    table = plain_table(*map(plain, names), right=[plain(name) for name in numbers])
    for row in rows:
        table.add_row(*(_shown(row[name]) for name in names))
    out = console()
    if rows and Measurement.get(out, out.options.update(width=WIDEST), table).maximum > out.width:
        table = plain_table("row", "column", "value")
        for number, row in enumerate(rows, 1):
            for place, name in enumerate(names):
                table.add_row("" if place else str(number), plain(name), _shown(row[name]))
    out.print(table)


def _shown(value: Any) -> str:
    return "" if value is None else plain(str(value))


def _write_parquet(answer: "pa.Table", path: Path) -> None:
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(answer, buffer, compression="zstd")
    write_durably(path, buffer.getvalue())


def _value(value: Any) -> Any:
    """Return a value as CSV and JSON have it: sums, which are decimals, as integers."""
    match value:
        case Decimal():
            return int(value) if value == value.to_integral_value() else value
        case list():
            return [_value(each) for each in value]
        case tuple():  # a key of a map and its value
            return tuple(map(_value, value))
        case dict():
            return {name: _value(each) for name, each in value.items()}
    return value
