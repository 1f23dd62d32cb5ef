"""Evidence is read by index, up to one size, and nothing unverified is in it."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import BetResettled, DisputeDecided, DisputeOpened
from shoeproof.ledger.leaf.streams import DISPUTES_PREFIX
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.evidence import OPERATIONS_AROUND, gather
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from shoeproof.replay.written.round_text import read_round
from tests.disputes.scenario import SCENARIOS, read_scenario
from tests.disputes.shoes import ROUND
from tests.disputes.stage import staged
from tests.ledger.helpers import tampering


def scenario_ledger(name: str, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    return staged(read_scenario(SCENARIOS / f"{name}.toml"), monkeypatch)


def test_every_look_up_goes_by_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of no table are all rows looked at: so the time does not follow the ledger's size."""
    ledger = scenario_ledger("push-taken", monkeypatch)
    asked: list[tuple[str, Sequence[Any]]] = []
    reader = ledger.store.leaf_reader
    select = type(reader).select

    def spy(self: Any, statement: str, parameters: Sequence[Any] = ()) -> Any:
        asked.append((statement, parameters))
        return select(self, statement, parameters)

    monkeypatch.setattr(type(reader), "select", spy)
    gather(ledger, ROUND)
    monkeypatch.undo()
    assert len(asked) >= 8
    for statement, parameters in asked:
        plan = ledger.store.query(f"EXPLAIN QUERY PLAN {statement}", parameters)
        scans = [row[-1] for row in plan if re.match("SCAN (?!CONSTANT)", row[-1])]
        assert not scans, f"{statement}: {scans}"


def test_the_service_is_read_around_the_round_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = scenario_ledger("service-stopped-for-an-hour", monkeypatch)
    found = gather(ledger, ROUND)
    assert [each.event.type for each in found.operations] == [
        "ServiceStopped", "ServiceStarted", "AlarmRaised",
    ]  # fmt: skip
    assert OPERATIONS_AROUND == 100


def test_what_a_case_has_paid_is_not_due_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = scenario_ledger("push-taken", monkeypatch)
    stream = DISPUTES_PREFIX + ROUND
    ledger.append((stream, DisputeOpened(ROUND, "settlement", None, [], None)))
    before = assess(gather(ledger, ROUND), "settlement")
    assert before.governing.moves_minor == 1000
    paid = BetResettled(ROUND, "s1", "s1", "main", 1000, 0, 1000, "push", None)
    decided = DisputeDecided(ROUND, ["settlement_mismatch"], "Payouts", "upheld", "resettle",
                             None, 1000, 1)  # fmt: skip
    ledger.append((stream, decided), (stream, paid))
    after = assess(gather(ledger, ROUND), "settlement")
    assert after.governing.moves_minor == 0
    assert [bet.paid_minor for bet in after.governing.bets] == [1000]


def test_of_a_ledger_whose_tail_is_gone_no_money_is_decided(tmp_path: Path) -> None:
    with Ledger.init(tmp_path / "l", "casino.example/blackjack") as ledger:
        add_published_games(ledger)
        settings = TableSettings(limits={"main": (1, 1000)}, currency="EUR")
        rules, player = current_rules(ledger, "zappit"), make_player("basic", 1)
        simulate(ledger, rules, settings, {"s1": {"main": 100}}, player, rounds=2)
        first = ledger.rounds()[0].round
        sign_checkpoint(ledger)
        size = ledger.size()
    with tampering(tmp_path / "l") as connection:
        connection.execute("DELETE FROM leaves WHERE leaf_index = ?", (size - 1,))
    with Ledger.open(tmp_path / "l") as cut:
        found = assess(gather(cut, first), "settlement")
        assert [each.text for each in found.findings] == [
            f"a checkpoint covers {size} leaves, but the ledger has {size - 1}: its tail is gone"
        ]
        assert found.verdict == "inconclusive"
        assert found.governing.moves_minor == 0


def test_the_checkpoint_s_cover_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    found = assess(gather(scenario_ledger("push-taken", monkeypatch), ROUND))
    assert found.lacks[0].startswith("the last checkpoint covers 0 leaves")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("stand-at-19-minutes", "the system decided stand for s1 at 2026-03-01T12:19:05.000000Z"),
        ("late-decision-by-the-device-s-clock", "the ledger's time counts, not the device's"),
        ("decision-with-an-earlier-clock", "the order of the ledger decides"),
        ("overpaid", "The main bet of s1 was paid 20.00 EUR too much, which is not taken back"),
        (
            "natural-paid-even-money",
            "main of s1 was paid 20.00 GBP (even_money), the rules pay 25.00 GBP (natural)",
        ),
        ("bet-taken-twice", "the debit for the deal is 20.00 EUR, the stake is 10.00 EUR"),
        ("stake-back-in-part", "5.00 EUR went back for main of s1, staked 10.00 EUR, paid before"),
        ("win-of-10000-01-is-held", "10,000.01 GBP of the win is held and not lost"),
        ("screen-differs-from-the-ledger", "the screen showed 'deal dealer 5d down' where"),
    ],
)
def test_reasons_say_it_in_plain_words(
    name: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = read_scenario(SCENARIOS / f"{name}.toml")
    evidence = gather(staged(scenario, monkeypatch), ROUND)
    shown = None
    if scenario.shown is not None:
        shown = read_round(scenario.shown.encode())
    reasons = assess(evidence, scenario.claim, shown).reasons
    assert any(sentence in reason for reason in reasons), reasons


def test_a_void_names_the_page_and_gli_19(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = scenario_ledger("side-bet-decided-before-the-wrong-card", monkeypatch)
    source = assess(gather(ledger, ROUND), "fairness").governing.source
    assert source.cited == "NBA Blackjack, help page, Payouts; GLI-19 v3.0, A.6.4(a)"
    assert not source.assumed
