"""Rules as data: every field is checked, the digest covers what matters, pages are what is read."""

import csv
import hashlib
import json
from collections.abc import Callable
from fractions import Fraction
from itertools import chain
from typing import Any

import msgspec
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from shoeproof.replay.engine.money import round_minor
from shoeproof.replay.engine.rules import (
    HAND_CLASSES,
    UP_COLUMNS,
    Rules,
    canonical_rules,
    read_odds,
    rules_digest,
    rules_from_data,
    rules_from_json,
)
from shoeproof.replay.errors import RulesError, UnknownGame
from shoeproof.replay.games.game import Game, game, said
from shoeproof.replay.games.policies import POLICIES, policy_digest, policy_from_data
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.rounds.catalogue import (
    add_published_games,
    add_rules,
    current_policy,
    current_rules,
    rules_by_digest,
)
from tests.replay.helpers import PROJECT, new_ledger, shared

PAGES = {
    "zappit": "seeds/zappit_blackjack.txt",
    "zero": "seeds/zero_blackjack.txt",
    "nba": "seeds/nba_first_person_blackjack.txt",
}

every_game = pytest.mark.parametrize("game_id", sorted(GAMES))


def _data(game_id: str = "nba") -> dict[str, Any]:
    data: dict[str, Any] = json.loads(canonical_rules(GAMES[game_id].rules))
    return data


# The digest


@every_game
def test_canonical_json_is_rfc_8785(game_id: str) -> None:
    text = canonical_rules(GAMES[game_id].rules)
    assert rfc8785.dumps(json.loads(text)) == text
    assert rules_digest(GAMES[game_id].rules) == hashlib.sha256(text).hexdigest()


@every_game
def test_rules_survive_a_round_trip(game_id: str) -> None:
    rules = GAMES[game_id].rules
    assert rules_from_json(canonical_rules(rules)) == rules
    assert rules_from_data(_data(game_id)) == rules
    assert canonical_rules(rules_from_data(_data(game_id))) == canonical_rules(rules)


def test_the_digest_is_the_same_however_odds_and_fields_are_written() -> None:
    data = _data("zero")
    data["insurance"]["odds"] = "4/2"
    natural = next(line for line in data["settlement"] if line["pays"] == "3/2")
    natural["pays"] = "1.5"
    backwards = dict(reversed(data.items()))
    assert rules_digest(rules_from_data(backwards)) == rules_digest(GAMES["zero"].rules)


@every_game
def test_every_field_of_the_rules_changes_the_digest(game_id: str) -> None:
    """Whatever the digest covers, it covers by value: change one field and it is another."""
    changed: dict[str, Any] = {
        "id": "another",
        "decks": 1,
        "seats": 2,
        "deal_order": ["seats", "seats", "up", "down"],
        "dealer_hits_soft_17": not GAMES[game_id].rules.dealer_hits_soft_17,
        "dealer_checks": [],
        "insurance": None,
        "even_money": not GAMES[game_id].rules.even_money,
        "double": {
            "totals": [11],
            "soft_by_low_total": False,
            "after_split": False,
            "after_zap": False,
        },
        "split": {"pair_by": "rank", "aces": True, "aces_draw_on": True},
        "zap": {"totals": [15], "soft": True},
        "cash_out": None if game_id == "nba" else _data("nba")["cash_out"],
        "max_cards": 7,
        "settlement": [{"name": "all", "when": {}, "pays": "push"}],
        "side_bets": {"pairs": {"on": "pair", "pays": {"mixed_pair": "1/1"}}},
        "rounding": "down",
        "insurance_rounding": "half_up",
    }
    assert set(changed) == {field.name for field in msgspec.structs.fields(Rules)}
    digests = {rules_digest(GAMES[game_id].rules)}
    digests |= {
        rules_digest(rules_from_data(_data(game_id) | {name: value}))
        for name, value in changed.items()
    }
    assert len(digests) == len(changed) + 1


@every_game
def test_the_digest_covers_no_source_no_mark_and_no_limit(game_id: str) -> None:
    known = GAMES[game_id]
    text = canonical_rules(known.rules).decode()
    for outside in ("ASSUMED", "source", "published", "limits", known.page.sha256, known.title):
        assert outside not in text
    same = game(
        game_id,
        title="another title",
        currency="XXX",
        page=known.page,
        published=(),
        limits={"main": (1, 2)},
        assumptions=(),
        **{name: said(each.value, "", "") for name, each in known.clauses.items()},
    )
    assert rules_digest(same.rules) == rules_digest(known.rules)


def test_the_published_digests_have_not_changed() -> None:
    """A regression golden: ledgers in the field name these digests."""
    golden = PROJECT / "tests" / "replay" / "golden" / "rules_digests.csv"
    with golden.open(newline="") as rows:
        known = {row["game"]: row["digest"] for row in csv.DictReader(rows)}
    assert {name: rules_digest(each.rules) for name, each in GAMES.items()} == known


# Rules files, field by field

Spoil = Callable[[dict[str, Any]], Any]


def _set(*path: Any) -> Spoil:
    """Put the last of `path` at the place the others name."""

    def spoil(data: dict[str, Any]) -> None:
        *places, last, value = path
        for place in places:
            data = data[place]
        data[last] = value

    return spoil


def _drop(*path: Any) -> Spoil:
    def spoil(data: dict[str, Any]) -> None:
        *places, last = path
        for place in places:
            data = data[place]
        del data[last]

    return spoil


def _row(length: int, ratio: str = "1/1") -> list[str]:
    return [ratio] * length


BAD: dict[str, tuple[Spoil, str]] = {
    "id-empty": (_set("id", ""), "id"),
    "id-not-ascii": (_set("id", "zéro"), "id"),
    "id-missing": (_drop("id"), "id"),
    "decks-zero": (_set("decks", 0), "decks"),
    "decks-nine": (_set("decks", 9), "decks"),
    "decks-a-word": (_set("decks", "six"), "decks"),
    "decks-a-fraction": (_set("decks", 6.5), "decks"),
    "seats-zero": (_set("seats", 0), "seats"),
    "seats-ten": (_set("seats", 10), "seats"),
    "deal-order-without-a-hole-card": (_set("deal_order", ["seats", "up", "seats"]), "deal_order"),
    "deal-order-begins-with-the-dealer": (
        _set("deal_order", ["up", "seats", "down", "seats"]),
        "deal_order",
    ),
    "deal-order-unknown-place": (
        _set("deal_order", ["seats", "up", "seats", "sideways"]),
        "deal_order",
    ),
    "dealer-hits-soft-17-a-number": (_set("dealer_hits_soft_17", 1), "dealer_hits_soft_17"),
    "dealer-checks-a-nine": (_set("dealer_checks", ["nine"]), "dealer_checks"),
    "insurance-odds-zero": (_set("insurance", "odds", "0/1"), "odds"),
    "insurance-odds-negative": (_set("insurance", "odds", "-2/1"), "odds"),
    "insurance-odds-a-number": (_set("insurance", "odds", 2.5), "insurance.odds"),
    "insurance-odds-by-zero": (_set("insurance", "odds", "2/0"), "insurance.odds"),
    "insurance-odds-words": (_set("insurance", "odds", "two to one"), "insurance.odds"),
    "insurance-to-naturals-missing": (_drop("insurance", "to_naturals"), "to_naturals"),
    "insurance-unknown-field": (_set("insurance", "half", True), "half"),
    "even-money-a-word": (_set("even_money", "yes"), "even_money"),
    "double-total-impossible": (_set("double", "totals", [22]), "totals"),
    "double-after-split-missing": (_drop("double", "after_split"), "after_split"),
    "split-by-colour": (_set("split", "pair_by", "colour"), "pair_by"),
    "zap-total-of-21": (_set("zap", {"totals": [21], "soft": False}), "totals"),
    "zap-of-three": (_set("zap", {"totals": [3], "soft": False}), "totals"),
    "cash-out-row-missing": (_drop("cash_out", "first", "hard16"), "first"),
    "cash-out-row-unknown": (_set("cash_out", "later", "hard21", _row(10)), "later"),
    "cash-out-nine-ratios": (_set("cash_out", "first", "hard16", _row(9)), "first.hard16"),
    "cash-out-negative": (_set("cash_out", "later", "soft13", _row(10, "-1/2")), "later.soft13"),
    "cash-out-a-float": (_set("cash_out", "first", "hard16", [0.5] * 10), "cash_out.first"),
    "cash-out-split-hands-missing": (_drop("cash_out", "split_hands"), "split_hands"),
    "max-cards-two": (_set("max_cards", 2), "max_cards"),
    "settlement-empty": (_set("settlement", []), "settlement"),
    "settlement-without-a-catch-all": (
        _set("settlement", [{"name": "bust", "when": {"player": "bust"}, "pays": "lose"}]),
        "settlement",
    ),
    "settlement-names-a-line-twice": (_set("settlement", 0, "name", "bust"), "settlement"),
    "settlement-pays-words": (_set("settlement", 0, "pays", "double"), "settlement"),
    "settlement-pays-nothing-at-odds": (_set("settlement", 0, "pays", "0/1"), "pays"),
    "settlement-unknown-fact": (_set("settlement", 0, "when", {"weather": "fine"}), "weather"),
    "settlement-unknown-kind": (_set("settlement", 0, "when", {"player": "rich"}), "player"),
    "side-bet-called-main": (
        _set("side_bets", {"main": {"on": "pair", "pays": {"mixed_pair": "6/1"}}}),
        "side_bets",
    ),
    "side-bet-line-unknown": (
        _set("side_bets", "perfect_pairs", "pays", {"royal_pair": "6/1"}),
        "pays",
    ),
    "side-bet-odds-zero": (
        _set("side_bets", "perfect_pairs", "pays", {"mixed_pair": "0/1"}),
        "pays.mixed_pair",
    ),
    "side-bet-on-five-cards": (_set("side_bets", "perfect_pairs", "on", "five"), "on"),
    "rounding-up": (_set("rounding", "up"), "rounding"),
    "insurance-rounding-missing": (_drop("insurance_rounding"), "insurance_rounding"),
    "unknown-field": (_set("jackpot", True), "jackpot"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_field_is_named(name: str) -> None:
    spoil, field = BAD[name]
    data = _data("nba")
    spoil(data)
    with pytest.raises(RulesError) as error:
        rules_from_json(json.dumps(data).encode())
    assert field in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b'"nba"', b"\xff\xfe", b"{}"])
def test_a_file_that_holds_no_rules(text: bytes) -> None:
    with pytest.raises(RulesError):
        rules_from_json(text)


def test_an_operator_s_variant_is_a_file() -> None:
    data = _data("nba")
    data["id"], data["decks"] = "nba-six", 6
    data["cash_out"]["first"]["hard16"] = ["0.5"] * 10
    ledger = new_ledger()
    digest = add_rules(ledger, rules_from_json(json.dumps(data).encode()))
    variant = current_rules(ledger, "nba-six")
    assert rules_digest(variant) == digest
    assert variant.decks == 6
    assert variant.cash_out is not None
    assert variant.cash_out.first["hard16"] == (Fraction(1, 2),) * 10
    with pytest.raises(RulesError, match="already has these rules"):
        add_rules(ledger, variant)


@pytest.mark.parametrize(
    "text", ["", "a", "1/", "/2", "1/0", "3:2", "nan", "inf", "1e999999999", " 1", "1_0"]
)
def test_what_is_no_odds(text: str) -> None:
    with pytest.raises(ValueError, match="odds"):
        read_odds(text)


def test_odds_can_be_written_as_people_do() -> None:
    assert [read_odds(text) for text in ("3/2", "2", "0.86", "6/4")] == [
        Fraction(3, 2), Fraction(2), Fraction(43, 50), Fraction(3, 2),
    ]  # fmt: skip


# Rounding


@given(st.fractions(min_value=0, max_value=10**9))
def test_rounding(amount: Fraction) -> None:
    up, down = round_minor(amount, "half_up"), round_minor(amount, "down")
    assert down <= amount < down + 1
    assert -Fraction(1, 2) < up - amount <= Fraction(1, 2)


def test_a_half_goes_up() -> None:
    halves = [Fraction(number, 2) for number in (0, 1, 2, 3, 5)]
    assert [round_minor(each, "half_up") for each in halves] == [0, 1, 1, 2, 3]
    assert [round_minor(each, "down") for each in halves] == [0, 0, 1, 1, 2]


# The games' constants


@every_game
def test_every_field_has_a_clause_with_its_source(game_id: str) -> None:
    known = GAMES[game_id]
    fields = {field.name for field in msgspec.structs.fields(Rules)} - {"id"}
    assert set(known.clauses) == fields
    for clause in known.clauses.values():
        assert clause.says
        assert clause.source
    assert {each.field for each in known.assumptions} <= fields
    assert all(each.says and each.because for each in known.assumptions)
    always = {
        "malfunction",
        "disconnection",
        "history",
        "large_win",
        "acts",
        "payouts",
        "insurance",
    }
    of_the_rules = {
        "cash_out": known.rules.cash_out is not None,
        "even_money": known.rules.even_money,
        "side_bets": bool(known.rules.side_bets),
    }
    assert set(known.page.clauses) == always | {name for name, has in of_the_rules.items() if has}


@every_game
def test_the_page_is_the_one_that_was_read(game_id: str) -> None:
    page = shared(PAGES[game_id]).read_bytes()
    assert hashlib.sha256(page).hexdigest() == GAMES[game_id].page.sha256


@every_game
def test_every_source_is_a_section_of_the_page(game_id: str) -> None:
    text = " ".join(shared(PAGES[game_id]).read_text(encoding="utf-8").casefold().split())
    known = GAMES[game_id]
    sections = [section for section, _ in known.page.clauses.values() if section]
    sections += [published.source for published in known.published]
    for section in chain.from_iterable(each.split("; ") for each in sections):
        assert section.casefold() in text


@every_game
def test_what_is_published_stands_on_the_page(game_id: str) -> None:
    text = shared(PAGES[game_id]).read_text(encoding="utf-8")
    for published in GAMES[game_id].published:
        assert f"{published.percent}%" in text.replace(" %", "%")


def test_the_cash_out_table_is_the_one_that_was_calibrated() -> None:
    ours = PROJECT / "replay" / "games" / "nba_cash_out.csv"
    assert ours.read_bytes() == shared("data/nba_cash_out_table.csv").read_bytes()


def test_the_cash_out_table_has_the_published_range() -> None:
    cash_out = GAMES["nba"].rules.cash_out
    assert cash_out is not None
    for block in (cash_out.first, cash_out.later):
        assert set(block) == set(HAND_CLASSES)
        assert all(len(row) == len(UP_COLUMNS) for row in block.values())
    ratios = [ratio for row in cash_out.first.values() for ratio in row]
    assert (min(ratios), max(ratios)) == (Fraction("0.40"), Fraction("1.77"))


def test_a_game_lacking_a_clause_cannot_be_made() -> None:
    known: Game = GAMES["zero"]
    clauses = {name: each for name, each in known.clauses.items() if name != "split"}
    with pytest.raises(RulesError, match="split"):
        game(
            "zero",
            title="",
            currency="GBP",
            page=known.page,
            published=(),
            limits={},
            assumptions=(),
            **clauses,
        )


# What a ledger carries


def test_a_ledger_carries_the_published_games_once() -> None:
    ledger = new_ledger()
    size = ledger.size()
    add_published_games(ledger)
    assert ledger.size() == size
    assert rules_by_digest(ledger) == {rules_digest(g.rules): g.rules for g in GAMES.values()}
    with pytest.raises(UnknownGame, match="the ledger has nba, zappit, zero"):
        current_rules(ledger, "faro")


@every_game
def test_policies_have_a_digest_and_survive_a_round_trip(game_id: str) -> None:
    policy = POLICIES[game_id]
    data = msgspec.to_builtins(policy)
    assert policy_from_data(json.loads(json.dumps(data))) == policy
    assert policy_digest(policy) == hashlib.sha256(rfc8785.dumps(data)).hexdigest()
    assert current_policy(new_ledger(), game_id) == policy
    with pytest.raises(RulesError, match="after_deal"):
        policy_from_data(data | {"after_deal": "forget"})
    assert current_policy(new_ledger(), "faro") is None
