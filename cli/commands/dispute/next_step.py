"""What `dispute assess` says last: what became of a case, or the command that goes on with it."""

from datetime import tzinfo
from shlex import quote

from rich.console import Console

from shoeproof.cli.commands.dispute.cases import day
from shoeproof.cli.input.options import program, with_ledger
from shoeproof.cli.screen.assessment import words
from shoeproof.cli.screen.render import amount, plain, print_command
from shoeproof.ledger.leaf.events import DisputeDecided
from shoeproof.replay.cases.assessment import Assessment, RemedyName, Verdict
from shoeproof.replay.cases.case import Case
from shoeproof.replay.disputes.decide import priced_moves
from shoeproof.replay.disputes.evidence import Evidence, currency_of
from shoeproof.replay.rounds.narrative import decision_word


def print_next(
    out: Console,
    evidence: Evidence,
    assessment: Assessment,
    case: Case | None,
    path: str | None,
    zone: tzinfo,
) -> None:
    """Print how a case was decided, else the words that open, decide or sign it."""
    out.print()
    if case is None:
        out.print("Nobody opened a case about this round. If the player complains:")
        command = f"open {evidence.round_id} --claim CLAIM"
    elif case.state == "decided":
        word = plain(decision_word(case.decisions[-1].data))
        out.print(f"Case {case.id} was decided: {word}, {day(case.decided_at, zone)}.")
        return
    else:
        out.print(f"Case {case.id}, {words(case.state)}, due {day(case.opened.deadline, zone)}.")
        command = f"{_governing_verb(evidence, assessment, case)} --key NAME"
        if case.state == "awaiting_second_key":
            command = f"{_tell_proposed(out, evidence, case)} --key NAME"
    print_command(out, f"{program()} dispute {command}{with_ledger(path)}")


def verb(
    case_id: str,
    remedy: str,
    *,
    pays: bool,
    verdict: Verdict | str,
    reference: str | None = None,
) -> str:
    """Return the words by which people decide a case by a remedy."""
    by = "" if reference is None else f" --reference {quote(plain(reference))}"
    if remedy in ("award", "goodwill"):
        note = " --note NOTE" if remedy == "goodwill" else ""
        return f"{remedy} {case_id} AMOUNT{by}{note}"
    if remedy in ("void", "resume"):
        return f"{remedy} {case_id}{by}"
    if reference is None:
        if remedy in ("refer", "withdraw"):
            return f"{remedy} {case_id}"
        if pays:
            return f"pay {case_id}"
        if remedy == "honour" and verdict == "rejected":
            return f"reject {case_id}"
    return f"decide {case_id} --remedy {plain(remedy)}{by}"


def _governing_verb(evidence: Evidence, assessment: Assessment, case: Case) -> str:
    governing = assessment.governing
    remedy: RemedyName = governing.name
    # Of an open round that goes on the table pays, and not the decision.
    pays = any(move.amount_minor for move in priced_moves(evidence, governing))
    return verb(case.id, remedy, pays=pays, verdict=assessment.verdict)


def _tell_proposed(out: Console, evidence: Evidence, case: Case) -> str:
    """Say what was signed so far; return the words that sign it a second time."""
    proposed = case.decisions[-1]
    said = _again(case, proposed.data)
    paid = amount(proposed.data.amount_minor, currency_of(evidence))
    who, clause = plain(" and ".join(proposed.keys)), plain(proposed.data.clause)
    out.print(
        f"{who} signed {said.partition(' ')[0]}, {paid} ({clause}); a second person signs the same:"
    )
    return said


def _again(case: Case, decided: DisputeDecided) -> str:
    pays = bool(decided.amount_minor)
    return verb(
        case.id,
        decided.remedy,
        pays=pays,
        verdict=decided.verdict,
        reference=decided.reference,
    )
