"""The return of every alternative reading of an open clause, in one table."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import msgspec

from shoeproof.replay.engine.hand import ZAP
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.games.game import Game
from shoeproof.replay.theory.alternatives import (
    Alternative,
    nba_readings,
    zappit_readings,
    zero_readings,
)
from shoeproof.replay.theory.cash_out import cash_out_returns
from shoeproof.replay.theory.side_bets import insurance, side_bet
from shoeproof.replay.theory.solve import Progress
from shoeproof.replay.theory.up_card import (
    GamePositions,
    against,
    game_positions,
    play_parts,
    start_values,
)
from shoeproof.replay.theory.values import ACE, VALUES

_READINGS: Final[dict[str, Callable[[Rules], list[Alternative]]]] = {
    "nba": nba_readings,
    "zappit": zappit_readings,
    "zero": zero_readings,
}


class ReadingRow(msgspec.Struct, frozen=True):
    """A reading's return, and the return under the rules as they are."""

    bet: str
    clause: str
    says: str
    because: str
    returned: float
    as_read: float


def readings(game: Game, progress: Progress | None = None) -> list[ReadingRow]:
    """Return the alternatives to a game's open clauses, each with its return.

    Computed afresh, which takes half a minute at most; `progress` is called after each.
    """
    alternatives = _READINGS[game.rules.id](game.rules)
    as_read: dict[str, float] = {}
    rows: list[ReadingRow] = []
    for done, each in enumerate(alternatives):
        if progress is not None:
            progress(done, len(alternatives))
        if each.bet not in as_read:
            as_read[each.bet] = _returned(
                replace(each, rules=game.rules, ace_rules=None, pairs_stay=False)
            )
        rows.append(
            ReadingRow(
                bet=each.bet,
                clause=each.clause,
                says=each.says,
                because=each.because,
                returned=_returned(each),
                as_read=as_read[each.bet],
            )
        )
    if progress is not None:
        progress(len(alternatives), len(alternatives))
    return rows


def main_return(rules: Rules, *, ace_rules: Rules | None = None, pairs_stay: bool = False) -> float:
    """Return the return of the main bet under optimal play, and nothing else.

    `ace_rules` hold instead with an ace up; with `pairs_stay` no pair is zapped.
    """
    mean = 0.0
    game = _positions(rules, pairs_stay=pairs_stay)
    for up in VALUES:
        if up == ACE and ace_rules is not None:
            up_card = against(_positions(ace_rules, pairs_stay=pairs_stay), up)
        else:
            up_card = against(game, up)
        values, _ = start_values(up_card, play_parts(up_card))
        mean += float(up_card.chance @ values)
    return 1 + mean


def _returned(reading: Alternative) -> float:
    rules = reading.rules
    if reading.bet == "main":
        return main_return(rules, ace_rules=reading.ace_rules, pairs_stay=reading.pairs_stay)
    if reading.bet == "insurance":
        return insurance(rules)[0].returned
    if reading.bet in rules.side_bets:
        return side_bet(rules, reading.bet).returned
    return cash_out_returns(rules)[reading.bet]


def _positions(rules: Rules, *, pairs_stay: bool) -> GamePositions:
    game = game_positions(rules)
    if not pairs_stay:
        return game
    leaving = {
        part: numbers
        for part, numbers in game.leaving.items()
        if part.act != ZAP or len(set(part.places)) > 1
    }
    parts = {
        part: positions for part, positions in game.parts.items() if part in leaving or not part.act
    }
    return replace(game, parts=parts, leaving=leaving)
