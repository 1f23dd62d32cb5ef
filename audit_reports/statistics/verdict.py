"""The verdict on a bet, as data: a word and the readings it rests on.

It rests on luck and on settlement error alone. What a main bet returned says as much of its players
as of its dealing, so the RTP and its band are shown beside the verdict and never decide it. No word
says that a game is fair: figures can only fail to speak against it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final, Literal, TypeAlias

import msgspec

from audit_reports.numerals import percent, standard_errors
from audit_reports.statistics.intervals import normal_quantile
from audit_reports.statistics.sequences import LuckLook, betting_looks, betting_sequence, luck_looks
from audit_reports.statistics.sums import LuckSums

Word: TypeAlias = Literal["no evidence against", "watch", "out of range"]

NO_EVIDENCE: Final = "no evidence against"
WATCH: Final = "watch"
OUT_OF_RANGE: Final = "out of range"
_BY_WEIGHT: Final[tuple[Word, ...]] = (NO_EVIDENCE, WATCH, OUT_OF_RANGE)

LEVEL: Final = 0.05
"""How likely a fair bet may ever be called out of range, over all of its looks and parts."""


class Reading(msgspec.Struct, frozen=True):
    """One thing that was looked at: its word, and a sentence on why."""

    of: str
    word: Word
    says: str


class Verdict(msgspec.Struct, frozen=True):
    """The weightiest word of the readings, with all of them."""

    word: Word
    readings: tuple[Reading, ...]


def verdict(readings: Iterable[Reading]) -> Verdict:
    """Return the verdict that readings amount to; without any there is no evidence."""
    found = tuple(readings)
    word = max((reading.word for reading in found), key=_BY_WEIGHT.index, default=_BY_WEIGHT[0])
    return Verdict(word, found)


def read_luck(parts: Mapping[str, Sequence[LuckSums]], level: float = LEVEL) -> list[Reading]:
    """Read the luck of a bet's parts (initial deal, dealer draw, …), each against a mean of zero.

    Each part comes as the sums of each day from the first on. It is out of range once the sum at
    the end of some day has left the normal-mixture sequence, and to be watched while it is outside
    the interval that holds for a single look. `level` is shared equally by the parts.
    """
    share = level / max(len(parts), 1)
    looks = looks_at_luck(parts, level)
    return [_read_luck(name, looks[name], share) for name in parts]


def looks_at_luck(
    parts: Mapping[str, Sequence[LuckSums]], level: float = LEVEL
) -> dict[str, list[LuckLook | None]]:
    """Return each part's luck after each day beside what it stays within, as `read_luck` reads it.

    The parts share `level`, so that with probability 1 − `level` none ever leaves its sequence.
    """
    share = level / max(len(parts), 1)
    return {name: luck_looks(days, share) for name, days in parts.items()}


def _read_luck(name: str, looks: Sequence[LuckLook | None], level: float) -> Reading:
    last = looks[-1] if looks else None
    if last is None:
        return Reading(name, NO_EVIDENCE, "too few rounds to judge by")
    z = last.total / last.standard_error
    says = f"luck stands {standard_errors(z)} standard errors from zero"
    left = [day for day, look in enumerate(looks, 1) if look and abs(look.total) > look.radius]
    if left:
        since = f"on day {left[0]} it left what luck stays within at all times"
        return Reading(name, OUT_OF_RANGE, f"{says}; {since}")
    if abs(z) > normal_quantile(level):
        return Reading(name, WATCH, f"{says}, striking had it been looked at but once")
    return Reading(name, NO_EVIDENCE, says)


def read_side_bet(
    name: str,
    days: Sequence[Mapping[Fraction, int]],
    theoretical: Fraction,
    largest: Fraction,
    level: float = LEVEL,
) -> Reading:
    """Read a side bet's returns, as `sequences.betting_looks` takes them, against its RTP.

    Nothing is decided in a side bet, so its return is all luck. It is out of range once the
    sequence has left the theoretical RTP out at the end of some day. Raises ValueError for returns
    the pay table lacks.
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
        return Reading(name, NO_EVIDENCE, says)
    return Reading(name, OUT_OF_RANGE, f"{says}; left out on day {held.index(False) + 1}")


def read_settlement(bets: int, amount: str) -> Reading:
    """Read the bets that were not paid as the rules say, and by what `amount` in all: none may be.

    The amount is as people read it, with its sign and currency.
    """
    if not bets:
        return Reading("settlement", NO_EVIDENCE, "every bet was paid as the rules say")
    plural = "bet was" if bets == 1 else "bets were"
    says = f"{bets:,} {plural} not paid as the rules say, {amount} in all"
    return Reading("settlement", OUT_OF_RANGE, says)
