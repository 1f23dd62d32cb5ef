"""The answer to what a player asked, in plain words: first what happened, then what is due.

Pure. Its reader knows the game but not our terms. Times are UTC where no zone is given.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, tzinfo
from typing import Final

from msgspec.structs import replace

from shoeproof.ledger.leaf.clock import format_time, parse_time
from shoeproof.ledger.leaf.events import (
    BetSettled,
    ConnectionLost,
    DisputeDecided,
    InputRefused,
    RoundVoided,
)
from shoeproof.replay import findings as codes
from shoeproof.replay.cases.assessment import Claim, GroundName, Range, Remedy, Source
from shoeproof.replay.currency import amount_text
from shoeproof.replay.disputes import sources
from shoeproof.replay.disputes.facts import Facts
from shoeproof.replay.disputes.grounds import BetFacts
from shoeproof.replay.disputes.money import SURPLUS
from shoeproof.replay.disputes.readings import readings
from shoeproof.replay.disputes.wrongs import by_platform, clock, refused, wrongs
from shoeproof.replay.engine.cards import pretty
from shoeproof.replay.engine.hand import Hand
from shoeproof.replay.engine.outcomes import INSURANCE_BET, MAIN
from shoeproof.replay.engine.round import RoundState, SeatHand
from shoeproof.replay.interruptions.waiting import outages_in
from shoeproof.replay.rounds.narrative import BETS, LINES

Bets = Sequence[BetFacts]

ALL_MATCH: Final = (
    "The cards dealt, the choices offered and the payments all match the committed shoe and the "
    "rules."
)


def answer(
    facts: Facts,
    bets: Bets,
    governing: Remedy,
    claim: Claim | None,
    *,
    corrected_by: str | None = None,
    zone: tzinfo = UTC,
) -> str:
    """Return the answer to a claim in sentences, or None if nobody complained about the round."""
    if not facts.is_trusted:
        return " ".join(_damaged(facts, bets))
    told = [] if claim is None else [*_ABOUT[claim](facts, zone)]
    is_owed = corrected_by is not None or any(bet.moves_minor for bet in bets)
    if is_owed:
        told = [each for each in told if each != ALL_MATCH]
    told += _came_to(facts, bets)
    wrong = list(wrongs(facts, zone, is_owed=is_owed))
    told += [each for each in wrong if each not in told]
    if corrected_by is None:
        told += causes(facts, bets, is_wrong=bool(wrong))
    told += _due(facts, bets, governing, corrected_by)
    if claim == "fairness" and not facts.malfunctions:
        told += _of_one_round(facts)
    return " ".join(told)


def clause(facts: Facts, bets: Bets, governing: Remedy, claim: Claim | None) -> Source:
    """Return what the answer rests on: the page where it has a clause, and our readings last."""
    return sources.with_readings(_clause(facts, governing, claim), readings(facts, bets))


def _clause(facts: Facts, governing: Remedy, claim: Claim | None) -> Source:
    if claim == "disconnection" and governing.name in ("honour", "apply_default", "resume"):
        page = sources.of_page(facts.game, "disconnection")
        if page is not None and (facts.decided_for_player or facts.is_open or _losses(facts)):
            return page
    return governing.source


# To the question asked


def _of_connection(facts: Facts, zone: tzinfo) -> Iterator[str]:
    losses = _losses(facts)
    if losses:
        at = " and at ".join(clock(each, zone) for each in losses)
        yield f"Your connection was lost at {at}."
    yield from _stops(facts, zone)
    if not losses and not any(_stops(facts, zone)):
        yield "The ledger records no lost connection in this round."
    yield from by_platform(facts, zone)


def _stops(facts: Facts, zone: tzinfo) -> Iterator[str]:
    """Say when the service was stopped while the round lasted."""
    events = facts.evidence.events
    for outage in outages_in(facts.evidence.operations):
        begun, ended = parse_time(events[0].event.at), parse_time(events[-1].event.at)
        until_then = outage.stop is not None and outage.stop < begun
        if outage.start is None or until_then or (not facts.is_open and outage.start > ended):
            continue
        start = clock(format_time(outage.start), zone)
        if outage.stop is None:
            yield f"The service has been stopped since {start}."
        else:
            stop = clock(format_time(outage.stop), zone)
            yield f"The service was stopped from {start} to {stop}."


def _of_malfunction(facts: Facts, zone: tzinfo) -> Iterator[str]:
    if facts.bars_unproven:
        acts = " and ".join(facts.bars_unproven)
        yield f"No balance is on record to show whether you had the money for {acts}."
    elif not facts.findings:
        yield ALL_MATCH
    for recorded in facts.evidence.events:
        if isinstance(recorded.event.data, InputRefused):
            yield refused(facts, recorded, zone)
    yield from _stops(facts, zone)
    yield from by_platform(facts, zone)


def _of_settlement(facts: Facts, zone: tzinfo) -> Iterator[str]:
    return iter(())


def _of_one_round(facts: Facts) -> Iterator[str]:
    if facts.shoe is not None:
        yield (
            "Every card follows from the seed that was fixed before you staked anything, and from "
            "your own part of it."
        )
    yield (
        "One round cannot show whether a game is fair in the long run; that takes many rounds and "
        "the seeds of all of them."
    )


_ABOUT = {
    "disconnection": _of_connection,
    "malfunction": _of_malfunction,
    "settlement": _of_settlement,
    "fairness": _of_settlement,
    "other": _of_malfunction,
}


# What the bets came to


def _came_to(facts: Facts, bets: Bets) -> Iterator[str]:
    """Say what the record shows of each bet that it decided."""
    replay = facts.replay
    state = None if replay is None or not replay.judged else replay.state
    if state is None or facts.is_void:
        return
    for bet in bets:
        if bet.bet != SURPLUS and bet.line is not None:
            said = _outcome(state, bet, bet.line)
            truly = facts.true.get((bet.hand, bet.bet))
            is_other = _is_best(bet, "certain_outcome") and truly and truly.line != bet.line
            yield f"According to the record, {_lower(said)}" if is_other else said


def _outcome(state: RoundState, bet: BetFacts, line: str | None) -> str:
    """Say what a bet came to on the cards of a state, by its settlement line."""
    said = LINES.get(line or "", (line or "").replace("_", " "))
    dealer = f"the dealer {_dealer(state)}"
    if bet.bet == INSURANCE_BET:
        won = line == "dealer_natural"
        natural = "with blackjack" if won else "no blackjack"
        where = f" at {bet.seat}" if len(state.seats) > 1 else ""
        what = "won" if won else "lost"
        return f"T{dealer[1:]}, {natural}, so insurance{where} {what}."
    if bet.bet != MAIN:
        name = BETS.get(bet.bet, bet.bet)
        return f"{name} at {bet.seat}: {said}."
    held = next((each for each in state.hands if each.name == bet.hand), None)
    where = f" at {bet.hand}" if len(state.hands) > 1 else ""
    return f"You had {_hand(held)}{where}, {dealer}: {said}."


def _hand(held: SeatHand | None) -> str:
    if held is None:
        return "no hand"
    cards = " ".join(map(pretty, held.cards))
    return f"{_total(held.hand)} ({cards})" if cards else _total(held.hand)


def _total(hand: Hand) -> str:
    if hand.over == "natural":
        return "blackjack"
    return f"soft {hand.total}" if hand.soft and hand.total < 21 else f"{hand.total}"


def _dealer(state: RoundState) -> str:
    cards = " ".join(map(pretty, state.dealer_cards))
    up = f"showed {pretty(state.dealer.up)}" if state.dealer.up else "showed nothing"
    if len(state.dealer_cards) < 2:
        return up
    return f"{up} and had {state.dealer.total} ({cards})"


# Why something is due


def causes(facts: Facts, bets: Bets, *, is_wrong: bool) -> Iterator[str]:
    """Yield what is due for each bet that is owed something; `is_wrong` tells that what went
    wrong was said before.
    """
    owed = [bet for bet in bets if bet.moves_minor and bet.best is not None and bet.bet != SURPLUS]
    returned = [bet for bet in owed if _is_best(bet, "stake_back")]
    if returned:
        stakes = " and for ".join(
            f"{_name(bet)}, {amount_text(bet.debited_minor, facts.currency)}," for bet in returned
        )
        what = f"hat was debited for {stakes.removesuffix(',')}, comes back."
        yield f"So w{what}" if is_wrong else f"W{what}"
    for bet in owed:
        if bet not in returned:
            yield from _cause(facts, bet)
    yield from overpaid(facts, bets)
    over = sum(bet.moves_minor for bet in bets if bet.bet == SURPLUS)
    if over:
        amount = amount_text(over, facts.currency)
        yield f"{amount} was debited beyond your stakes and goes back."


def overpaid(facts: Facts, bets: Bets) -> Iterator[str]:
    """Yield, for each bet paid more than any ground gives, how much that was."""
    for bet in bets:
        grounds = [each.amount_minor for each in bet.grounds if each.name != "recorded_payment"]
        over = (bet.paid_minor or 0) - max(grounds, default=0)
        if over > 0 and bet.by("right_payment") is not None:
            more = amount_text(over, facts.currency)
            yield f"{_upper(_name(bet))} was paid {more} too much, which is not taken back."


def _cause(facts: Facts, bet: BetFacts) -> Iterator[str]:
    due = amount_text(bet.due_minor, facts.currency)
    paid = amount_text(bet.paid_minor, facts.currency) if bet.paid_minor else "nothing"
    which = _name(bet)
    if _is_best(bet, "default_due"):
        yield f"Under the disclosed rule, which should have been applied first, {which} gets {due}."
    elif _is_best(bet, "certain_outcome"):
        yield from _truly(facts, bet)
        yield f"So {which} comes to {due}, and {paid} of it was paid."
    elif bet.paid_minor is None:
        yield f"{_upper(which)} comes to {due}, and was never settled."
    else:
        yield f"{_upper(which)} comes to {due}, and {paid} of it reached you."


def _truly(facts: Facts, bet: BetFacts) -> Iterator[str]:
    """Say what a bet comes to on the committed shoe's own cards."""
    state, line = facts.true_state, facts.true[bet.hand, bet.bet].line
    if state is not None:
        yield f"With the committed shoe, {_lower(_outcome(state, bet, line))}"


def _lower(words: str) -> str:
    """Return a sentence for use inside another; names of bets keep their capital."""
    return words[:1].lower() + words[1:] if words.startswith(("You ", "The ")) else words


def _upper(words: str) -> str:
    return words[:1].upper() + words[1:]


def _is_best(bet: BetFacts, name: GroundName) -> bool:
    return bet.best is not None and bet.best.name == name


def _name(bet: BetFacts) -> str:
    return f"{BETS.get(bet.bet, bet.bet)} of {bet.hand}"


# What is due


def _due(facts: Facts, bets: Bets, governing: Remedy, corrected_by: str | None) -> Iterator[str]:
    yield from _paid(facts, bets)
    if corrected_by is not None:
        yield f"{_corrected(facts, corrected_by)}; nothing more is due."
        return
    moves = governing.moves_minor
    if moves:
        yield f"{amount_text(moves, facts.currency)} more is due to you."
    if governing.name == "refer":
        yield f"{'The rest' if moves else 'This'} goes to an adjudicator: {governing.why}."
    elif facts.is_open and governing.name in _GOES_ON and facts.is_dealt:
        yield _GOES_ON[governing.name]
    elif governing.name == "resume":
        yield _GOES_ON["resume"]
    elif not facts.is_dealt and governing.name == "void":
        yield "Your chips go back; no money had been debited for them."
    elif not moves:
        yield "Nothing more is due."
    yield from _ranges(facts, bets)


_GOES_ON: Final = {
    "resume": "The round waits for you as it was, with the same cards to come.",
    "apply_default": "The round is played to its end under the disclosed rule.",
    "honour": "Nothing is left for you to decide: the table finishes the round and pays it.",
}
"""What becomes of a round that is open."""


def _ranges(facts: Facts, bets: Bets) -> Iterator[str]:
    """Say once for each hand what it could have come to, if that adds to what is due."""
    ranges: dict[Range, list[BetFacts]] = {}
    for bet in bets:
        if bet.could_have is not None and not _is_best(bet, "default_due"):
            ranges.setdefault(bet.could_have, []).append(bet)
    for each, own in ranges.items():
        yield from _range(facts, each, own)


def _range(facts: Facts, could: Range, own: Bets) -> Iterator[str]:
    """Say one range; `own` are its bets, two if a split came after it."""
    stake = sum(max(bet.stake_minor, bet.debited_minor) for bet in own)
    due = sum(bet.due_minor or 0 for bet in own)
    most = replace(could, least_minor=could.most_minor).words(stake, facts.currency)
    which = f"hand {could.hand}" if "." in could.hand else f"seat {could.hand.removeprefix('s')}"
    gained = could.most_minor - could.staked_minor - (due - stake)
    if could.least_minor == could.most_minor and gained > 0:
        yield f"{_upper(which)} would have come to {most} whatever you had chosen. {_WEIGH}"
    elif gained > 0:
        between = could.words(stake, facts.currency, "between {} and {}")
        yield f"With the right choice {which} could have come to {between}. {_WEIGH}"
    elif gained < 0 and any(_is_best(bet, "stake_back") for bet in own):
        if could.most_minor:
            best = f"{which} could have come to {most} at most"
            yield f"With the committed shoe {best}, which is less than what comes back."
        else:
            yield f"With the committed shoe, no choice would have brought {which} anything."


_WEIGH: Final = "An adjudicator may weigh that."


def _corrected(facts: Facts, case_id: str) -> str:
    data = (each.event.data for each in facts.evidence.disputes)
    last = [each for each in data if isinstance(each, DisputeDecided)][-1]
    if not last.amount_minor:
        return f"This was decided by case {case_id}"
    paid = amount_text(last.amount_minor, facts.currency)
    return f"This was corrected by case {case_id}, which paid {paid}"


def _paid(facts: Facts, bets: Bets) -> Iterator[str]:
    """Say what was paid in all, and how much of it waits or cannot be shown."""
    if facts.is_open:
        return
    currency = facts.currency
    paid = sum(bet.paid_minor or 0 for bet in bets if bet.bet != SURPLUS)
    text = "nothing" if not paid else amount_text(paid, currency)
    if facts.is_void:
        yield from _voided(facts, text)
    elif facts.hold.waits_minor:
        held = amount_text(facts.hold.waits_minor, currency)
        yield f"{text} is yours for this round; {held} of it waits until a person has verified it."
    elif paid and not facts.shows_payments:
        yield (
            f"{text} was booked for this round. No wallet is on record, so this ledger cannot show "
            "whether it reached you."
        )
    elif facts.has(codes.CASH_PAID_IN_INCENTIVES):
        bonus = amount_text(_incentives_minor(facts), currency)
        yield f"You were paid {text} in cash for this round, and {bonus} in bonus money."
    else:
        yield f"You were paid {text} for this round."


def _voided(facts: Facts, got: str) -> Iterator[str]:
    if facts.has(codes.VOID_UNFOUNDED):
        # Why is said where it is told what went wrong.
        yield f"You got {got} for the round in all."
        return
    ending = None if facts.replay is None else facts.replay.ending
    reason = f" ({ending.reason})" if isinstance(ending, RoundVoided) else ""
    took = "" if facts.is_dealt else "; no money had been debited for its chips"
    yield f"The round was voided{reason}{took}. You got {got} for it in all."


def _incentives_minor(facts: Facts) -> int:
    """Return what was credited in bonus money for bets of this round."""
    settled = (each.event.data for each in facts.evidence.events)
    funds = (each.funds for each in settled if isinstance(each, BetSettled))
    return sum(each.incentive_minor for each in funds if each is not None)


def _damaged(facts: Facts, bets: Bets) -> Iterator[str]:
    floor = amount_text(sum(bet.stake_minor for bet in bets), facts.currency)
    yield (
        "Part of the record of this round is missing or forged, so it proves nothing, and it "
        "is not held against you."
    )
    yield f"No money moves because of it; at the least your stakes go back, {floor}."


def _losses(facts: Facts) -> list[str]:
    return [
        each.event.at
        for each in facts.evidence.events
        if isinstance(each.event.data, ConnectionLost)
    ]
