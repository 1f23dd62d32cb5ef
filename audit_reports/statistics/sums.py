"""Sufficient statistics: all that the intervals of a bet need to know of its rounds.

An observation is a round, not a hand: hands of one round share the dealer's cards. Sums of amounts
are integers, so SQL can make them in any order and in parts, and parts add up to the whole.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import fsum
from typing import Self

import msgspec


class BetSums(msgspec.Struct, frozen=True, kw_only=True):
    """Sums of one bet over the rounds that had it, in minor units and their squares.

    Of each round s is the initial stake over all hands of the bet, and w what was won: paid less
    all that was staked. `win_initial` is Σw·s, and so on.
    """

    rounds: int = 0
    initial: int = 0
    staked: int = 0
    paid: int = 0
    initial_initial: int = 0
    win_initial: int = 0
    win_win: int = 0

    @classmethod
    def of(cls, rounds: Iterable[tuple[int, int, int]]) -> Self:
        """Return the sums of rounds given as initial stake, total staked and paid."""
        return cls(
            **_summed(
                {
                    "rounds": 1,
                    "initial": initial,
                    "staked": staked,
                    "paid": paid,
                    "initial_initial": initial * initial,
                    "win_initial": (paid - staked) * initial,
                    "win_win": (paid - staked) ** 2,
                }
                for initial, staked, paid in rounds
            )
        )

    def __add__(self, other: Self) -> Self:
        """Return the sums over the rounds of both, which must have none in common."""
        return type(self)(**_summed((msgspec.structs.asdict(self), msgspec.structs.asdict(other))))

    @property
    def win(self) -> int:
        """Return Σw."""
        return self.paid - self.staked

    @property
    def rtp_on_initial_stakes(self) -> Fraction | None:
        """Return 1 + Σw/Σs, None where nothing was staked."""
        return 1 + Fraction(self.win, self.initial) if self.initial else None

    @property
    def rtp_on_total_staked(self) -> Fraction | None:
        """Return Σ paid/Σ staked, None where nothing was staked."""
        return Fraction(self.paid, self.staked) if self.staked else None

    @property
    def effective_rounds(self) -> Fraction:
        """Return N_eff = (Σs)²/Σs², the rounds of equal stakes that would say as much."""
        if not self.initial_initial:
            return Fraction(0)
        return Fraction(self.initial**2, self.initial_initial)

    def residual_squares(self, win_rate: Fraction) -> Fraction:
        """Return Σ(w − r·s)² for a win rate r = RTP − 1 on initial stakes."""
        return self.win_win - 2 * win_rate * self.win_initial + win_rate**2 * self.initial_initial


class LuckSums(msgspec.Struct, frozen=True):
    """Sums of a quantity whose mean is zero in each round whatever was played before: luck.

    They are Σl, Σl² and Σl⁴ over `rounds` rounds, in minor units and their powers.
    """

    rounds: int = 0
    total: float = 0.0
    squares: float = 0.0
    fourths: float = 0.0

    @classmethod
    def of(cls, luck: Iterable[float]) -> Self:
        """Return the sums of each round's luck."""
        values = list(luck)
        powers = (fsum(value**power for value in values) for power in (1, 2, 4))
        return cls(len(values), *powers)

    def __add__(self, other: Self) -> Self:
        """Return the sums over the rounds of both, which must have none in common."""
        return type(self)(
            self.rounds + other.rounds,
            self.total + other.total,
            self.squares + other.squares,
            self.fourths + other.fourths,
        )

    @property
    def effective_rounds(self) -> float:
        """Return (Σl²)²/Σl⁴: few where few rounds, or few large stakes, make up most of the sum.

        Its inverse is Lyapunov's ratio of order 4, which bounds how far a sum is from normal.
        """
        return self.squares**2 / self.fourths if self.fourths else 0.0


class CountSums(msgspec.Struct, frozen=True):
    """Sums of an event that came, or did not, at moves at which its chance p was known exactly.

    `chances` are the moves, at `came` of which it came; `expected` is Σp and `variance` Σp(1 − p).
    """

    chances: int = 0
    came: int = 0
    expected: float = 0.0
    variance: float = 0.0

    def __add__(self, other: Self) -> Self:
        """Return the sums over the moves of both, which must have none in common."""
        return type(self)(
            self.chances + other.chances,
            self.came + other.came,
            self.expected + other.expected,
            self.variance + other.variance,
        )

    @property
    def excess(self) -> float:
        """Return how much more often it came than was expected."""
        return self.came - self.expected


def _summed(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for part in parts:
        for name, value in part.items():
            totals[name] = totals.get(name, 0) + value
    return totals
