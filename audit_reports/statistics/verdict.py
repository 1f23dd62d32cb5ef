"""The verdict on a bet, as data: a word and the readings it rests on.

It rests on luck, on events counted, on settlement error and on what the wallet moved. What a main
bet returned says as much of its players as of its dealing, so the RTP and its band are shown beside
the verdict and never decide it. No word says that a game is fair: figures can only fail to speak
against it, and few figures cannot even do that.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import sqrt
from typing import Final, Literal, TypeAlias

import msgspec

from shoeproof.audit_reports.pages.numerals import percent, standard_errors
from shoeproof.audit_reports.statistics.intervals import normal_quantile
from shoeproof.audit_reports.statistics.sequences import (
    FEWEST_ROUNDS,
    betting_looks,
    betting_sequence,
    count_looks,
    luck_looks,
)
from shoeproof.audit_reports.statistics.sums import CountSums, LuckSums

Word: TypeAlias = Literal["no evidence against", "inconclusive", "watch", "out of range"]

NO_EVIDENCE: Final = "no evidence against"
INCONCLUSIVE: Final = "inconclusive"
WATCH: Final = "watch"
OUT_OF_RANGE: Final = "out of range"
_BY_WEIGHT: Final[tuple[Word, ...]] = (NO_EVIDENCE, INCONCLUSIVE, WATCH, OUT_OF_RANGE)

LEVEL: Final = 0.05
"""How likely the page of an honest house is ever out of range, over all of its looks and parts."""

FEWEST_VARIANCE: Final = 25.0
"""With less variance a count is too far from normal for a single look, and says too little."""

TOO_FEW: Final = "too few rounds to judge"


class Reading(msgspec.Struct, frozen=True):
    """One thing that was looked at: its word, and a sentence on why."""

    of: str
    word: Word
    says: str


class Verdict(msgspec.Struct, frozen=True):
    """What readings come to, with all of them."""

    word: Word
    readings: tuple[Reading, ...]


def verdict(luck: Iterable[Reading], others: Iterable[Reading] = ()) -> Verdict:
    """Return the verdict that readings amount to: those of luck, and all others.

    Where none is out of range or to be watched, there is no evidence against a bet only if some
    reading of its luck had enough rounds. That every bet was paid rightly says nothing of cards.
    """
    of_luck = tuple(luck)
    found = (*of_luck, *others)
    word = heaviest(reading.word for reading in found)
    if word in (NO_EVIDENCE, INCONCLUSIVE):
        is_told = any(reading.word == NO_EVIDENCE for reading in of_luck)
        word = NO_EVIDENCE if is_told else INCONCLUSIVE
    return Verdict(word, found)


def heaviest(words: Iterable[Word]) -> Word:
    """Return the weightiest of words; without any there is no evidence."""
    return max(words, key=_BY_WEIGHT.index, default=NO_EVIDENCE)


def level_of_each(level: float, count: int) -> float:
    """Return the level at which each of `count` things is judged that may become more with time.

    It is level / n(n + 1) of n things. The n-th to come is never judged at more, and these levels
    sum to `level`: so anyone who looks again after each that comes is told falsely of any with a
    chance of `level` at most.
    """
    return level / (count * (count + 1))


def read_luck(
    parts: Mapping[str, Sequence[LuckSums]],
    level: float = LEVEL,
    tuned_to: float | None = None,
    fewest: int = FEWEST_ROUNDS,
) -> list[Reading]:
    """Read the luck of a bet's parts (initial deal, dealer draw, …), each against a mean of zero.

    Each part comes as the sums of each day from the first on. It is out of range once the sum at
    the end of some day has left the normal-mixture sequence, and to be watched while it is outside
    the interval that holds for a single look. `level` is that of each part, `tuned_to` and `fewest`
    are as in `luck_looks`. With fewer than `FEWEST_ROUNDS` it is never without evidence against it.
    """
    return [_read_luck(name, days, level, tuned_to, fewest) for name, days in parts.items()]


def _read_luck(
    name: str, days: Sequence[LuckSums], level: float, tuned_to: float | None, fewest: int
) -> Reading:
    looks = luck_looks(days, level, tuned_to, fewest)
    left = [day for day, look in enumerate(looks, 1) if look and abs(look.total) > look.radius]
    last = looks[-1] if looks else None
    if last is None and not left:
        return Reading(name, INCONCLUSIVE, TOO_FEW)
    so_far = sum(days, LuckSums())
    z = so_far.total / sqrt(so_far.squares)
    says = f"luck is {standard_errors(z)} standard errors from zero"
    found = _left(name, says, left, z, level, len(days))
    is_enough = found.word != NO_EVIDENCE or so_far.effective_rounds >= FEWEST_ROUNDS
    return found if is_enough else Reading(name, INCONCLUSIVE, TOO_FEW)


def read_count(name: str, days: Sequence[CountSums], level: float = LEVEL) -> Reading:
    """Read how often an event came against its exact chances.

    `days` are its sums of each day from the first on. It is out of range once it has come more or
    less often at the end of some day than chance allows at all times, whatever their number.
    """
    so_far = sum(days, CountSums())
    held = count_looks(days, level)
    left = [day for day, is_held in enumerate(held, 1) if not is_held]
    if so_far.variance < FEWEST_VARIANCE and not left:
        return Reading(name, INCONCLUSIVE, TOO_FEW)
    z = so_far.excess / sqrt(so_far.variance)
    says = (
        f"came {so_far.came:,} times in {so_far.chances:,}, where {so_far.expected:,.1f} were "
        f"expected: {standard_errors(z)} standard errors from it"
    )
    return _left(name, says, left, z, level, len(days))


def _left(name: str, says: str, left: Sequence[int], z: float, level: float, days: int) -> Reading:
    if left:
        since = f"on day {left[0]} it" if days > 1 else "it"
        return Reading(
            name, OUT_OF_RANGE, f"{says}; {since} left the range luck stays within at all times"
        )
    if abs(z) > normal_quantile(level):
        return Reading(name, WATCH, f"{says}, significant if it were the only test made")
    return Reading(name, NO_EVIDENCE, says)


def read_side_bet(
    name: str,
    days: Sequence[Mapping[Fraction, int]],
    theoretical: Fraction,
    largest: Fraction,
    level: float = LEVEL,
) -> Reading:
    """Read a side bet's returns, as `sequences.betting_looks` takes them, against its RTP.

    Nothing is decided in a side bet, so its return is all luck, and every round counts the same
    whatever was staked. It is out of range once the sequence has left the theoretical RTP out at
    the end of some day. Raises ValueError for returns the pay table lacks.
    """
    together: Counter[Fraction] = Counter()
    for day in days:
        together.update(day)
    found = betting_sequence(together, largest, level)
    held = betting_looks(days, theoretical, largest, level)
    says = (
        f"the RTP lies between {percent(found.lower)} and {percent(found.upper)}, "
        f"the theoretical one is {percent(float(theoretical))}"
    )
    if all(held):
        is_told = together.total() >= FEWEST_ROUNDS
        return Reading(name, NO_EVIDENCE, says) if is_told else Reading(name, INCONCLUSIVE, TOO_FEW)
    return Reading(name, OUT_OF_RANGE, f"{says}; left out on day {held.index(False) + 1}")


def read_wallet(rounds: int, amount: str, returns: str) -> Reading:
    """Read the rounds in which the wallet moved amounts other than those booked: none may be.

    `amount` is what players were moved more in all, `returns` the return counted beside that by
    what was moved, both as people read them.
    """
    if not rounds:
        return Reading("wallet", NO_EVIDENCE, "no answer from the wallet gives a different amount")
    what = "another amount" if rounds == 1 else "other amounts"
    plural = "round" if rounds == 1 else "rounds"
    says = f"it moved {what} than booked in {rounds:,} {plural}, {amount} to the players in all"
    return Reading("wallet", OUT_OF_RANGE, f"{says}: {returns}" if returns else says)


def read_settlement(bets: int, amount: str) -> Reading:
    """Read the bets that were not paid as the rules say, and by what `amount` in all: none may be.

    The amount is as people read it: what was too little and what too much, with the currency.
    """
    if not bets:
        return Reading("settlement", NO_EVIDENCE, "every bet was paid as the rules say")
    plural = "bet was" if bets == 1 else "bets were"
    says = f"{bets:,} {plural} not paid as the rules say, {amount} in all"
    return Reading("settlement", OUT_OF_RANGE, says)
