"""What a committed shoe makes of a round from some event on, whatever its record did next.

The engine plays the round with the cards the seed gives. So what the rules pay on the true cards
is known though the record shows others, broke off or was voided; and what a disclosed default would
have brought, had it been applied in time.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from shoeproof.ledger import Recorded
from shoeproof.ledger.leaf.events import CardDealt, DecisionMade, DecisionOffered
from shoeproof.replay.engine.cards import FACE_DOWN, RANKS, SUITS
from shoeproof.replay.engine.dealer import Dealer, dealer_draws, dealer_step, makes_natural
from shoeproof.replay.engine.hand import DECLINE, INSURANCE_ACTS
from shoeproof.replay.engine.outcomes import MAIN, Outcome, outcomes
from shoeproof.replay.engine.round import (
    NATURAL,
    NO_NATURAL,
    Check,
    Deal,
    Decide,
    RoundState,
    Settle,
    Show,
    Stakes,
    apply,
    in_initial_deal,
    open_round,
)
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.engine.settlement import paid_minor, settle
from shoeproof.replay.engine.shoe import Shoe
from shoeproof.replay.errors import ShoeError, StakeRefused
from shoeproof.replay.games.policies import Default
from shoeproof.replay.rounds.money_check import Bet
from shoeproof.replay.rounds.replayer import Replay, Step

Outcomes: TypeAlias = Mapping[Bet, Outcome]

_RANKS: Final = tuple(rank + SUITS[0] for rank in RANKS)
"""A card of each rank: suits do not decide who wins."""

Choose: TypeAlias = Callable[[Decide], str | None]
"""What is decided where an input is due; None where only the player may say."""


def steps_before(replay: Replay, seq: int) -> Sequence[Step]:
    """Return the steps of a replay before the event `seq`."""
    return [step for step in replay.steps if step.recorded.event.seq < seq]


def state_of(steps: Sequence[Step]) -> RoundState | None:
    """Return the state after the last step, None before the deal or once play was lost."""
    return steps[-1].state if steps else None


def is_dealing(state: RoundState | None) -> bool:
    """Tell whether the initial cards were not all dealt yet."""
    return state is None or in_initial_deal(state)


def is_certain(steps: Sequence[Step], shoe: Shoe | None) -> bool:
    """Tell whether no input of the player was left after these steps, whatever the cards to come.

    With the `shoe` the cards to come are known, and a hand that they end needs no input.
    """
    state = state_of(steps)
    if state is None:
        return False
    if shoe is None:
        return not is_dealing(state) and all(held.hand.over for held in state.hands)
    return _play_on(steps, state, shoe, lambda due: None) is not None


def true_state(
    events: Sequence[Recorded], rules: Rules, stakes: Stakes, shoe: Shoe
) -> RoundState | None:
    """Return the round on the shoe's own cards for the decisions as they were made.

    It ends where a decision that was due then is not recorded, or the rules forbid it there: what
    the player would have done is nobody's to say. None for stakes the rules cannot take.
    """
    made: dict[str, deque[tuple[str, int | None]]] = defaultdict(deque)
    shown: int | None = None
    for data in (each.event.data for each in events):
        if isinstance(data, DecisionOffered):
            shown = data.cash_out_minor
        elif isinstance(data, DecisionMade):
            made[data.hand].append((data.act, shown))
    try:
        state = open_round(rules, stakes)
    except StakeRefused:
        return None
    dealing = Dealing(shoe)
    while not isinstance(due := state.due, Settle):
        if not isinstance(due, Decide):
            symbol, value = dealing.next(state, due), None
        else:
            mine = made[due.hand]
            while mine and mine[0][0] in INSURANCE_ACTS and mine[0][0] not in due.legal:
                # An answer about an ace that the shoe does not show.
                mine.popleft()
            symbol, value = mine.popleft() if mine else (None, None)
            symbol = symbol if symbol in due.legal else None
        if symbol is None:
            break
        state = apply(state, symbol, value)
    return state


def default_outcomes(steps: Sequence[Step], shoe: Shoe | None, default: Default) -> Outcomes | None:
    """Return what each bet comes to where the default decides from these steps on.

    None where the shoe is not known, or play could not be followed.
    """

    def choose(due: Decide) -> str:
        return default.insurance if DECLINE in due.legal else default.act

    state = state_of(steps)
    final = None if state is None or shoe is None else _play_on(steps, state, shoe, choose)
    return None if final is None else by_bet(outcomes(final))


def fixed_outcomes(state: RoundState) -> Outcomes:
    """Return what each bet comes to, also a finished hand's that no card of the dealer can change.

    A natural beats whatever a dealer with a seven can draw, though the rules settle it at the end.
    """
    dealers = _dealers_to_come(state)
    found = by_bet(outcomes(state))
    for held in state.hands:
        bet = held.name, MAIN
        if not held.hand.over or found[bet].paid_minor is not None:
            continue
        lines = {settle(state.rules, held.hand, dealer) for dealer in dealers}
        if len(lines) == 1:
            (line,) = lines
            paid = paid_minor(line, held.stake_minor, held.shown_minor, state.rules.rounding)
            found[bet] = Outcome(held.seat, *bet, held.stake_minor, paid, line.name)
    return found


def _dealers_to_come(state: RoundState) -> set[Dealer]:
    """Return every hand the dealer can end with, by the cards shown and what the check said."""
    shown = state.dealer
    ended: set[Dealer] = set()
    if not shown.count:
        return ended
    drawing = {shown}
    if shown.count == 1:
        holes = (
            card for card in _RANKS if state.hole_natural in (None, makes_natural(shown, card))
        )
        drawing = {dealer_step(state.rules, shown, hole) for hole in holes}
    while drawing:
        drawn = {each for each in drawing if dealer_draws(state.rules, each)}
        ended |= drawing - drawn
        drawing = {dealer_step(state.rules, each, card) for each in drawn for card in _RANKS}
    return ended


def by_bet(found: Sequence[Outcome]) -> dict[Bet, Outcome]:
    """Return outcomes by their bets."""
    return {(each.hand, each.bet): each for each in found}


def _play_on(
    steps: Sequence[Step], state: RoundState, shoe: Shoe, choose: Choose
) -> RoundState | None:
    """Play to the end; None where an input is due that nobody but the player may give."""
    dealer = Dealing.after(steps, shoe)
    while not isinstance(due := state.due, Settle):
        symbol = choose(due) if isinstance(due, Decide) else dealer.next(state, due)
        if symbol is None:
            return None
        state = apply(state, symbol)
    return state


class Dealing:
    """Deals on from a shoe: from a place in it, with the hole card at another."""

    def __init__(self, shoe: Shoe, index: int = 0, down: int | None = None) -> None:
        """Deal the card at `index` next; the hole card is at `down`, None before it is dealt."""
        self._shoe, self._index, self._down = shoe, index, down

    @classmethod
    def after(cls, steps: Sequence[Step], shoe: Shoe) -> "Dealing":
        """Deal on after the cards that these steps dealt."""
        dealt = [e for step in steps if isinstance(e := step.recorded.event.data, CardDealt)]
        down = [each.shoe_index for each in dealt if not isinstance(each.card, str)]
        index = max((each.shoe_index for each in dealt), default=-1) + 1
        return cls(shoe, index, down[-1] if down else None)

    def copy(self) -> "Dealing":
        """Return another that deals the same cards."""
        return Dealing(self._shoe, self._index, self._down)

    def next(self, state: RoundState, due: Deal | Check | Show) -> str | None:
        """Return the card, or what the look at the hole card shows; None past the shoe's end."""
        if isinstance(due, Deal):
            index, self._index = self._index, self._index + 1
            if due.down:
                self._down = index
                return FACE_DOWN
            return self._card(index)
        hole = None if self._down is None else self._card(self._down)
        if hole is None or isinstance(due, Show):
            return hole
        return NATURAL if makes_natural(state.dealer, hole) else NO_NATURAL

    def _card(self, index: int) -> str | None:
        try:
            return self._shoe[index]
        except ShoeError:
            return None
