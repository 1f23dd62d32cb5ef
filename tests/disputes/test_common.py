"""Keys, rules and policies are verified once for all rounds of a complaint, and count for each."""

from typing import Any

import pytest

from shoeproof.ledger import Finding
from shoeproof.ledger.keys.trust import build_ring
from shoeproof.replay.disputes.evidence import common_of, gather
from tests.disputes.spans import Evening


def test_a_round_is_gathered_alike_by_itself_and_among_others() -> None:
    evening = Evening()
    played = evening.play(3)
    common = common_of(evening.ledger)
    for round_id in played:
        alone = gather(evening.ledger, round_id)
        assert gather(evening.ledger, round_id, common=common) == alone


def test_a_complaint_verifies_the_keys_once(monkeypatch: pytest.MonkeyPatch) -> None:
    evening = Evening()
    evening.play(5)
    complaint = evening.complain()
    rings: list[object] = []

    def counting(*arguments: Any) -> object:
        rings.append(arguments)
        return build_ring(*arguments)

    monkeypatch.setattr("shoeproof.replay.disputes.evidence.build_ring", counting)
    assert len(evening.assess(complaint).rounds) == 5
    assert len(rings) == 1


def test_what_is_wrong_with_them_is_found_in_every_round() -> None:
    evening = Evening()
    (played,) = evening.play(1)
    common = common_of(evening.ledger)
    wrong = Finding("payload_invalid", "the rules do not verify", "rules", 7, 0)
    marred = common._replace(found=(wrong,))
    assert wrong in gather(evening.ledger, played, common=marred).integrity
