"""What an audit finds in cases that other software wrote."""

from collections.abc import Callable, Iterable

import pytest
from msgspec.structs import replace

from shoeproof.ledger import Ledger
from shoeproof.ledger.keys.key import Signer
from shoeproof.ledger.leaf.events import (
    Awarded,
    BetResettled,
    DisputeDecided,
    DisputeOpened,
    EventData,
    Refunded,
)
from shoeproof.replay.audit.one_by_one import audit
from shoeproof.replay.bulk.audit import audit as bulk_audit
from shoeproof.replay.cases.case import dispute_stream, read_cases
from shoeproof.replay.disputes.record import open_case
from shoeproof.replay.findings import DECISION_UNFOUNDED
from tests.audit_reports.helpers import begun, simple
from tests.disputes.money import (
    Staff,
    assessed,
    decide,
    disputed,
    play,
    price,
    remedy,
)

LARGE = 150_000

Step = EventData | Signer


def found(ledger: Ledger) -> list[tuple[str, int]]:
    """What both audits find in the record of disputes: code and `seq`.

    What these made-up decisions rest on is another test's (`test_unfounded`).
    """
    findings = audit(ledger).findings
    assert bulk_audit(ledger).rounds.findings == findings
    return [
        (each.code, each.seq or 0)
        for each in findings
        if (each.stream or "").startswith("disputes/") and each.code != DECISION_UNFOUNDED
    ]


def write(ledger: Ledger, round_id: str, steps: Iterable[Step]) -> None:
    """Write events of a case as they are, each signed by the last signer named."""
    for step in steps:
        if isinstance(step, EventData):
            ledger.append((dispute_stream(round_id), step))
        else:
            ledger.sign_with("staff", step)


def opened(round_id: str) -> DisputeOpened:
    return DisputeOpened(round_id, "settlement", None, [], None)


def decided(
    round_id: str, amount: int, keys: int = 1, reference: str | None = None, name: str = "void"
) -> DisputeDecided:
    return DisputeDecided(round_id, [], "4.16", "upheld", name, reference, amount, keys)


def refunded(round_id: str, amount: int) -> Refunded:
    return Refunded(round_id, "s1", "main", amount, None)


def in_case(data: DisputeDecided, number: int) -> DisputeDecided:
    return replace(data, case=number)


def award(round_id: str, amount: int) -> DisputeDecided:
    return decided(round_id, amount, 2, "ADJ-1", "award")


def awarded(round_id: str, amount: int) -> Awarded:
    return Awarded(round_id, None, None, amount, "EUR", None)


def resettled(round_id: str, before: int, after: int) -> BetResettled:
    return BetResettled(round_id, "s1", "s1", "main", 100, before, after, "natural", None)


def test_cases_decided_as_they_should_be(ledger: Ledger, staff: Staff) -> None:
    small, large, lying = (
        disputed(ledger, simple(0)),
        disputed(ledger, simple(0, LARGE)),
        disputed(ledger, begun({"s1": {"main": 100}})),
    )
    for round_id, stake, paid, signers in (
        (small, 100, 0, (staff.ann,)),
        (large, LARGE, 0, (staff.ann, staff.bob)),
        (lying, 100, None, (staff.ann,)),
    ):
        void = remedy("void", price(stake, paid, stake), governs=True)
        for signer in signers:
            decide(ledger, assessed(round_id, void), "void", signer)
    referred = disputed(ledger, simple(0))
    choice = assessed(referred, remedy("void", price(100, 0, 100)))
    decide(ledger, choice, "refer", staff.ann)
    for signer in (staff.ann, staff.bob):
        decide(ledger, choice, "void", signer, "ADJ-1")
    open_case(ledger, referred, "other")
    assert found(ledger) == []


def test_a_referred_case_is_decided_after_a_later_one(ledger: Ledger, staff: Staff) -> None:
    round_id = play(ledger, simple(0))
    refer = decided(round_id, 0, name="refer")
    later = [opened(round_id), in_case(decided(round_id, 100), 2), refunded(round_id, 100)]
    first = in_case(award(round_id, 30), 1)
    steps: list[Step] = [opened(round_id), refer, *later, staff.ann, first, staff.bob, first]
    write(ledger, round_id, [*steps, awarded(round_id, 30)])
    assert found(ledger) == []
    one, two = read_cases(ledger, round_id)
    assert [case.state for case in (one, two)] == ["decided", "decided"]
    assert (one.payments, two.payments) == (
        (awarded(round_id, 30),),
        (refunded(round_id, 100),),
    )


WRONG: dict[str, tuple[int, Callable[[str, Staff], list[Step]], list[tuple[str, int]]]] = {
    "a case beside an open one": (
        100,
        lambda r, s: [opened(r), opened(r)],
        [("case_out_of_place", 1)],
    ),
    "decided twice": (
        100,
        lambda r, s: [opened(r), decided(r, 0), decided(r, 0)],
        [("case_out_of_place", 2)],
    ),
    "decided without a complaint before it": (
        100,
        lambda r, s: [opened(r), decided(r, 0), opened(r), decided(r, 0), decided(r, 0)],
        [("case_out_of_place", 4)],
    ),
    "an event about another round": (
        100,
        lambda r, s: [opened(r), decided("01936f3c-7a10-7b3e-9c55-ffffffffffff", 0)],
        [("case_out_of_place", 1)],
    ),
    "paid before the decision": (
        100,
        lambda r, s: [opened(r), refunded(r, 100)],
        [("payment_undecided", 1)],
    ),
    "paid twice": (
        1_000,
        lambda r, s: [opened(r), decided(r, 500), refunded(r, 500), refunded(r, 500)],
        [("payment_undecided", 3)],
    ),
    "paid more than was decided": (
        100,
        lambda r, s: [opened(r), decided(r, 50), resettled(r, 0, 60)],
        [("payment_undecided", 2)],
    ),
    "paid less than was decided": (
        100,
        lambda r, s: [opened(r), decided(r, 50), resettled(r, 0, 40)],
        [("payment_missing", 1)],
    ),
    "one decision unpaid and the next paid": (
        100,
        lambda r, s: [opened(r), decided(r, 50), opened(r), decided(r, 100), refunded(r, 100)],
        [("payment_missing", 1)],
    ),
    "an award paid twice": (
        100,
        lambda r, s: [
            opened(r), s.ann, award(r, 30), s.bob, award(r, 30), awarded(r, 30), awarded(r, 30),
        ],
        [("payment_undecided", 4)],
    ),
    "an award by one person": (
        100,
        lambda r, s: [opened(r), decided(r, 30, 1, "ADJ-1", "award"), awarded(r, 30)],
        [("keys_missing", 1)],
    ),
    "goodwill above the limit by one person": (
        100,
        lambda r, s: [opened(r), decided(r, LARGE, name="goodwill"), awarded(r, LARGE)],
        [("keys_missing", 1)],
    ),
    "goodwill above the limit in two parts": (
        100,
        lambda r, s: [
            opened(r), decided(r, 60_000, name="goodwill"), awarded(r, 60_000),
            opened(r), decided(r, 60_000, name="goodwill"), awarded(r, 60_000),
        ],
        [("keys_missing", 4)],
    ),
    "a decision of a case that is not there": (
        100,
        lambda r, s: [opened(r), in_case(decided(r, 0), 2)],
        [("case_out_of_place", 1)],
    ),
    "a case decided again by its number": (
        100,
        lambda r, s: [opened(r), decided(r, 0), opened(r), in_case(decided(r, 0), 1)],
        [("case_out_of_place", 3)],
    ),
    "a payment taken back": (
        100,
        lambda r, s: [opened(r), decided(r, 0), resettled(r, 100, 40)],
        [("payment_undecided", 2)],
    ),
    "refunded above the stake": (
        100,
        lambda r, s: [opened(r), decided(r, 101), refunded(r, 101)],
        [("refund_mismatch", 2)],
    ),
    "a cent of the stake refunded": (
        1_000,
        lambda r, s: [opened(r), decided(r, 1), refunded(r, 1)],
        [("refund_mismatch", 2)],
    ),
    "a cent of the stake in goodwill": (
        1_000,
        lambda r, s: [opened(r), decided(r, 1, name="goodwill"), refunded(r, 1)],
        [("refund_mismatch", 2)],
    ),
    "a refund without any case": (
        100,
        lambda r, s: [refunded(r, 100)],
        [("payment_undecided", 0)],
    ),
    "one key above the limit": (
        LARGE,
        lambda r, s: [opened(r), decided(r, LARGE), refunded(r, LARGE)],
        [("keys_missing", 1)],
    ),
    "one key for an adjudicator's decision": (
        100,
        lambda r, s: [opened(r), decided(r, 100, reference="ADJ-1"), refunded(r, 100)],
        [("keys_missing", 1)],
    ),
    "the same key twice": (
        LARGE,
        lambda r, s: [
            opened(r), s.ann, decided(r, LARGE, 2), decided(r, LARGE, 2), refunded(r, LARGE),
        ],
        [("payment_undecided", 3)],
    ),
    "two keys for two decisions": (
        LARGE,
        lambda r, s: [
            opened(r), s.ann, decided(r, LARGE, 2), s.bob, decided(r, LARGE - 1, 2),
            refunded(r, LARGE - 1),
        ],
        [("payment_undecided", 3), ("refund_mismatch", 3)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_cases_that_are_not(ledger: Ledger, staff: Staff, name: str) -> None:
    stake, steps, expected = WRONG[name]
    round_id = play(ledger, simple(0, stake))
    write(ledger, round_id, steps(round_id, staff))
    assert found(ledger) == expected


def test_a_round_of_another_game_is_passed_over(ledger: Ledger, staff: Staff) -> None:
    round_id = play(ledger, simple(0))
    write(ledger, round_id, [opened(round_id), refunded(round_id, 100)])
    assert not audit(ledger, only="zero").findings
    assert not bulk_audit(ledger, only="zero").rounds.findings
