"""How an assessment and a decision look in a terminal: verdict, amount, clause, alternatives."""

from collections.abc import Iterable, Sequence
from datetime import tzinfo

from rich.console import Console
from rich.table import Table
from rich.text import Text

from shoeproof.cli.screen.render import amount, plain, plain_table, print_findings
from shoeproof.ledger.leaf.events import RoundOpened
from shoeproof.replay.cases.assessment import Assessment, BetPrice, Remedy, Source
from shoeproof.replay.cases.case import Case
from shoeproof.replay.currency import number_text, unit_words
from shoeproof.replay.disputes.decide import Plan
from shoeproof.replay.disputes.evidence import Evidence, currency_of
from shoeproof.replay.local_time import zoned_text
from shoeproof.replay.rounds.narrative import decision_word

MOST_ROUNDS = 10
"""How many of the other rounds touched a terminal shows; `--json` has all."""

_STYLES = {
    "upheld": "bold yellow",
    "partly_upheld": "bold yellow",
    "rejected": "bold",
    "inconclusive": "bold magenta",
}


def words(name: str) -> str:
    """Return a code of ours as words."""
    return name.replace("_", " ")


def print_assessment(
    out: Console, evidence: Evidence, assessment: Assessment, zone: tzinfo
) -> None:
    """Print an assessment: first the verdict, the amount and the clause, then the rest.

    Times are as clocks of `zone` show them.
    """
    currency = currency_of(evidence)
    governing = assessment.governing
    top = _labelled()
    top.add_row("verdict", _verdict(assessment))
    top.add_row("to pay", _to_pay(assessment, governing, currency))
    top.add_row("clause", clause_text(assessment.clause))
    top.add_row("answer", plain(assessment.answer))
    top.add_row("remedy", plain(f"{words(governing.name)}: {governing.why}"))
    top.add_row("round", plain(_which_round(evidence, zone)))
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
    """Return an assessment for machines: amounts in minor units, sources as they are cited."""
    governing, clause = assessment.governing, assessment.clause
    return {
        "case": None if case is None else case.id,
        "round": assessment.round,
        "currency": currency_of(evidence) or None,
        "claim": assessment.claim,
        "verdict": assessment.verdict,
        "governs": governing.name,
        "moves_minor": governing.moves_minor if assessment.money_may_move else 0,
        "bets": [_bet_json(bet) for bet in governing.bets],
        "clause": {
            "source": clause.document,
            "section": clause.section,
            "assumed": clause.rests_on_reading,
            "readings": [each.says for each in clause.parts if each.assumed],
        },
        "answer": assessment.answer,
        "remedies": [
            {
                "name": remedy.name,
                "lawful": remedy.lawful,
                "governs": remedy.governs,
                "moves_minor": remedy.moves_minor,
                "why": remedy.why,
                "source": remedy.source.cited,
            }
            for remedy in assessment.remedies
        ],
        "findings": [
            {"code": each.code, "seq": each.seq, "text": each.text} for each in assessment.findings
        ],
        "lacks": assessment.lacks,
        "classes": assessment.classes,
        "reasons": assessment.reasons,
        "corrected_by": assessment.corrected_by,
        "money_may_move": assessment.money_may_move,
        "shown_minor": assessment.shown_minor,
        "touched": assessment.touched,
        "size": assessment.size,
    }


def _bet_json(bet: BetPrice) -> dict[str, object]:
    could = bet.could_have
    return {
        "hand": bet.hand,
        "bet": bet.bet,
        "stake_minor": bet.stake_minor,
        "paid_minor": bet.paid_minor,
        "due_minor": bet.due_minor,
        "ground": bet.ground,
        "source": None if bet.source is None else bet.source.cited,
        "assumed": bet.source is not None and bet.source.rests_on_reading,
        "could_have_minor": None if could is None else [could.least_minor, could.most_minor],
        "could_have_staked_minor": None if could is None else could.staked_minor,
    }


def _verdict(assessment: Assessment) -> Text:
    if assessment.claim is None and assessment.shown_minor is None:
        found = "something was found" if assessment.findings else "nothing was found"
        return Text(f"no complaint; {found}", "bold")
    return Text(words(assessment.verdict).upper(), _STYLES[assessment.verdict])


def print_plan(out: Console, plan: Plan, key: str, currency: str) -> None:
    """Print what a decision will record and pay."""
    decided = plan.decided
    top = _labelled()
    top.add_row("decision", Text(plain(decision_word(decided)).upper(), "bold"))
    if decided.verdict in _STYLES:
        top.add_row("evidence", Text(words(decided.verdict).upper(), _STYLES[decided.verdict]))
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
    """Return a source part by part: document and section, what it says, and what is assumed."""
    text = Text()
    for part in source.parts:
        text.append("; " if text else "").append(plain(part.cited), "bold")
        text.append(f": {plain(part.says)}")
        if part.assumed:
            text.append(" (ASSUMED)", "yellow")
    return text


def _which_round(evidence: Evidence, zone: tzinfo) -> str:
    if not currency_of(evidence):
        return f"{evidence.round_id}, whose opening does not verify"
    first = evidence.events[0].event
    assert isinstance(first.data, RoundOpened)
    rules = evidence.rules.get(first.data.rules_digest)
    game = "unknown rules" if rules is None else rules.id
    opened = zoned_text(first.at, zone)
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
    open_still = " and play decides the rest" if remedy.due_minor is None else ""
    if remedy.moves_minor:
        return Text.assemble((amount(remedy.moves_minor, currency), "bold"), f" now{open_still}")
    if remedy.due_minor is None:
        return Text("nothing yet: play decides")
    return Text("nothing more; the result stands")


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
    table = plain_table("hand", "bet", *money, "ground", right=money)
    for bet in bets:
        amounts = (bet.stake_minor, bet.paid_minor, bet.due_minor, bet.moves_minor)
        cells = [Text(number_text(each, currency)) for each in amounts]
        cells[-1].stylize("bold" if bet.moves_minor else "dim")
        ground = words(bet.ground or "play_decides")
        table.add_row(plain(bet.hand), plain(words(bet.bet)), *cells, plain(ground))
    out.print()
    out.print(table)
    if currency:
        out.print(Text(f"Amounts in {unit_words(currency)}.", "dim"))


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
