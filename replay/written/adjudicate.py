"""Judge a round that was written down: what does every bet pay under the game's rules?

The walk hands the written moves to the engine one by one (`walk.py`). Bets decided before a move
that the rules do not allow stay decided. Where cards are unknown, a bet is decided when every way
to read them that fits the written moves pays it alike.
"""

from collections.abc import Iterable, Sequence

import msgspec

from shoeproof.replay import findings as codes
from shoeproof.replay.engine.outcomes import (
    INSURANCE_BET,
    MAIN,
    Outcome,
    outcomes,
    total_paid_minor,
    total_staked_minor,
)
from shoeproof.replay.engine.round import check_stakes
from shoeproof.replay.engine.rules import Rules, rules_digest
from shoeproof.replay.errors import RoundTextError, StakeRefused
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.rounds.limits import Limits, outside_limits
from shoeproof.replay.written.round_text import ActMove, DealMove, RoundText
from shoeproof.replay.written.screen import screen_problems
from shoeproof.replay.written.walk import MoveFinding, Walk, walk_round


class Judgement(msgspec.Struct, frozen=True):
    """The result of a written round under the rules. Amounts are minor units."""

    complete: bool
    bets: tuple[Outcome, ...]
    total_staked_minor: int
    total_paid_minor: int
    findings: tuple[MoveFinding, ...]


def adjudicate(text: RoundText, rules: Rules, limits: Limits) -> Judgement:
    """Judge a written round under `rules`; `limits` are those that the stakes must keep."""
    _check_bets(text, rules)
    found = list(_before_the_deal(text, rules, limits))
    orphans = [seat for seat, bets in text.stakes.items() if "main" not in bets]
    stakes = {seat: bets for seat, bets in text.stakes.items() if seat not in orphans}
    refused = [
        _orphan_bet(seat, bet, minor)
        for seat in orphans
        for bet, minor in text.stakes[seat].items()
    ]
    try:
        check_stakes(rules, stakes)
    except StakeRefused as refusal:
        if stakes:
            found.append(MoveFinding(codes.STAKE_NOT_ALLOWED, None, str(refusal)))
        return _judgement(refused, found, complete=False)
    text = msgspec.structs.replace(text, stakes=stakes)
    walk = walk_round(text, rules)
    found += walk.notes
    found += [] if walk.finding is None else [walk.finding]
    bets = [*_bets(walk, text), *refused]
    found += _unexpected(text, bets)
    shown = screen_problems(text, bets, stakes_known=walk.is_played and not refused)
    found += [MoveFinding(code, None, sentence) for code, sentence in shown]
    decided = all(bet.paid_minor is not None for bet in bets)
    return _judgement(bets, found, complete=decided and walk.complete)


def _check_bets(text: RoundText, rules: Rules) -> None:
    """Raise RoundTextError for a bet that neither these rules nor any known game has."""
    known = {bet for game in GAMES.values() for bet in game.rules.bets} | set(rules.bets)
    staked = {bet for bets in text.stakes.values() for bet in bets}
    screen = () if text.screen is None else (*text.screen.paid, *text.screen.results)
    expected = {bet for _, bet in (*text.expect, *screen)}
    for bet in sorted(staked - known) + sorted(expected - known - {INSURANCE_BET}):
        raise RoundTextError(f"no game has a bet {bet!r}")


def _orphan_bet(seat: str, bet: str, stake_minor: int) -> Outcome:
    return Outcome(seat, seat, bet, stake_minor, None, None)


def _before_the_deal(text: RoundText, rules: Rules, limits: Limits) -> Iterable[MoveFinding]:
    digest = rules_digest(rules)
    if text.rules_digest not in (None, digest):
        sentence = f"the round names rules {text.rules_digest}, it is judged by {digest}"
        yield MoveFinding(codes.RULES_DIGEST_UNKNOWN, None, sentence)
    for seat, bets in text.stakes.items():
        if "main" not in bets:
            sentence = f"{seat} has a side bet without a main stake"
            yield MoveFinding(codes.SIDE_BET_WITHOUT_MAIN, None, sentence)
    for sentence in outside_limits(limits, text.stakes, text.currency or ""):
        yield MoveFinding(codes.STAKE_OUTSIDE_LIMITS, None, sentence)


def _bets(walk: Walk, text: RoundText) -> list[Outcome]:
    """Return what every bet comes to, however the unknown cards are read."""
    bets = _agreed([outcomes(state) for state in walk.ends], _unknown(walk, text))
    return bets if walk.taken is None else [_as_offered(bet, walk.taken) for bet in bets]


def _agreed(possible: Sequence[list[Outcome]], unknown: str) -> list[Outcome]:
    """Keep a payment only where every possible ending makes it; `unknown` names differing lines."""
    agreed = []
    for versions in zip(*possible, strict=True):
        first = versions[0]
        if any(version.paid_minor != first.paid_minor for version in versions):
            first = msgspec.structs.replace(first, paid_minor=None, line=None)
        elif any(version.line != first.line for version in versions):
            first = msgspec.structs.replace(first, line=unknown)
        agreed.append(first)
    return agreed


def _unknown(walk: Walk, text: RoundText) -> str:
    """Return the line of a bet that different cards pay equally under different lines."""
    unreadable = (isinstance(move, DealMove) and move.is_unreadable for move in text.moves)
    return "card_unknown" if walk.is_short or any(unreadable) else "hole_card_unknown"


def _as_offered(bet: Outcome, taken: ActMove) -> Outcome:
    """Pay a hand that was sold as offered, although the rules did not allow the sale."""
    if (bet.hand, bet.bet) != (taken.hand, MAIN):
        return bet
    return msgspec.structs.replace(bet, paid_minor=taken.shown_minor, line="cash_out")


def _unexpected(text: RoundText, bets: list[Outcome]) -> Iterable[MoveFinding]:
    paid = {(bet.hand, bet.bet): bet.paid_minor for bet in bets}
    for (hand, bet), amount in text.expect.items():
        if (hand, bet) not in paid:
            sentence = f"the round has no bet '{hand} {bet}', {amount} was expected"
            yield MoveFinding(codes.EXPECT_MISMATCH, None, sentence)
        elif paid[hand, bet] not in (None, amount):
            sentence = f"'{hand} {bet}' is paid {paid[hand, bet]}, {amount} was expected"
            yield MoveFinding(codes.EXPECT_MISMATCH, None, sentence)


def _judgement(bets: list[Outcome], found: list[MoveFinding], *, complete: bool) -> Judgement:
    return Judgement(
        complete=complete,
        bets=tuple(bets),
        total_staked_minor=total_staked_minor(bets),
        total_paid_minor=total_paid_minor(bets),
        findings=tuple(found),
    )
