"""What a report must show, found in the page, the table and the data that it is written as."""

import csv
import io
import re
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from shoeproof import audit_reports, cli
from shoeproof.audit_reports.rtp_report import from_ledger
from shoeproof.audit_reports.rtp_report.figures import QUERIES, Figures, Scope, figures
from shoeproof.audit_reports.rtp_report.from_ledger import ReportRequest
from shoeproof.audit_reports.rtp_report.model import BetReport, GameReport, RtpReport
from shoeproof.audit_reports.rtp_report.write import alike, render_rtp_report
from shoeproof.audit_reports.tables.par_sheets import ParSheet
from shoeproof.audit_reports.tables.sql import Record, query
from shoeproof.audit_reports.tables.views import open_tables
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    BetResettled,
    BetSettled,
    DealRequested,
    EventData,
    Funds,
    Refund,
    RoundOpened,
    RoundVoided,
)
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.store.kept_checkpoints import kept_checkpoints
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.rounds.catalogue import current_rules
from tests.audit_reports.helpers import (
    NBA,
    ZAPPIT,
    begun,
    closed,
    overpaid,
    play,
    report_on,
    settled,
    simple,
    the_game,
)

DASH = "\N{EN DASH}"
WITHOUT_SHUFFLE = ReportRequest(shuffle_tests=False)


@pytest.fixture
def played(ledger: Ledger) -> Ledger:
    """A ledger on disk with rounds of Zappit that can be followed."""
    simulated(ledger, "zappit", 30)
    return ledger


def simulated(ledger: Ledger, game: str, rounds: int, **settings: Any) -> None:
    rules = current_rules(ledger, game)
    table = TableSettings(
        limits=dict.fromkeys(rules.bets, (1, 10_000)), **{"currency": "EUR"} | settings
    )
    bets = {"main": 100, **dict.fromkeys(rules.side_bets, 10)}
    simulate(ledger, rules, table, {"s1": bets}, make_player("basic", 1), rounds)


def a_round(ledger: Ledger) -> list[EventData]:
    """The last round recorded that settled a single bet."""
    for stream in reversed(
        [leaf.stream for leaf in ledger.leaves() if leaf.topic == "RoundOpened"]
    ):
        events = [each.event.data for each in ledger.events(stream)]
        if sum(isinstance(each, BetSettled) for each in events) == 1:
            return events
    raise AssertionError("no round settled a single bet")


def resettled(ledger: Ledger, round_id: str, by: int) -> None:
    bet = next(
        each.event.data
        for each in ledger.events(round_id)
        if isinstance(each.event.data, BetSettled)
    )
    before = bet.paid_minor
    correction = BetResettled(
        round_id, "s1", bet.hand, "main", bet.stake_minor, before, before + by, bet.line, None
    )
    ledger.append((f"disputes/{round_id}", correction))


def figures_of(ledger: Ledger, asked: ReportRequest) -> Figures:
    with open_tables(ledger) as tables:
        return figures(tables, asked.scope, asked.by)


def page_of(report: RtpReport) -> str:
    return render_rtp_report(report, ".html").decode()


def rows_of(report: RtpReport, rows: str = "all") -> list[dict[str, str]]:
    table = csv.DictReader(io.StringIO(render_rtp_report(report, ".csv").decode()))
    return [row for row in table if row["rows"] == rows]


def main_bet(report: RtpReport, game: str = "zappit") -> BetReport:
    return the_game(report, game).bets[0]


def test_wrong_payment_and_dispute_are_steps_of_the_return(played: Ledger) -> None:
    wrong = play(played, overpaid(a_round(played), by=40))
    before = main_bet(report_on(played, WITHOUT_SHUFFLE))
    assert dict(map(_pair, before.steps))["wrong payments"] > 0
    assert "disputes" not in dict(map(_pair, before.steps))
    assert before.word == "out of range"

    resettled(played, wrong, by=-40)
    report = report_on(played, WITHOUT_SHUFFLE)
    bet = main_bet(report)
    steps = dict(map(_pair, bet.steps))
    assert steps["disputes"] == -steps["wrong payments"] == pytest.approx(-40 / 3100, abs=1e-6)
    assert sum(steps.values()) == pytest.approx(bet.row.rtp_on_initial_stakes, abs=1e-5)
    (settlement,) = [each for each in bet.readings if each.of == "settlement"]
    assert (settlement.word, bet.wrong_rounds) == ("no evidence against", 0)
    assert (bet.row.resettled_rounds, bet.row.resettled_minor) == (1, -40)
    chart = page_of(report).partition("how the return came about</title>")[2].partition("</svg>")[0]
    assert "disputes −1.29" in chart.partition("</desc>")[0]
    assert ">disputes</text>" in chart


def _pair(step: Any) -> tuple[str, float]:
    return step.label, step.value


def test_a_dispute_of_a_round_that_cannot_be_followed_is_no_step(played: Ledger) -> None:
    resettled(played, play(played, simple(0)), by=90)
    bet = main_bet(report_on(played, WITHOUT_SHUFFLE))
    assert (bet.row.rounds, bet.followed_rounds, bet.row.resettled_minor) == (31, 30, 90)
    assert "disputes" not in dict(map(_pair, bet.steps))
    returned = (bet.row.rtp_on_initial_stakes or 0) * 3100 - 90
    assert sum(step.value for step in bet.steps) == pytest.approx(returned / 3000, abs=1e-5)


def test_cash_and_incentive_money_stand_apart(ledger: Ledger) -> None:
    stakes = {"s1": {"main": 10_000}}
    opened, committed, _, card = begun(stakes)
    for cash, incentive in ((6_000, 4_000), (10_000, 0)):
        funds = Funds("debit", cash, incentive, None, None, None)
        bets = [card, settled("s1", 10_000, 0)]
        play(ledger, closed([opened, committed, DealRequested(stakes, "", funds), *bets]))
    play(ledger, simple(0, 500))
    report = report_on(ledger, WITHOUT_SHUFFLE)
    row = main_bet(report).row
    assert (row.cash_minor, row.incentive_minor, row.staked_minor) == (16_000, 4_000, 20_500)
    assert '<td class="num">160.00</td><td class="num">40.00</td></tr>' in page_of(report)
    (line,) = rows_of(report)
    assert (line["cash_minor"], line["incentive_minor"]) == ("16000", "4000")


def test_where_no_wallet_says_kinds_of_money_are_unknown(played: Ledger) -> None:
    report = report_on(played, WITHOUT_SHUFFLE)
    assert (main_bet(report).row.cash_minor, main_bet(report).row.incentive_minor) == (None, None)
    assert f'<td class="num">{DASH}</td><td class="num">{DASH}</td></tr>' in page_of(report)
    assert rows_of(report)[0]["cash_minor"] == ""


def without_fun(game: GameReport) -> GameReport:
    """What a report says of a game, but for what it reads in play for fun."""
    bets = [
        replace(
            bet,
            readings=tuple(each for each in bet.readings if each.of != "play for fun"),
            why=tuple(each.replace(", play for fun", "") for each in bet.why
                      if not each.startswith("play for fun")),
        )
        for bet in game.bets
    ]  # fmt: skip
    return replace(game, bets=tuple(bets))


def test_play_for_fun_is_counted_nowhere(played: Ledger) -> None:
    simulated(played, "nba", 5)
    asked = ReportRequest(by=(("table",), ("player", "day")), shuffle_tests=False)
    before = report_on(played, asked)
    counted = figures_of(played, asked)
    simulated(played, "zappit", 20, mode="fun", table="for fun")
    simulated(played, "nba", 20, mode="fun", table="for fun")
    events = a_round(played)
    play(played, overpaid(events, by=500))
    bets = [each for each in events if isinstance(each, BetSettled)]
    refunds = [Refund(each.hand, each.bet, each.stake_minor) for each in bets]
    play(played, [*events[: events.index(bets[0])], RoundVoided("malfunction", refunds)])
    play(played, events[:5])
    resettled(played, play(played, events), by=10)
    assert {each.mode for each in events if isinstance(each, RoundOpened)} == {"fun"}
    # They are accounted for, and their luck is held to zero.
    apart = figures_of(played, asked)
    assert sum(each.fun for each in apart.rounds) == 44
    assert apart.fun
    assert replace(apart, rounds=counted.rounds, fun=counted.fun) == counted
    after = report_on(played, asked)
    for part in ("word", "headline", "voids", "held", "wrong", "findings"):
        assert getattr(after, part) == getattr(before, part)
    assert list(map(without_fun, after.games)) == list(map(without_fun, before.games))
    extent = ("operators", "first_leaf", "last_leaf", "first_ended", "last_ended", "rules")
    for part in extent:
        assert getattr(after.provenance, part) == getattr(before.provenance, part)
    assert ">for fun<" not in page_of(after).partition("<h2>How to read this")[0]


def test_published_computed_and_approved_returns_stand_side_by_side(played: Ledger) -> None:
    sheet = ParSheet("PAR-7", date(2026, 1, 5), "ab" * 32, "zappit", ZAPPIT, "main", "98.90")
    with open_tables(played, par_sheets=[sheet]) as tables:
        report = from_ledger.report_on([played], tables, WITHOUT_SHUFFLE)
    (line,) = [row for row in rows_of(report) if row["bet"] == "main"]
    assert (line["published_percent"], float(line["computed"])) == ("98.87", 0.987149)
    approved = ("approved_percent", "par_sheet_id", "par_sheet_date", "par_sheet_sha256")
    assert [line[name] for name in approved] == ["98.90", "PAR-7", "2026-01-05", "ab" * 32]
    page = page_of(report)
    table = page.partition("<caption>What it should return</caption>")[2].partition("</table>")[0]
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", table.partition("<tbody>")[2])
    note = "the rules return 98.71%: the sheet is for other rules or another way to play"
    assert cells[:6] == ["main", "98.715%", "98.87%", "98.90%", "PAR-7, 2026-01-05", note]
    assert line["par_sheet_note"] == note
    assert f"{note}</li>" in page.partition("<h2>Findings</h2>")[2]
    assert "<b>Findings: 1</b>".replace("<b>", '<b class="alarm">') in page.partition("<table")[0]
    provenance = page.partition("<h2>Provenance</h2>")[2]
    assert "PAR sheet PAR-7, 2026-01-05" in provenance
    assert f"SHA-256 {'ab' * 32}" in provenance


def test_a_void_says_what_it_would_have_paid_and_an_open_round_what_it_holds(
    played: Ledger,
) -> None:
    events = a_round(played)
    bets = [each for each in events if isinstance(each, BetSettled)]
    refunds = [Refund(each.hand, each.bet, each.stake_minor) for each in bets]
    due = sum(each.paid_minor for each in bets)
    end = [*events[: events.index(bets[0])], RoundVoided("malfunction", refunds)]
    known = play(played, end)
    whole = [Refund("s1", "main", 300)]
    unknown = play(played, [*begun({"s1": {"main": 300}}), RoundVoided("operator", whole)])
    open_round = play(played, begun({"s1": {"main": 12_345}}))
    report = report_on(played, WITHOUT_SHUFFLE)
    assert [(each.round, each.would_have_paid_minor) for each in report.voids] == [
        (known, due), (unknown, None),
    ]  # fmt: skip
    page = page_of(report)
    voids = _rows(page, "Voided bets")
    assert [voids[0][1], voids[0][-1]] == [known, f"{due // 100}.{due % 100:02} EUR"]
    assert [voids[1][1], voids[1][-1]] == [unknown, "unknown"]
    (held,) = _rows(page, "Funds held in interrupted rounds")
    assert [held[1], held[-1]] == [open_round, "123.45 EUR"]


def _rows(page: str, heading: str) -> list[list[str]]:
    section = page.partition(f"<h2>{heading}</h2>")[2].partition("<h2>")[0]
    body = section.partition("<tbody>")[2]
    return [
        re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row) for row in body.split("<tr") if "<t" in row
    ]


def test_provenance_names_all_that_is_needed_to_make_the_figures_again(played: Ledger) -> None:
    note = sign_checkpoint(played)
    simulated(played, "nba", 2, operator="licensee-4")
    scope = Scope(datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
    report = report_on(
        played,
        ReportRequest(
            scope=scope,
            title="Returns of the year",
            operator="Casino Example Ltd",
            generated_at=datetime(2026, 12, 1, 9, tzinfo=UTC),
            shuffle_tests=False,
        ),
    )
    said = report.provenance
    (counted,) = said.ledgers
    covered = counted.checkpoint_size
    assert covered is not None
    assert covered < said.size == played.size()
    ends = ("RoundOpened", "RoundClosed")
    leaves = [place for place, leaf in enumerate(played.leaves()) if leaf.topic in ends]
    assert (said.first_leaf, said.last_leaf) == (leaves[0], leaves[-1])
    assert said.rules == {ZAPPIT: "zappit", NBA: "nba"}
    assert {"tables.sql", "sums.sql"} < set(said.queries)
    assert {f"queries/{name}.sql" for name in QUERIES} < set(said.queries)
    assert played.path is not None
    kept = next(iter(kept_checkpoints(played.path)))
    assert counted.checkpoint == kept.decode()
    assert note is not None
    page = page_of(report)
    shown = page.partition("<h2>Provenance</h2>")[2]
    assert counted.operator_key == played.public_keys()["operator"]
    for text in (
        counted.operator_key, "Casino Example Ltd", "licensee-4",
        "2020-01-01T00:00:00.000Z", "2100-01-01T00:00:00.000Z",
        "2026-12-01T09:00:00.000Z", "ledger.example/bj", f"covers the first {covered:,} leaves",
        f"rounds from leaf {leaves[0]:,} to {leaves[-1]:,}", ZAPPIT, NBA, said.software,
        kept.decode().splitlines()[2], counted.manifest_digest,
        *said.queries, *said.queries.values(),
    ):  # fmt: skip
        assert text in shown
    assert "<h1>Returns of the year</h1>" in page
    assert "<title>Returns of the year</title>" in page


def test_the_checkpoint_shown_is_the_one_that_covers_what_was_counted(ledger: Ledger) -> None:
    play(ledger, simple(200))
    note = sign_checkpoint(ledger)
    assert note is not None
    assert ledger.path is not None
    # Signed by nobody, so that `verify` reports it and it covers nothing.
    forged = note.replace(b"\n%d\n" % ledger.size(), b"\n999999\n")
    (ledger.path / "checkpoints" / "999999").write_bytes(forged)
    (said,) = report_on(ledger, ReportRequest(shuffle_tests=False)).provenance.ledgers
    assert (said.checkpoint_size, said.checkpoint) == (ledger.size(), note.decode())


def test_every_query_of_a_report_is_named_with_its_digest() -> None:
    asked: list[str] = []

    class Noting:
        def query(self, name: str, kind: type[Record], **parameters: object) -> list[Record]:
            assert query(name)
            asked.append(name)
            return []

    figures(Noting(), Scope(), [("table",)])
    assert set(asked) == set(QUERIES)


def test_each_kind_of_luck_has_its_z_and_its_confidence_sequence(ledger: Ledger) -> None:
    simulated(ledger, "zero", 1200)
    report = report_on(ledger, WITHOUT_SHUFFLE)
    bet = main_bet(report, "zero")
    luck = [part for part in bet.parts if part.term == "luck"]
    assert {"initial_deal", "hit", "hole_card", "dealer_draw"} <= {part.kind for part in luck}
    assert all(part.z is not None for part in luck)
    judged = [part for part in luck if part.within is not None]
    told = [each for each in bet.readings if each.of.startswith(("luck_", "unit_"))]
    assert (bet.word == "inconclusive") == all(each.word == "inconclusive" for each in told)
    for part in judged:
        # A sequence for all times is wider than the interval of one look.
        one_look = abs(part.per_stake / part.z) * 1.96 if part.z else 0.0
        assert one_look < (part.within or 0.0)
    page = page_of(report)
    table = page.partition("<caption>Luck and decisions of the main bet</caption>")[2]
    rows = [
        re.findall(r"<t[hd][^>]*>(?:<span[^>]*>)?([^<]*)", row)
        for row in table.partition("<tbody>")[2].partition("</tbody>")[0].split("<tr")[1:]
    ]
    assert [row[0] for row in rows] == [
        f"{part.term}: {part.kind.replace('_', ' ')}" for part in bet.parts
    ]
    for part, row in zip(bet.parts, rows, strict=True):
        if part.z is not None:
            assert row[4] == f"{part.z:+.2f}".replace("-", "−")
        assert row[3] == (DASH if part.within is None else f"±{100 * part.within:.2f}")


def test_a_word_that_rests_on_too_few_rounds_is_not_green(played: Ledger) -> None:
    report = report_on(played, WITHOUT_SHUFFLE)
    assert report.headline == "Inconclusive: too few rounds to judge Zappit Blackjack (EUR)"
    page = page_of(report)
    assert '<div class="banner "><strong>Inconclusive: too few rounds' in page
    (game,) = report.games
    assert (report.word, game.word, game.bets[0].word) == ("inconclusive",) * 3
    summary = page.partition('class="summary"')[2].partition("</table>")[0]
    assert "word good" not in summary
    assert "Too few rounds to test the dealing" in summary


def test_what_is_not_verified_is_said_first_and_in_red() -> None:
    style = Path(audit_reports.__file__).parent / "pages" / "templates" / "style.css"
    text = style.read_text("utf-8")
    (red,) = re.findall(r"--bad:#(\w{2})(\w{2})(\w{2})", text)
    assert int(red[0], 16) > 4 * max(int(each, 16) for each in red[1:])
    assert ".alarm{color:var(--bad)" in text


def test_no_template_and_no_sentence_calls_anything_fair() -> None:
    """But a game that is imagined so, to say where it would be, and what a claim is called."""
    folders = [Path(audit_reports.__file__).parent, Path(cli.__file__).parent]
    found = [
        (path.name, match)
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".html", ".py", ".sql", ".css")
        for match in re.findall(r"[^\n]*\b(?:un)?fair(?:ly|ness)?\b[^\n]*", path.read_text("utf-8"))
    ]
    allowed = re.compile(
        r"19 of 20 fair games|a fair game stays within|No word|says that a game is fair"
        r"|a fair bet may|where a fair bet's RTP lies"
        r'|"fairness": "how the cards were dealt"'
    )
    assert [each for each in found if not allowed.search(each[1])] == []


def test_what_checks_and_shoes_are_found_guilty_of_is_said_at_the_top(played: Ledger) -> None:
    sound = report_on(played, ReportRequest())
    assert (sound.faults, "Findings:" in page_of(sound)) == (0, False)
    play(played, a_round(played))
    report = report_on(played, ReportRequest())
    assert report.faults >= 2
    assert any(each.startswith("seed_repeated") for each in report.findings)
    top = page_of(report).partition("<h2>")[0]
    assert f"Findings: {report.faults}</b>" in top
    assert '<div class="banner bad">' in top
    assert "in 1 of 31 rounds an earlier round had the same seed" in top
    assert report.headline.startswith("Out of range: ")
    assert "The shoe: " in report.headline
    assert sound.headline.startswith("Inconclusive: too few rounds")


def test_a_period_without_rounds_is_said_to_have_nothing_to_find(played: Ledger) -> None:
    begin, end = datetime(2100, 1, 1, tzinfo=UTC), datetime(2100, 2, 1, tzinfo=UTC)
    page = page_of(report_on(played, ReportRequest(scope=Scope(begin, end))))
    assert "ended at or after 2100-01-01 00:00:00 UTC and before 2100-02-01 00:00:00 UTC" in page
    assert "of the whole ledger." in page.partition("<h2>")[0]
    assert "every bet was paid as the rules say, and" not in page


def test_a_report_that_claims_to_be_older_than_its_rounds_says_so(played: Ledger) -> None:
    said = "before the last round counted had ended"
    for year, is_said in ((2000, True), (2100, False)):
        at = datetime(year, 1, 1, tzinfo=UTC)
        page = page_of(report_on(played, ReportRequest(generated_at=at, shuffle_tests=False)))
        assert (said in page) == is_said


def test_a_shuffle_of_which_no_shoe_can_be_made_again_is_not_told_as_tested(
    played: Ledger,
) -> None:
    report = report_on(played, ReportRequest())
    assert report.shuffle is not None
    unseen = replace(report, shuffle=replace(report.shuffle, shoes=0, tested=13))
    top = page_of(unseen).partition("<h2>")[0]
    assert "no shoe could be re-derived" in top
    assert "of 0 shoes" not in top


def test_findings_that_are_alike_are_one_line_of_the_page() -> None:
    each = [f"commitment_broken: not the seed (leaf {leaf})" for leaf in range(12)]
    assert alike(["a: said (once) of it", *each, "b: another (leaf 7)"]) == [
        "a: said (once) of it",
        "commitment_broken: not the seed (12 times, leaves 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and so on)",
        "b: another (leaf 7)",
    ]
