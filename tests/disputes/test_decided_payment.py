"""A decided payment is booked as the wallet answers it, and what a decision ends ends with it."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    BetResettled,
    BetSettled,
    Funds,
    Refund,
    Refunded,
    RoundClosed,
    RoundVoided,
    ShoeCommitted,
)
from shoeproof.replay.audit.one_by_one import audit
from shoeproof.replay.cases.assessment import Assessment
from shoeproof.replay.cases.case import key_names, read_cases
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.decide import plan_decision
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.disputes.money import SURPLUS
from shoeproof.replay.disputes.record import carry_out, open_case
from shoeproof.replay.errors import DisputeRefused
from shoeproof.replay.live.table import LiveTable
from shoeproof.replay.rounds.catalogue import current_rules
from shoeproof.replay.wallet.wallet import MemoryWallet, is_accepted
from tests.audit_reports.helpers import begun, settled, split_and_doubled
from tests.disputes.live import SETTINGS
from tests.disputes.money import (
    Staff,
    assessed,
    cases_of,
    decide,
    disputed,
    evidence_of,
    hire,
    moved,
    new_ledger,
    planned,
    price,
    remedy,
    sign,
)
from tests.ledger.helpers import said

PAIRS = ("s1", "perfect_pairs")
PLAYER = "p-7f"


class Answering(MemoryWallet):
    """A wallet that answers its second credit otherwise."""

    def __init__(self, change: Callable[[Funds], Funds]) -> None:
        super().__init__(0)
        self._change, self._credits = change, 0

    def credit(self, player: str, amount_minor: int, reference: str) -> Funds:
        self._credits += 1
        answer = super().credit(player, amount_minor, reference)
        return self._change(answer) if self._credits == 2 else answer


def two_bets(round_id: str) -> Assessment:
    """Two hands, of each of which 100 went astray."""
    prices = price(100, 0, 100, ("s1.1", "main")), price(200, 400, 500, ("s1.2", "main"))
    return assessed(round_id, remedy("resettle", *prices, governs=True))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda funds: replace(funds, answer="declined"), "answered 'declined' to a credit of 1"),
        (lambda funds: replace(funds, answer=""), "answered '' to a credit"),
        (lambda funds: replace(funds, cash_minor=10), r"a credit of 0\.10 EUR for a credit of 1"),
        (lambda funds: replace(funds, direction="debit"), r"a debit of 1\.00 EUR for a credit"),
    ],
)
def test_a_payment_that_the_wallet_declines_is_not_booked(
    ledger: Ledger, staff: Staff, change: Callable[[Funds], Funds], message: str
) -> None:
    round_id = disputed(ledger, split_and_doubled())
    plan, wallet = planned(ledger, two_bets(round_id), "resettle", staff.ann), Answering(change)
    with pytest.raises(DisputeRefused, match=message):
        sign(ledger, plan, staff.ann, wallet)
    assert moved(ledger, round_id) == []
    assert cases_of(ledger, round_id)[0].state == "open"
    # What was credited before the wallet declined is cancelled.
    assert wallet.balance_minor(PLAYER) == 0


@pytest.mark.parametrize("answer", [None, "accepted", "OK", " Completed ", "held"])
def test_an_acceptance(answer: str | None) -> None:
    assert is_accepted(answer)


@pytest.mark.parametrize("answer", ["declined", "error", "pending", "", "not accepted"])
def test_no_acceptance(answer: str) -> None:
    assert not is_accepted(answer)


def test_a_void_by_a_decision_carries_each_refund_s_answer(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, begun({"s1": {"main": 100, "perfect_pairs": 20}}))
    prices = price(100, None, 100), price(20, None, 20, PAIRS)
    void = assessed(round_id, remedy("void", *prices, governs=True))
    wallet = MemoryWallet(0)
    sign(ledger, planned(ledger, void, "void", staff.ann), staff.ann, wallet)
    ending = evidence_of(ledger, round_id).events[-1].event.data
    assert isinstance(ending, RoundVoided)
    answers = [refund.funds for refund in ending.refunds]
    assert [each and (each.cash_minor, each.answer) for each in answers] == [
        (100, "accepted"),
        (20, "accepted"),
    ]
    assert wallet.balance_minor(PLAYER) == 120


# A round that goes on


def test_what_an_open_round_owes_already_is_paid_and_the_rest_left_to_the_table(
    ledger: Ledger, staff: Staff
) -> None:
    stakes = {"s1": {"main": 100, "perfect_pairs": 20}}
    events = [*begun(stakes), settled("s1", 20, 0, "perfect_pairs")]
    round_id = disputed(ledger, events)
    main, pairs = price(100, None, None), price(20, 0, 140, PAIRS)
    surplus = price(0, None, 50, ("s1", SURPLUS))
    resume = assessed(round_id, remedy("resume", main, pairs, surplus, governs=True))
    decide(ledger, resume, "resume", staff.ann)
    assert moved(ledger, round_id) == [
        BetResettled(round_id, "s1", *PAIRS, 20, 0, 140, "line", None),
        BetResettled(round_id, "s1", "s1", SURPLUS, 0, 0, 50, "line", None),
    ]
    assert len(evidence_of(ledger, round_id).events) == len(events)


# A round that cannot go on


def test_a_void_settles_what_was_won_before_the_fault(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, begun({"s1": {"main": 100, "perfect_pairs": 20}}))
    prices = price(100, None, 100), price(20, None, 140, PAIRS)
    decide(ledger, assessed(round_id, remedy("void", *prices, governs=True)), "void", staff.ann)
    *_, won, ending = (each.event.data for each in evidence_of(ledger, round_id).events)
    assert won == BetSettled("s1", *PAIRS, 20, 140, "line", None)
    assert isinstance(ending, RoundVoided)
    assert ending.refunds == [Refund("s1", "main", 100)]
    assert cases_of(ledger, round_id)[0].moved_minor == 240


def test_a_void_completes_what_was_settled_before(ledger: Ledger, staff: Staff) -> None:
    """A bet settled short is completed beside the void; one settled at nothing gets its stake."""
    stakes = {"s1": {"main": 100, "perfect_pairs": 20}, "s2": {"main": 50}}
    said = settled("s1", 20, 40, "perfect_pairs"), settled("s2", 50, 0)
    round_id = disputed(ledger, [*begun(stakes), *said])
    prices = price(100, None, 100), price(20, 40, 140, PAIRS), price(50, 0, 50, ("s2", "main"))
    decide(ledger, assessed(round_id, remedy("void", *prices, governs=True)), "void", staff.ann)
    ending = evidence_of(ledger, round_id).events[-1].event.data
    assert isinstance(ending, RoundVoided)
    assert ending.refunds == [Refund("s1", "main", 100), Refund("s2", "main", 50)]
    assert moved(ledger, round_id) == [
        BetResettled(round_id, "s1", *PAIRS, 20, 40, 140, "line", None)
    ]


def test_an_outcome_that_the_table_cannot_finish_is_settled_by_the_decision(
    ledger: Ledger, staff: Staff
) -> None:
    """No shoe was committed to, so that no table takes the round up."""
    stakes = {"s1": {"main": 100, "perfect_pairs": 20}}
    events = [each for each in begun(stakes) if not isinstance(each, ShoeCommitted)]
    round_id = disputed(ledger, [*events, settled("s1", 20, 140, "perfect_pairs")])
    prices = price(100, None, 200), price(20, 140, 140, PAIRS)
    honour = assessed(round_id, remedy("honour", *prices, governs=True))
    decide(ledger, honour, "honour", staff.ann)
    *_, main, ending = (each.event.data for each in evidence_of(ledger, round_id).events)
    assert main == BetSettled("s1", "s1", "main", 100, 200, "line", None)
    assert said(ending) == RoundClosed(120, 340)
    assert moved(ledger, round_id) == []


def test_an_outcome_that_only_the_table_knows_is_left_to_it(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, begun({"s1": {"main": 100}}))
    honour = assessed(round_id, remedy("honour", price(100, None, None), governs=True))
    decide(ledger, honour, "honour", staff.ann)
    assert not isinstance(evidence_of(ledger, round_id).events[-1].event.data, RoundClosed)


def test_a_void_of_an_ended_round_returns_stakes_in_the_case(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, split_and_doubled())
    prices = price(100, 0, 100, ("s1.1", "main")), price(200, 400, 400, ("s1.2", "main"))
    void = assessed(round_id, remedy("void", *prices, governs=True))
    sign(ledger, planned(ledger, void, "void", staff.ann), staff.ann, wallet := MemoryWallet(0))
    first, second = moved(ledger, round_id)
    assert isinstance(first, Refunded)
    assert (first.amount_minor, first.funds and first.funds.answer) == (100, "accepted")
    assert second == Refunded(round_id, "s1.2", "main", 0, None)
    assert wallet.balance_minor(PLAYER) == 100


def test_chips_that_were_laid_go_back_and_no_wallet_is_asked() -> None:
    """NBA, Disconnection Policy: before DEAL the bet is returned; nothing was debited for it."""
    ledger, wallet = new_ledger(), MemoryWallet(50_000)
    staff = hire(ledger)
    table = LiveTable(ledger, current_rules(ledger, "nba"), SETTINGS, wallet=wallet)
    live = table.open_round("p-1")
    live.place({"s1": {"main": 1_000}})
    open_case(ledger, live.round_id, "disconnection")
    evidence = gather(ledger, live.round_id)
    assessment = assess(evidence, "disconnection")
    cases = read_cases(ledger, live.round_id)
    key = key_names(ledger)[staff.ann.key_id_hex]
    plan = plan_decision(evidence, assessment, cases, "void", key=key)
    carry_out(ledger, evidence, plan, staff.ann, wallet)
    last = ledger.events(live.round_id)[-1].event.data
    assert isinstance(last, RoundVoided)
    assert last.refunds == [Refund("s1", "main", 1_000, None)]
    assert wallet.balance_minor("p-1") == 50_000
    assert not audit(ledger).findings
