"""What a ledger does for those who use it rightly."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shoeproof.ledger.errors import (
    EventRefused,
    EventUnreadable,
    KeyUnusable,
    StreamConflict,
    UnknownStream,
)
from shoeproof.ledger.keys.key import parse_vkey
from shoeproof.ledger.leaf.envelope import read_event, split_leaf
from shoeproof.ledger.leaf.events import (
    EVENTS,
    CardDealt,
    DecisionMade,
    EventData,
    PolicyAdded,
    RoundVoided,
    RulesAdded,
    ServiceStopped,
)
from shoeproof.ledger.leaf.layout import LARGEST_LEAF
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.tree.merkle import leaf_hash
from shoeproof.ledger.verify import whole, workers
from shoeproof.ledger.verify.whole import verify
from tests.ledger.helpers import (
    FIRST,
    ORIGIN,
    OTHER_ROUND,
    ROUND,
    TickingClock,
    digest_of,
    opened,
    play,
    round_id,
    said,
    short_round,
)


def test_first_leaves_add_the_keys(ledger: Ledger) -> None:
    assert ledger.size() == FIRST
    assert list(ledger.public_keys()) == ["operator", "engine", "settlement", "staff", "log"]
    first = ledger.events("keys")[0]
    key_id = split_leaf(first.leaf).key_id_hex
    assert parse_vkey(ledger.public_keys()["operator"]).key_id_hex == key_id


def test_append_returns_what_is_read_back(ledger: Ledger) -> None:
    recorded = ledger.append(*((ROUND, data) for data in short_round()))
    assert ledger.events(ROUND) == recorded
    assert [item.leaf_index for item in recorded] == list(range(FIRST, FIRST + 8))
    assert [said(item.event.data) for item in recorded] == short_round()
    assert [leaf.state for leaf in ledger.leaves(FIRST)] == [item.leaf for item in recorded]
    for before, item in zip([None, *recorded], recorded, strict=False):
        assert item.event.prev == (before and before.leaf_hash.hex())
        assert item.leaf_hash == leaf_hash(item.leaf)
        assert (item.event.v, item.event.ledger, item.event.stream) == (1, ORIGIN, ROUND)


def test_reopened_ledger_goes_on(ledger: Ledger) -> None:
    assert ledger.path is not None
    play(ledger, length=3)
    with Ledger.open(ledger.path, clock=TickingClock()) as reopened:
        reopened.append(*((ROUND, data) for data in short_round()[3:]))
    assert [item.event.seq for item in ledger.events(ROUND)] == list(range(8))


def test_time_given_is_the_time_written(ledger: Ledger) -> None:
    moment = datetime(2027, 1, 1, tzinfo=UTC)
    assert ledger.append((ROUND, opened()), at=moment)[0].event.at == "2027-01-01T00:00:00.000000Z"


def test_card_face_down_is_absent_not_null(ledger: Ledger) -> None:
    play(ledger, length=3)
    recorded = ledger.append((ROUND, CardDealt(1, "dealer")))[0]
    assert b'"data":{"receiver":"dealer","shoe_index":1}' in recorded.leaf
    assert ledger.events(ROUND)[-1].event.data == CardDealt(1, "dealer")


def test_event_too_long_for_a_leaf_is_refused(ledger: Ledger) -> None:
    with pytest.raises(EventRefused, match="too long"):
        ledger.append((ROUND, opened()), (ROUND, CardDealt(0, "s" * LARGEST_LEAF)))
    assert ledger.size() == FIRST


def test_unknown_stream(ledger: Ledger) -> None:
    with pytest.raises(UnknownStream, match="nothing in 'no-such-round'"):
        ledger.events("no-such-round")


def test_rules_and_policies_are_in_the_ledger(ledger: Ledger) -> None:
    assert (ledger.rules(), ledger.policies()) == ({}, {})
    rules, policy = {"decks": 6}, {"wait": None}
    ledger.append(
        ("rules", RulesAdded(digest_of(rules), rules)),
        ("policies", PolicyAdded(digest_of(policy), policy)),
    )
    assert ledger.rules() == {digest_of(rules): rules}
    assert ledger.policies() == {digest_of(policy): policy}
    for wrong in (RulesAdded("aa" * 32, rules), RulesAdded(digest_of({"decks": 8}), rules)):
        with pytest.raises(EventRefused, match="not the one it names"):
            ledger.append(("rules", wrong))
    with pytest.raises(EventRefused, match="float"):
        ledger.append(("rules", RulesAdded("cc", {"ratio": float("nan")})))


def test_rounds_are_found_by_what_they_are(ledger: Ledger) -> None:
    ledger.append((ROUND, opened()), at=datetime(2026, 1, 2, tzinfo=UTC))
    ledger.append((OTHER_ROUND, opened("p-8a", "12" * 32)), at=datetime(2026, 1, 3, tzinfo=UTC))
    ledger.append((round_id(3), opened()), at=datetime(2026, 1, 4, tzinfo=UTC))
    later = datetime(2026, 1, 5, tzinfo=UTC)
    ledger.append((OTHER_ROUND, RoundVoided("deal unreadable", [])), at=later)
    ledger.append(*((ROUND, data) for data in short_round()[1:]), at=later)

    def found(**conditions: Any) -> list[str]:
        return [row.round for row in ledger.rounds(**conditions)]

    assert found() == [ROUND, OTHER_ROUND, round_id(3)]
    assert found(state="closed") == [ROUND]
    assert found(state="void") == [OTHER_ROUND]
    assert found(state="open") == [round_id(3)]
    assert found(player="p-8a") == found(rules_digests=["12" * 32]) == [OTHER_ROUND]
    assert found(rules_digests=[]) == []
    third_of_january = datetime(2026, 1, 3, tzinfo=UTC)
    assert found(opened_from=third_of_january) == [OTHER_ROUND, round_id(3)]
    assert found(opened_to=third_of_january) == [ROUND]
    assert found(limit=1) == [ROUND]
    row = ledger.rounds(state="closed")[0]
    assert (row.first_leaf, row.last_leaf, row.table) == (FIRST, FIRST + 10, "t-1")
    assert row.closed_at is not None
    assert verify(ledger).open_rounds == 1


def test_ledger_in_memory_is_apart_from_every_other() -> None:
    with Ledger.in_memory(ORIGIN) as one, Ledger.in_memory(ORIGIN) as two:
        play(one)
        assert (one.size(), two.size()) == (FIRST + 8, FIRST)
        assert verify(one).findings == []


def test_work_shared_between_processes_finds_the_same(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(played, clock=TickingClock()) as ledger:
        for number in range(3):
            play(ledger, round_id(number), length=6)
    monkeypatch.setattr(whole, "RUN", 5)
    monkeypatch.setattr(workers, "SHARED_FROM", 0)
    heard: list[tuple[int, int]] = []
    result = verify(played, workers=2, progress=lambda *told: heard.append(told))
    assert (result.findings, result.open_rounds) == ([], 3)
    assert heard == [(min(stop, 31), 31) for stop in range(5, 40, 5)]


def test_public_key_to_verify_with_that_is_none(ledger: Ledger) -> None:
    with pytest.raises(KeyUnusable):
        verify(ledger, public_key="not a key")


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"[]",
        b'{"v":1}',
        b'{"at":"2026-01-02T03:04:05.000001Z","data":{},"ledger":"a","prev":null,"seq":0,'
        b'"stream":"s","type":"NoSuchEvent","v":1}',
        b'{"at":"2026-01-02T03:04:05.000001Z","data":{"natural":1},"ledger":"a","prev":null,'
        b'"seq":0,"stream":"s","type":"DealerChecked","v":1}',
        b'{"at":"2026-01-02T03:04:05Z","data":{"natural":true},"ledger":"a","prev":null,'
        b'"seq":0,"stream":"s","type":"DealerChecked","v":1}',
        b'{"at":"2026-01-02T03:04:05.000001Z","data":{"natural":true},"ledger":"a","prev":null,'
        b'"seq":0,"stream":"s","type":"DealerChecked","v":2}',
        b'{"at":"2026-01-02T03:04:05.000001Z","data":{"natural":true},"ledger":"a","prev":null,'
        b'"seq":0,"stream":"s","type":"DealerChecked","v":1,"x":1}',
    ],
)
def test_payload_that_is_no_event(payload: bytes) -> None:
    with pytest.raises(EventUnreadable):
        read_event(payload)


def test_events_are_named_as_their_classes_and_have_a_signer() -> None:
    assert {name: cls.__name__ for name, cls in EVENTS.items()} == {name: name for name in EVENTS}
    assert {cls.signer for cls in EVENTS.values()} <= {"engine", "settlement", "staff", "operator"}


def test_who_decides_by_an_old_view_is_refused(ledger: Ledger) -> None:
    play(ledger, length=2)
    with pytest.raises(StreamConflict, match="another writer appended"):
        ledger.append((ROUND, short_round()[2]), after={ROUND: 0})
    assert ledger.append((ROUND, short_round()[2]), after={ROUND: 1})[0].event.seq == 2


@pytest.mark.parametrize(
    ("stream", "data"),
    [
        ("keys", CardDealt(0, "s1")),
        ("no-round", opened()),
        (ROUND.upper(), opened()),
        ("operations", opened()),
        (ROUND, ServiceStopped(3, None, None)),
    ],
)
def test_event_where_its_kind_cannot_stand(ledger: Ledger, stream: str, data: EventData) -> None:
    with pytest.raises(EventRefused, match="cannot stand"):
        ledger.append((stream, data))
    assert ledger.size() == FIRST


def test_event_that_could_not_be_read_back(ledger: Ledger) -> None:
    actor: Any = "dealer"
    nobody = DecisionMade("s1", "hit", actor, None, 0, None)
    with pytest.raises(EventRefused, match="actor"):
        ledger.append((ROUND, nobody))
    assert ledger.size() == FIRST


def test_key_of_another_role(ledger: Ledger) -> None:
    assert ledger.path is not None
    keys = ledger.path / "keys"
    (keys / "engine.pem").write_bytes((keys / "staff.pem").read_bytes())
    with Ledger.open(ledger.path) as again, pytest.raises(KeyUnusable, match="engine"):
        again.append((ROUND, opened()))
    assert ledger.size() == FIRST
