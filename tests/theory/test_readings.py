"""Each open clause read otherwise returns what others computed, to 0.0002 points."""

from functools import lru_cache

import pytest

from shoeproof.replay.engine.rules import rules_digest
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.theory.alternatives import (
    Alternative,
    nba_readings,
    zappit_readings,
    zero_readings,
)
from shoeproof.replay.theory.readings import main_return, readings
from tests.theory.helpers import computed

TARGETS = [
    ("zappit", "a zapped ace and ten wins at once", 98.8646),
    ("zappit", "split aces may draw on", 98.8994),
    ("zappit", "split aces may draw on, and the dealer never looks", 98.8743),
    ("zappit", "soft 15 to 18 may be zapped too", 98.9147),
    ("zappit", "the dealer never looks; ", 98.6991),
    ("zappit", "no double after a zap", 98.5936),
    ("zappit", "no double after a split", 98.6818),
    ("zero", "a five-card 21 after a split is paid even money", 100.0002),
    ("zero", "hard 8 to 11 only", 99.9754),
    ("zero", "a five-card 21 loses to a dealer's natural found later", 99.9783),
    ("zero", "the dealer looks with a ten up too, and doubling is for hard 8 to 11", 100.0318),
    ("nba", "a dealer's natural found at the end takes the first stake alone; ", 99.3928),
    ("nba", "the dealer never looks", 99.2846),
    ("nba", "double after a split", 99.4125),
    ("nba", "split aces may draw on", 99.4757),
]
ALTERNATIVES = {"zappit": zappit_readings, "zero": zero_readings, "nba": nba_readings}


def _reading(game: str, says: str) -> Alternative:
    found = ALTERNATIVES[game](GAMES[game].rules)
    return next(
        each for each in found if each.says == says or (says[-1] == " " and says in each.says)
    )


@lru_cache(maxsize=64)
def _percent(game: str, says: str) -> float:
    reading = _reading(game, says)
    return 100 * main_return(
        reading.rules, ace_rules=reading.ace_rules, pairs_stay=reading.pairs_stay
    )


@pytest.mark.parametrize(("game", "says", "percent"), TARGETS)
def test_a_reading_returns(game: str, says: str, percent: float) -> None:
    assert _percent(game, says) == pytest.approx(percent, abs=2e-4)


def test_only_a_reading_against_the_text_twice_rounds_to_zappits_published_return() -> None:
    found = [says for game, says, _ in TARGETS if game == "zappit"]
    as_published = [says for says in found if f"{_percent('zappit', says):.2f}" == "98.87"]
    assert as_published == ["split aces may draw on, and the dealer never looks"]


def test_a_pair_that_may_not_be_zapped_costs() -> None:
    stays = _percent("zappit", "8-8 and 9-9 may not be zapped")
    assert stays < 100 * computed("zappit").bet("main").returned - 0.01


def test_the_table_holds_every_reading_beside_the_rules_as_they_are() -> None:
    rows = readings(GAMES["zero"])
    assert len(rows) == len(zero_readings(GAMES["zero"].rules))
    for row in rows:
        assert row.as_read == pytest.approx(computed("zero").bet(row.bet).returned)
        assert row.because
    moved = {row.clause for row in rows if abs(row.returned - row.as_read) > 1e-6}
    assert moved == {"double", "settlement", "dealer_checks", "even_money"}


@pytest.mark.parametrize("game", sorted(GAMES))
def test_every_assumed_clause_has_a_reading(game: str) -> None:
    assumed = {name for name, clause in GAMES[game].clauses.items() if clause.assumed}
    assumed |= {each.field for each in GAMES[game].assumptions}
    found = ALTERNATIVES[game](GAMES[game].rules)
    assert assumed <= {each.clause for each in found}


def test_readings_are_rules_of_their_own_wherever_rules_can_say_them() -> None:
    for game, alternatives in ALTERNATIVES.items():
        own = rules_digest(GAMES[game].rules)
        for each in alternatives(GAMES[game].rules):
            differs = each.ace_rules is not None or each.pairs_stay
            assert differs or rules_digest(each.rules) != own
