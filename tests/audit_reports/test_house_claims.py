"""The house's own claims in the verdict: rigged ledgers are named, honest ones beside them not.

Rounds are those of honest live tables; what the house then claims of them is changed.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import comb
from random import Random
from types import MappingProxyType

import pytest
from msgspec.structs import replace

from shoeproof.audit_reports.rtp_report.apart import read_voids
from shoeproof.audit_reports.rtp_report.from_ledger import ReportRequest
from shoeproof.audit_reports.rtp_report.model import BetReport, RtpReport
from shoeproof.audit_reports.rtp_report.records import VoidOutcomes
from shoeproof.audit_reports.rtp_report.write import render_rtp_report
from shoeproof.audit_reports.statistics.exact import two_sided_hypergeometric
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    BetSettled,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    EventData,
    Funds,
    Refund,
    Refunded,
    RoundClosed,
    RoundVoided,
    ShoeCommitted,
)
from shoeproof.replay.audit.one_by_one import audit
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.audit_reports.helpers import go_on, report_on, the_game
from tests.bulk.rounds import honest_round
from tests.drawn import shared

Round = Sequence[EventData]
STREAMS: dict[str, str] = {}
"""The id of each honest round, which its shoe depends on, by what its shoe is committed to."""
STAKES = MappingProxyType({"s1": {"main": 1000}})


@cache
def honest(game: str, rounds: int) -> tuple[Round, ...]:
    """Honest rounds of one seat that stakes 10.00."""
    random = Random(5)
    with shared(f"honest {game} {rounds}"), Ledger.in_memory("honest.example/bj") as made:
        add_published_games(made)
        found = [honest_round(made, game, STAKES, random) for _ in range(rounds)]
    events = [tuple(each.event.data for each in of_round) for of_round in found]
    STREAMS.update(
        (committed(mine), of_round[0].event.stream)
        for mine, of_round in zip(events, found, strict=True)
    )
    return tuple(events)


def committed(events: Iterable[EventData]) -> str:
    return next(each.commitment for each in events if isinstance(each, ShoeCommitted))


def report_of(rounds: Iterable[Iterable[EventData]]) -> RtpReport:
    with Ledger.in_memory("tested.example/bj") as made:
        add_published_games(made)
        for events in rounds:
            told = list(events)
            go_on(made, STREAMS[committed(told)], told)
        return report_on(made, ReportRequest(shuffle_tests=False))


def main_bet(report: RtpReport, game: str) -> BetReport:
    return the_game(report, game).bets[0]


def changed(events: Round, change: Callable[[EventData], EventData]) -> Round:
    return [change(each) for each in events]


def settled(events: Round) -> list[BetSettled]:
    return [each for each in events if isinstance(each, BetSettled)]


def repaid(events: Round, paid: Callable[[BetSettled], int]) -> Round:
    """A round whose bets are paid otherwise, with the total that comes to."""
    total = sum(map(paid, settled(events)))

    def change(data: EventData) -> EventData:
        if isinstance(data, BetSettled):
            return replace(data, paid_minor=paid(data))
        return replace(data, total_paid_minor=total) if isinstance(data, RoundClosed) else data

    return changed(events, change)


# Acts withheld


def without_double(data: EventData, **barred: str) -> EventData:
    if not isinstance(data, DecisionOffered) or "double" not in data.legal:
        return data
    legal = [act for act in data.legal if act != "double"]
    return replace(data, legal=legal, barred={**data.barred, **barred})


def never_doubled(rounds: Iterable[Round]) -> list[Round]:
    return [
        each
        for each in rounds
        if not any(isinstance(data, DecisionMade) and data.act == "double" for data in each)
    ]


def offers_of_double(rounds: Iterable[Round]) -> int:
    return sum(
        isinstance(data, DecisionOffered) and "double" in data.legal
        for each in rounds
        for data in each
    )


@pytest.mark.parametrize("barred", [{}, {"double": "funds"}, {"double": "maintenance"}])
def test_doubles_withheld_or_barred_with_no_balance_are_out_of_range(
    barred: dict[str, str],
) -> None:
    rounds = never_doubled(honest("zero", 180))
    count = offers_of_double(rounds)
    report = report_of(
        changed(each, lambda data: without_double(data, **barred)) for each in rounds
    )
    bet = main_bet(report, "zero")
    assert count > 3
    assert bet.word == "out of range"
    (why,) = [each for each in bet.why if each.startswith("offers")]
    assert f"double was withheld in {count:,} of {count:,} offers" in why
    assert ("no balance confirms" in why) is (barred.get("double") == "funds")
    assert any("double was withheld" in each for each in report.findings)
    assert f"withheld in {count:,} of" in render_rtp_report(report, ".html").decode()


def with_balance(data: EventData, balance_minor: int) -> EventData:
    if not isinstance(data, DealRequested):
        return data
    funds = Funds("debit", 1000, 0, None, "accepted", balance_minor)
    return replace(data, funds=funds)


@pytest.mark.parametrize(("balance_minor", "word"), [(999, "no evidence"), (1000, "out of range")])
def test_a_bar_for_funds_is_believed_where_the_balance_bears_it_out(
    balance_minor: int, word: str
) -> None:
    rounds = [
        changed(
            each, lambda data: without_double(with_balance(data, balance_minor), double="funds")
        )
        for each in never_doubled(honest("zero", 180))
    ]
    report = report_of(rounds)
    whys = [each for each in main_bet(report, "zero").why if each.startswith("offers")]
    assert bool(whys) is (word == "out of range")
    # The rate is shown whether or not it is believed.
    (double,) = [each for each in report.offers if each.act == "double"]
    assert double.believed + double.unborne == offers_of_double(never_doubled(honest("zero", 180)))
    assert (double.believed > 0) is (balance_minor == 999)


def test_honest_offers_are_no_reading() -> None:
    report = report_of(honest("zero", 60))
    assert not report.offers
    assert main_bet(report, "zero").word == "inconclusive"


# Cash-out values


def shown_at(events: Round, change: Callable[[int], int]) -> Round:
    """A round whose cash-out offers show other values, at which hands are sold."""

    def offer(data: EventData) -> EventData:
        if isinstance(data, DecisionOffered) and data.cash_out_minor is not None:
            return replace(data, cash_out_minor=change(data.cash_out_minor))
        return data

    def paid(bet: BetSettled) -> int:
        return change(bet.paid_minor) if bet.line == "cash_out" else bet.paid_minor

    return changed(repaid(events, paid), offer)


def values_shown(rounds: Iterable[Round]) -> list[int]:
    return [
        data.cash_out_minor
        for each in rounds
        for data in each
        if isinstance(data, DecisionOffered) and data.cash_out_minor is not None
    ]


def skill_of_cash_out(bet: BetReport) -> float:
    return sum(each.total_minor for each in bet.parts if each.kind == "cash_out")


@pytest.mark.parametrize(("percent", "which"), [(98, "below"), (102, "above")])
def test_cash_out_offers_off_the_table_are_the_houses_error_and_nobodys_skill(
    percent: int, which: str
) -> None:
    rounds = honest("nba", 60)
    rigged = [shown_at(each, lambda minor: minor * percent // 100) for each in rounds]
    before, after = values_shown(rounds), values_shown(rigged)
    wrong = [(new - old) for old, new in zip(before, after, strict=True) if new != old]
    sold = [bet for each in rounds for bet in settled(each) if bet.line == "cash_out"]
    gap = sum(bet.paid_minor * percent // 100 - bet.paid_minor for bet in sold)
    report, fair = report_of(rigged), report_of(rounds)
    bet, control = main_bet(report, "nba"), main_bet(fair, "nba")
    assert sold
    assert bet.word == "out of range"
    (why,) = [each for each in bet.why if each.startswith("cash-out offers")]
    amount = f"{abs(sum(wrong)) / 100:,.2f} EUR"
    assert f"{len(wrong):,} offers {amount} {which} the rules' table in all" in why
    assert bet.wrong_minor == gap
    assert skill_of_cash_out(bet) == pytest.approx(skill_of_cash_out(control))
    assert control.word == "inconclusive"
    assert control.wrong_minor == 0


# Voids


def voided(events: Round) -> Round:
    refunds = [Refund(bet.hand, bet.bet, bet.stake_minor) for bet in settled(events)]
    kept = [each for each in events if not isinstance(each, BetSettled | RoundClosed)]
    return [*kept, RoundVoided("malfunction", refunds)]


def wins(events: Round) -> bool:
    bets = [each for each in settled(events) if each.bet == "main"]
    return sum(each.paid_minor - each.stake_minor for each in bets) > 0


def test_voids_of_wins_alone_are_out_of_range_with_what_they_would_have_paid() -> None:
    rounds = honest("zero", 180)
    won = [number for number, each in enumerate(rounds) if wins(each)]
    taken = set(won[::2])
    report = report_of(voided(each) if n in taken else each for n, each in enumerate(rounds))
    bet = main_bet(report, "zero")
    assert len(taken) >= 15
    assert bet.word == "out of range"
    (why,) = [each for each in bet.why if each.startswith("voids")]
    assert f"{len(taken)} of {len(taken)} voided bets that were decided would have won" in why
    mains = [bet for n in taken for bet in settled(rounds[n]) if bet.bet == "main"]
    paid = sum(each.paid_minor for each in mains)
    assert f"would have been paid {paid / 100:,.2f} EUR" in why
    assert any("would have been paid" in each for each in report.findings)


@pytest.mark.parametrize("share", [0, 1])
def test_a_cent_refunded_on_lost_rounds_leaves_them_in_the_return_and_is_found(share: int) -> None:
    """Beside it the same ledger without a refund: the return moves by the cents and no more."""
    rounds = honest("zero", 60)
    lost = [each for each in rounds if not sum(bet.paid_minor for bet in settled(each))]
    with Ledger.in_memory("refunded.example/bj") as made:
        add_published_games(made)
        for events in rounds:
            round_id = STREAMS[committed(events)]
            go_on(made, round_id, events)
            if share and events in lost:
                hand = next(each.hand for each in settled(events) if each.bet == "main")
                cent = Refunded(round_id, hand, "main", 1, None)
                made.append((f"disputes/{round_id}", cent))
        report = report_on(made, ReportRequest(shuffle_tests=False))
        codes = {each.code for each in audit(made).findings}
    bet = main_bet(report, "zero")
    mains = [bet for each in rounds for bet in settled(each) if bet.bet == "main"]
    assert (bet.row.rounds, bet.row.voided_rounds) == (60, 0)
    assert bet.row.paid_minor == sum(each.paid_minor for each in mains) + share * len(lost)
    assert report.faults == share
    # What verdicts say nothing of must not hide behind them.
    assert report.headline.startswith("1 finding in what was recorded. By the ") is bool(share)
    assert codes == ({"payment_undecided", "refund_mismatch"} if share else set())
    assert any(f"in {len(lost):,} rounds" in each for each in report.findings) is bool(share)


def test_a_cent_refunded_excuses_no_wrong_payment() -> None:
    rounds = [each for each in honest("zero", 60) if wins(each) and len(settled(each)) == 1]
    with Ledger.in_memory("refunded.example/bj") as made:
        add_published_games(made)
        for events in rounds:
            round_id = STREAMS[committed(events)]
            go_on(made, round_id, repaid(events, lambda bet: 0))
            hand = next(each.hand for each in settled(events) if each.bet == "main")
            cent = Refunded(round_id, hand, "main", 1, None)
            made.append((f"disputes/{round_id}", cent))
        bet = main_bet(report_on(made, ReportRequest(shuffle_tests=False)), "zero")
    assert bet.word == "out of range"
    assert bet.wrong_rounds == len(rounds) > 0


def test_voids_that_do_not_look_at_the_outcome_are_not_out_of_range() -> None:
    rounds = honest("zero", 180)
    report = report_of(voided(each) if n % 5 == 0 else each for n, each in enumerate(rounds))
    bet = main_bet(report, "zero")
    assert bet.word == "inconclusive"
    assert any(each.startswith("voids: ") for each in bet.why)


def test_a_void_before_the_dealers_cards_is_judged_by_the_shoe_that_was_committed_to() -> None:
    """The house that knows the shoe need not wait for the card that busts it."""
    rounds = honest("zero", 60)
    cut = []
    for each in rounds:
        decided = [n for n, data in enumerate(each) if isinstance(data, DecisionMade)]
        whole = voided(each)
        reveal = [data for data in whole if type(data).__name__ in ("ShoeRevealed", "RoundVoided")]
        cut.append([*each[: decided[-1] + 1], *reveal] if decided else each)
    report = report_of(cut)
    known = [each for each in report.voids if each.would_have_paid_minor is not None]
    assert len(known) == len(report.voids) > 30


@pytest.mark.parametrize(("won", "drawn", "other_won", "others"), [
    (5, 5, 40, 100), (0, 7, 3, 9), (3, 6, 10, 20), (1, 1, 0, 0), (0, 0, 4, 9),
])  # fmt: skip
def test_the_test_of_two_rates_is_that_by_counting_subsets(
    won: int, drawn: int, other_won: int, others: int
) -> None:
    wins_in_all, size = won + other_won, drawn + others
    chances = [comb(wins_in_all, k) * comb(size - wins_in_all, drawn - k) for k in range(drawn + 1)]
    whole = comb(size, drawn)
    lower, upper = sum(chances[: won + 1]) / whole, sum(chances[won:]) / whole
    expected = min(1.0, 2 * min(lower, upper))
    assert two_sided_hypergeometric(won, drawn, other_won, others) == pytest.approx(expected)


def test_a_look_after_every_void_of_a_year_raises_few_false_alarms() -> None:
    """400 years of 300 voids each at a win rate of 43%: at most 5% may ever be out of range."""
    random = Random(3)
    alarms = 0
    for _ in range(400):
        won = 0
        for ended in range(1, 301):
            won += random.random() < 0.43
            if ended % 10:
                continue
            outcome = VoidOutcomes(
                game="zero", rules_digest="", currency="EUR", bet="main", voided=ended,
                known=ended, known_staked_minor=0, known_paid_minor=0, ended=ended, won=won,
                played=100_000, played_won=43_000,
            )  # fmt: skip
            if read_voids(outcome, 0.05).word == "out of range":
                alarms += 1
                break
    assert alarms <= 20


# Amounts


def test_wins_a_cent_short_are_too_little_and_never_netted_with_what_was_too_much() -> None:
    rounds = honest("zero", 180)
    won = [n for n, each in enumerate(rounds) if wins(each) and len(settled(each)) == 1]
    short, over = set(won[:14]), set(won[14:16])

    def paid(number: int) -> Callable[[BetSettled], int]:
        return lambda bet: bet.paid_minor - (number in short) + 7 * (number in over)

    report = report_of(repaid(each, paid(n)) for n, each in enumerate(rounds))
    bet = main_bet(report, "zero")
    assert (bet.wrong_rounds, bet.underpaid_minor, bet.overpaid_minor) == (16, 14, 14)
    says = "0.14 EUR too little and 0.14 EUR too much in all"
    assert bet.why == (f"settlement: 16 bets were not paid as the rules say, {says}",)
    assert any(each.endswith(says) for each in report.findings)
    alone = report_of(repaid(each, lambda bet: bet.paid_minor - 1) for each in rounds if wins(each))
    assert "EUR too little in all" in main_bet(alone, "zero").why[0]
    assert "−" not in main_bet(alone, "zero").why[0]
