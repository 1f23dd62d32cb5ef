"""Judge a round that was written down: what is every bet paid under the game's rules?

The walk hands the written moves to the engine one by one. It stops at the first move the rules do
not allow, because what would have come instead is unknown; bets decided before stay decided. A
hole card that nobody knows is tried as every card the shoe still holds: a bet is decided when all
of those that fit the written draws agree.
"""

from collections import Counter
from collections.abc import Iterable

import msgspec

from replay import findings as codes
from replay.currency import amount_text
from replay.engine.cards import FACE_DOWN, PACK
from replay.engine.dealer import makes_natural
from replay.engine.hand import DECLINE, INSURANCE_ACTS
from replay.engine.outcomes import (
    INSURANCE_BET,
    Outcome,
    outcomes,
    total_paid_minor,
    total_staked_minor,
)
from replay.engine.round import (
    NATURAL,
    NO_NATURAL,
    Check,
    Deal,
    Decide,
    RoundState,
    Settle,
    Show,
    apply,
    check_stakes,
    describe,
    open_round,
)
from replay.engine.rules import Rules, rules_digest
from replay.errors import RoundTextError, StakeRefused
from replay.games import GAMES
from replay.limits import Limits, outside_limits
from replay.round_text import ActMove, DealMove, Move, RoundText


class MoveFinding(msgspec.Struct, frozen=True):
    """What is wrong, with the 0-based index of the move it is about, None when about none."""

    code: str
    move: int | None
    text: str


class Judgement(msgspec.Struct, frozen=True):
    """What the rules make of a written round. Amounts are minor units."""

    complete: bool
    bets: tuple[Outcome, ...]
    total_staked_minor: int
    total_paid_minor: int
    findings: tuple[MoveFinding, ...]


class Walk(msgspec.Struct, frozen=True):
    """The states a written round went through.

    `states[i]` is the state in which move i was taken; `last` is where the walk ended, by the end
    of the moves, by the finding, or before a hole card that nobody knows.
    """

    states: tuple[RoundState, ...]
    last: RoundState
    finding: MoveFinding | None

    @property
    def complete(self) -> bool:
        """Tell whether the round came to its end by the rules."""
        return self.finding is None and isinstance(self.last.due, Settle)


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
    walks = [walk_round(text, rules)]
    if isinstance(walks[0].last.due, Show) and walks[0].finding is None:
        walks = _with_every_hole_card(text, rules)
    found.extend(_off_the_table(walks[0], text))
    if walks[0].finding is not None:
        found.append(walks[0].finding)
    bets = [*_agreed([outcomes(walk.last) for walk in walks]), *refused]
    found.extend(_unexpected(text, bets))
    decided = all(bet.paid_minor is not None for bet in bets)
    return _judgement(bets, found, complete=decided and all(walk.complete for walk in walks))


def _check_bets(text: RoundText, rules: Rules) -> None:
    """Raise RoundTextError for a bet that neither these rules nor any known game has."""
    known = {bet for game in GAMES.values() for bet in game.rules.bets} | set(rules.bets)
    staked = {bet for bets in text.stakes.values() for bet in bets}
    expected = {bet for _, bet in text.expect}
    for bet in sorted(staked - known) + sorted(expected - known - {INSURANCE_BET}):
        raise RoundTextError(f"no game has a bet {bet!r}")


def _orphan_bet(seat: str, bet: str, stake_minor: int) -> Outcome:
    return Outcome(seat, seat, bet, stake_minor, None, None)


def walk_round(text: RoundText, rules: Rules, hole: str | None = None) -> Walk:
    """Take the written moves one by one; `hole` stands in for a hole card written as unknown.

    Raises StakeRefused for stakes no round can open with.
    """
    state = open_round(rules, text.stakes)
    states: list[RoundState] = []
    seen: Counter[str] = Counter()
    for index, move in enumerate(text.moves):
        if isinstance(move, DealMove) and move.down and move.card != FACE_DOWN:
            hole = move.card
        state = _look_at_hole(state, hole, more=True)
        if isinstance(state.due, Show):
            return Walk(tuple(states), state, None)
        finding = _misfit(state, index, move, text) or _impossible(rules, index, move, seen)
        if finding is not None:
            return Walk(tuple(states), state, finding)
        states.append(state)
        state = _take(state, move)
    return Walk(tuple(states), _look_at_hole(state, hole, more=False), None)


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


def _look_at_hole(state: RoundState, hole: str | None, *, more: bool) -> RoundState:
    """Answer the check and turn the hole card over, as far as it is known.

    An unknown hole card was no natural when moves still follow the check.
    """
    if isinstance(state.due, Check):
        if hole is not None and hole != FACE_DOWN:
            natural = makes_natural(state.dealer, hole)
            state = apply(state, NATURAL if natural else NO_NATURAL)
        elif more:
            state = apply(state, NO_NATURAL)
    if isinstance(state.due, Show) and hole is not None:
        state = apply(state, hole)
    return state


def _take(state: RoundState, move: Move) -> RoundState:
    if isinstance(move, ActMove):
        return apply(state, move.act, move.shown_minor)
    return apply(state, FACE_DOWN if move.down else move.card)


def _misfit(state: RoundState, index: int, move: Move, text: RoundText) -> MoveFinding | None:
    """Return what is wrong with a move where something else is due, or None when it fits."""
    due = state.due
    code: str | None
    hand = move.hand if isinstance(move, ActMove) else move.receiver
    if hand != "dealer" and hand.split(".")[0] not in text.stakes:
        code = codes.STAKE_MISSING
    elif isinstance(due, Settle):
        code = codes.SURPLUS_MOVE
    elif isinstance(move, DealMove):
        code = _misfit_card(due, move)
    else:
        code = _misfit_act(state, move)
    if code is None:
        return None
    return MoveFinding(code, index, f"'{move}' came where {describe(due)} was due")


def _misfit_card(due: object, move: DealMove) -> str | None:
    if isinstance(due, Decide):
        return codes.MISSING_DECISION
    if isinstance(due, Deal) and (due.receiver, due.down) == (move.receiver, move.down):
        return None
    return codes.CARD_ORDER_WRONG


def _misfit_act(state: RoundState, move: ActMove) -> str | None:
    due = state.due
    if isinstance(due, Decide) and move.hand == due.hand:
        if move.act in due.legal:
            return None
        unanswered = DECLINE in due.legal and move.act not in INSURANCE_ACTS
        return codes.MISSING_DECISION if unanswered else codes.ILLEGAL_DECISION
    card_is_owed = any(held.name == move.hand and held.hand.owed for held in state.hands)
    return codes.CARD_ORDER_WRONG if card_is_owed else codes.ILLEGAL_DECISION


def _impossible(rules: Rules, index: int, move: Move, seen: Counter[str]) -> MoveFinding | None:
    if not isinstance(move, DealMove) or move.card == FACE_DOWN:
        return None
    seen[move.card] += 1
    if seen[move.card] <= rules.decks:
        return None
    sentence = f"{move.card} came {seen[move.card]} times; {rules.decks} decks hold {rules.decks}"
    return MoveFinding(codes.CARD_IMPOSSIBLE, index, sentence)


def _off_the_table(walk: Walk, text: RoundText) -> Iterable[MoveFinding]:
    moves = text.moves[: len(walk.states)]
    for index, (state, move) in enumerate(zip(walk.states, moves, strict=True)):
        if not isinstance(move, ActMove) or move.shown_minor is None:
            continue
        due = state.due
        if isinstance(due, Decide) and move.shown_minor != due.cash_out_minor:
            shown = amount_text(move.shown_minor, text.currency or "")
            right = amount_text(due.cash_out_minor, text.currency or "")
            sentence = f"{move.hand} was shown {shown}, the rules' table says {right}"
            yield MoveFinding(codes.CASH_OUT_OFFER_WRONG, index, sentence)


def _with_every_hole_card(text: RoundText, rules: Rules) -> list[Walk]:
    """Walk the round with each hole card that can be; those that contradict the draws drop out."""
    written = Counter(move.card for move in text.moves if isinstance(move, DealMove))
    walks = [walk_round(text, rules, hole=card) for card in PACK if written[card] < rules.decks]
    fitting = [walk for walk in walks if walk.finding is None]
    return fitting or [max(walks, key=lambda walk: len(walk.states))]


def _agreed(possible: list[list[Outcome]]) -> list[Outcome]:
    """Keep a payment only where every possible ending makes it."""
    agreed = []
    for versions in zip(*possible, strict=True):
        first = versions[0]
        if any(version.paid_minor != first.paid_minor for version in versions):
            first = msgspec.structs.replace(first, paid_minor=None, line=None)
        elif any(version.line != first.line for version in versions):
            first = msgspec.structs.replace(first, line="hole_card_unknown")
        agreed.append(first)
    return agreed


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
