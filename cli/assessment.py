"""How an assessment and a decision look in a terminal: verdict, amount, clause, alternatives."""

from collections.abc import Iterable, Sequence

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.render import amount, plain, plain_table, print_findings
from ledger.clock import parse_time
from ledger.events import RoundOpened
from replay.disputes.assessment import Assessment, BetPrice, Remedy, Source
from replay.disputes.cases import Case
from replay.disputes.decide import Plan
from replay.disputes.evidence import Evidence, currency_of

MOST_ROUNDS = 10
"""How many of the other rounds touched a terminal shows; `--json` has all."""

_STYLES = {
    "upheld": "bold green",
    "partly_upheld": "bold yellow",
    "rejected": "bold red",
    "inconclusive": "bold magenta",
}


def words(name: str) -> str:
    """Return a code of ours as words."""
    return name.replace("_", " ")


def print_assessment(out: Console, evidence: Evidence, assessment: Assessment) -> None:
    """Print an assessment: first what an agent must say, then why, then all else."""
    currency = currency_of(evidence)
    governing = assessment.governing
    top = _labelled()
    verdict = Text(words(assessment.verdict).upper(), _STYLES[assessment.verdict])
    top.add_row("verdict", verdict)
    top.add_row("amount", _to_pay(assessment, governing, currency))
    top.add_row("clause", clause_text(governing.source))
    top.add_row("why", plain(governing.why))
    top.add_row("evidence", ", ".join(map(words, assessment.classes)))
    top.add_row("round", plain(_which_round(evidence)))
    if not assessment.money_may_move:
        top.add_row("trusted", _trusted(evidence))
    out.print(top)
    _print_bets(out, governing.bets, currency)
    _print_alternatives(out, assessment, currency)
    if assessment.shown_minor is not None:
        shown = amount(assessment.shown_minor, currency)
        out.print(Text.assemble(("\nThe screen showed ", "bold"), f"{shown} paid in all."))
    _print_list(out, "Reasons", assessment.reasons)
    if assessment.findings:
        out.print(Text("\nFindings", "bold"))
        print_findings(out, assessment.findings)
    others = assessment.touched
    more = [f"… and {len(others) - MOST_ROUNDS} more"] if len(others) > MOST_ROUNDS else []
    _print_list(out, "Other rounds with this fault", [*others[:MOST_ROUNDS], *more])
    _print_list(out, "What the ledger cannot show", assessment.lacks)


def assessment_json(
    assessment: Assessment, evidence: Evidence, case: Case | None
) -> dict[str, object]:
    """Return an assessment for machines, with what each remedy moves."""
    data: dict[str, object] = msgspec.to_builtins(assessment)
    return {
        "kind": "assessment",
        "case": None if case is None else case.id,
        "currency": currency_of(evidence) or None,
        "governing": assessment.governing.name,
        **data,
        "remedies": [
            {
                **msgspec.to_builtins(remedy),
                "due_minor": remedy.due_minor,
                "moves_minor": remedy.moves_minor,
            }
            for remedy in assessment.remedies
        ],
    }


def print_plan(out: Console, plan: Plan, key: str, currency: str) -> None:
    """Print what a decision will record and pay."""
    decided = plan.decided
    top = _labelled()
    top.add_row("decision", Text(words(decided.remedy).upper(), "bold"))
    top.add_row("pays", Text(amount(decided.amount_minor, currency), "bold"))
    top.add_row("clause", plain(decided.clause))
    if decided.reference is not None:
        top.add_row("reference", plain(decided.reference))
    signers = [*plan.confirms, key]
    top.add_row("signed by", plain(" and ".join(signers)))
    if not plan.stands:
        warning = "a second key must sign the same; until then nothing is paid"
        top.add_row("", Text(warning, "bold yellow"))
    out.print(top)
    if plan.moves:
        money = ("stake", "paid so far", "pays now")
        table = plain_table("hand", "bet", *money, right=money)
        for move in plan.moves:
            moved = (move.price.stake_minor, move.before_minor, move.amount_minor)
            names = plain(move.price.hand), plain(move.price.bet)
            table.add_row(*names, *(amount(each, currency) for each in moved))
        out.print()
        out.print(table)


def clause_text(source: Source) -> Text:
    """Return a source: the document and section, what it says, and whether that is assumed."""
    where = ", ".join(filter(None, (source.document, source.section)))
    text = Text.assemble((plain(where), "bold"), f": {plain(source.says)}")
    return text.append(" (ASSUMED)", "yellow") if source.assumed else text


def _which_round(evidence: Evidence) -> str:
    if not currency_of(evidence):
        return f"{evidence.round_id}, whose opening does not verify"
    first = evidence.events[0].event
    assert isinstance(first.data, RoundOpened)
    rules = evidence.rules.get(first.data.rules_digest)
    game = "unknown rules" if rules is None else rules.id
    opened = f"{parse_time(first.at):%Y-%m-%d %H:%M:%S} UTC"
    return f"{game}, player {first.data.player}, {opened}, {first.data.mode} money"


def _labelled() -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def _to_pay(assessment: Assessment, remedy: Remedy, currency: str) -> Text:
    if not assessment.money_may_move:
        return Text("NO MONEY MOVES on this evidence: refer the case", "bold red")
    if remedy.name == "refer":
        return Text("nothing yet: an adjudicator decides", "bold magenta")
    by = f" to pay, by {words(remedy.name)}"
    if remedy.due_minor is None:
        return Text.assemble(("open", "bold"), f": {words(remedy.name)}, and play decides")
    return Text.assemble((amount(remedy.moves_minor, currency), "bold"), by)


def _trusted(evidence: Evidence) -> str:
    verified = len(evidence.events)
    if not verified:
        return "no event of this round verifies"
    first, last = evidence.events[0], evidence.events[-1]
    return (
        f"{verified} events of this round, leaves {first.leaf_index} to {last.leaf_index}, verify "
        "by themselves; the findings say which do not"
    )


def _print_bets(out: Console, bets: Sequence[BetPrice], currency: str) -> None:
    if not bets:
        return
    money = ("stake", "was paid", "due", "to pay")
    table = plain_table("hand", "bet", *money, "line", right=money)
    for bet in bets:
        amounts = (bet.stake_minor, bet.paid_minor, bet.due_minor, bet.moves_minor)
        cells = [Text(amount(each, currency)) for each in amounts]
        cells[-1].stylize("bold" if bet.moves_minor else "dim")
        table.add_row(plain(bet.hand), plain(bet.bet), *cells, plain(bet.line or "undecided"))
    out.print()
    out.print(table)


def _print_alternatives(out: Console, assessment: Assessment, currency: str) -> None:
    others = [remedy for remedy in assessment.remedies if not remedy.governs]
    table = plain_table("remedy", "to pay", "", right=("to pay",))
    for remedy in sorted(others, key=lambda each: not each.lawful):
        style = "" if remedy.lawful else "dim"
        pays = "-"
        if remedy.lawful and remedy.name != "refer":
            pays = "play decides" if remedy.due_minor is None else ""
            pays = pays or amount(remedy.moves_minor, currency)
        says = plain(remedy.why if remedy.lawful else f"not lawful: {remedy.why}")
        table.add_row(words(remedy.name), pays, says, style=style)
    out.print(Text("\nOther remedies", "bold"))
    out.print(table)


def _print_list(out: Console, title: str, lines: Iterable[str]) -> None:
    grid = Table.grid(padding=(0, 1, 0, 0))
    for line in lines:
        grid.add_row("·", plain(line))
    if grid.row_count:
        out.print(Text(f"\n{title}", "bold"))
        out.print(grid)
