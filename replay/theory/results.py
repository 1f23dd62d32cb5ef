"""What the theory of a game says, as plain data that can be kept and compared.

Returns count the stake: 1 is a fair bet. Nets do not: 0 is a fair bet. Both are in units of the
bet's own initial stake. Probabilities are of a round of one seat.
"""

from fractions import Fraction

import msgspec


class Bet(msgspec.Struct, frozen=True):
    """A bet's return and standard deviation; where the return is a plain fraction, that too.

    `ways` counts the equally likely deals behind the fraction, by the line they are paid on, with
    `deals` for all of them.
    """

    bet: str
    returned: float
    sd: float | None = None
    fraction: Fraction | None = None
    ways: dict[str, int] = {}


class Outcomes(msgspec.Struct, frozen=True):
    """How rounds of the main bet end under optimal play.

    `win`, `push` and `loss` are by the round's net result, and `nets` is the distribution of it, by
    initial stakes such as `-2` or `3/2`. `natural`, `split` and `zap` are probabilities; `double`
    and `lines` count hands, of which a split round has two. `average_stake` is the mean of all that
    a seat stakes.
    """

    win: float
    push: float
    loss: float
    natural: float
    double: float
    split: float
    zap: float
    average_stake: float
    lines: dict[str, float]
    nets: dict[str, float]


class StartClass(msgspec.Struct, frozen=True):
    """Two cards against an up card: `hand` such as `A,7`, their joint probability, the best act.

    `net` and `acts`, the worth of each act, include a dealer's natural found at the check.
    """

    hand: str
    up: str
    probability: float
    net: float
    best: str
    acts: dict[str, float]


class BasicRow(msgspec.Struct, frozen=True):
    """Hands that the basic strategy plays alike, and their act against each up card, ace to 10.

    `legal` are their acts without cash out; `cards` is 0 where their number does not matter, and
    the most there is stands for more as well.
    """

    legal: tuple[str, ...]
    total: int
    soft: bool
    cards: int
    acts: tuple[str, ...]


class CashOutRange(msgspec.Struct, frozen=True):
    """The lowest and the highest ratio the table offers."""

    lowest: Fraction
    highest: Fraction


class Theory(msgspec.Struct, frozen=True):
    """Everything the rules of a game say about its returns.

    `bets` begins with `main`, the optimum; `main_basic` is the best strategy by totals. `optimal`
    packs the optimal acts, see `policy.py`.
    """

    game: str
    rules_digest: str
    bets: tuple[Bet, ...]
    outcomes: Outcomes
    classes: tuple[StartClass, ...]
    basic: tuple[BasicRow, ...]
    cash_out: CashOutRange | None
    optimal: bytes

    def bet(self, name: str) -> Bet:
        """Return the bet of that name; raise KeyError when the game has none."""
        for bet in self.bets:
            if bet.bet == name:
                return bet
        raise KeyError(name)
