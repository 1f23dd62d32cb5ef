"""`dispute`: from a complaint to the round it is about, its assessment, and a signed decision."""

import hashlib
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from cli.assessment import assessment_json, print_assessment, print_plan, words
from cli.errors import FINDINGS, SOUND, UNREADABLE, UsageError
from cli.find import find_command
from cli.options import (
    JsonOption,
    LedgerOption,
    open_to_read,
    open_to_write,
    program,
    staff_signer,
    with_ledger,
)
from cli.render import amount, console, error_console, plain, plain_table, print_json
from cli.rounds import find_round
from ledger import Ledger
from ledger.clock import parse_time
from ledger.errors import UnknownStream
from ledger.events import DISPUTES_PREFIX, Attachment
from ledger.verify import verify_stream
from replay.disputes.assess import assess
from replay.disputes.assessment import REMEDIES, Assessment, Claim, RemedyName
from replay.disputes.cases import DAYS_TO_ANSWER, Case, fold_cases, key_names, read_cases
from replay.disputes.decide import Plan, plan_decision
from replay.disputes.evidence import Evidence, currency_of, gather
from replay.disputes.pay import carry_out, open_case
from replay.disputes.touched import with_touched
from replay.round_text import RoundText, read_round

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Open a case about a round, assess it, decide it, and pay by signed events.",
)

app.command("find")(find_command)

SECONDS_A_DAY = 86_400

CaseArgument = Annotated[
    str,
    typer.Argument(metavar="CASE", help="The round, or how its id begins; .N for its N-th case."),
]
KeyOption = Annotated[
    str, typer.Option(help="Whose key signs: its name in the ledger's keys/, or a .pem file.")
]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask: for scripts.")]
ShownOption = Annotated[
    Path | None,
    typer.Option(help="What the player's screen showed, as a `.round` file."),
]


@app.command("open")
def open_command(
    round_id: Annotated[str, typer.Argument(metavar="ROUND", help="Its id, or how it begins.")],
    claim: Annotated[Claim, typer.Option(help="What the player says went wrong.")],
    note: Annotated[str | None, typer.Option(help="The complaint in the player's words.")] = None,
    attach: Annotated[
        list[Path] | None,
        typer.Option(help="A file the player sent; its SHA-256 is recorded. May repeat."),
    ] = None,
    days: Annotated[
        int, typer.Option(min=1, max=3650, help="In how many days the player is to be answered.")
    ] = DAYS_TO_ANSWER,
    key: Annotated[
        str | None, typer.Option(help="Whose key signs; by default the ledger's staff key.")
    ] = None,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open a case about a round: the claim and the attachments' digests become a signed event."""
    attachments = [_attachment(each) for each in attach or ()]
    with open_to_write(path) as ledger:
        signer = None if key is None else staff_signer(ledger, key)
        stream = find_round(ledger, round_id)
        _must_exist(ledger, stream)
        case = open_case(
            ledger, stream, claim, note=note, attachments=attachments, days=days, signer=signer
        )
    if as_json:
        print_json(_case_json(case, ledger))
        return
    out = console()
    out.print(f"Opened case {case.id}", soft_wrap=True)
    out.print(f"To be answered by {_day(case.opened.deadline)}; see what the ledger shows:")
    out.print(f"  {program()} dispute assess {case.id}{with_ledger(path)}", soft_wrap=True)


@app.command("assess")
def assess_command(
    case_id: Annotated[
        str, typer.Argument(metavar="ROUND|CASE", help="A round or a case, or how it begins.")
    ],
    shown: ShownOption = None,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what the evidence shows, which remedy governs, and what each would pay. Only reads.

    The exit code is 3 where evidence is forged or missing.
    """
    screen = None if shown is None else _read_shown(shown)
    with open_to_read(path) as ledger:
        evidence, assessment, case = _assess(ledger, case_id, screen)
        assessment = with_touched(ledger, evidence, assessment)
    if as_json:
        print_json(assessment_json(assessment, evidence, case))
    else:
        out = console()
        print_assessment(out, evidence, assessment)
        _print_next(out, evidence, assessment, case, path)
    raise typer.Exit(_exit_code(assessment))


@app.command("decide")
def decide_command(
    case_id: CaseArgument,
    remedy: Annotated[RemedyName, typer.Option(help="What is decided: see `dispute assess`.")],
    key: KeyOption,
    reference: Annotated[
        str | None, typer.Option(help="The reference of an adjudicator's decision.")
    ] = None,
    shown: Annotated[
        Path | None,
        typer.Option(help="With --reference, honour what this attached `.round` file shows."),
    ] = None,
    yes: YesOption = False,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Decide a case: show what will be paid, ask, then record decision and payment as one.

    Above the policy's limit, and by an adjudicator's reference, two persons decide: each runs this
    with their own key, and the second pays.
    """
    if reference is not None and not reference.strip():
        raise UsageError("the reference is empty: give the adjudicator's")
    if shown is not None and reference is None:
        raise UsageError("only an adjudicator may go by what a screen showed: give --reference")
    screen = None if shown is None else _read_shown(shown)
    with open_to_write(path) as ledger:
        signer = staff_signer(ledger, key)
        evidence, assessment, case = _assess(ledger, case_id, screen)
        if case is None:
            raise UsageError(f"there is no case about {evidence.round_id}: open one first")
        if shown is not None and _attachment(shown) not in case.opened.attachments:
            raise UsageError(f"{shown.name} is not what was attached to the case {case.id}")
        cases = fold_cases(evidence.disputes, key_names(ledger))
        plan = plan_decision(
            evidence, assessment, cases[: case.number], remedy, key=signer.name, reference=reference
        )
        currency = currency_of(evidence)
        if not yes:
            _somebody_is_here()
            print_plan(error_console(), plan, signer.name, currency)
            _confirm("Sign and record this decision?")
        recorded = carry_out(ledger, evidence, plan, signer)
        case = read_cases(ledger, evidence.round_id)[-1]
    if as_json:
        print_json({**_case_json(case, ledger), "leaves": [each.leaf_index for each in recorded]})
    else:
        _tell_decided(console(), plan, case, currency, [each.leaf_index for each in recorded])


@app.command("list")
def list_command(
    everything: Annotated[bool, typer.Option("--all", help="Decided cases too.")] = False,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the cases that wait, the most urgent first: age, deadline, and what is overdue."""
    with open_to_read(path) as ledger:
        now = ledger.now()
        unsound: list[str] = []
        cases: list[Case] = []
        for stream in ledger.disputed():
            if verify_stream(ledger, stream):
                unsound.append(stream.removeprefix(DISPUTES_PREFIX))
            else:
                cases += read_cases(ledger, stream.removeprefix(DISPUTES_PREFIX))
        shown = [case for case in cases if everything or case.state != "decided"]
        shown.sort(key=lambda case: (case.state == "decided", case.opened.deadline or "~"))
        if as_json:
            rows = [_case_json(case, ledger) for case in shown]
            print_json({"cases": rows, "not_verified": unsound})
    out = console()
    if not as_json:
        columns = ("case", "claim", "state", "days", "due")
        table = plain_table(*columns, right=("days",), whole=("case",), gap=1)
        for case in shown:
            late = case.is_overdue(now)
            due = Text(_day(case.opened.deadline), "bold red" if late else "")
            age = case.age(now).total_seconds() / SECONDS_A_DAY
            state = "OVERDUE" if late else words(case.state)
            cells = (
                plain(case.opened.claim),
                Text(state, "bold red" if late else ""),
                f"{age:.0f}",
            )
            table.add_row(Text(case.id, no_wrap=True), *cells, due)
        out.print(table if shown else "no case waits")
        for round_id in unsound:
            text = f"The cases about {plain(round_id)} do not verify: verify the ledger"
            out.print(Text(text, "bold red"), soft_wrap=True)
    if unsound:
        raise typer.Exit(UNREADABLE)


def find_case(ledger: Ledger, text: str) -> tuple[str, int | None]:
    """Return the round, and the number where one is given, of a case named `ROUND` or `ROUND.N`.

    Raises UsageError for a round that is not there and for a number that is none.
    """
    name, dot, number = text.strip().partition(".")
    if dot and not (number.isascii() and number.isdecimal() and len(number) < 10):
        raise UsageError(f"{text!r} names no case: write the round's id, a dot and a number")
    round_id = find_round(ledger, name)
    _must_exist(ledger, round_id)
    return round_id, int(number) if dot else None


def _assess(
    ledger: Ledger, text: str, shown: RoundText | None
) -> tuple[Evidence, Assessment, Case | None]:
    round_id, number = find_case(ledger, text)
    evidence = gather(ledger, round_id)
    cases = fold_cases(evidence.disputes, key_names(ledger))
    if number is not None and not 1 <= number <= len(cases):
        there = f"its cases are 1 to {len(cases)}" if cases else "nobody opened one"
        raise UsageError(f"there is no case {number} about {round_id}: {there}")
    case = cases[(number or len(cases)) - 1] if cases else None
    claim = None if case is None else case.claim
    return evidence, assess(evidence, claim, shown), case


def _must_exist(ledger: Ledger, round_id: str) -> None:
    if ledger.store.event(round_id, 1) is None:
        raise UnknownStream(
            f"this ledger, {ledger.origin}, has no round {round_id}: is it another ledger's?"
        )


def _attachment(file: Path) -> Attachment:
    with open(file, "rb") as content:
        return Attachment(file.name, hashlib.file_digest(content, "sha256").hexdigest())


def _read_shown(file: Path) -> RoundText:
    return read_round(file.read_bytes())


def _somebody_is_here() -> None:
    if not sys.stdin.isatty():
        raise UsageError("nothing was recorded: nobody is here to confirm it; scripts add --yes")


def _confirm(question: str) -> None:
    if not typer.confirm(question, err=True):
        raise UsageError("nothing was recorded")


def _exit_code(assessment: Assessment) -> int:
    if not assessment.money_may_move:
        return UNREADABLE
    differs = "screen_differs" in assessment.classes
    return FINDINGS if assessment.findings or differs else SOUND


def _print_next(
    out: Console, evidence: Evidence, assessment: Assessment, case: Case | None, path: str | None
) -> None:
    begin = f"  {program()} dispute"
    end = with_ledger(path)
    out.print()
    if case is None:
        out.print("Nobody opened a case about this round. If the player complains:")
        command = f"{begin} open {evidence.round_id} --claim CLAIM{end}"
    elif case.state == "decided":
        remedy = words(case.decisions[-1].data.remedy)
        out.print(f"Case {case.id} was decided: {remedy}, {_day(case.decided_at)}.", soft_wrap=True)
        return
    else:
        out.print(f"Case {case.id}, {words(case.state)}, due {_day(case.opened.deadline)}.")
        remedy = assessment.governing.name
        if case.state == "awaiting_second_key":
            proposed = case.decisions[-1]
            remedy = next(each for each in REMEDIES if each == proposed.data.remedy)
            paid = amount(proposed.data.amount_minor, currency_of(evidence))
            who = plain(" and ".join(proposed.keys))
            out.print(f"{who} signed {words(remedy)}, {paid}; a second person signs the same:")
        command = f"{begin} decide {case.id} --remedy {remedy} --key NAME{end}"
    out.print(command, soft_wrap=True)


def _tell_decided(out: Console, plan: Plan, case: Case, currency: str, leaves: list[int]) -> None:
    where = f"leaf {leaves[0]}" if len(leaves) == 1 else f"leaves {leaves[0]} to {leaves[-1]}"
    remedy, paid = words(plan.decided.remedy), amount(plan.decided.amount_minor, currency)
    if not plan.stands:
        text = f"Recorded in {where}; nothing is paid before a second key signs the same."
    elif case.state == "referred":
        text = f"Referred ({where}). The adjudicator's decision: --remedy … --reference …"
    else:
        text = f"Decided: {remedy}, {paid} paid ({where})."
    out.print(f"Case {case.id}", soft_wrap=True)
    out.print(text, soft_wrap=True)


def _case_json(case: Case, ledger: Ledger) -> dict[str, object]:
    now = ledger.now()
    last = case.decisions[-1] if case.decisions else None
    return {
        "case": case.id,
        "round": case.round,
        "claim": case.opened.claim,
        "note": case.opened.note,
        "attachments": case.opened.attachments,
        "state": case.state,
        "opened_at": case.opened_at,
        "opened_by": case.opened_by,
        "deadline": case.opened.deadline,
        "age_seconds": int(case.age(now).total_seconds()),
        "is_overdue": case.is_overdue(now),
        "decided_at": case.decided_at,
        "remedy": None if last is None else last.data.remedy,
        "reference": None if last is None else last.data.reference,
        "amount_minor": None if last is None else last.data.amount_minor,
        "keys": [] if last is None else list(last.keys),
        "keys_needed": None if last is None else last.data.keys_needed,
    }


def _day(time: str | None) -> str:
    return "no day" if time is None else f"{parse_time(time):%Y-%m-%d}"
