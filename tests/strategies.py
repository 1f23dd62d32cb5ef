"""The Hypothesis strategies that every part's tests share."""

from random import Random
from typing import NamedTuple

from hypothesis import strategies as st

from shoeproof.replay.engine.cards import PACK
from shoeproof.replay.games.published import GAMES

games = st.sampled_from(sorted(GAMES))
"""The id of a game."""

server_seeds = st.binary(min_size=32, max_size=32)
client_seeds = st.binary(max_size=64)

digests = st.binary(min_size=32, max_size=32).map(bytes.hex)
"""A rules digest, lower hex."""

cards = st.sampled_from(PACK)

randoms = st.integers(0, 2**64 - 1).map(Random)
"""A source of chance that one number reproduces."""

amounts = st.one_of(st.integers(1, 9), st.integers(1, 10_000))
"""A stake in minor units; small ones, which have no half or an odd one, come often."""


@st.composite
def stakes(draw: st.DrawFn, game: str, largest: int = 10_000) -> dict[str, dict[str, int]]:
    """Stakes that a game's table takes: any of its seats, side bets beside some of them."""
    rules = GAMES[game].rules
    minor = amounts.filter(lambda amount: amount <= largest)
    numbers = draw(st.sets(st.integers(1, rules.seats), min_size=1))
    laid = {}
    for number in sorted(numbers):
        side = draw(st.sets(st.sampled_from(sorted(rules.side_bets)))) if rules.side_bets else set()
        laid[f"s{number}"] = {bet: draw(minor) for bet in ("main", *sorted(side))}
    return laid


@st.composite
def packs(draw: st.DrawFn) -> tuple[str, ...]:
    """Cards to draw from with equal chance: one deck, or ranks that make rare hands come often."""
    ranks = draw(st.sampled_from(["A23456789TJQK", "A2", "A23456", "A5TK", "789T", "A4679TQ"]))
    return tuple(card for card in PACK if card[0] in ranks)


class Setting(NamedTuple):
    """All that a round of the engine alone needs."""

    game: str
    stakes: dict[str, dict[str, int]]
    pack: tuple[str, ...]
    random: Random


@st.composite
def settings_of_a_round(draw: st.DrawFn) -> Setting:
    """A game, stakes its table takes, cards to draw from, and a source of chance."""
    game = draw(games)
    return Setting(game, draw(stakes(game)), draw(packs()), draw(randoms))


class Sitting(NamedTuple):
    """All that a round at a live table needs; `balance_minor` None is a table without a wallet."""

    game: str
    stakes: dict[str, dict[str, int]]
    client_seed: bytes
    random: Random
    balance_minor: int | None
    hides_cash_out: bool


@st.composite
def sittings(draw: st.DrawFn) -> Sitting:
    """A game, stakes, the player's seed, and money: none told, just enough to deal, or plenty."""
    game = draw(games)
    laid = draw(stakes(game))
    total = sum(sum(bets.values()) for bets in laid.values())
    return Sitting(
        game=game,
        stakes=laid,
        client_seed=draw(client_seeds),
        random=draw(randoms),
        balance_minor=draw(st.sampled_from([None, total, total + 60, 10**9])),
        hides_cash_out=draw(st.booleans()),
    )
