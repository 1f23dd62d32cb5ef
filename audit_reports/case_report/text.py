"""A case report in plain text, in the order of the page."""

from collections.abc import Iterable, Iterator
from zoneinfo import ZoneInfo

from shoeproof.audit_reports.case_report.model import Annex, CaseReport, ReportedBet, ReportedHand
from shoeproof.audit_reports.case_report.words import (
    CLAIMS,
    REMEDIES,
    bet_name,
    hand_name,
    moment_words,
)
from shoeproof.ledger.files.printable import printable
from shoeproof.replay.cases.assessment import Remedy, Source
from shoeproof.replay.currency import amount_text
from shoeproof.replay.engine.cards import VALUE, pretty


def lines(report: CaseReport) -> Iterator[str]:
    """Yield a report line by line; what does not print is written out."""
    told = _letter(report) if report.audience == "player" else _report(report)
    for line in told:
        yield printable(line, "\n")


def cited(source: Source) -> str:
    """Return a source with what it provides, and whether that is our reading."""
    reading = " (assumed: our reading, where the page leaves it open)" if source.assumed else ""
    return f"{source.cited}: {source.says}{reading}."


def _letter(report: CaseReport) -> Iterator[str]:
    yield from _about(report)
    yield from ("", "Dear player,", "", report.headline)
    yield from _middle(report)
    yield from _section("What happens next", report.next_steps)
    yield from _section("Check it yourself", _checking(report))
    yield from ("", f"All times are in {report.zone}.")


def _report(report: CaseReport) -> Iterator[str]:
    yield f"CASE REPORT FOR THE {report.audience.upper()}"
    yield from _about(report)
    yield from ("", report.headline)
    yield from _middle(report)
    yield from _section("What happens next", report.next_steps)
    if report.annex is not None:
        yield from _annex(report, report.annex)
    yield from _section("Check it", _checking(report))
    yield from ("", f"All times are in {report.zone}.")


def _about(report: CaseReport) -> Iterator[str]:
    zone = ZoneInfo(report.zone)
    yield f"{report.game}, round {report.round}"
    if report.played_at is not None:
        yield f"played {moment_words(report.played_at, zone)}"
    case = report.case
    if case is None:
        return
    yield f"case {case.case}, about {CLAIMS.get(case.claim, case.claim)}"
    yield f"received {moment_words(case.received_at, zone)}"
    if case.deadline is not None:
        yield f"answer due {moment_words(case.deadline, zone)}"
    if case.decided_at is not None:
        yield f"decided {moment_words(case.decided_at, zone)}"
    yield from filter(None, (case.late,))


def _middle(report: CaseReport) -> Iterator[str]:
    """Yield the answer, its clause, the bets and the cards."""
    before = "As found before the decision" if _is_decided(report) else "Why"
    yield from _section(before, (report.answer,))
    yield from _section("This rests on", map(cited, report.clause.parts))
    yield from _section("Bet by bet", (_bet(each, report) for each in report.bets))
    beside = report.beside_bets_minor
    if beside:
        yield f"beside all bets: {amount_text(beside, report.currency)} paid by the decision"
    yield from _section("What was found", report.found)
    yield from _section("The cards", _cards(report))
    yield from _section("Since the decision", report.since)


def _bet(bet: ReportedBet, report: CaseReport) -> str:
    def money(minor: int | None) -> str:
        return "open" if minor is None else amount_text(minor, report.currency)

    paid = "nothing yet" if bet.paid_minor is None else money(bet.paid_minor)
    moved = f", paid by the decision {money(bet.moved_minor)}" if bet.moved_minor else ""
    left = f", still to pay {money(bet.to_pay_minor)}" if bet.to_pay_minor else ""
    reading = "; assumed" if bet.source is not None and bet.source.rests_on_reading else ""
    source = "" if bet.source is None else f" ({bet.source.cited}{reading})"
    could = (
        ""
        if bet.could_have is None
        else " With the play that was refused, withheld or cut off, it could have come to "
        f"{bet.could_have.words(bet.stake_minor, report.currency)}."
    )
    return (
        f"{hand_name(bet.hand)}, {bet_name(bet.bet)}: staked {money(bet.stake_minor)}, "
        f"paid {paid}, due {money(bet.due_minor)}{moved}{left}: {bet.why}{source}.{could}"
    )


def _cards(report: CaseReport) -> Iterator[str]:
    for view in report.tables:
        for hand in (view.dealer, *view.hands):
            yield f"{view.label}, {hand_name(hand.name)}: {_hand(hand)}  {hand.total}"
    if report.disputed_card is not None:
        yield f"In dispute [ ]: {report.disputed_card.says}"


def _hand(hand: ReportedHand) -> str:
    shown = [pretty(card) if card in VALUE else card for card in hand.cards]
    return " ".join(
        f"[{card}]" if place == hand.marked else card for place, card in enumerate(shown)
    )


def _checking(report: CaseReport) -> Iterator[str]:
    if report.receipt is not None:
        yield f"The receipt of the round is the file {report.receipt.name} that goes with this,"
        yield f"SHA-256 {report.receipt.sha256}."
    yield "Compare the operator's public key with the one that the operator publishes."
    yield from report.commands


def _annex(report: CaseReport, annex: Annex) -> Iterator[str]:
    zone = ZoneInfo(report.zone)
    yield from ("", "TECHNICAL ANNEX")
    yield from _section("Circumstances", (f"{k}: {v}" for k, v in annex.circumstances.items()))
    yield from _section(
        "Findings",
        (
            f"{each.code}: {each.says}"
            f"{'' if each.leaf_index is None else f' (leaf {each.leaf_index})'}"
            for each in annex.findings
        ),
    )
    yield from _section("Remedies", (_remedy(each, report) for each in annex.remedies))
    yield from _section(
        "Timeline",
        (
            f"{row.leaf_index} {moment_words(row.at, zone)} {row.actor}: {row.says}"
            f"{'  <== FAULT' if row.is_fault else ''}"
            for row in annex.timeline
        ),
    )
    yield from _section("Decisions made for the player", annex.platform_decisions)
    yield from _section("Other rounds with the same fault", annex.other_rounds)
    yield from _section("What the ledger cannot show", annex.lacks)
    yield from _section(
        "Who authorised",
        (f"{moment_words(each.at, zone)}: {each.by} {each.what}" for each in annex.authorised),
    )
    yield from _section("Sources, in our words", map(cited, annex.sources))
    yield from _section(
        "Proof",
        (
            f"ledger {annex.proof.ledger}, tree size {annex.proof.tree_size}",
            f"leaves {', '.join(map(str, annex.proof.leaf_indices))}",
        ),
    )


def _remedy(remedy: Remedy, report: CaseReport) -> str:
    lawful = "governs" if remedy.governs else "lawful" if remedy.lawful else "not lawful"
    comes_to = "its amount undecided"
    if remedy.due_minor is not None:
        comes_to = f"comes to {amount_text(remedy.due_minor, report.currency)}"
        if remedy.lawful:
            comes_to += f", still to pay {amount_text(remedy.moves_minor, report.currency)}"
    return f"{REMEDIES[remedy.name]}: {lawful}, {comes_to}: {remedy.why}"


def _is_decided(report: CaseReport) -> bool:
    return report.case is not None and report.case.state == "decided"


def _section(title: str, told: Iterable[str]) -> Iterator[str]:
    listed = list(told)
    if listed:
        yield from ("", title, *listed)
