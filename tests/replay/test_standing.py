"""A table keeps up with its ledger: service, policies, and no further than it has to."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import AlarmRaised, GameDisabled, GameEnabled, RoundOpened
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.leaf.streams import OPERATIONS_STREAM
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import InputRefusedError
from shoeproof.replay.games.policies import policy_digest
from shoeproof.replay.interruptions.waiting import outages_in
from shoeproof.replay.live.resume import resume_round
from shoeproof.replay.live.standing import _KNOWN
from shoeproof.replay.live.view import view_of
from shoeproof.replay.rounds.catalogue import (
    add_policy,
    add_published_games,
    add_rules,
    current_policy,
    current_rules,
)
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.replay.helpers import ORIGIN
from tests.replay.live import FailingJournal, Spy, open_decision, table
from tests.replay.lying import ruling


@pytest.fixture
def ledger() -> Any:
    with Ledger.in_memory(ORIGIN) as made:
        add_published_games(made)
        yield made


def reads_of(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> list[StoredLeaf]:
    """Collect every leaf that is read from now on."""
    found: list[StoredLeaf] = []
    reader = ledger.store.leaf_reader
    select = reader.select_leaves

    def collected(statement: str, parameters: Any) -> list[StoredLeaf]:
        leaves = select(statement, parameters)
        found.extend(leaves)
        return leaves

    monkeypatch.setattr(reader, "select_leaves", collected)
    return found


def test_only_what_is_new_is_read(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    alarm = (OPERATIONS_STREAM, AlarmRaised(1, None, "reconciled"))
    ledger.append(*[alarm] * 500)
    table(ledger).check_in_service()
    found = reads_of(ledger, monkeypatch)
    for _ in range(3):
        # Another table of the same open ledger knows what the first one read.
        table(ledger).check_in_service()
        table(ledger, "zero").check_in_service()
    assert [leaf for leaf in found if leaf.stream == OPERATIONS_STREAM] == []
    ledger.append(alarm)
    found.clear()
    table(ledger).open_round("p")
    assert [leaf.version for leaf in found if leaf.stream == OPERATIONS_STREAM] == [501]


@pytest.mark.parametrize("journal", [Spy, FailingJournal])
def test_a_journal_of_ones_own_opens_nothing_out_of_service(journal: Any, ledger: Ledger) -> None:
    live_table = table(ledger, journal=journal(ledger))
    live_table.open_round("p-1")
    ledger.append((OPERATIONS_STREAM, GameDisabled(6, "nba", "trial")))
    with pytest.raises(InputRefusedError, match="out of service"):
        live_table.open_round("p-2")
    ledger.append((OPERATIONS_STREAM, GameEnabled(6, "nba", None)))
    live_table.open_round("p-2")


def test_another_process_closes_and_opens_a_game(tmp_path: Path) -> None:
    with Ledger.init(tmp_path / "ledger", ORIGIN) as ledger:
        add_published_games(ledger)
        live_table = table(ledger)
        live_table.open_round("p-1")
        with Ledger.open(tmp_path / "ledger") as other:
            other.append((OPERATIONS_STREAM, GameDisabled(6, "nba", None)))
            with pytest.raises(InputRefusedError):
                live_table.open_round("p-2")
            other.append((OPERATIONS_STREAM, GameEnabled(6, "nba", None)))
        live_table.open_round("p-2")
        assert live_table.outages("x") == outages_in(ledger.events(OPERATIONS_STREAM))


def test_a_table_sees_a_new_policy_and_open_rounds_keep_theirs(ledger: Ledger) -> None:
    live_table = table(ledger)
    before = current_policy(ledger, "nba")
    old = open_decision(live_table)
    assert before is not None
    new = msgspec.structs.replace(before, longest_wait_days=before.longest_wait_days + 1)
    add_policy(ledger, new)
    live = live_table.open_round("later")
    opened = ledger.events(live.round_id)[0].event.data
    assert isinstance(opened, RoundOpened)
    assert (live.policy, opened.policy_digest) == (new, policy_digest(new))
    assert old.policy == before
    assert resume_round(ledger, old.round_id).policy == before


class Mute(MemoryWallet):
    """A wallet that moves money and cannot say what is left; it counts how often it is asked."""

    def __init__(self, answer: object) -> None:
        super().__init__(1_000_000)
        self.answer, self.asked = answer, 0

    def balance_minor(self, player: str) -> Any:
        if self.answer is None:
            return super().balance_minor(player)
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def _move(self, player: str, change_minor: int, reference: str) -> Any:
        answer, self.answer = self.answer, None
        try:
            return super()._move(player, change_minor, reference)
        finally:
            self.answer = answer


@pytest.mark.parametrize("answer", [TimeoutError("slow"), "n/a", 12.5, {}], ids=repr)
def test_a_balance_that_cannot_be_had_blocks_no_plain_hit(answer: object, ledger: Ledger) -> None:
    wallet = Mute(answer)
    live_table = table(ledger, wallet=wallet)
    hits = 0
    while hits < 20:
        live = open_decision(live_table)
        while isinstance(live.due, Decide):
            asked = wallet.asked
            live.decide(live.due.hand, "hit" if "hit" in live.offered else live.offered[0])
            if isinstance(live.due, Decide) and "double" not in live.offered:
                # Nothing on offer costs anything: nobody waits for the wallet.
                assert wallet.asked == asked
                hits += 1


def test_a_round_taken_up_or_viewed_reads_no_rules_and_policies_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = open_decision(table(ledger)), open_decision(table(ledger))
    resume_round(ledger, first.round_id)
    found = reads_of(ledger, monkeypatch)
    resume_round(ledger, second.round_id, wallet=MemoryWallet(1_000))
    view_of(ledger, second.round_id)
    assert {leaf.stream for leaf in found} == {second.round_id}


def test_rules_and_policies_of_another_process_are_known_at_once(tmp_path: Path) -> None:
    with Ledger.init(tmp_path / "ledger", ORIGIN) as ledger:
        add_published_games(ledger)
        resume_round(ledger, open_decision(table(ledger)).round_id)
        policy = current_policy(ledger, "nba")
        assert policy is not None
        later = msgspec.structs.replace(policy, longest_wait_days=policy.longest_wait_days + 1)
        with Ledger.open(tmp_path / "ledger") as other:
            add_rules(other, ruling(decks=2)(current_rules(other, "nba")))
            add_policy(other, later)
            theirs = open_decision(table(other))
            assert view_of(ledger, theirs.round_id) == view_of(other, theirs.round_id)
        assert view_of(ledger, theirs.round_id).game == "nba"
        live = resume_round(ledger, theirs.round_id)
        assert (live.table.rules.decks, live.policy) == (2, later)


def test_threads_take_up_rounds_by_what_one_of_them_read(ledger: Ledger) -> None:
    rounds = [open_decision(table(ledger)) for _ in range(8)]
    _KNOWN.pop(ledger)
    with ThreadPoolExecutor(8) as threads:
        again = list(threads.map(lambda live: resume_round(ledger, live.round_id), rounds))
    assert [each.state for each in again] == [live.state for live in rounds]
    assert len({id(each.table.rules) for each in again}) == 1
