"""Runs of lost rounds: the longest there was, and how likely one is in what was played. Pure.

Every round is dealt from a shoe of its own, so rounds end independently of each other. The chance
that a run of a length occurs somewhere is then exact, by going through the rounds once and keeping
the probability of each number of losses in a row so far.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from shoeproof.replay.engine.rules import Rules, canonical_rules, rules_from_json
from shoeproof.replay.theory.cache import theory

RunKind: TypeAlias = Literal["lost", "not won"]
"""Rounds lost in a row, or rounds in a row that were lost or pushed."""


class Chance(NamedTuple):
    """How likely a round was to be lost, and to be lost or pushed, before its first card.

    It is the solver's exact probability for a main bet at one seat, played as well as can be;
    `is_exact` is whether the round had no more seats than that.
    """

    lost: float
    not_won: float
    is_exact: bool


class Ended(NamedTuple):
    """A round that ended: its id, what its main bets won in all, and its chance, None for none."""

    round: str
    won_minor: int
    chance: Chance | None


class Streak(msgspec.Struct, frozen=True):
    """The longest run in a sequence of rounds, the earliest where there are several.

    It is `length` rounds long, from `first` to `last`, out of `rounds`. `probability` is that of at
    least one run of that length in so many rounds, None where it is not known of every round how
    likely it was to be lost. `exact_rounds` counts those of which the solver knows it exactly.
    """

    kind: RunKind
    length: int
    first: str
    last: str
    rounds: int
    probability: float | None
    exact_rounds: int


def chance_of(rules: Rules | None, seats: int) -> Chance | None:
    """Return how likely a round of these rules is to be lost, by its main bet; None without rules.

    The solver has it for one seat; for more it is that of one seat, and said not to be exact.
    """
    if rules is None:
        return None
    lost, push = _loss_and_push(canonical_rules(rules))
    return Chance(lost, lost + push, seats == 1)


def longest_runs(ended: Sequence[Ended]) -> tuple[Streak, ...]:
    """Return the longest run of losses and, where it is longer, of rounds without a win.

    `ended` are the rounds in the order they were played, without those that were voided.
    """
    lost = _longest("lost", ended, [each.won_minor < 0 for each in ended])
    not_won = _longest("not won", ended, [each.won_minor <= 0 for each in ended])
    if lost is None:
        return () if not_won is None else (not_won,)
    return (lost,) if not_won is None or not_won.length == lost.length else (lost, not_won)


def chance_of_a_run(length: int, chances: Iterable[float]) -> float:
    """Return the probability that at least `length` events in a row occur somewhere.

    `chances` are the probabilities of the events, in order and independent. `length` is at least 1.
    """
    in_a_row = [1.0] + [0.0] * (length - 1)
    reached = 0.0
    for chance in chances:
        reached += in_a_row[-1] * chance
        broken = sum(in_a_row) * (1 - chance)
        in_a_row = [broken, *(each * chance for each in in_a_row[:-1])]
    return reached


def _longest(kind: RunKind, ended: Sequence[Ended], hits: Sequence[bool]) -> Streak | None:
    best = start = stop = 0
    for place, hit in enumerate(hits, 1):
        start = start if hit else place
        if place - start > best:
            best, stop = place - start, place
    if not best:
        return None
    chances = [each.chance for each in ended]
    known = [each for each in chances if each is not None]
    probability = None
    if len(known) == len(chances):
        probability = chance_of_a_run(
            best, (each.lost if kind == "lost" else each.not_won for each in known)
        )
    exact = sum(each.is_exact for each in known)
    first, last = ended[stop - best].round, ended[stop - 1].round
    return Streak(kind, best, first, last, len(ended), probability, exact)


@lru_cache(maxsize=16)
def _loss_and_push(canonical: bytes) -> tuple[float, float]:
    outcomes = theory(rules_from_json(canonical)).outcomes
    return outcomes.loss, outcomes.push
