"""The report on realised returns: complete, escaped, alone, and the same bytes twice."""

import csv
import io
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from shoeproof.audit_reports.errors import ReportError
from shoeproof.audit_reports.rtp_report.figures import Scope, read_slices
from shoeproof.audit_reports.rtp_report.from_ledger import ReportRequest
from shoeproof.audit_reports.rtp_report.model import RtpReport
from shoeproof.audit_reports.rtp_report.write import COLUMNS, render_rtp_report
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import BetResettled, BetSettled, EventData, RoundOpened
from shoeproof.ledger.store.round_index import is_round
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, add_rules, current_rules
from tests.audit_reports.helpers import (
    NBA,
    begun,
    closed,
    doubled_push,
    go_on,
    overpaid,
    play,
    report_on,
    settled,
    simple,
    split_and_doubled,
    the_game,
    voided,
)

BY = (("table",), ("player", "day"))
AT = datetime(2026, 12, 1, 9, tzinfo=UTC)
ASKED = ReportRequest(by=BY, operator="Casino <b>Example</b> Ltd", generated_at=AT)
SECTIONS = (
    "Findings", "Acts withheld from players", "Voided bets", "Awards and goodwill",
    "Funds held in interrupted rounds", "Shuffle",
    "How to read this", "Provenance",
)  # fmt: skip


@pytest.fixture(scope="module")
def ledger() -> Iterator[Ledger]:
    """Simulated rounds of every game, then rounds by hand that are void, open, for fun, lies."""
    with Ledger.in_memory("casino.example/report") as made:
        add_published_games(made)
        for game in ("zappit", "zero", "nba"):
            rules = current_rules(made, game)
            limits: dict[str, tuple[int | None, int | None]] = dict.fromkeys(
                rules.bets, (1, 100_000)
            )
            bets = {"main": 1000, **dict.fromkeys(rules.side_bets, 100)}
            settings = TableSettings(limits=limits, currency="EUR", table="t<1>")
            simulate(made, rules, settings, {"s1": bets}, make_player("random", 5), 20)
        play(made, voided(300))
        play(made, begun({"s1": {"main": 700}}))
        play(made, simple(200, mode="fun"))
        play(made, simple(250, currency="GBP"))
        yield made


@pytest.fixture(scope="module")
def report(ledger: Ledger) -> RtpReport:
    return report_on(ledger, ASKED)


@pytest.fixture(scope="module")
def page(report: RtpReport) -> str:
    return render_rtp_report(report, ".html").decode()


def by_hand(*rounds: list[EventData], by: tuple[tuple[str, ...], ...] = ()) -> RtpReport:
    with Ledger.in_memory("hand.example/bj") as made:
        add_published_games(made)
        for events in rounds:
            play(made, events)
        return report_on(made, ReportRequest(by=by, shuffle_tests=False))


@pytest.mark.parametrize("suffix", [".html", ".csv", ".json"])
def test_the_same_ledger_and_options_make_the_same_bytes(
    ledger: Ledger, report: RtpReport, suffix: str
) -> None:
    again = render_rtp_report(report_on(ledger, ASKED), suffix)
    assert again == render_rtp_report(report, suffix)


def test_the_page_fetches_nothing_and_escapes_names(page: str) -> None:
    assert not re.findall(r"(?:src|href)\s*=|url\(|@import|<script|<link", page)
    assert set(re.findall(r"https?://[^\"' ]+", page)) == {"http://www.w3.org/2000/svg"}
    assert "Casino &lt;b&gt;Example&lt;/b&gt; Ltd" in page
    assert "t&lt;1&gt;" in page


def test_every_section_is_there(page: str, report: RtpReport) -> None:
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    games = [f"{game.title}, {game.currency}" for game in report.games]
    assert headings == [*games, *SECTIONS]
    assert page.count("<title>") == page.count("<desc>") + 1
    for query in report.provenance.queries:
        assert query in page
    for text in ("2026-12-01T09:00:00.000Z", report.provenance.software, NBA):
        assert text in page


def test_no_word_calls_a_game_fair_and_none_is_judged_by_its_players(page: str) -> None:
    assert not re.search(r"\b(is|are|was) fair\b", page)
    assert page.index("inconclusive") < page.index("<h2>")


def test_a_doubled_push_returns_all_of_the_initial_stake_and_of_the_total() -> None:
    row = the_game(by_hand(doubled_push()), "zappit").bets[0].row
    assert (row.rtp_on_initial_stakes, row.rtp_on_total_staked) == (1.0, 1.0)
    assert (row.initial_minor, row.staked_minor, row.paid_minor) == (100, 200, 200)


def test_hands_of_a_split_are_one_round_of_three_stakes() -> None:
    row = the_game(by_hand(split_and_doubled()), "zappit").bets[0].row
    # 300 staked on an initial 100, 400 paid: a win of 100, twice the initial stake back.
    assert (row.rounds, row.hands, row.initial_minor, row.staked_minor) == (1, 2, 100, 300)
    assert (row.rtp_on_initial_stakes, row.rtp_on_total_staked) == (2.0, 1.333333)
    assert row.win_minor == -100


def test_currencies_are_never_summed(report: RtpReport) -> None:
    pounds, euros = the_game(report, "zappit", "GBP"), the_game(report, "zappit")
    assert [bet.row.rounds for bet in pounds.bets] == [1]
    assert (pounds.bets[0].row.staked_minor, pounds.bets[0].row.paid_minor) == (100, 250)
    assert euros.bets[0].row.rounds == 20


def test_two_exponents_of_one_currency_are_never_summed() -> None:
    """0.00001000 and 0.001000 BTC are 1,000 minor units each, and no common sum."""
    made = by_hand(
        simple(0, 1000, currency="BTC", exponent=8),
        simple(0, 1000, currency="BTC", exponent=6),
        simple(0, 1000, currency="BTC"),
        simple(0, 1000, currency="EUR", exponent=2),
        simple(0, 1000, currency="EUR"),
    )
    staked = {each.currency: each.bets[0].row.staked_minor for each in made.games}
    assert staked == {"BTC": 1000, "BTC:6": 1000, "BTC:8": 1000, "EUR": 2000}
    page = render_rtp_report(made, ".html").decode()
    for heading in ("BTC with 8 decimal places", "BTC with 6 decimal places"):
        assert f"Amounts in {heading}" in page
    assert "Amounts in minor units of BTC" in page


def test_voids_open_rounds_and_fun_stand_apart(report: RtpReport) -> None:
    row = the_game(report, "zappit").bets[0].row
    assert (row.voided_rounds, row.voided_minor) == (1, 300)
    assert (row.open_rounds, row.held_minor) == (1, 700)
    assert [each.staked_minor for each in report.voids] == [300]
    assert [(each.held_minor, each.currency) for each in report.held] == [(700, "EUR")]


def test_rounds_that_cannot_be_followed_are_to_be_watched_and_named(report: RtpReport) -> None:
    pounds = the_game(report, "zappit", "GBP")
    assert pounds.word == "watch"
    assert any("cannot be followed" in why for why in pounds.why)
    assert any("cannot be followed" in each for each in report.findings)


def test_unknown_rules_are_named_and_not_judged() -> None:
    report = by_hand(simple(200, digest="ab" * 32))
    (game,) = report.games
    assert (game.title, game.word) == ("unknown rules", "watch")
    assert "no readable rules of this digest" in game.why[0]
    assert any("ab" * 32 in each for each in report.findings)
    assert game.bets[0].theory is None
    page = render_rtp_report(report, ".html").decode()
    assert "unknown rules" in page


def test_an_empty_ledger_has_nothing_to_count() -> None:
    report = by_hand()
    assert report.games == ()
    assert report.headline == "No round for real money ended in this period"
    assert "nothing to count" in render_rtp_report(report, ".html").decode()
    (line,) = render_rtp_report(report, ".csv").decode().splitlines()
    assert line == ",".join(COLUMNS)


@pytest.mark.parametrize(("year", "days"), [(1, 5), (9999, 30)])
def test_a_clock_at_either_end_and_at_midnight_is_counted_by(year: int, days: int) -> None:
    with Ledger.in_memory(
        "clock.example/bj", clock=lambda: datetime(year, 1, 5, tzinfo=UTC)
    ) as made:
        add_published_games(made)
        play(made, simple(200))
        report = report_on(made, ReportRequest(by=(("week",), ("month",)), shuffle_tests=False))
    assert len(report.games[0].days) == days
    assert report.games[0].days[0].rows


def test_rules_of_a_games_own_are_called_a_variant() -> None:
    with Ledger.in_memory("variant.example/bj") as made:
        add_published_games(made)
        rules = replace(current_rules(made, "zero"), decks=6)
        add_rules(made, rules)
        settings = TableSettings(limits={"main": (1, 10_000)}, currency="EUR", table="t-9")
        simulate(made, rules, settings, {"s1": {"main": 100}}, make_player("basic", 1), 5)
        report = report_on(made, ReportRequest(shuffle_tests=False))
    [game] = report.games
    assert (game.variant, game.title) == (True, "Zero Blackjack, a variant")
    assert game.bets[0].theory is not None
    assert game.bets[0].theory.published_percent is None
    assert "Zero Blackjack, a variant (EUR)" in report.headline


def test_a_period_without_rounds_has_nothing_to_count(ledger: Ledger) -> None:
    scope = Scope(datetime(2001, 1, 1, tzinfo=UTC), datetime(2001, 2, 1, tzinfo=UTC))
    report = report_on(ledger, ReportRequest(scope=scope, shuffle_tests=False))
    assert (report.games, report.held, report.voids) == ((), (), ())
    assert report.headline == "No round for real money ended in this period"


def test_a_period_holds_the_rounds_that_ended_in_it(ledger: Ledger, report: RtpReport) -> None:
    last = datetime.fromisoformat(str(report.provenance.last_ended))
    before = report_on(ledger, ReportRequest(scope=Scope(end=last), shuffle_tests=False))
    after = report_on(ledger, ReportRequest(scope=Scope(begin=last), shuffle_tests=False))
    both = [
        sum(bet.row.rounds for game in each.games for bet in game.bets)
        for each in (before, after, report)
    ]
    assert both[0] + both[1] == both[2]


def test_an_unknown_column_is_refused_with_those_there_are() -> None:
    with pytest.raises(ReportError, match=r"'colour'; there is ledger, table, player"):
        read_slices("table,colour")
    with pytest.raises(ReportError, match="several periods"):
        read_slices("day,month")


def test_a_period_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(ReportError, match="ends before it begins"):
        Scope(datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC))


def test_slices_add_up_to_the_whole(report: RtpReport) -> None:
    for game in report.games:
        for rows in game.slices.values():
            for bet in game.bets:
                mine = [row for row in rows if row.bet == bet.row.bet]
                assert sum(row.rounds for row in mine) == bet.row.rounds
                assert sum(row.paid_minor for row in mine) == bet.row.paid_minor


def test_json_and_csv_say_what_the_page_says(report: RtpReport) -> None:
    data = json.loads(render_rtp_report(report, ".json"))
    assert data["format"] == "shoeproof/rtp-report/v3"
    rows = list(csv.DictReader(io.StringIO(render_rtp_report(report, ".csv").decode())))
    whole = [row for row in rows if row["rows"] == "all"]
    bets = [bet for game in data["games"] for bet in game["bets"]]
    assert [int(row["paid_minor"]) for row in whole] == [bet["row"]["paid_minor"] for bet in bets]
    assert [row["verdict"] for row in whole] == [bet["word"] for bet in bets]
    assert any(row["rows"] == "last 30 days: no activity" for row in rows)


SETTINGS = TableSettings(limits={"main": (1, 10_000)}, currency="EUR")


def honest_round() -> tuple[str, list[EventData]]:
    """The id of an honest round, which its shoe depends on, and its events."""
    with Ledger.in_memory("honest.example/bj") as made:
        add_published_games(made)
        rules, player = current_rules(made, "zero"), make_player("basic", 1)
        simulate(made, rules, SETTINGS, {"s1": {"main": 100}}, player, 1)
        [stream] = made.round_ids("")
        return stream, [each.event.data for each in made.events(stream)]


def test_a_wrong_payment_is_out_of_range_and_named() -> None:
    stream, events = honest_round()
    with Ledger.in_memory("lying.example/bj") as made:
        add_published_games(made)
        go_on(made, stream, overpaid(events, by=7))
        report = report_on(made, ReportRequest(shuffle_tests=False))
    bet = the_game(report, "zero").bets[0]
    assert (bet.word, bet.wrong_rounds, bet.wrong_minor) == ("out of range", 1, 7)
    assert bet.why == ("settlement: 1 bet was not paid as the rules say, 0.07 EUR too much in all",)
    assert report.headline.startswith("Out of range: Zero")
    (wrong,) = report.wrong
    assert (wrong.error_minor, wrong.table) == (7, SETTINGS.table)


def test_wrong_payments_that_cancel_are_out_of_range_all_the_same() -> None:
    with Ledger.in_memory("lying.example/bj") as made:
        add_published_games(made)
        rules = current_rules(made, "zero")
        settings = TableSettings(limits={"main": (1, 10_000)}, currency="EUR")
        stakes = {"s1": {"main": 100}, "s2": {"main": 100}}
        simulate(made, rules, settings, stakes, make_player("basic", 1), 30)
        streams = dict.fromkeys(leaf.stream for leaf in made.store.fetch(0, made.size()))
        rounds = (
            [each.event.data for each in made.events(stream)]
            for stream in streams
            if is_round(stream)
        )
        shifted = next(found for each in rounds if (found := _shifted(each, by=5)))
        play(made, shifted)
        report = report_on(made, ReportRequest(shuffle_tests=False))
    bet = the_game(report, "zero").bets[0]
    assert (bet.word, bet.wrong_rounds, bet.wrong_minor) == ("out of range", 1, 0)
    assert [(each.error_minor, each.resettled) for each in report.wrong] == [(0, False)]


def _shifted(events: list[EventData], by: int) -> list[EventData]:
    """The events with an amount paid to the last hand instead of the first, if it was paid any."""
    bets = [each for each in events if isinstance(each, BetSettled)]
    if bets[0].paid_minor < by:
        return []
    changed = {
        id(bets[0]): replace(bets[0], paid_minor=bets[0].paid_minor - by),
        id(bets[-1]): replace(bets[-1], paid_minor=bets[-1].paid_minor + by),
    }
    return [changed.get(id(each), each) for each in events]


@pytest.mark.parametrize(("corrected", "word"), [(7, "out of range"), (0, "inconclusive")])
def test_a_dispute_excuses_a_wrong_payment_only_where_it_is_paid_otherwise(
    corrected: int, word: str
) -> None:
    wrong, honest = honest_round()
    events = overpaid(honest, by=7)
    with Ledger.in_memory("lying.example/bj") as made:
        add_published_games(made)
        go_on(made, wrong, events)
        bets = [each for each in events if isinstance(each, BetSettled)]
        for bet in bets:
            paid = bet.paid_minor, bet.paid_minor - 7 + corrected
            resettled = BetResettled(
                wrong, bet.seat, bet.hand, bet.bet, bet.stake_minor, *paid, bet.line, None
            )
            made.append((f"disputes/{wrong}", resettled))
        report = report_on(made, ReportRequest(shuffle_tests=False))
    assert the_game(report, "zero").bets[0].word == word


def test_what_a_dispute_decides_is_not_held_to_the_pay_table() -> None:
    with Ledger.in_memory("disputed.example/bj") as made:
        add_published_games(made)
        rules = current_rules(made, "nba")
        settings = TableSettings(
            limits={"main": (1, 10_000), "perfect_pairs": (1, 10_000)}, currency="EUR"
        )
        stakes = {"s1": {"main": 100, "perfect_pairs": 10}}
        simulate(made, rules, settings, stakes, make_player("basic", 1), 1)
        [stream] = made.round_ids("")
        bet = next(
            data
            for each in made.events(stream)
            if isinstance(data := each.event.data, BetSettled) and data.bet == "perfect_pairs"
        )
        decided = BetResettled(
            stream, "s1", bet.hand, bet.bet, 10, bet.paid_minor, 9_999, bet.line, None
        )
        made.append((f"disputes/{stream}", decided))
        report = report_on(made, ReportRequest(shuffle_tests=False))
    [pairs] = [each for each in the_game(report, "nba").bets if each.row.bet == "perfect_pairs"]
    assert (pairs.word, pairs.row.paid_minor) == ("inconclusive", 9_999)


@pytest.mark.parametrize("paid_minor", [9_999, -5])
def test_a_bet_paid_what_its_table_cannot_pay_is_out_of_range(paid_minor: int) -> None:
    stakes = {"s1": {"main": 100, "perfect_pairs": 10}}
    events = closed(
        [
            *begun(stakes, digest=NBA),
            settled("s1", 100, 0),
            settled("s1", 10, paid_minor, bet="perfect_pairs"),
        ]
    )
    bets = {bet.row.bet: bet for bet in the_game(by_hand(events), "nba").bets}
    assert bets["perfect_pairs"].word == "out of range"
    assert any(why.startswith("pay table") for why in bets["perfect_pairs"].why)


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("=cmd()|'/c calc'!A1", "'=cmd()|'/c calc'!A1"),
        ("+1", "'+1"),
        ("-2", "'-2"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "\\t=1"),
    ],
)
def test_a_name_is_no_formula_in_a_spreadsheet_and_itself_in_json(name: str, cell: str) -> None:
    events = closed([*begun({"s1": {"main": 100}}), settled("s1", 100, 200)])
    opened = events[0]
    assert isinstance(opened, RoundOpened)
    report = by_hand([replace(opened, player=name), *events[1:]], by=(("player",),))
    rows = list(csv.DictReader(io.StringIO(render_rtp_report(report, ".csv").decode())))
    assert {row["player"] for row in rows if row["rows"] == "by player"} == {cell}
    data = json.loads(render_rtp_report(report, ".json"))
    assert data["games"][0]["slices"]["player"][0]["slice"]["player"] == name


def test_another_form_is_refused(report: RtpReport) -> None:
    with pytest.raises(ReportError, match=r"ending in \.html, \.pdf, \.csv, \.json, not '\.doc'"):
        render_rtp_report(report, ".doc")


def test_pdf_is_the_page_laid_out(report: RtpReport) -> None:
    pytest.importorskip("weasyprint")
    assert render_rtp_report(report, ".pdf").startswith(b"%PDF-")
