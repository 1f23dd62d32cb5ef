"""The words of a report for what an assessment calls by a name: bets, grounds, remedies."""

import re
from datetime import tzinfo
from typing import Final

from shoeproof.replay.cases.assessment import BetPrice, GroundName, RemedyName
from shoeproof.replay.disputes.money import SURPLUS
from shoeproof.replay.engine.cards import pretty
from shoeproof.replay.engine.outcomes import INSURANCE_BET
from shoeproof.replay.engine.round import DEALER
from shoeproof.replay.local_time import zoned_text
from shoeproof.replay.rounds.narrative import LINES

BETS: Final = {
    "main": "Main bet",
    "insurance": "Insurance",
    "perfect_pairs": "Perfect Pairs",
    "twenty_one_plus_three": "21+3",
    SURPLUS: "Debited beyond the stakes",
}
"""What bets are called at the head of a row."""

REMEDIES: Final[dict[RemedyName, str]] = {
    "honour": "let the result stand",
    "resume": "restore the round and play on",
    "apply_default": "apply the disclosed default",
    "resettle": "pay each bet what is due",
    "void": "void the round and return every stake",
    "refer": "leave it to an adjudicator",
}

CLAIMS: Final = {
    "disconnection": "a lost connection",
    "malfunction": "a malfunction",
    "settlement": "what was paid",
    "fairness": "how the cards were dealt",
    "other": "something else",
}
"""What a complaint is about."""

_GROUNDS: Final[dict[GroundName, str]] = {
    "recorded_payment": "what was paid stands",
    "right_payment": "this is what the rules pay",
    "certain_outcome": "what the rules pay on the committed shoe's own cards: the outcome was "
    "certain",
    "offer_taken": "the value that was shown and taken",
    "default_due": "what the disclosed default comes to",
    "stake_back": "all that was debited for it goes back",
    "over_debit": "what was debited beyond the stakes goes back",
    "corrected": "settled by an adjudicator's decision",
    "play_decides": "still to be played",
}

_AS_RECORDED: Final = ("recorded_payment", "right_payment", "offer_taken")
"""The grounds of bets that come to what their settlement line says."""

_CARD = re.compile(r"\b[A2-9TJQK][cdhs]\b")
_HAND = re.compile(r"s\d\b")
_UNDERSCORE = re.compile(r"(?<=[a-z0-9])_(?=[a-z0-9])")
_UTC_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def bet_name(bet: str) -> str:
    """Return what a bet is called."""
    return BETS.get(bet, bet.replace("_", " ").capitalize())


def hand_name(hand: str) -> str:
    """Return what a hand is called, `Dealer` or `Hand s1.2`, as answers and timeline name it."""
    return "Dealer" if hand == DEALER else f"Hand {hand}"


def ground_words(price: BetPrice, *, is_referred: bool) -> str:
    """Return in words why a bet comes to what it does: how it ended, and by which ground."""
    if is_referred:
        return "for the adjudicator to weigh"
    ground = _GROUNDS[price.ground or "play_decides"]
    line = _line_words(price) if price.ground in _AS_RECORDED else ""
    return "; ".join(filter(None, (line, ground)))


def plain_words(finding: str) -> str:
    """Return what a finding says with cards and names of ours as people write them."""
    return _UNDERSCORE.sub(" ", _CARD.sub(lambda card: pretty(card[0]), finding))


def sentence(words: str) -> str:
    """Return words as a sentence: a capital first, but for the name of a hand, and a full stop."""
    begin = words[:1] if _HAND.match(words) else words[:1].upper()
    return f"{begin}{words[1:].removesuffix('.')}."


def in_zone(words: str, zone: tzinfo) -> str:
    """Return words with the ledger's times in them as clocks of a zone show them."""
    return _UTC_TIME.sub(lambda found: moment_words(found[0], zone), words)


def moment_words(at: str, zone: tzinfo) -> str:
    """Return a ledger's time as clocks of a zone show it, with the zone's name: to the second, or
    the millisecond where it is not a whole one.
    """
    return zoned_text(at, zone, "seconds" if at.endswith(".000000Z") else "milliseconds")


def _line_words(price: BetPrice) -> str:
    if price.bet == INSURANCE_BET:
        natural = price.line == "dealer_natural"
        return "the dealer had blackjack, so it won" if natural else "no blackjack, so it lost"
    return LINES.get(price.line or "", (price.line or "").replace("_", " "))
