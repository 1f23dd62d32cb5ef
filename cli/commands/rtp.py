"""`rtp`: what players got back, by game and bet, and whether that means anything."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from shoeproof.audit_reports.errors import ProjectionBusy
from shoeproof.cli.errors import UsageError
from shoeproof.cli.exit_codes import FINDINGS
from shoeproof.cli.input.counting import (
    CACHED,
    ByOption,
    CachedOption,
    FromOption,
    RebuildOption,
    ToOption,
    VerifiedOnlyOption,
    count,
)
from shoeproof.cli.input.options import (
    UTC_ZONE,
    JsonOption,
    LedgersOption,
    ZoneOption,
    given_ledgers,
    open_all_to_read,
    open_to_write,
    parse_local,
    parse_zone,
)
from shoeproof.cli.screen.render import console, plain, print_sentence, print_verdict
from shoeproof.cli.screen.rtp import print_rtp
from shoeproof.ledger import Ledger

if TYPE_CHECKING:
    from shoeproof.audit_reports.rtp_report.figures import Scope

WATCH_SECONDS: Final = 2.0


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("rtp", epilog="Example: shoeproof rtp --by table --by day")(rtp_command)


def rtp_command(
    since: FromOption = None,
    until: ToOption = None,
    zone: ZoneOption = None,
    by: ByOption = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep counting as the ledger grows, until Ctrl-C.")
    ] = False,
    raising: Annotated[
        bool,
        typer.Option("--raise", help="Record an alarm in the ledger for each bet out of range."),
    ] = False,
    rebuild: RebuildOption = False,
    cached: CachedOption = False,
    verified_only: VerifiedOnlyOption = False,
    places: LedgersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count and judge the realised return by game and bet.

    Only verified leaves are counted. On initial stakes a doubled push is 100%, as in the published
    figures. Voids stand apart, play for fun is not counted, currencies and rule sets are never
    summed. A verdict rests on luck and wrong payments, the wallet's answers among them, not on how
    people played; the exit code is 1 where a game is out of range, or the wallet moved other money
    than was booked. Several ledgers are counted as one, and shown apart by `ledger` unless --by
    says otherwise. Figures are cached in the ledger's directory, and the leaves they were counted
    from are hashed again each time. If you did not create them, use --rebuild.
    """
    # Statistics and DuckDB take longer to load than most commands to run.
    from shoeproof.audit_reports.rtp_report.alarms import raise_alarms
    from shoeproof.audit_reports.rtp_report.figures import Scope, read_slices

    given = given_ledgers(places)
    if watch and (as_json or raising):
        raise UsageError("--watch cannot be combined with --json or --raise")
    if len(given) > 1 and (watch or raising):
        raise UsageError(
            f"--{'watch' if watch else 'raise'} goes with one ledger, and {len(given)} are given"
        )
    if raising and (verified_only or cached or since or until):
        raise UsageError(
            "--raise judges the whole ledger, verified: leave out periods, --cached and "
            "--verified-only"
        )
    shown_in = parse_zone(zone)
    scope = Scope(
        parse_local(since, shown_in), parse_local(until, shown_in), str(shown_in or UTC_ZONE)
    )
    slices = tuple(map(read_slices, by or (("ledger",) if len(given) > 1 else ())))
    out = console()
    with _opened(given, to_write=raising) as ledgers:
        if watch:
            _watch(out, ledgers[0], scope, slices, rebuild=rebuild, verified_only=verified_only)
        judged, objection = count(
            ledgers, scope, slices, rebuild=rebuild, cached=cached, verified_only=verified_only
        )
        raised = raise_alarms(ledgers[0], judged.games) if raising else []
    is_found = judged.findings or any(game.word == "out of range" for game in judged.games)
    sound = objection is None and not is_found
    if as_json:
        told = {"objection": objection, "cached": cached, **msgspec.structs.asdict(judged)}
        print_verdict(told, sound=sound)
    else:
        if cached:
            print_sentence(out, CACHED)
        print_rtp(out, judged, objection, zone=scope.zone)
        for alarm in raised:
            out.print(Text(f"alarm recorded: {plain(alarm.note or '')}", "bold red"))
    if not sound:
        raise typer.Exit(FINDINGS)


@contextmanager
def _opened(places: Sequence[str | None], *, to_write: bool) -> Iterator[list[Ledger]]:
    if to_write:
        with open_to_write(places[0]) as ledger:
            yield [ledger]
    else:
        with open_all_to_read(places) as ledgers:
            yield ledgers


def _watch(
    out: Console,
    ledger: Ledger,
    scope: "Scope",
    slices: Sequence[tuple[str, ...]],
    *,
    rebuild: bool,
    verified_only: bool,
) -> NoReturn:
    seen = -1
    while True:
        size = ledger.size()
        if size != seen:
            # Another process may be counting just now: then it is the next turn's.
            with suppress(ProjectionBusy):
                # Once counted and verified here the tables are this reader's own.
                is_first = seen < 0
                judged, objection = count(
                    [ledger],
                    scope,
                    slices,
                    rebuild=rebuild and is_first,
                    cached=not is_first,
                    verified_only=verified_only,
                )
                out.clear()
                print_rtp(out, judged, objection, zone=scope.zone)
                out.print(Text(f"{size:,} leaves; Ctrl-C ends", "dim"))
                seen = size
        time.sleep(WATCH_SECONDS)
