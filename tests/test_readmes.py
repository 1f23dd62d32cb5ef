"""The READMEs say what the code says: every clause and every code."""

from pathlib import Path

import pytest

from shoeproof.audit_reports import findings as audit_codes
from shoeproof.ledger import findings as ledger_codes
from shoeproof.replay import findings as replay_codes
from shoeproof.replay.games.game import Game
from shoeproof.replay.games.published import GAMES

ROOT = Path(__file__).parent.parent


def constants(module: object) -> list[str]:
    return [
        value for name, value in vars(module).items() if name.isupper() and isinstance(value, str)
    ]


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_every_clause_and_assumption_stands_in_the_readme_of_replay(game: Game) -> None:
    text = (ROOT / "replay" / "README.md").read_text(encoding="utf-8")
    for name, clause in game.clauses.items():
        mark = "**ASSUMED**: " if clause.assumed else ""
        assert f"| `{name}` | {clause.says} | {mark}{clause.source} |" in text
    for each in game.assumptions:
        assert f"| `{each.field}` | {each.says} | **ASSUMED**: {each.because} |" in text
    for line in game.rules.settlement:
        assert f"| `{line.name}` | {line.pays} |" in text


def test_every_finding_code_is_explained() -> None:
    replay_text = (ROOT / "replay" / "README.md").read_text(encoding="utf-8")
    ledger_text = (ROOT / "ledger" / "README.md").read_text(encoding="utf-8")
    audit_text = (ROOT / "audit_reports" / "README.md").read_text(encoding="utf-8")
    for code in constants(audit_codes):
        assert f"`{code}`" in audit_text
    for code in constants(replay_codes):
        assert f"`{code}`" in replay_text
    for code in constants(ledger_codes):
        assert code in ledger_text
