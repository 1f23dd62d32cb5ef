"""Each command does what its help says."""

import json
import shutil
from pathlib import Path

import pytest

from shoeproof.cli.commands.demo import alter_payment
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import BetSettled
from tests.cli.conftest import Shoeproof

CASES = Path(__file__).parent.parent / "cases"


def first_round(shoeproof: Shoeproof, path: Path, game: str) -> str:
    rows = json.loads(shoeproof("rounds", "--game", game, "--json", "--ledger", path).out)
    return str(rows[0]["round"])


def test_init_prints_the_public_keys_and_carries_the_rules(
    shoeproof: Shoeproof, tmp_path: Path
) -> None:
    path = tmp_path / "new"
    result = shoeproof("init", "--origin", "a.example/b", "--ledger", path, "--json")
    assert result.code == 0
    assert set(json.loads(result.out)["public_keys"]) == {
        "operator",
        "engine",
        "settlement",
        "staff",
        "log",
    }
    with Ledger.open(path) as ledger:
        assert sorted(str(rules["id"]) for rules in ledger.rules().values()) == [
            "nba",
            "zappit",
            "zero",
        ]
        assert len(ledger.policies()) == 3


def test_rounds_are_filtered(shoeproof: Shoeproof, played: Path) -> None:
    rows = json.loads(shoeproof("rounds", "--json", "--limit", 500, "--ledger", played).out)
    assert len(rows) == 120
    assert {row["game"] for row in rows} == {"zappit", "zero", "nba"}
    nba = json.loads(shoeproof("rounds", "--game", "nba", "--json", "--ledger", played).out)
    assert len(nba) == 40
    assert json.loads(shoeproof("rounds", "--open", "--json", "--ledger", played).out) == []
    assert json.loads(shoeproof("rounds", "--void", "--json", "--ledger", played).out) == []
    nobody = shoeproof("rounds", "--player", "nobody", "--json", "--ledger", played)
    assert json.loads(nobody.out) == []
    later = shoeproof("rounds", "--from", "2999-01-01T00:00Z", "--json", "--ledger", played)
    assert json.loads(later.out) == []


def test_replay_says_that_it_is_a_replay(shoeproof: Shoeproof, played: Path) -> None:
    result = shoeproof("replay", first_round(shoeproof, played, "nba"), "--ledger", played)
    assert result.code == 0
    assert "REPLAY" in result.out
    assert "not a live round" in result.out
    assert "Every card, act and payment follows from the rules." in result.out


def test_replay_as_round_adjudicates_to_what_was_paid(
    shoeproof: Shoeproof, played: Path, tmp_path: Path
) -> None:
    for game in ("zappit", "zero", "nba"):
        round_id = first_round(shoeproof, played, game)
        text = shoeproof("replay", round_id, "--as-round", "--ledger", played).out
        file = tmp_path / f"{game}.round"
        file.write_text(text)
        judged = shoeproof("adjudicate", file, "--json")
        assert judged.code == 0, judged
        recorded = json.loads(shoeproof("replay", round_id, "--json", "--ledger", played).out)
        assert {
            (bet["hand"], bet["bet"]): bet["paid_minor"] for bet in json.loads(judged.out)["bets"]
        } == {(bet["hand"], bet["bet"]): bet["paid_minor"] for bet in recorded["bets"]}


def test_replay_takes_the_beginning_of_an_id(shoeproof: Shoeproof, played: Path) -> None:
    round_id = first_round(shoeproof, played, "zero")
    assert shoeproof("replay", round_id[:35], "--ledger", played).code == 0


def test_verify_with_the_key_from_outside(
    shoeproof: Shoeproof, played: Path, tmp_path: Path
) -> None:
    with Ledger.open(played) as ledger:
        key = ledger.public_keys()["operator"]
        other = ledger.public_keys()["engine"]
    kept = tmp_path / "operator.vkey"
    kept.write_text(key + "\n")
    assert shoeproof("verify", "--public-key", key, "--ledger", played).code == 0
    assert shoeproof("verify", "--public-key", kept, "--ledger", played).code == 0
    wrong = shoeproof("verify", "--public-key", other, "--json", "--ledger", played)
    assert wrong.code == 1
    assert json.loads(wrong.out)["findings"][0]["code"] == "key_not_valid"


def test_one_altered_digit_is_named(shoeproof: Shoeproof, played: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(played, tmp_path / "copy"))
    with Ledger.open(copy) as ledger:
        rounds = ledger.rounds(limit=1)
        settled = next(
            each
            for each in ledger.events(rounds[0].round)
            if isinstance(each.event.data, BetSettled)
        )
    alter_payment(copy / "events.sqlite", settled.leaf)
    result = shoeproof("verify", "--json", "--ledger", copy)
    assert result.code == 1
    first = json.loads(result.out)["findings"][0]
    assert (first["code"], first["leaf_index"]) == ("signature_invalid", settled.leaf_index)
    assert first["stream"] == rounds[0].round
    replayed = shoeproof("replay", rounds[0].round, "--ledger", copy)
    assert replayed.code == 1
    assert "signature_invalid" in replayed.out


def test_audit_of_sound_rounds(shoeproof: Shoeproof, played: Path) -> None:
    result = shoeproof("audit", "--json", "--ledger", played)
    assert result.code == 0
    report = json.loads(result.out)
    assert (report["closed_rounds"], report["findings"]) == (120, [])


def test_simulated_choices_follow_from_the_seed(shoeproof: Shoeproof, tmp_path: Path) -> None:
    path = tmp_path / "new"
    shoeproof("init", "--origin", "a.example/b", "--ledger", path)
    result = shoeproof(
        "simulate", "nba", "--rounds", 30, "--seats", 2, "--side-stake", "1.00", "--json",
        "--ledger", path,
    )  # fmt: skip
    assert json.loads(result.out)["rounds"] == 30
    assert shoeproof("audit", "--ledger", path).code == 0


def test_a_variant_is_added_and_dealt_under(shoeproof: Shoeproof, tmp_path: Path) -> None:
    path, file = tmp_path / "new", tmp_path / "variant.json"
    shoeproof("init", "--origin", "a.example/b", "--ledger", path)
    rules = json.loads(shoeproof("rules", "show", "nba", "--json").out)
    rules["decks"] = 6
    file.write_text(json.dumps(rules))
    added = json.loads(shoeproof("rules", "add", file, "--json", "--ledger", path).out)
    assert shoeproof("simulate", "nba", "--rounds", 5, "--ledger", path).code == 0
    rows = json.loads(shoeproof("rounds", "--json", "--ledger", path).out)
    assert {row["rules_digest"] for row in rows} == {added["rules_digest"]}
    assert shoeproof("audit", "--ledger", path).code == 0
    again = shoeproof("rules", "add", file, "--ledger", path)
    assert "already" in again.err


def test_adjudicate_judges_the_other_files_beside_a_malformed_one(shoeproof: Shoeproof) -> None:
    good = CASES / "nba" / "natural-pays-3-to-2.round"
    bad = CASES / "malformed" / "stake-zero.round"
    result = shoeproof("adjudicate", bad, good, "--json")
    assert result.code == 3
    first, second = map(json.loads, result.out.splitlines())
    assert set(first) == {"sound", "file", "error"}
    assert first["error"]["code"] == "round_text_error"
    assert "stake" in first["error"]["message"]
    assert second["complete"]
    assert result.err == ""
    assert "stake" in shoeproof("adjudicate", bad).err


@pytest.mark.parametrize("game", ["zappit", "zero", "nba"])
def test_adjudicate_over_every_case(shoeproof: Shoeproof, game: str) -> None:
    sound = sorted((CASES / game).glob("*.round"))
    assert shoeproof("adjudicate", *sound).code == 0
    for file in sorted((CASES / game / "findings").glob("*.round")):
        assert shoeproof("adjudicate", file).code == 1, file


@pytest.mark.parametrize("game", ["zappit", "zero", "nba"])
def test_rules_show_marks_what_is_assumed(shoeproof: Shoeproof, game: str) -> None:
    result = shoeproof("rules", "show", game)
    assert result.code == 0
    assert "ASSUMED" in result.out
    assert "published return" in result.out


def test_shoe_as_json(shoeproof: Shoeproof) -> None:
    result = shoeproof(
        "shoe", "--json", "--decks", 6, "--round-id", "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
        "--server-seed", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "--rules-digest", "3c08645ae4df6b82ccdbefdb73dfa4ac98472b4b43980c40f9950a67b942dc54",
    )  # fmt: skip
    shoe = json.loads(result.out)
    # From vectors made apart from this project.
    assert shoe["cards"][:4] == ["5h", "Ah", "4c", "Ts"]
    assert shoe["shoe_sha256"].startswith("dab30b76a98d1867")
    assert shoe["commitment"].startswith("3282cf3fb87c9904")
