"""The range of what a hand could have come to by acts that were refused to it or withheld.

By the shoe committed to, every act the rules allowed the hand then is played on in every way to its
end; hands after it stand. It bounds what an adjudicator may find just, and decides nothing.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from shoeproof.replay.cases.assessment import Range
from shoeproof.replay.engine.hand import DECLINE, STAND
from shoeproof.replay.engine.outcomes import MAIN, outcomes
from shoeproof.replay.engine.round import Decide, RoundState, Settle, apply
from shoeproof.replay.engine.shoe import Shoe
from shoeproof.replay.rounds.money_check import Bet
from shoeproof.replay.rounds.play_on import Dealing, state_of
from shoeproof.replay.rounds.replayer import Step

MOST_ENDS: Final = 20_000
"""How many ways to the end are tried: more than any one hand has in these games."""


class _End(NamedTuple):
    """What one way of playing a hand is paid, and what was staked on it by then."""

    paid_minor: int
    staked_minor: int

    @property
    def gain_minor(self) -> int:
        return self.paid_minor - self.staked_minor


def could_have(steps: Sequence[Step], shoe: Shoe | None, hand: str) -> Range | None:
    """Return the least and the most that `hand` could have been paid, and what the most takes.

    Counted are its main bet, those of its halves after a split, and insurance taken from here on:
    no side bet, and nothing that was decided before. `steps` end before the act that was refused or
    withheld, or before what cut play off. None where the cards to come cannot be known, or no
    decision was left to the seat.
    """
    state = state_of(steps)
    if state is None or shoe is None:
        return None
    others = {(each.hand, each.bet) for each in outcomes(state) if each.bet != MAIN}
    finals = islice(_finals(state, Dealing.after(steps, shoe), _seat(hand)), MOST_ENDS)
    ends = [_end(final, hand, others) for final in finals]
    if len(ends) < 2:
        return None
    most = max(ends, key=lambda end: (end.gain_minor, end.paid_minor))
    return Range(hand, min(end.paid_minor for end in ends), most.paid_minor, most.staked_minor)


def _end(state: RoundState, hand: str, others: Collection[Bet]) -> _End:
    own = [
        each
        for each in outcomes(state)
        if f"{each.hand}.".startswith(f"{hand}.") and (each.hand, each.bet) not in others
    ]
    paid = sum(each.paid_minor or 0 for each in own)
    return _End(paid, sum(each.stake_minor for each in own))


def _finals(state: RoundState, dealing: Dealing, seat: str) -> Iterator[RoundState]:
    """Yield the end of each way the hands of a seat can be played."""
    while not isinstance(due := state.due, Settle):
        if isinstance(due, Decide) and _seat(due.hand) == seat:
            for act in due.legal:
                yield from _finals(apply(state, act), dealing.copy(), seat)
            return
        if isinstance(due, Decide):
            symbol: str | None = DECLINE if DECLINE in due.legal else STAND
        else:
            symbol = dealing.next(state, due)
        if symbol is None:
            return
        state = apply(state, symbol)
    yield state


def _seat(hand: str) -> str:
    return hand.split(".")[0]
