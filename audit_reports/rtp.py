"""Realised RTP: what each bet returned, as exact fractions over the projection's tables.

The formulas are in README.md. Sums are integers from SQL and are divided here. Rule sets and
currencies are never summed across, play for fun is never counted, and a round counts once it is
closed: voided and open ones stand apart.
"""

from decimal import Decimal
from fractions import Fraction
from math import sqrt
from typing import Any, Protocol

import msgspec

from replay.engine.rules import rules_digest
from replay.games import GAMES

PUBLISHED = {
    (rules_digest(game.rules), published.bet): published.percent
    for game in GAMES.values()
    for published in game.published
}
"""What the games' pages publish, by rules digest and bet."""


class RtpRow(msgspec.Struct, frozen=True, kw_only=True):
    """One bet's return under one rule set in one currency; amounts are minor units.

    `game` is None where the ledger carries no readable rules of that digest. `rounds` counts the
    closed rounds that had the bet and `bets` its hands in them. The two returns are None where
    nothing was staked, and `standard_error`, that of `rtp_on_initial_stakes`, with fewer than two
    rounds. `published_percent` is what the game's page prints, None for other rules than the
    page's. The held stakes are those that open rounds have not settled yet.
    """

    game: str | None
    rules_digest: str
    currency: str
    bet: str
    rounds: int
    bets: int
    initial_stake_minor: int
    staked_minor: int
    paid_minor: int
    rtp_on_initial_stakes: Fraction | None
    rtp_on_total_staked: Fraction | None
    standard_error: float | None
    published_percent: str | None
    voided_rounds: int
    voided_stake_minor: int
    open_rounds: int
    held_stake_minor: int

    def as_data(self) -> dict[str, Any]:
        """Return the row as JSON-ready data, each return as a fraction and as a percentage."""
        data: dict[str, Any] = msgspec.to_builtins(self, enc_hook=str)
        for name in ("rtp_on_initial_stakes", "rtp_on_total_staked"):
            ratio: Fraction | None = getattr(self, name)
            data[f"{name}_percent"] = None if ratio is None else percent(ratio)
        return data


class Source(Protocol):
    """What queries are put to: tables as they are written, or as they were published."""

    def query(self, name: str) -> list[tuple[Any, ...]]:
        """Return all rows of `queries/<name>.sql`."""


def realised_rtp(projection: Source) -> list[RtpRow]:
    """Return the realised RTP by game, rule set, currency and bet, the main bet of each first.

    The projection must be up to date as far as its reader cares. Raises ProjectionUnavailable.
    """
    return [_row(*values) for values in projection.query("realised_rtp")]


def percent(ratio: Fraction, places: int = 2) -> str:
    """Return a ratio as a percentage with so many decimals, halves rounded to even."""
    hundredfold = Decimal(100 * ratio.numerator) / ratio.denominator
    return str(hundredfold.quantize(Decimal(1).scaleb(-places)))


def _row(
    game: str | None,
    digest: str,
    currency: str,
    bet: str,
    rounds: int,
    bets: int | None,
    initial: int | None,
    staked: int | None,
    paid: int | None,
    voided_rounds: int,
    voided_stake: int | None,
    open_rounds: int,
    held_stake: int | None,
    win_win: int | None,
    win_initial: int | None,
    initial_initial: int | None,
) -> RtpRow:
    initial, staked, paid = initial or 0, staked or 0, paid or 0
    win = Fraction(paid - staked, initial) if initial else None
    error = None
    if win is not None and rounds > 1:
        squares = (win_win or 0) - 2 * win * (win_initial or 0) + win**2 * (initial_initial or 0)
        error = sqrt(squares * rounds / (rounds - 1)) / initial
    return RtpRow(
        game=game,
        rules_digest=digest,
        currency=currency,
        bet=bet,
        rounds=rounds,
        bets=bets or 0,
        initial_stake_minor=initial,
        staked_minor=staked,
        paid_minor=paid,
        rtp_on_initial_stakes=None if win is None else 1 + win,
        rtp_on_total_staked=Fraction(paid, staked) if staked else None,
        standard_error=error,
        published_percent=PUBLISHED.get((digest, bet)),
        voided_rounds=voided_rounds,
        voided_stake_minor=voided_stake or 0,
        open_rounds=open_rounds,
        held_stake_minor=held_stake or 0,
    )
