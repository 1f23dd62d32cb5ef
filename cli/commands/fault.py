"""`fault`: how far one fault went over the whole ledger, and what it owes decided in bulk."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from shoeproof.cli.errors import UsageError
from shoeproof.cli.exit_codes import FINDINGS
from shoeproof.cli.input.options import (
    DefaultGroup,
    JsonOption,
    LedgerOption,
    OpenedFromOption,
    OpenedToOption,
    PublicKeyOption,
    ZoneOption,
    check_suffix,
    given_public_key,
    open_to_read,
    open_to_write,
    parse_local,
    parse_zone,
    program,
    read_minor_units,
    staff_signer,
    with_ledger,
)
from shoeproof.cli.screen.render import (
    amount,
    console,
    plain,
    plain_table,
    print_sentence,
    print_verdict,
    progress_bar,
)
from shoeproof.ledger import Ledger
from shoeproof.ledger.verify.workers import Progress
from shoeproof.replay.cases.case import key_names
from shoeproof.replay.currency import number_text, unit_words
from shoeproof.replay.disputes.in_bulk import (
    MOST_CASES,
    Caps,
    DecidedInBulk,
    Failed,
    Share,
    carry_out_shares,
    hold_to_caps,
    note_of,
    prepare,
    totals,
)

if TYPE_CHECKING:
    from shoeproof.audit_reports.fault_report.from_ledger import FaultRequest
    from shoeproof.audit_reports.fault_report.model import FaultReport, ReturnRow

MOST_LISTED: Final = 10
"""How many rows of a list the terminal shows; `-o` and `--json` have all."""

LONGEST_NAME: Final = 18
"""How many characters of a build's or a table's name the terminal shows."""


class _ShowsByDefault(DefaultGroup):
    """A group whose first word may be a fault, which then is shown."""

    default = "show"


app = typer.Typer(
    cls=_ShowsByDefault,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Show every round one fault affected; decide what is owed. "
    "`fault FAULT` is `fault show FAULT`.",
    epilog="Example: shoeproof fault settlement_mismatch",
)


def register(commands: typer.Typer) -> None:
    """Add this group."""
    commands.add_typer(app, name="fault")


FaultArgument = Annotated[
    str,
    typer.Argument(
        metavar="FAULT",
        help="A finding's code, code@round or code@leaf as `audit` prints it, a software build, a "
        "rules digest or how it begins, or a table. Where a name means two things, say which: "
        "finding:…, build:…, rules:…, table:….",
    ),
]
SizeOption = Annotated[
    int | None,
    typer.Option(min=1, help="Count only the first N leaves, to repeat earlier figures."),
]
CheckpointOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Count the leaves that a checkpoint you kept covers."),
]


@app.command("show", epilog="Example: shoeproof fault settlement_mismatch -o fault.html")
def show_command(
    fault: FaultArgument,
    since: OpenedFromOption = None,
    until: OpenedToOption = None,
    zone: ZoneOption = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "-o", "--output", help="A file ending in .html, .pdf, .csv or .json. May repeat."
        ),
    ] = None,
    size: SizeOption = None,
    checkpoint: CheckpointOption = None,
    public_key: PublicKeyOption = None,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which rounds one fault touched and what it owes.

    It says what they moved wrongly, and what each player is owed.

    Every leaf is verified and every round audited; the rounds in which something is found are
    judged as cases about them would be. Under- and overpayments are two sums, never netted. The
    exit code is 1 where anything is still owed or waits for an adjudicator.
    """
    from shoeproof.audit_reports.fault_report.write import FORMS, write_fault_report

    for file in output or ():
        check_suffix(file, FORMS)
    request = _request(fault, since, until, zone, size, checkpoint, public_key)
    with open_to_read(path) as ledger:
        report = _report(ledger, request)
    for file in output or ():
        write_fault_report(report, file)
    if as_json:
        print_verdict(report, sound=not report.is_due)
    else:
        out = console()
        _print_report(out, report, with_ledger(path))
        for file in output or ():
            out.print(f"Written to {plain(str(file))}", soft_wrap=True)
    if report.is_due:
        raise typer.Exit(FINDINGS)


@app.command(
    "remedy", epilog="Example: shoeproof fault remedy settlement_mismatch --cap EUR=1500.00"
)
def remedy_command(
    fault: FaultArgument,
    since: OpenedFromOption = None,
    until: OpenedToOption = None,
    zone: ZoneOption = None,
    key: Annotated[
        str | None,
        typer.Option(help="Whose key signs: its name in the ledger's keys/, or a .pem file."),
    ] = None,
    cap: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CUR=AMOUNT",
            help="The most that this run may decide in a currency: EUR=1500.00. May repeat.",
        ),
    ] = None,
    most: Annotated[
        int, typer.Option(min=1, help="The most cases that this run may decide.")
    ] = MOST_CASES,
    yes: Annotated[
        bool, typer.Option("--yes", help="Record the decisions; without it nothing is recorded.")
    ] = False,
    size: SizeOption = None,
    checkpoint: CheckpointOption = None,
    public_key: PublicKeyOption = None,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Decide what a fault owes, each round by its own case.

    Without --yes it only lists it.

    Two persons sign every decision: each runs this with their own key, and the second run pays.
    Above a cap nothing is recorded. A run that was cut short is repeated: what stands is not
    decided again.
    """
    if yes and key is None:
        raise UsageError("who signs? give --key: two persons run this, each with their own")
    request = _request(fault, since, until, zone, size, checkpoint, public_key)
    caps = Caps(_caps(cap or ()), most)
    with open_to_write(path) if yes else open_to_read(path) as ledger:
        signer = None if key is None else staff_signer(ledger, key)
        person = "" if signer is None else key_names(ledger)[signer.key_id_hex]
        report = _report(ledger, request)
        owing = [each.round for each in report.wrong if each.owed_minor or each.waits != "nobody"]
        with _progress("assessing rounds") as told:
            shares = prepare(ledger, owing, person, told)
        if not yes or signer is None:
            _tell_prepared(report, shares, caps, key, path, as_json=as_json)
            raise typer.Exit(FINDINGS if shares else 0)
        hold_to_caps(shares, caps)
        note = note_of(report.fault, report.basis.size, report.basis.root)
        with _progress("deciding cases") as told:
            outcome = carry_out_shares(ledger, shares, caps, signer, note, told)
    left = [each for each in shares if not each.is_done]
    sound = not (outcome.signed or outcome.failed or left)
    _tell_outcome(outcome, left, sound=sound, as_json=as_json)
    if not sound:
        raise typer.Exit(FINDINGS)


def _request(
    fault: str,
    since: str | None,
    until: str | None,
    zone: str | None,
    size: int | None,
    checkpoint: Path | None,
    public_key: str | None,
) -> "FaultRequest":
    from shoeproof.audit_reports.fault_report.from_ledger import FaultRequest
    from shoeproof.audit_reports.fault_report.named import read_fault
    from shoeproof.audit_reports.fault_report.scan import Period

    if size is not None and checkpoint is not None:
        raise UsageError("a checkpoint says its size: give --checkpoint or --size, not both")
    read_fault(fault)
    shown_in = parse_zone(zone)
    begin, end = parse_local(since, shown_in), parse_local(until, shown_in)
    if begin is not None and end is not None and end <= begin:
        raise UsageError("no round can be opened in that span: --to must be after --from")
    note = None if checkpoint is None else checkpoint.read_bytes()
    return FaultRequest(fault, Period(begin, end), size, note, given_public_key(public_key))


def _report(ledger: Ledger, request: "FaultRequest") -> "FaultReport":
    from shoeproof.audit_reports.fault_report.from_ledger import Watch, fault_report

    with progress_bar() as bar:
        counting = bar.add_task("counting leaves", total=None)
        judging = bar.add_task("judging rounds", total=None, visible=False)
        watch: Watch = Watch(
            lambda done, total: bar.update(counting, completed=done, total=total),
            lambda done, total: bar.update(judging, completed=done, total=total, visible=True),
        )
        return fault_report(ledger, request, watch)


@contextmanager
def _progress(what: str) -> Iterator[Progress]:
    with progress_bar() as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _caps(texts: Sequence[str]) -> dict[str, int]:
    caps: dict[str, int] = {}
    for text in texts:
        unit, equals, written = text.rpartition("=")
        if not equals or not unit:
            raise UsageError(f"{text!r} is not a valid cap; write EUR=1500.00")
        caps[unit] = read_minor_units(written, unit)
    return caps


# On the screen


def _print_report(out: Console, report: "FaultReport", ledger: str) -> None:
    print_sentence(out, report.headline, style="bold red" if report.is_due else "bold")
    first, last = (_moment(at) for at in (report.first_at, report.last_at))
    if report.rounds:
        out.print(f"opened {first} to {last} UTC, of {report.all_rounds:,} rounds in all")
    _print_money(out, report)
    if report.findings:
        table = plain_table("found", "rounds", right=("rounds",))
        for row in report.findings:
            table.add_row(row.code, f"{row.rounds:,}")
        _section(out, "What was found", table)
    _print_returns(out, report.returns)
    _print_players(out, report)
    for lack in report.lacks:
        print_sentence(out, lack, 2, "dim")
    basis = report.basis
    out.print(f"\nTo repeat it, of {basis.size:,} leaves with the root {basis.root}:")
    out.print(f"  {plain(basis.command)}{ledger}", soft_wrap=True)
    if any(row.owed_minor for row in report.money):
        out.print("What is owed can be decided in bulk; first see what that would do:")
        out.print(f"  {plain(_remedy(report))}{ledger}", soft_wrap=True)


def _section(out: Console, title: str, table: object) -> None:
    out.print(Text(f"\n{title}", "bold"))
    out.print(table)


def _moment(at: str | None) -> str:
    return "-" if at is None else at[:19].replace("T", " ")


def _print_money(out: Console, report: "FaultReport") -> None:
    money = ("too little", "too much", "put right", "still owed")
    table = plain_table("", "rounds", "players", *money, right=("rounds", "players", *money))
    for row in report.money:
        sums = (row.underpaid_minor, row.overpaid_minor, row.put_right_minor, row.owed_minor)
        told = [number_text(each, row.currency) for each in sums]
        counts = f"{row.wrong_rounds:,}", f"{row.wrong_players:,}"
        table.add_row(plain(unit_words(row.currency)), *counts, *told)
    if report.wrong_rounds:
        _section(out, "What was paid wrongly", table)


def _print_returns(out: Console, returns: "Sequence[ReturnRow]") -> None:
    from shoeproof.audit_reports.pages.numerals import percent
    from shoeproof.audit_reports.pages.words import bet_words

    rates = ("with", "alone", "without", "put right")
    right = ("rounds", "touched", *rates)
    table = plain_table("", "bet", *right, right=right)
    for row in returns[: 3 * MOST_LISTED]:
        name = f"{row.game or row.rules_digest[:8]} {row.currency}"
        if row.by != "all":
            called = "not recorded" if row.name is None else row.name
            name = f"  {row.by} {called}"[:LONGEST_NAME] + f" {row.currency}"
        told = (row.rtp, row.rtp_touched, row.rtp_without, row.rtp_right)
        table.add_row(
            plain(name), plain(bet_words(row.bet)), f"{row.rounds:,}", f"{row.touched_rounds:,}",
            *("-" if each is None else percent(each) for each in told),
        )  # fmt: skip
    if returns:
        _section(out, "Return with these rounds, of them alone, without them, put right", table)


def _print_players(out: Console, report: "FaultReport") -> None:
    owed = [row for row in report.players_owed if row.owed_minor]
    table = plain_table("player", "rounds", "owed", right=("rounds", "owed"))
    for row in owed[:MOST_LISTED]:
        table.add_row(plain(row.player), f"{row.rounds:,}", amount(row.owed_minor, row.currency))
    if owed:
        _section(out, "What players are owed", table)
    if len(owed) > MOST_LISTED:
        out.print(f"… and {len(owed) - MOST_LISTED:,} more; -o FILE.csv has them all")


_STEPS: Final = {
    "open": "a case to be opened, and signed first",
    "sign": "a case that is open, to be signed first",
    "confirm": "signed by another person, to be confirmed and paid",
    "signed": "signed by this person, to be confirmed by another",
    "left": "not decided here",
}


def _tell_prepared(
    report: "FaultReport",
    shares: Sequence[Share],
    caps: Caps,
    key: str | None,
    path: str | None,
    *,
    as_json: bool,
) -> None:
    """Say what a run would do; nothing was recorded."""
    sums = totals(shares)
    if as_json:
        told = {"recorded": False, "totals_minor": sums, "rounds": list(map(_share, shares))}
        print_verdict(told, sound=not shares)
        return
    out = console()
    if not shares:
        out.print("Nothing is owed: there is nothing to decide.")
        return
    out.print(Text("A list only: nothing was recorded.", "bold"))
    for step, says in _STEPS.items():
        mine = [each for each in shares if each.step == step]
        if mine:
            out.print(f"{len(mine):>6,}  {says}")
    _print_shares(out, shares)
    if not sums:
        return
    out.print(f"In all {', '.join(amount(minor, unit) for unit, minor in sums.items())}.")
    if caps.money:
        hold_to_caps(shares, caps)
    limits = "".join(f" --cap {unit}={_written(minor, unit)}" for unit, minor in sums.items())
    out.print("To record it, two persons run this, each with their own key; the second pays:")
    words = f"{_remedy(report)}{limits} --key {key or 'NAME'} --yes"
    out.print(f"  {plain(words)}{with_ledger(path)}", soft_wrap=True)


def _remedy(report: "FaultReport") -> str:
    """Return the command that lists what a fault owes in the same span."""
    basis = report.basis
    span = "".join(
        f" {option} {at}" for option, at in (("--from", basis.begin), ("--to", basis.end)) if at
    )
    return f"{program()} fault remedy {shlex.quote(report.fault)}{span}"


def _written(minor: int, unit: str) -> str:
    return number_text(minor, unit).replace(",", "")


def _print_shares(out: Console, shares: Sequence[Share]) -> None:
    table = plain_table("round", "player", "to pay", "", right=("to pay",), whole=("round",))
    for each in shares[:MOST_LISTED]:
        table.add_row(
            each.round, plain(each.player), amount(each.amount_minor, each.currency),
            plain(each.step if each.is_done else each.why),
        )  # fmt: skip
    out.print(table)
    if len(shares) > MOST_LISTED:
        out.print(f"… and {len(shares) - MOST_LISTED:,} more; --json has them all")


def _tell_outcome(
    outcome: DecidedInBulk, left: Sequence[Share], *, sound: bool, as_json: bool
) -> None:
    if as_json:
        told = {
            name: list(map(_share, shares))
            for name, shares in (
                ("signed", outcome.signed), ("paid", outcome.paid), ("left", left),
            )
        }  # fmt: skip
        failed = [each._asdict() for each in outcome.failed]
        print_verdict({"recorded": True, **told, "failed": failed}, sound=sound)
        return
    out = console()
    if outcome.signed:
        first = f"Signed first: {_sums(outcome.signed)}."
        waits = "Nothing is paid until a second person runs the same with their own key."
        print_sentence(out, f"{first} {waits}")
    if outcome.paid:
        out.print(f"Confirmed and paid: {_sums(outcome.paid)}.")
    waiting = [each for each in left if each.step == "signed"]
    if waiting:
        out.print(f"Waiting for a second person: {_sums(waiting)}.")
    others = [Failed(each.round, each.why) for each in left if each.step == "left"]
    for title, rounds in (("Left as they were", outcome.failed), ("Not decided here", others)):
        if rounds:
            out.print(f"{title}: {len(rounds):,}")
        for each in rounds[:MOST_LISTED]:
            print_sentence(out, f"{each.round}: {each.why}", 2)
    if not (outcome.signed or outcome.paid or left or outcome.failed):
        out.print("Nothing is owed: there is nothing to decide.")


def _sums(shares: Sequence[Share]) -> str:
    sums: dict[str, int] = {}
    for each in shares:
        sums[each.currency] = sums.get(each.currency, 0) + each.amount_minor
    cases = "1 case" if len(shares) == 1 else f"{len(shares):,} cases"
    return f"{cases}, {', '.join(amount(minor, unit) for unit, minor in sums.items())}"


def _share(share: Share) -> dict[str, object]:
    return {
        "round": share.round,
        "player": share.player,
        "currency": share.currency,
        "remedy": share.remedy,
        "amount_minor": share.amount_minor,
        "step": share.step,
        "case": share.case,
        "why": share.why,
    }
