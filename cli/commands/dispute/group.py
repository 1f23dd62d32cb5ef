"""`dispute`: from a complaint to the round it is about, its assessment, and the cases that wait."""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from shoeproof.cli.commands.dispute import decide
from shoeproof.cli.commands.dispute import report as case_report
from shoeproof.cli.commands.dispute.cases import (
    ShownOption,
    assess_case,
    attachment,
    case_json,
    currency_of_round,
    date,
    must_exist,
    read_shown,
    received_at,
    tell_due,
)
from shoeproof.cli.commands.dispute.complaint import (
    ComplaintInput,
    assess_and_print,
    open_span,
    tell_opened,
)
from shoeproof.cli.commands.dispute.complaint_screen import complaint_json, unit_of_sum
from shoeproof.cli.commands.dispute.find import find_command
from shoeproof.cli.commands.dispute.next_step import print_next
from shoeproof.cli.errors import Mistakes, UsageError
from shoeproof.cli.exit_codes import FINDINGS, SOUND, UNREADABLE
from shoeproof.cli.input.options import (
    UTC_ZONE,
    JsonOption,
    LedgerOption,
    StaffKeyOption,
    ZoneOption,
    find_round,
    open_to_read,
    open_to_write,
    parse_zone,
    staff_signer,
)
from shoeproof.cli.screen.assessment import assessment_json, print_assessment, words
from shoeproof.cli.screen.render import (
    amount,
    console,
    plain,
    plain_table,
    print_json,
    print_sentence,
    print_verdict,
)
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.clock import parse_time
from shoeproof.replay.cases.assessment import Assessment, Claim
from shoeproof.replay.cases.case import CLAIMS, DAYS_TO_ANSWER, Case
from shoeproof.replay.disputes.complaints.cases import (
    Complaint,
    is_complaint,
)
from shoeproof.replay.disputes.listing import Listing, list_cases
from shoeproof.replay.disputes.record import open_case
from shoeproof.replay.disputes.similar_rounds import with_touched
from shoeproof.replay.rounds.narrative import decision_word

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Open, assess and decide cases; pay by signed events.",
    epilog="Example: shoeproof dispute find --player anna --stake 5.00",
)


def register(commands: typer.Typer) -> None:
    """Add this group, in the order of its users' work."""
    decide.register(app)
    case_report.register(app)
    commands.add_typer(app, name="dispute")


app.command("find", epilog="Example: shoeproof dispute find --player anna --stake 5.00 --card Qs")(
    find_command
)

SECONDS_A_DAY = 86_400


@app.command("open", epilog="Example: shoeproof dispute open 01a22c2b --claim settlement")
def open_command(
    claim: Annotated[
        str,
        typer.Option(help=f"What the player says went wrong: {', '.join(CLAIMS)}; in a span more."),
    ],
    round_id: Annotated[
        str | None, typer.Argument(metavar="ROUND", help="Its id, or how it begins.")
    ] = None,
    note: Annotated[str | None, typer.Option(help="The complaint in the player's words.")] = None,
    attach: Annotated[
        list[Path] | None,
        typer.Option(help="A file the player sent; its SHA-256 is recorded. May repeat."),
    ] = None,
    player: Annotated[
        str | None, typer.Option(help="Open a complaint about this player's rounds in a span.")
    ] = None,
    since: Annotated[str | None, typer.Option("--from", help="When the span begins.")] = None,
    until: Annotated[str | None, typer.Option("--to", help="When it ends.")] = None,
    no_round: Annotated[
        bool, typer.Option("--no-round", help="The ledger does not hold the round.")
    ] = False,
    evidence: Annotated[
        list[Path] | None,
        typer.Option(
            help="With --player: a file, kept by SHA-256; a .csv is a wallet's statement."
        ),
    ] = None,
    received: Annotated[
        str | None,
        typer.Option(help="When the complaint came in, by default now: 2026-01-31 or with a time."),
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(help="The player's time zone, by which times are read and the due day told."),
    ] = None,
    days: Annotated[
        int,
        typer.Option(
            min=1, max=3650, help="In how many days of receipt the player is to be answered."
        ),
    ] = DAYS_TO_ANSWER,
    key: StaffKeyOption = None,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open a case about a round, or about a span of rounds.

    The claim and the attachments' digests become a signed event. With --player, --from and --to it
    is a complaint about every round of a span, with --no-round about one that the ledger does not
    hold.
    """
    about_span = (player, since, until, evidence) != (None,) * 4 or no_round
    if about_span == (round_id is not None):
        raise UsageError("give a round, or --player with --from and --to or --no-round; not both")
    wrong, shown_in, signer, said = Mistakes(), None, None, None
    attachments = [attachment(each) for each in attach or ()]
    with open_to_write(path) as ledger:
        with wrong:
            shown_in = parse_zone(zone)
        with wrong:
            signer = None if key is None else staff_signer(ledger, key)
        with wrong:
            said = None if round_id is None else _read_claim(claim)
        wrong.tell()
        if round_id is None or said is None:
            span = ComplaintInput(
                player, since, until, zone, no_round, (*(evidence or ()), *(attach or ()))
            )
            complaint = open_span(
                ledger, span, claim, note=note, days=days, signer=signer, received=received
            )
            tell_opened(complaint, ledger, path, as_json=as_json)
            return
        stream = find_round(ledger, round_id)
        must_exist(ledger, stream)
        begun = parse_time(ledger.events(stream)[0].event.at)
        case = open_case(
            ledger,
            stream,
            said,
            note=note,
            attachments=attachments,
            received=received_at(received, shown_in, begun),
            days=days,
            signer=signer,
        )
        if as_json:
            print_json(case_json(case, ledger))
            return
    out = console()
    out.print(f"Opened case {case.id}")
    tell_due(out, case, path, shown_in or UTC_ZONE)


@app.command("assess", epilog="Example: shoeproof dispute assess 01a22c2b")
def assess_command(
    case_id: Annotated[
        str, typer.Argument(metavar="ROUND|CASE", help="A round or a case, or how it begins.")
    ],
    shown: ShownOption = None,
    statements: Annotated[
        list[Path] | None,
        typer.Option(
            "--evidence", help="Of a complaint, the wallet's statement attached to it, to be read."
        ),
    ] = None,
    zone: ZoneOption = None,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what the evidence shows and what each remedy pays.

    It says which remedy governs, and only reads. A decided case, named by its number, is shown as
    it was when it was decided, a round as it is now. The exit code is 3 where evidence is forged or
    missing.
    """
    shown_in = parse_zone(zone) or UTC_ZONE
    screen = read_shown(shown)
    with open_to_read(path) as ledger:
        if is_complaint(ledger, case_id):
            code = assess_and_print(ledger, case_id, statements or (), path, as_json=as_json)
            raise typer.Exit(code)
        evidence, assessment, _, case = assess_case(
            ledger, case_id, screen, as_decided=True, zone=shown_in
        )
        assessment = with_touched(ledger, evidence, assessment)
    if as_json:
        print_verdict(
            assessment_json(assessment, evidence, case), sound=_exit_code(assessment) == SOUND
        )
    else:
        out = console()
        print_assessment(out, evidence, assessment, shown_in)
        print_next(out, evidence, assessment, case, path, shown_in)
    raise typer.Exit(_exit_code(assessment))


@app.command("list", epilog="Example: shoeproof dispute list --all")
def list_command(
    everything: Annotated[bool, typer.Option("--all", help="Decided cases too.")] = False,
    zone: ZoneOption = None,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the cases that wait, the most urgent first.

    Each has its outcome, amount, deadline, and what is late.
    """
    shown_in = parse_zone(zone) or UTC_ZONE
    with open_to_read(path) as ledger:
        now, listing = ledger.now(), list_cases(ledger)
        sound = not (listing.unsound or listing.doubts)
        shown = [case for case in listing.cases if everything or case.state != "decided"]
        shown.sort(key=lambda case: (case.state == "decided", case.opened.deadline or "~"))
        if as_json:
            rows = [
                complaint_json(case, ledger)
                if isinstance(case, Complaint)
                else case_json(case, ledger)
                for case in shown
            ]
            told = {"not_verified": listing.unsound, "doubts": listing.doubts}
            print_verdict({"cases": rows, **told}, sound=sound)
        else:
            _print_cases(console(), ledger, shown, now, shown_in)
    if not as_json:
        _print_unsound(console(), listing)
    if not sound:
        raise typer.Exit(UNREADABLE)


def _print_unsound(out: Console, listing: Listing) -> None:
    for name in listing.unsound:
        text = f"The cases about {plain(name)} do not verify: verify the ledger"
        out.print(Text(text, "bold red"), soft_wrap=True)
    for doubt in listing.doubts:
        so = "a case may be shown without its decision, or not at all; verify the ledger"
        print_sentence(out, f"{doubt[:1].upper()}{doubt[1:]}: {so}", style="bold red")


def _print_cases(
    out: Console,
    ledger: Ledger,
    cases: Sequence[Case | Complaint],
    now: datetime,
    zone: tzinfo,
) -> None:
    columns = ("case", "claim", "outcome", "days", f"due ({zone})")
    table = plain_table(*columns, right=("days",), whole=("case",), gap=1)
    for column in table.columns:
        # What a player says in a complaint may be long.
        column.no_wrap = column.header not in ("claim", "outcome")
    for case in cases:
        style = "bold red" if case.is_overdue(now) else ""
        days = case.age(now).total_seconds() / SECONDS_A_DAY
        due = Text(date(case.opened.deadline, zone), style)
        outcome = _outcome(ledger, case, now)
        table.add_row(case.id, plain(case.opened.claim), outcome, f"{days:.0f}", due)
    out.print(table if cases else "no case waits")


def _outcome(ledger: Ledger, case: Case | Complaint, now: datetime) -> Text:
    """Return what became of a case, a line each: the decision, what it pays, and what is late."""
    decision = case.decisions[-1].data if case.decisions else None
    lines = [Text(words(case.state))]
    if decision is not None and case.state == "decided":
        lines = [Text(plain(decision_word(decision)))]
    if case.is_overdue(now):
        lines = [Text("OVERDUE", "bold red")]
    if decision is not None and decision.amount_minor:
        lines.append(Text(amount(decision.amount_minor, _unit(ledger, case))))
    if case.is_late:
        lines.append(Text("opened late", "yellow"))
    elif isinstance(case, Case) and case.was_answered_late:
        lines.append(Text("answered late", "yellow"))
    return Text("\n").join(lines)


def _unit(ledger: Ledger, case: Case | Complaint) -> str:
    if isinstance(case, Case):
        return currency_of_round(ledger, case.round)
    return unit_of_sum(case, ledger)


def _read_claim(text: str) -> Claim:
    for claim in CLAIMS:
        if text == claim:
            return claim
    raise UsageError(f"{text!r} is not a claim about a round: write {', '.join(CLAIMS)}")


def _exit_code(assessment: Assessment) -> int:
    if not assessment.money_may_move:
        return UNREADABLE
    differs = "screen_differs" in assessment.classes
    return FINDINGS if assessment.findings or differs else SOUND
