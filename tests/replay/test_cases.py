"""Every `.round` case is judged as its file says: the rules, clause by clause, read as text."""

import re
from pathlib import Path

import pytest

from shoeproof.replay.errors import RoundTextError, UnknownGame
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.written.adjudicate import Judgement, adjudicate
from shoeproof.replay.written.round_text import RoundText, read_round
from tests.replay.helpers import CASES

_HEADER = re.compile(rb"^# (finding|move): (\w+)$", re.MULTILINE)


def _cases(kind: str) -> list[object]:
    found: list[object] = []
    for path in sorted(CASES.rglob("*.round")):
        folder = path.parent.name
        of_kind = folder if folder in ("findings", "incomplete", "malformed") else "clauses"
        if of_kind == kind:
            found.append(pytest.param(path, id=str(path.relative_to(CASES))))
    return found


def _judge(path: Path) -> tuple[RoundText, Judgement]:
    text = read_round(path.read_bytes())
    if text.game not in GAMES:
        raise UnknownGame(text.game)
    game = GAMES[text.game]
    return text, adjudicate(text, game.rules, game.limits)


def _paid(judgement: Judgement) -> dict[tuple[str, str], int]:
    return {
        (bet.hand, bet.bet): bet.paid_minor for bet in judgement.bets if bet.paid_minor is not None
    }


@pytest.mark.parametrize("path", _cases("clauses"))
def test_a_clause_pays_every_bet_as_written(path: Path) -> None:
    text, judgement = _judge(path)
    assert not judgement.findings
    assert judgement.complete
    assert _paid(judgement) == text.expect
    assert len(judgement.bets) == len(text.expect)
    assert judgement.total_paid_minor == sum(text.expect.values())


@pytest.mark.parametrize("path", _cases("findings"))
def test_a_fault_is_the_one_finding_at_its_move(path: Path) -> None:
    header = {key.decode(): value.decode() for key, value in _HEADER.findall(path.read_bytes())}
    move = None if header["move"] == "none" else int(header["move"])
    _, judgement = _judge(path)
    assert [(found.code, found.move) for found in judgement.findings] == [(header["finding"], move)]


@pytest.mark.parametrize("path", _cases("incomplete"))
def test_a_round_cut_short_pays_what_is_decided_and_no_more(path: Path) -> None:
    text, judgement = _judge(path)
    assert not judgement.findings
    assert not judgement.complete
    assert _paid(judgement) == text.expect


@pytest.mark.parametrize("path", _cases("malformed"))
def test_a_malformed_text_is_an_error(path: Path) -> None:
    assert path.read_bytes().startswith(b"# fault: ")
    with pytest.raises((RoundTextError, UnknownGame)) as error:
        _judge(path)
    assert str(error.value)
    assert "\n" not in str(error.value).split(": ")[0]


def test_there_are_cases_of_every_kind() -> None:
    kinds = ("clauses", "findings", "incomplete", "malformed")
    assert all(len(_cases(kind)) >= 20 for kind in kinds)
