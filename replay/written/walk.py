"""Take the moves of a written round one by one, in every way its unknown cards can be read.

A move that the rules allow in no world ends the walk, because what would have come instead is
unknown. What a screen offered is held to the rules, and changes nothing unless it was taken.
"""

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from shoeproof.replay import findings as codes
from shoeproof.replay.engine.cards import FACE_DOWN
from shoeproof.replay.engine.dealer import makes_natural
from shoeproof.replay.engine.hand import CASH_OUT, DECLINE, INSURANCE_ACTS
from shoeproof.replay.engine.round import (
    DEALER,
    NATURAL,
    NO_NATURAL,
    Check,
    Deal,
    Decide,
    RoundState,
    Settle,
    Show,
    Turn,
    apply,
    describe,
    open_round,
)
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.rounds.shoe_check import Problem
from shoeproof.replay.written.offers import in_every_case, offer_problems, value_problems
from shoeproof.replay.written.round_text import (
    ActMove,
    DealMove,
    Move,
    OfferMove,
    RoundText,
    StopMove,
)
from shoeproof.replay.written.worlds import UnseenCards, World


class MoveFinding(msgspec.Struct, frozen=True):
    """What is wrong, with the 0-based index of the move it is about, None when about none."""

    code: str
    move: int | None
    text: str


class Walk(msgspec.Struct, frozen=True):
    """What a written round came to.

    `states[i]` is the state in which move i was taken, as far as every card before it is known.
    `ends` are the states in which the walk can have ended: after the last move, or before one that
    fits none of them. `notes` are findings that ended nothing, `finding` is the one that ended the
    walk. `taken` is a cash out against the rules, with the value it was offered at. `is_short` says
    that the dealer stopped where the rules draw on; the ends are then all that could have come.
    """

    states: tuple[RoundState, ...]
    ends: tuple[RoundState, ...]
    notes: tuple[MoveFinding, ...]
    finding: MoveFinding | None
    taken: ActMove | None
    is_short: bool

    @property
    def complete(self) -> bool:
        """Tell whether the round came to its end by the rules."""
        ended = all(isinstance(state.due, Settle) for state in self.ends)
        return self.finding is None and not self.is_short and ended

    @property
    def is_played(self) -> bool:
        """Tell whether no card or act of a player is due any more, so that every stake is known."""
        return self.finding is None and all(
            isinstance(state.due, Settle | Show) or _must_draw(state) for state in self.ends
        )


def walk_round(text: RoundText, rules: Rules) -> Walk:
    """Take the written moves one by one; raise StakeRefused for stakes no round can open with."""
    return _Walker(text, rules).walk()


class _Walker:
    """The walk through one round's moves; lives for one call of `walk_round`."""

    def __init__(self, text: RoundText, rules: Rules) -> None:
        self.text = text
        self.currency = text.currency or ""
        self.decks = rules.decks
        self.unseen = UnseenCards(text, rules)
        self.worlds = [World(open_round(rules, text.stakes))]
        self.seen: Counter[str] = Counter()
        self.states: list[RoundState] = []
        self.notes: list[MoveFinding] = []
        self.finding: MoveFinding | None = None
        self.offer: OfferMove | None = None
        self.taken: ActMove | None = None
        self.is_short = False

    def walk(self) -> Walk:
        if all(self._take(index, move) for index, move in enumerate(self.text.moves)):
            self._look(more=False)
        return Walk(
            states=tuple(self.states),
            ends=tuple(world.state for world in self.worlds),
            notes=tuple(self.notes),
            finding=self.finding,
            taken=self.taken,
            is_short=self.is_short,
        )

    def _take(self, index: int, move: Move) -> bool:
        """Take one move in every world that it fits; tell whether the walk goes on."""
        if isinstance(move, StopMove):
            self._stop(index)
            return False
        if isinstance(move, DealMove) and move.down and move.card != FACE_DOWN:
            self.worlds = [msgspec.structs.replace(each, hole=move.card) for each in self.worlds]
        if not self._look(more=True):
            return False
        if isinstance(move, OfferMove):
            self._keep_state()
            self._note_offer(index, move)
            return True
        if not self._fits(index, move):
            return False
        self._keep_state()
        return self._act(index, move) if isinstance(move, ActMove) else self._deal(move)

    def _keep_state(self) -> None:
        if len(self.worlds) == 1 and not self.worlds[0].assumed:
            self.states.append(self.worlds[0].state)

    # Looks at the hole card

    def _look(self, *, more: bool, at_check: bool = False) -> bool:
        """Answer the check and turn the hole card over; False where there are too many worlds.

        An unknown hole card was no natural when `more` moves follow the check. It is tried as every
        card once it is turned over, or already `at_check`.
        """
        self.worlds = [_looked(world, more=more) for world in self.worlds]
        waits = Check | Show if at_check else Show
        return self._spread(lambda world: isinstance(world.state.due, waits), _with_hole)

    def _spread(
        self, waits: Callable[[World], bool], take: Callable[[World, str], World | None]
    ) -> bool:
        if not any(map(waits, self.worlds)):
            return True
        found = self.unseen.spread(self.worlds, waits, take)
        self.worlds = found or self.worlds
        return found is not None

    # Cards and acts

    def _fits(self, index: int, move: DealMove | ActMove) -> bool:
        """Drop the worlds that a move does not fit; where it fits none, that is the finding."""
        wrong = [_misfit(each.state, move, self.text) for each in self.worlds]
        if None not in wrong:
            due = list(dict.fromkeys(describe(each.state.due) for each in self.worlds))
            sentence = f"'{move}' came where {' or '.join(due[:3])} was due"
            self.finding = MoveFinding(str(wrong[0]), index, sentence)
            self._take_as_offered(move)
            return False
        if isinstance(move, DealMove) and self._is_impossible(index, move.card):
            return False
        pairs = zip(self.worlds, wrong, strict=True)
        self.worlds = [each for each, code in pairs if code is None]
        return True

    def _take_as_offered(self, move: DealMove | ActMove) -> None:
        """Keep a cash out that the rules do not have here, where the screen offered one."""
        if not isinstance(move, ActMove) or self._offered_minor(move) is None:
            return
        if all(_asks(each.state, move.hand) for each in self.worlds):
            self.taken = self._with_value(move)

    def _is_impossible(self, index: int, card: str) -> bool:
        if card == FACE_DOWN:
            return False
        self.seen[card] += 1
        if self.seen[card] <= self.decks:
            return False
        sentence = f"{card} came {self.seen[card]} times; {self.decks} decks hold {self.decks}"
        self.finding = MoveFinding(codes.CARD_IMPOSSIBLE, index, sentence)
        return True

    def _deal(self, move: DealMove) -> bool:
        self.offer = None
        if move.is_unreadable:
            return self._spread(lambda _: True, _with_card)
        symbol = FACE_DOWN if move.down else move.card
        self.worlds = [_moved(each, symbol) for each in self.worlds]
        return True

    def _act(self, index: int, move: ActMove) -> bool:
        offered = self._offered_minor(move)
        states = [each.state for each in self.worlds]
        self._note(index, [value_problems(state, move, offered, self.currency) for state in states])
        shown = self._with_value(move).shown_minor
        self.worlds = [_moved(each, move.act, shown) for each in self.worlds]
        self.offer = None
        return True

    def _offered_minor(self, move: ActMove) -> int | None:
        """Return the value at which the cash out of a move was offered, None where none was."""
        if self.offer is None or (self.offer.hand, move.act) != (move.hand, CASH_OUT):
            return None
        return self.offer.shown_minor

    def _with_value(self, move: ActMove) -> ActMove:
        if move.shown_minor is not None:
            return move
        return msgspec.structs.replace(move, shown_minor=self._offered_minor(move))

    # The dealer's end

    def _stop(self, index: int) -> None:
        """Check `dealer stops` against the rules; if they draw on, try each possible card."""
        if not self._look(more=False, at_check=True):
            return
        ended = [each for each in self.worlds if isinstance(each.state.due, Settle)]
        short = [each for each in self.worlds if _must_draw(each.state)]
        if not ended and not short:
            due = self.worlds[0].state.due
            code = codes.MISSING_DECISION if isinstance(due, Decide) else codes.CARD_MISSING
            sentence = f"'{StopMove()}' came where {describe(due)} was due"
            self.finding = MoveFinding(code, index, sentence)
            return
        self.worlds = ended or short
        if not ended:
            self.is_short = True
            sentence = _stopped_short([each.state for each in short])
            self.notes.append(MoveFinding(codes.CARD_MISSING, index, sentence))
            self._draw_on()
        if index + 1 < len(self.text.moves):
            sentence = f"'{self.text.moves[index + 1]}' came after '{StopMove()}'"
            self.finding = MoveFinding(codes.SURPLUS_MOVE, index + 1, sentence)

    def _draw_on(self) -> None:
        while any(_must_draw(each.state) for each in self.worlds):
            if not self._spread(lambda world: _must_draw(world.state), _with_card):
                return

    def _note_offer(self, index: int, move: OfferMove) -> None:
        self.offer = move
        states = [each.state for each in self.worlds]
        # An unknown card that ended the hand explains no offer, where another card does.
        asked = [state for state in states if _asks(state, move.hand)]
        self._note(index, [offer_problems(each, move, self.text) for each in asked or states])

    def _note(self, index: int, found: Sequence[Sequence[Problem]]) -> None:
        self.notes += [MoveFinding(code, index, text) for code, text in in_every_case(found)]


def _moved(world: World, symbol: str, shown_minor: int | None = None) -> World:
    return msgspec.structs.replace(world, state=apply(world.state, symbol, shown_minor))


def _with_card(world: World, card: str) -> World:
    return World(apply(world.state, card), world.hole, (*world.assumed, card))


def _with_hole(world: World, card: str) -> World | None:
    """Return the world with this hole card, None where the check showed that it is another."""
    if world.state.hole_natural is False and makes_natural(world.state.dealer, card):
        return None
    return _looked(World(world.state, card, (*world.assumed, card)), more=False)


def _looked(world: World, *, more: bool) -> World:
    """Answer the check and turn the hole card over, as far as it is known."""
    state, hole = world.state, world.hole
    if isinstance(state.due, Check):
        if hole is not None:
            natural = makes_natural(state.dealer, hole)
            state = apply(state, NATURAL if natural else NO_NATURAL)
        elif more:
            state = apply(state, NO_NATURAL)
    if isinstance(state.due, Show) and hole is not None:
        state = apply(state, hole)
    return world if state is world.state else World(state, hole, world.assumed)


def _asks(state: RoundState, hand: str) -> bool:
    return isinstance(state.due, Decide) and state.due.hand == hand


def _must_draw(state: RoundState) -> bool:
    """Tell whether the hole card lies open and the rules have the dealer draw."""
    due = state.due
    return isinstance(due, Deal) and due.receiver == DEALER and len(state.dealer_cards) >= 2


def _stopped_short(states: Sequence[RoundState]) -> str:
    """Say what the dealer stopped at and what the rules require."""
    totals = sorted({state.dealer.total for state in states})
    had = str(totals[0]) if len(totals) == 1 else f"{totals[0]} to {totals[-1]}"
    if len(states) == 1:
        soft = "a soft " if states[0].dealer.soft else ""
        had = f"{soft}{had} ({' '.join(states[0].dealer_cards)})"
    hits = states[0].rules.dealer_hits_soft_17
    rule = "draws to 16 and on a soft 17" if hits else "draws to 16 and stands on every 17"
    return (
        f"the dealer had {had} and drew no more; by the rules the dealer {rule}: a card is missing"
    )


def _misfit(state: RoundState, move: DealMove | ActMove, text: RoundText) -> str | None:
    """Return the code of what is wrong with a move where something else is due, None if it fits."""
    hand = move.hand if isinstance(move, ActMove) else move.receiver
    if hand != DEALER and hand.split(".")[0] not in text.stakes:
        return codes.STAKE_MISSING
    if isinstance(state.due, Settle):
        return codes.SURPLUS_MOVE
    if isinstance(move, DealMove):
        return _misfit_card(state.due, move)
    return _misfit_act(state, move)


def _misfit_card(due: Turn, move: DealMove) -> str | None:
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
