"""`dispute decide`, and the words people type for it: every decision of a case is signed here."""

import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple, Protocol, TypeAlias

import typer
from rich.console import Console

from shoeproof.cli.commands.dispute.cases import (
    CaseArgument,
    assess_case,
    attachment,
    case_json,
    read_shown,
)
from shoeproof.cli.commands.dispute.complaint import plan_text
from shoeproof.cli.commands.dispute.complaint_screen import complaint_json
from shoeproof.cli.errors import UsageError
from shoeproof.cli.input.options import (
    AmountArgument,
    BetOption,
    CurrencyOption,
    JsonOption,
    KeyOption,
    LedgerOption,
    ReferenceOption,
    TakesAmount,
    in_minor_units,
    open_to_write,
    parse_amount,
    program,
    staff_signer,
)
from shoeproof.cli.input.wallets import operators_wallet, pay_by_hand
from shoeproof.cli.screen.assessment import print_plan, words
from shoeproof.cli.screen.render import amount, broken, console, error_console, plain, print_json
from shoeproof.ledger import Ledger
from shoeproof.ledger.keys.key import Signer
from shoeproof.ledger.leaf.events import DisputeOpened
from shoeproof.replay.cases.assessment import Assessment, RemedyName
from shoeproof.replay.cases.case import Case, key_names, read_cases
from shoeproof.replay.disputes.complaints.cases import ComplaintRemedy, is_complaint, read_complaint
from shoeproof.replay.disputes.complaints.decide import carry_out_complaint
from shoeproof.replay.disputes.decide import (
    Plan,
    plan_award,
    plan_decision,
    plan_goodwill,
    plan_payment,
    plan_rejection,
    plan_withdrawal,
    round_opened,
)
from shoeproof.replay.disputes.evidence import Evidence, currency_of
from shoeproof.replay.disputes.record import carry_out
from shoeproof.replay.rounds.money_check import Bet
from shoeproof.replay.rounds.narrative import decision_word
from shoeproof.replay.wallet.http import HttpWallet

YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask: for scripts.")]


class Planner(Protocol):
    """Plans one decision of a case; `number` is the case's, `key` the person who would sign."""

    def __call__(
        self,
        evidence: Evidence,
        assessment: Assessment,
        cases: Sequence[Case],
        *,
        key: str,
        number: int,
    ) -> Plan:
        """Return what the decision would record, or raise DisputeRefused."""


class _Complaint(NamedTuple):
    """A decision of a complaint that is not about one round."""

    remedy: ComplaintRemedy
    reference: str | None = None
    amount: str | None = None
    currency: str | None = None
    note: str | None = None
    bet: str | None = None


class _How(NamedTuple):
    """What every decision is told: whose key signs, whether to ask, the ledger, the form."""

    key: str
    yes: bool
    path: str | None
    as_json: bool


Command: TypeAlias = Callable[..., None]


def _example(words: str) -> str:
    return f"Example: shoeproof dispute {words} --key ann"


def register(disputes: typer.Typer) -> None:
    """Add the commands to the group of disputes."""
    disputes.command("decide", epilog=_example("decide 01a22c2b --remedy honour"))(decide_command)
    disputes.command(
        "reject",
        help="Reject a complaint: the result stands. Refused where anything is due or was found, "
        "or the ledger cannot answer the complaint.",
        epilog=_example("reject 01a22c2b"),
    )(_bare(plan_rejection, _Complaint("reject")))
    disputes.command(
        "pay",
        help="Pay what is due by the remedy that governs. Refused if nothing is due.",
        epilog=_example("pay 01a22c2b"),
    )(_bare(plan_payment))
    disputes.command("uphold", epilog=_example("uphold 01a22c2b"))(uphold_command)
    disputes.command(
        "void",
        help="Void a round: its stakes go back as assessed.",
        epilog=_example("void 01a22c2b"),
    )(_with_reference("void"))
    disputes.command(
        "resume",
        help="Have an open round go on from where it stopped.",
        epilog=_example("resume 01a22c2b"),
    )(_with_reference("resume"))
    disputes.command(
        "award", cls=TakesAmount, epilog=_example("award 01a22c2b 20.00 --reference ADR-7")
    )(award_command)
    disputes.command(
        "goodwill", cls=TakesAmount, epilog=_example('goodwill 01a22c2b 5.00 --note "sorry"')
    )(goodwill_command)
    disputes.command(
        "refer",
        help="Refer a case to an adjudicator. It moves nothing and bars no other complaint.",
        epilog=_example("refer 01a22c2b"),
    )(_bare(partial(plan_decision, remedy="refer"), _Complaint("refer")))
    disputes.command("withdraw", epilog=_example("withdraw 01a22c2b"))(withdraw_command)


def _bare(planner: Planner, of_complaint: _Complaint | None = None) -> Command:
    """Return the command for a decision that needs no more words."""

    def command(
        case_id: CaseArgument,
        key: KeyOption,
        yes: YesOption = False,
        path: LedgerOption = None,
        as_json: JsonOption = False,
    ) -> None:
        _decide(case_id, planner, _How(key, yes, path, as_json), of_complaint=of_complaint)

    return command


def _with_reference(remedy: RemedyName) -> Command:
    """Return the command for a remedy that an adjudicator too may choose."""

    def command(
        case_id: CaseArgument,
        key: KeyOption,
        reference: ReferenceOption = None,
        yes: YesOption = False,
        path: LedgerOption = None,
        as_json: JsonOption = False,
    ) -> None:
        planner = partial(plan_decision, remedy=remedy, reference=_filled(reference))
        _decide(case_id, planner, _How(key, yes, path, as_json))

    return command


def decide_command(
    case_id: CaseArgument,
    key: KeyOption,
    remedy: Annotated[
        RemedyName | None, typer.Option(help="What is decided: see `dispute assess`.")
    ] = None,
    award: Annotated[
        str | None, typer.Option(help="An adjudicator's award of any amount: 20.00.")
    ] = None,
    bet: BetOption = None,
    currency: CurrencyOption = None,
    goodwill: Annotated[
        str | None, typer.Option(help="What the operator gives of its own accord: 20.00.")
    ] = None,
    note: Annotated[str | None, typer.Option(help="Why goodwill is given.")] = None,
    reference: ReferenceOption = None,
    shown: Annotated[
        Path | None,
        typer.Option(help="With --reference, honour what this attached `.round` file shows."),
    ] = None,
    yes: YesOption = False,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Decide a case by any remedy of its assessment.

    What will be paid is shown and asked about; then decision and payment are recorded as one.
    Above the policy's limit, and by an adjudicator's reference, two persons decide: each runs this
    with their own key, and the second pays. --award and --goodwill do what these commands do.
    """
    if [remedy, award, goodwill].count(None) != 2:
        raise UsageError("say what is decided: one of --remedy, --award and --goodwill")
    if award is None and bet is not None:
        raise UsageError("only an award is for a bet: give --award AMOUNT --bet HAND:BET")
    if shown is not None and reference is None:
        raise UsageError("only an adjudicator may go by what a screen showed: give --reference")
    how = _How(key, yes, path, as_json)
    if award is not None:
        _decide_award(case_id, award, reference or "", bet, currency, how)
    elif goodwill is not None:
        _decide_goodwill(case_id, goodwill, note or "", currency, how)
    else:
        assert remedy is not None
        planner = partial(plan_decision, remedy=remedy, reference=_filled(reference))
        referred = _Complaint("refer", reference) if remedy == "refer" else None
        _decide(case_id, planner, how, shown=shown, of_complaint=referred)


def uphold_command(
    case_id: Annotated[
        str, typer.Argument(metavar="COMPLAINT", help="A complaint about a span of rounds.")
    ],
    key: KeyOption,
    yes: YesOption = False,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Uphold a complaint: each faulty round gets its own case."""
    upheld = _Complaint("uphold")
    _decide(case_id, None, _How(key, yes, path, as_json), of_complaint=upheld)


def award_command(
    case_id: CaseArgument,
    award: AmountArgument,
    reference: Annotated[str, typer.Option(help="The reference of the adjudicator's decision.")],
    key: KeyOption,
    bet: BetOption = None,
    currency: CurrencyOption = None,
    yes: YesOption = False,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Record an adjudicator's award of any amount.

    It is a sum, or what a bet comes to in all.

    Two persons sign it: each runs this with their own key, and the second pays.
    """
    _decide_award(case_id, award, reference, bet, currency, _How(key, yes, path, as_json))


def goodwill_command(
    case_id: CaseArgument,
    goodwill: AmountArgument,
    note: Annotated[str, typer.Option(help="Why it is given.")],
    key: KeyOption,
    currency: CurrencyOption = None,
    yes: YesOption = False,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a sum of the operator's own accord.

    Above the policy's limit two persons sign."""
    _decide_goodwill(case_id, goodwill, note, currency, _How(key, yes, path, as_json))


def withdraw_command(
    case_id: CaseArgument,
    key: KeyOption,
    note: Annotated[str | None, typer.Option(help="What the player said.")] = None,
    yes: YesOption = False,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Close a case that the player withdrew; it moves nothing."""
    planner, withdrawn = partial(plan_withdrawal, note=note), _Complaint("withdraw", note=note)
    _decide(case_id, planner, _How(key, yes, path, as_json), of_complaint=withdrawn)


def _decide_award(
    case_id: str, award: str, reference: str, bet: str | None, currency: str | None, how: _How
) -> None:
    planner = _award(award, bet, reference, currency)
    awarded = _Complaint("award", reference, award, currency, bet=bet)
    _decide(case_id, planner, how, of_complaint=awarded)


def _decide_goodwill(
    case_id: str, goodwill: str, note: str, currency: str | None, how: _How
) -> None:
    planner = _goodwill(goodwill, note, currency)
    given = _Complaint("goodwill", None, goodwill, currency, note)
    _decide(case_id, planner, how, of_complaint=given)


def _award(text: str, bet: str | None, reference: str, currency: str | None) -> Planner:
    filled, of_bet, money = _filled(reference) or "", _bet(bet), _money(text)

    def plan(
        evidence: Evidence, assessment: Assessment, cases: Sequence[Case], *, key: str, number: int
    ) -> Plan:
        minor = _minor(money, evidence, currency)
        return plan_award(
            evidence,
            assessment,
            cases,
            minor,
            key=key,
            reference=filled,
            bet=of_bet,
            number=number,
        )

    return plan


def _goodwill(text: str, note: str, currency: str | None) -> Planner:
    if not note.strip():
        raise UsageError("say why goodwill is given: --note")
    why, money = note, _money(text)

    def plan(
        evidence: Evidence, assessment: Assessment, cases: Sequence[Case], *, key: str, number: int
    ) -> Plan:
        minor = _minor(money, evidence, currency)
        return plan_goodwill(evidence, assessment, cases, minor, key=key, note=why, number=number)

    return plan


def _money(text: str) -> Decimal:
    money = parse_amount(text)
    assert money is not None
    return money


def _minor(money: Decimal, evidence: Evidence, said: str | None) -> int:
    currency = currency_of(evidence)
    if said is not None and said != currency:
        raise UsageError(f"the round is in {currency}, not in {said}")
    return in_minor_units(money, currency)


def _bet(text: str | None) -> Bet | None:
    if text is None:
        return None
    hand, colon, bet = text.partition(":")
    if not (hand and colon and bet):
        raise UsageError(f"{text!r} names no bet: write the hand and the bet, s1:main")
    return hand, bet


def _filled(reference: str | None) -> str | None:
    if reference is not None and not reference.strip():
        raise UsageError("an adjudicator's decision has a reference: give --reference")
    return reference


def _decide(
    case_id: str,
    planner: Planner | None,
    how: _How,
    *,
    shown: Path | None = None,
    of_complaint: _Complaint | None = None,
) -> None:
    screen, wallet = read_shown(shown), operators_wallet()
    with open_to_write(how.path) as ledger:
        signer = staff_signer(ledger, how.key)
        if is_complaint(ledger, case_id):
            _decide_complaint(ledger, case_id, of_complaint, signer, wallet, how)
            return
        if planner is None:
            raise UsageError(
                f"{case_id} is not a complaint about a span: pay what is due, or reject"
            )
        evidence, assessment, cases, case = assess_case(ledger, case_id, screen)
        if case is None:
            raise UsageError(f"there is no case about {evidence.round_id}: open one first")
        if shown is not None and attachment(shown) not in case.opened.attachments:
            raise UsageError(f"{shown.name} is not what was attached to the case {case.id}")
        person = key_names(ledger)[signer.key_id_hex]
        plan = planner(evidence, assessment, cases, key=person, number=case.number)
        if not how.yes:
            _somebody_is_here()
            print_plan(error_console(), plan, person, plan.currency)
            _confirm(_question(evidence, plan))
        recorded = carry_out(ledger, evidence, plan, signer, wallet)
        moved = plan.decided.amount_minor if plan.stands else 0
        pay_by_hand(moved, plan.currency, wallet, evidence.events)
        case = read_cases(ledger, evidence.round_id)[case.number - 1]
        leaves = [each.leaf_index for each in recorded]
        if how.as_json:
            print_json({**case_json(case, ledger), "leaves": leaves})
            return
    _tell_decided(console(), plan, case, leaves)


def _decide_complaint(
    ledger: Ledger,
    text: str,
    decided: _Complaint | None,
    signer: Signer,
    wallet: HttpWallet | None,
    how: _How,
) -> None:
    if decided is None:
        raise UsageError(
            "a complaint that is not about one round can be rejected, upheld, referred or "
            "withdrawn, or a sum is awarded or given in goodwill"
        )
    if decided.bet is not None:
        raise UsageError(
            "an award for a complaint that is not about one round names no bet: leave out --bet"
        )
    plan = plan_text(
        ledger,
        text,
        decided.remedy,
        signer,
        reference=decided.reference,
        sum_text=decided.amount,
        currency=decided.currency,
        note=decided.note,
    )
    complaint, unit = plan.complaint, "" if plan.award is None else plan.award.currency
    paid = amount(plan.decided.amount_minor, unit) if plan.award else "nothing"
    if not how.yes:
        _somebody_is_here()
        _confirm(
            f"Complaint {complaint.id} of player {plain(complaint.opened.player or 'unknown')}, "
            f"claim: {plain(complaint.opened.claim)}. {words(decided.remedy).capitalize()}, "
            f"{plain(plan.decided.clause)}. Sign and record this decision, which pays {paid}?"
        )
    recorded = carry_out_complaint(ledger, plan, signer, wallet)
    if how.as_json:
        told = complaint_json(read_complaint(ledger, complaint.id), ledger)
        print_json({**told, "leaves": [each.leaf_index for each in recorded]})
        return
    out = console()
    out.print(f"Complaint {complaint.id}", soft_wrap=True)
    if not plan.stands:
        out.print("Recorded. Nothing is done until a second person signs the same decision.")
        return
    out.print(f"Decided: {decision_word(plan.decided)}, {paid} paid.")
    for each in recorded:
        if isinstance(each.event.data, DisputeOpened):
            out.print(f"Opened a case about the round {each.event.data.round}", soft_wrap=True)


def _question(evidence: Evidence, plan: Plan) -> str:
    """Ask by round, player, claim and amount, so that nobody signs what they did not mean."""
    player = plain(round_opened(evidence).player) if evidence.events else "unknown"
    paid = amount(plan.decided.amount_minor, plan.currency)
    claim = plain(plan.case.opened.claim)
    return (
        f"Round {plan.case.round} of player {player}, claim: {claim}. "
        f"Sign and record this decision, which pays {paid}?"
    )


def _somebody_is_here() -> None:
    if not sys.stdin.isatty():
        raise UsageError("nothing was recorded: it was not confirmed; in a script, add --yes")


def _confirm(question: str) -> None:
    if not typer.confirm(broken(question), err=True):
        raise UsageError("nothing was recorded")


def _tell_decided(out: Console, plan: Plan, case: Case, leaves: Sequence[int]) -> None:
    where = f"leaf {leaves[0]}" if len(leaves) == 1 else f"leaves {leaves[0]} to {leaves[-1]}"
    word, paid = plain(decision_word(plan.decided)), "nothing paid"
    if plan.decided.amount_minor:
        paid = f"{amount(plan.decided.amount_minor, plan.currency)} paid"
    if not plan.stands:
        text = f"Recorded in {where}; nothing is paid until a second key signs the same decision."
    elif case.state == "referred":
        text = (
            f"Referred ({where}). Record the adjudicator's decision by `{program()} dispute award`,"
            " or by `decide` with its remedy and --reference."
        )
    elif plan.decided.remedy == "withdraw":
        text = f"Withdrawn by the player; nothing is paid ({where})."
    else:
        text = f"Decided: {word}, {paid} ({where})."
    out.print(f"Case {case.id}", soft_wrap=True)
    out.print(text, soft_wrap=True)
