"""What went wrong in a round, each finding in one plain sentence.

Pure. A claim is upheld for what was found, so the answer has to name it, also where nothing more is
due and where another ground gives more. Its reader knows the game and none of our words.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import groupby
from typing import Final

from shoeproof.ledger import Finding, Recorded
from shoeproof.ledger import findings as of_ledger
from shoeproof.ledger.leaf.clock import parse_time
from shoeproof.ledger.leaf.events import (
    CardDealt,
    DecisionMade,
    DecisionOffered,
    HoleCardShown,
    InputRefused,
    RoundVoided,
)
from shoeproof.replay import findings as codes
from shoeproof.replay.currency import amount_text
from shoeproof.replay.disputes import sources
from shoeproof.replay.disputes.facts import Facts
from shoeproof.replay.engine.cards import VALUE, pretty
from shoeproof.replay.engine.hand import DECLINE, INSURANCE_ACTS
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import ShoeError
from shoeproof.replay.rounds.play_on import state_of, steps_before

BY_AMOUNTS: Final = frozenset(
    {
        codes.SETTLEMENT_MISMATCH,
        codes.SETTLEMENT_LATE,
        codes.PAYOUT_MISSING,
        codes.CREDIT_MISMATCH,
        codes.STAKE_MISMATCH,
        codes.DEBIT_MISMATCH,
        codes.REFUND_MISMATCH,
        codes.WIN_VOIDED,
        codes.TOTALS_MISMATCH,
    }
)
"""What the amounts say themselves where something more is due."""


def wrongs(facts: Facts, zone: tzinfo = UTC, *, is_owed: bool = False) -> Iterator[str]:
    """Yield each thing that was found, once, in the order in which it happened.

    `is_owed` tells that something more is due, so that the amounts say what was paid wrongly.
    """
    told: dict[str, None] = {}
    if facts.is_dealt and not facts.is_committed:
        told[_of_shoe(facts, codes.COMMITMENT_MISMATCH)] = None
    for finding in sorted(facts.findings, key=lambda each: each.seq or 0):
        if not (is_owed and finding.code in BY_AMOUNTS):
            told.update(dict.fromkeys(_says(facts, finding, zone)))
    yield from told


def words_of(code: str) -> str | None:
    """Return what a finding comes to where no event says more of it."""
    return _SHOE[code][0] if code in _SHOE else _WRONG.get(code)


def _says(facts: Facts, finding: Finding, zone: tzinfo) -> Iterable[str]:
    by_seq = (each for each in facts.evidence.events if each.event.seq == finding.seq)
    at = None if finding.seq is None else next(by_seq, None)
    if finding.code in _SHOE:
        return [_of_shoe(facts, finding.code)]
    if at is not None and finding.code in _OF_THE_SYSTEM:
        return by_platform(facts, zone, [at])
    special = _OF_EVENT.get(finding.code)
    said = None if special is None or at is None else special(facts, finding, at, zone)
    return [said or words_of(finding.code) or f"Something else was found: {finding.text}."]


# Inputs that were refused, and what was decided for the player


def refused(facts: Facts, recorded: Recorded, zone: tzinfo) -> str:
    """Say that an input was refused, and whether that was wrong."""
    data = recorded.event.data
    assert isinstance(data, InputRefused)
    said = f"Your input {data.input!r} was refused as {data.reason} at {clock(recorded, zone)}"
    wrong = (each.seq for each in facts.findings if each.code == codes.REFUSAL_WRONG)
    if recorded.event.seq in wrong:
        return f"{said}, which was wrong: it came in time and was on offer."
    late = ", by the ledger's time and not the device's" if data.reason == "late" else ""
    return f"{said}{late}."


def by_platform(
    facts: Facts, zone: tzinfo, decided: Iterable[Recorded] | None = None
) -> Iterator[str]:
    """Say what the system or staff decided for the player, and by which rule or none."""
    each = facts.decided_for_player if decided is None else decided
    for said, group in groupby(each, key=lambda made: _judged(facts, made)):
        made = list(group)
        acts = " and ".join(dict.fromkeys(str(getattr(e.event.data, "act", "")) for e in made))
        yield said.format(acts=acts, at=clock(made[0], zone))


def _judged(facts: Facts, recorded: Recorded) -> str:
    """Return the sentence for one decision of the platform, its acts and its time left out."""
    made, seq = recorded.event.data, recorded.event.seq
    assert isinstance(made, DecisionMade)
    wrong = {each.code for each in facts.findings if each.seq == seq}
    if made.actor == "staff":
        return "Staff decided for you ({acts}) at {at}, which no rule allows."
    default = None if facts.policy is None else facts.policy.default
    said = "he system decided for you ({acts}) at {at}"
    if default is None:
        return f"T{said}, for which this game has no rule."
    if codes.DEFAULT_NOT_ALLOWED in wrong:
        provided = default.insurance if made.act in INSURANCE_ACTS else default.act
        return f"T{said}, where the rule that was disclosed provides {provided}."
    if codes.DEFAULT_EARLY in wrong:
        return f"T{said}, before it was allowed to."
    page = sources.of_page(facts.game, "disconnection")
    rule = "Under the disclosed rule" if page is None else f"Under the page's {page.section}"
    after = f"after {default.after_seconds // 60} minutes without an input"
    return f"{rule} t{said}, {after}."


_OF_THE_SYSTEM: Final = (codes.DEFAULT_EARLY, codes.DEFAULT_NOT_ALLOWED)


# What an event shows of a finding


def _refused(facts: Facts, finding: Finding, at: Recorded, zone: tzinfo) -> str | None:
    return refused(facts, at, zone) if isinstance(at.event.data, InputRefused) else None


def _withheld(facts: Facts, finding: Finding, at: Recorded, zone: tzinfo) -> str | None:
    """Name the act that was not offered; the decision itself where no offer is on record."""
    legal = _legal(facts, at.event.seq)
    if not legal:
        return None
    data = at.event.data
    act = finding.text.partition(" ")[0]
    if isinstance(data, DecisionOffered) and act in withheld_acts(facts, at):
        hand, words = data.hand, act.replace("-", " ")
        return f"You were not offered {words} for hand {hand}, though the rules allow it there."
    named = [each.replace("-", " ") for each in legal if each != DECLINE]
    if DECLINE in legal:
        return f"You were never asked about {' or '.join(named)}, as the rules require there."
    return f"You were never asked what to do ({', '.join(named)}), though it was your turn."


def withheld_acts(facts: Facts, offered: Recorded) -> list[str]:
    """Return the acts that an offer withheld wrongly."""
    data, seq = offered.event.data, offered.event.seq
    offer = data.legal if isinstance(data, DecisionOffered) else ()
    texts = [each.text for each in facts.findings if _is_withheld(each, seq)]
    return [
        act
        for act in _legal(facts, seq)
        if act not in offer and any(text.startswith(f"{act} ") for text in texts)
    ]


def _is_withheld(finding: Finding, seq: int) -> bool:
    return finding.code == codes.OFFER_WITHHELD and finding.seq == seq


def _other_card(facts: Facts, finding: Finding, at: Recorded, zone: tzinfo) -> str | None:
    """Name the card as it was recorded, and the one of the committed shoe."""
    data, replay = at.event.data, facts.replay
    if isinstance(data, CardDealt) and isinstance(data.card, str):
        card, index = data.card, data.shoe_index
        to = "The dealer was" if data.receiver == "dealer" else f"Hand {data.receiver} was"
        what = f"{to} dealt"
    elif isinstance(data, HoleCardShown) and replay is not None and replay.hole_index is not None:
        card, index = data.card, replay.hole_index
        what = "The dealer's hidden card was shown as"
    else:
        return None
    due = _in_shoe(facts, index)
    if due is None or card not in VALUE:
        return None
    return f"{what} {pretty(card)}, where the committed shoe has {pretty(due)}."


def _cash_out(facts: Facts, finding: Finding, at: Recorded, zone: tzinfo) -> str | None:
    data, due = at.event.data, _due(facts, at.event.seq)
    shown = data.cash_out_minor if isinstance(data, DecisionOffered) else None
    right = None if due is None else due.cash_out_minor
    if shown is None or right is None:
        return None
    texts = (amount_text(each, facts.currency) for each in (shown, right))
    return "You were shown {} for your hand, where the table of values has {}.".format(*texts)


def _of_shoe(facts: Facts, code: str) -> str:
    """Say what is wrong with the seed, and whether the sealed one tells the cards."""
    unknown, known = _SHOE[code]
    return unknown if facts.shoe is None else f"{known}, so the cards are known."


def _unfounded(facts: Facts, finding: Finding, at: Recorded, zone: tzinfo) -> str | None:
    data = at.event.data
    reason = f" ({data.reason})" if isinstance(data, RoundVoided) and data.reason else ""
    return f"The round was voided{reason}, and the ledger shows no fault that would void it."


def _due(facts: Facts, seq: int) -> Decide | None:
    state = None if facts.replay is None else state_of(steps_before(facts.replay, seq))
    return state.due if state is not None and isinstance(state.due, Decide) else None


def _legal(facts: Facts, seq: int) -> Sequence[str]:
    due = _due(facts, seq)
    return () if due is None else due.legal


def _in_shoe(facts: Facts, index: int) -> str | None:
    try:
        return None if facts.shoe is None else facts.shoe[index]
    except ShoeError:
        return None


def clock(recorded: Recorded | str, zone: tzinfo) -> str:
    """Return the time of an event as clocks of a zone show it."""
    at = recorded if isinstance(recorded, str) else recorded.event.at
    moment: datetime = parse_time(at).astimezone(zone)
    return f"{moment:%H:%M:%S} {moment.tzname()}"


_OF_EVENT: Final = {
    codes.REFUSAL_WRONG: _refused,
    codes.OFFER_WITHHELD: _withheld,
    codes.CARD_MISMATCH: _other_card,
    codes.CASH_OUT_OFFER_WRONG: _cash_out,
    codes.VOID_UNFOUNDED: _unfounded,
}
"""The findings of which an event says more than the code."""

_SHOE: Final = {
    codes.COMMITMENT_MISMATCH: (
        "The cards cannot be shown to be of the shoe that was fixed before you staked.",
        "The revealed seed is not the one that was fixed before you staked; that one, which was "
        "sealed then, has been opened",
    ),
    codes.SEED_NOT_REVEALED: (
        "The operator never revealed the seed of the shoe, so its cards cannot be checked.",
        "The operator never revealed the seed of the shoe; the one that was sealed before you "
        "staked has been opened instead",
    ),
}
"""What is wrong with the seed, where the shoe is unknown, and where the sealed seed tells it."""

_WRONG: Final = {
    of_ledger.CLOCK_BACKWARDS: "A clock was set back; the order of the record is not in doubt.",
    of_ledger.CLOCK_IMPLAUSIBLE: "A clock showed an impossible time.",
    of_ledger.ID_OF_ANOTHER_TIME: "The time in the round's number is not the time of its opening.",
    codes.CLIENT_SEED_INVALID: "Your own seed was not recorded as it must be.",
    codes.SEED_REPEATED: "The shoe came from a seed that had been revealed before.",
    codes.SEED_PREDICTABLE: "The seed of the shoe could be predicted from earlier ones.",
    codes.CARD_MISMATCH: "A card that was dealt is not the card of the committed shoe.",
    codes.CARD_MISSING: "A card that was due was never dealt.",
    codes.CARD_ORDER_WRONG: "A card was dealt that was not due.",
    codes.CARD_IMPOSSIBLE: "A card was dealt that the shoe cannot contain.",
    codes.SHOE_INDEX_WRONG: "A card was not the next one of the shoe.",
    codes.HOLE_CARD_EXPOSED: "The dealer's hidden card was dealt face up.",
    codes.CHECK_WRONG: "The dealer's check for blackjack was wrong.",
    codes.EVENT_OUT_OF_PLACE: "Something was recorded at a point where it does not belong.",
    codes.SURPLUS_MOVE: "Play was recorded after the round was over.",
    codes.ILLEGAL_DECISION: "An act was taken that the rules do not allow there.",
    codes.MISSING_DECISION: "A decision of yours is missing from the record.",
    codes.STAKE_NOT_ALLOWED: "A stake was taken that the rules do not allow.",
    codes.STAKE_MISSING: "A stake that was played with is not on record.",
    codes.SIDE_BET_WITHOUT_MAIN: "A side bet was taken without a main bet.",
    codes.ACTOR_MISSING: "The record does not say who made a decision for your hand.",
    codes.OFFER_WITHHELD: "You were not offered an act that the rules allow.",
    codes.OFFER_NOT_ALLOWED: "You were offered an act that the rules do not allow there.",
    codes.CASH_OUT_OFFER_WRONG: "The value you were shown for your hand was not the table's.",
    codes.REFUSAL_WRONG: "An input of yours was refused though it was in time and on offer.",
    codes.DECISION_REPEATED: "A decision of yours is recorded twice.",
    codes.VOID_UNFOUNDED: "The round was voided, and the record shows no reason for it.",
    codes.STAKE_OUTSIDE_LIMITS: "A stake was taken beyond the limits of the table.",
    codes.LIMITS_UNKNOWN: "The limits of the table are not on record.",
    codes.DECISION_LATE: "An input was taken after the time for it had run out.",
    codes.DEFAULT_EARLY: "The system decided for you before it was allowed to.",
    codes.DEFAULT_NOT_ALLOWED: "A decision was made for you, and no rule allows that.",
    codes.DEADLINE_WRONG: "You were shown a deadline that is not the one the rules give.",
    codes.DEFAULT_OVERDUE: "The default for a player who does not act was due and not applied.",
    codes.SETTLEMENT_OVERDUE: "The round should have been finished and paid by now.",
    codes.WIN_NOT_HELD: "A win was not held, though the page lets a person verify it first.",
    codes.HOLD_MISMATCH: "What was held of your win, released and paid does not add up.",
    codes.CASE_OUT_OF_PLACE: "A decision about this round is not recorded as it must be.",
    codes.KEYS_MISSING: "A decision about this round was not signed by everyone who must sign it.",
    codes.PAYMENT_UNDECIDED: "Money was moved for this round without a decision that allows it.",
    codes.DECISION_UNFOUNDED: "A decision about this round does not follow from its record.",
    codes.STAKE_MISMATCH: "A stake was recorded that is not what the act costs.",
    codes.DEBIT_MISMATCH: "What was debited is not what you staked.",
    codes.CREDIT_MISMATCH: "What was credited is not what was booked for you.",
    codes.SETTLEMENT_MISMATCH: "A bet was not settled as the rules require.",
    codes.SETTLEMENT_EARLY: "A bet was settled before it was decided.",
    codes.SETTLEMENT_LATE: "A bet was settled later than it was decided.",
    codes.PAYOUT_MISSING: "A bet that was decided was never settled.",
    codes.DUPLICATE_SETTLEMENT: "A bet was settled more than once.",
    codes.TOTALS_MISMATCH: "The totals at the end of the round do not match its bets.",
    codes.REFUND_MISMATCH: "What went back at the void is not what was staked.",
    codes.WIN_VOIDED: "A bet that had been won was voided.",
    codes.PAYMENT_UNANSWERED: "The wallet never answered for a payment.",
    codes.REFUND_UNANSWERED: "The wallet never answered for a stake that was to go back.",
    codes.WALLET_DECLINED: "The wallet declined a movement of money.",
    codes.CASH_PAID_IN_INCENTIVES: "A bet that was staked in cash was paid in bonus money.",
    codes.TRANSACTION_REPEATED: "Two movements of money have the same transaction number.",
    codes.BALANCE_MISMATCH: "A balance that the wallet stated does not follow from what was moved.",
    codes.MONEY_IN_FUN_ROUND: "Money was moved in a round that was played for fun.",
    codes.EXPECT_MISMATCH: "The round did not come to what was expected of it.",
}
"""What each finding comes to in plain words; what is forged or missing is told by itself."""
