"""Luck, skill and error of a whole ledger: rows and sums are those of its rounds one by one."""

from collections.abc import Iterator
from math import fsum
from random import Random
from typing import Literal

import pytest
from msgspec.structs import replace

from audit_reports import luck
from audit_reports.luck import ALL, ERROR, PARTS, TakenApart, luck_totals, take_apart
from ledger import Ledger
from ledger.events import BetSettled, DecisionMade, EventData, RoundOpened
from replay.catalogue import add_published_games, rules_by_digest
from replay.games import GAMES
from replay.luck import Decomposition, decompose_replay
from replay.luck.kinds import LUCK, SKILL
from replay.replayer import replay_round
from tests.audit_reports.helpers import play, voided
from tests.bulk.rounds import honest_round, stakes_for

ROUNDS = 60


@pytest.fixture(scope="module")
def ledger() -> Iterator[Ledger]:
    """Rounds of every game, some paid wrongly, some for fun, one void, one with a decision gone."""
    random = Random(4)
    with Ledger.in_memory("luck.example/bj") as made:
        add_published_games(made)
        for number in range(ROUNDS):
            game = sorted(GAMES)[number % 3]
            events = honest_round(made, game, stakes_for(game, random), random)
            play(made, [_changed(each.event.data, number) for each in events])
        play(made, voided())
        data: list[EventData] = []
        while not any(isinstance(each, DecisionMade) for each in data):
            events = honest_round(made, "zero", {"s1": {"main": 100}}, random)
            data = [each.event.data for each in events]
        play(made, [each for each in data if not isinstance(each, DecisionMade)])
        yield made


def _changed(data: EventData, number: int) -> EventData:
    if isinstance(data, RoundOpened):
        mode: Literal["fun", "real"] = "fun" if number % 7 == 6 else "real"
        return replace(data, player=f"p-{number % 4}", mode=mode)
    if isinstance(data, BetSettled) and number % 10 == 3:
        return replace(data, paid_minor=data.paid_minor + 5)
    return data


def _taken_apart(ledger: Ledger) -> list[TakenApart]:
    return list(take_apart(ledger.leaves(0, ledger.size()), rules_by_digest(ledger)))


def _one_by_one(ledger: Ledger) -> dict[tuple[str, str], tuple[RoundOpened, Decomposition]]:
    """Each round by its stream and player, replayed and taken apart alone."""
    found, rules = {}, rules_by_digest(ledger)
    streams = {leaf.stream: None for leaf in ledger.leaves(0, ledger.size())}
    for stream in streams:
        events = ledger.events(stream)
        opened = events[0].event.data
        if isinstance(opened, RoundOpened):
            alone = decompose_replay(replay_round(events, rules))
            if alone is not None:
                found[stream, opened.player] = opened, alone
    return found


def test_every_closed_round_has_its_rows_and_they_add_up(ledger: Ledger) -> None:
    taken = _taken_apart(ledger)
    rows = [row for each in taken for row in each.rows.to_pylist()]
    alone = {stream: apart for (stream, _), (_, apart) in _one_by_one(ledger).items()}
    assert {row["round"] for row in rows} == set(alone)
    assert len(alone) == ROUNDS
    assert len([stream for each in taken for stream in each.unfollowed]) == 1
    for row in rows:
        parts = [row[f"{term}_{kind}"] for term, kind in PARTS]
        total = row["start_minor"] + fsum(parts) + row["error_minor"]
        assert total == pytest.approx(row["returned_minor"], rel=1e-9, abs=1e-9)
        sums = alone[row["round"]].sums()
        expected = [sums.get((row["bet"], *part), 0.0) for part in PARTS]
        assert parts == pytest.approx(expected, rel=1e-9, abs=1e-8)


def test_sums_by_player_are_those_of_the_rounds_one_by_one(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(luck, "ROUNDS_A_BATCH", 13)
    taken = _taken_apart(ledger)
    assert len(taken) > 3
    totals = luck_totals((each.rows for each in taken), ["player"])
    real = [one for one in _one_by_one(ledger).values() if one[0].mode == "real"]
    assert {total.group["player"] for total in totals} == {f"p-{n}" for n in range(4)}
    for total in totals:
        mine = [
            apart
            for opened, apart in real
            if opened.player == total.group["player"]
            and opened.rules_digest == total.group["rules_digest"]
            and any(bet.bet == total.bet for bet in apart.bets)
        ]
        amounts = [_amount(apart, total.bet, total.term, total.kind) for apart in mine]
        assert total.rounds == len(mine)
        assert total.total == pytest.approx(fsum(amounts), abs=1e-6)
        assert total.squares == pytest.approx(fsum(each**2 for each in amounts), rel=1e-9, abs=1e-9)
        assert total.fourths == pytest.approx(fsum(each**4 for each in amounts), rel=1e-9, abs=1e-9)
        assert total.moved == sum(abs(each) > 1e-9 for each in amounts)
        bets = [bet for apart in mine for bet in apart.bets if bet.bet == total.bet]
        assert total.stake_minor == sum(bet.initial_stake_minor for bet in bets)
        assert total.returned_minor == sum(bet.returned_minor for bet in bets)
    assert sum(each.total for each in totals if each.term == ERROR) > 0


def _amount(apart: Decomposition, bet: str, term: str, kind: str) -> float:
    if term == ERROR:
        return sum(each.error_minor for each in apart.bets if each.bet == bet)
    return fsum(
        part.amount_minor
        for part in apart.parts
        if (part.bet, part.term) == (bet, term) and kind in (part.kind, ALL)
    )


def test_the_terms_of_a_group_add_up_to_what_it_returned(ledger: Ledger) -> None:
    totals = luck_totals(each.rows for each in _taken_apart(ledger))
    by_bet: dict[tuple[str | None, str], dict[str, float]] = {}
    for each in totals:
        if each.kind == ALL:
            key = each.group["rules_digest"], each.bet
            terms = by_bet.setdefault(key, {"start": each.start_minor})
            terms[each.term] = each.total
            terms["returned"] = each.returned_minor
    # Three main bets and two side bets; insurance only where an ace was dealt and it was taken.
    assert len(by_bet) >= 5
    for terms in by_bet.values():
        assert terms["returned"] == pytest.approx(
            terms["start"] + terms[LUCK] + terms[SKILL] + terms[ERROR]
        )


def test_rounds_for_fun_are_summed_apart(ledger: Ledger) -> None:
    rows = [each.rows for each in _taken_apart(ledger)]
    fun = sum(each.rounds for each in luck_totals(rows, mode="fun") if each.term == ERROR)
    assert fun > 0
    everything = sum(len(each) for each in rows)
    real = sum(each.rounds for each in luck_totals(rows) if each.term == ERROR)
    assert real + fun == everything


def test_a_group_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(ValueError, match="there is no group 'colour'; there are game, "):
        luck_totals([], ["colour"])


def test_a_ledger_without_rounds_has_no_sums(ledger: Ledger) -> None:
    with Ledger.in_memory("empty.example/bj") as empty:
        assert luck_totals(each.rows for each in _taken_apart(empty)) == []
