"""`dispute` for complaints about a span of rounds, and about a round the ledger does not hold."""

import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from shoeproof.cli.commands.dispute.complaint import plan_text
from shoeproof.ledger import Ledger
from shoeproof.ledger.keys.key import read_key
from shoeproof.ledger.rotation import new_key
from shoeproof.replay.cases.case import dispute_stream
from shoeproof.replay.disputes.complaints.decide import carry_out_complaint
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.cli.conftest import Result, Shoeproof
from tests.cli.test_bad_input import told
from tests.disputes import live
from tests.ledger.helpers import alter, tampering

ALL_TIME = ("--from", "2020-01-01", "--to", "2099-01-01", "--zone", "Europe/Malta")
SPAN = ("--player", "p-1", *ALL_TIME)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of rounds by p-1, one of them underpaid, and one lost by p-2."""
    path = tmp_path_factory.mktemp("complaints") / "ledger"
    with Ledger.init(path, "test.example/complaints") as ledger:
        add_published_games(ledger)
        for name in ("ann", "bob"):
            new_key(ledger, name, ["staff"])
        live.play(ledger, live.won)
        live.play(ledger, live.won, change=live.underpay)
        live.play(ledger, live.lost, player="p-2")
    return path


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    """A copy to write into."""
    return Path(shutil.copytree(made, tmp_path / "ledger"))


@pytest.fixture
def call(shoeproof: Shoeproof, place: Path) -> Shoeproof:
    """`shoeproof dispute …` on the copy."""

    def dispute(*words: object) -> Result:
        return shoeproof("dispute", *words, "--ledger", place)

    return dispute


@pytest.fixture
def statement(tmp_path: Path) -> Path:
    file = tmp_path / "wallet.csv"
    file.write_text("time,amount,reference\n2026-01-31T20:15:00+01:00,-25.00,tx-gone\n")
    return file


def opened(call: Shoeproof, *words: object) -> str:
    result = call("open", *words, "--json")
    assert result.code == 0, result.err
    return str(json.loads(result.out)["complaint"])


def test_a_complaint_about_a_span_is_opened_assessed_and_listed(call: Shoeproof) -> None:
    complaint = opened(call, *SPAN, "--claim", "I lost twelve running", "--note", "in one hour")
    text = call("assess", complaint)
    assert text.code == 1
    assert text.out.splitlines()[0].split() == ["verdict", "UPHELD"]
    assert "is due, by a case about each" in text.out
    assert "settlement_mismatch" in text.out
    assert f"dispute uphold {complaint}" in text.out
    found = json.loads(call("assess", complaint[:20], "--json").out)
    assert (found["complaint"], found["round"], found["bets"]) == (complaint, None, [])
    assert (found["verdict"], found["governs"], found["moves_minor"]) == ("upheld", "uphold", 0)
    assert found["due_by_rounds_minor"] == {"EUR": found["faulty_rounds"][0]["due_minor"]}
    assert {"code", "round", "seq", "text"} == set(found["findings"][0])
    assert found["clause"] == {"source": "shoeproof", "section": "Complaints", "assumed": True}
    assert {type(each["source"]) for each in found["remedies"]} == {str}
    (listed,) = json.loads(call("list", "--json").out)["cases"]
    assert (listed["case"], listed["claim"]) == (complaint, "I lost twelve running")
    assert complaint in call("list").out


def test_a_sound_span_is_rejected(call: Shoeproof) -> None:
    complaint = opened(call, "--player", "p-2", *ALL_TIME, "--claim", "rigged")
    result = call("assess", complaint)
    assert (result.code, result.out.splitlines()[0].split()[1]) == (0, "REJECTED")
    assert "Nothing was found wrong, and nothing is due." in result.out


def test_times_are_those_of_the_players_clock(call: Shoeproof) -> None:
    words = ("--player", "p-2", "--from", "2020-01-01", "--to", "2099-01-01", "--claim", "rigged")
    complaint = opened(call, *words, "--zone", "Asia/Tokyo")
    assert (
        "from 2020-01-01 00:00:00 JST to 2099-01-01 00:00:00 JST" in call("assess", complaint).out
    )


def test_a_missing_round_is_searched_for_and_never_decided(
    call: Shoeproof, statement: Path
) -> None:
    words = ("--no-round", "--player", "p-2", "--evidence", statement, "--claim", "it is gone")
    text = call("open", *words).out
    assert "Searched were the rounds of player p-2 from the beginning to now:" in text
    assert "Without a round: -25.00 at 2026-01-31 19:15:00 UTC, tx-gone." in text
    complaint = text.split()[2]
    plain = json.loads(call("assess", complaint, "--json").out)
    assert (plain["verdict"], plain["governs"]) == ("inconclusive", "refer")
    assert plain["statement"] is None
    again = json.loads(call("assess", complaint, "--evidence", statement, "--json").out)
    (line,) = again["statement"]["without_round"]
    assert (line["amount"], line["reference"]) == ("-25.00", "tx-gone")


def test_any_file_is_kept_by_its_digest(call: Shoeproof, tmp_path: Path) -> None:
    picture = tmp_path / "screen.png"
    picture.write_bytes(b"not quite a picture")
    words = ("--no-round", "--player", "p-2", "--evidence", picture, "--claim", "gone", "--json")
    (attachment,) = json.loads(call("open", *words).out)["attachments"]
    assert attachment["name"] == "screen.png"
    assert re.fullmatch("[0-9a-f]{64}", attachment["sha256"])


def test_a_file_that_was_not_attached_is_no_evidence(call: Shoeproof, statement: Path) -> None:
    complaint = opened(call, *SPAN, "--claim", "gone")
    told(call("assess", complaint, "--evidence", statement), 2, "wallet.csv is not what was")


def test_a_forged_round_leaves_the_complaint_undecided(call: Shoeproof, place: Path) -> None:
    with Ledger.open(place) as ledger:
        (row,) = ledger.rounds(player="p-2", limit=1)
    alter(place, row.last_leaf, b'"total_paid_minor":', b'"total_paid_minor":1')
    complaint = opened(call, "--player", "p-2", *ALL_TIME, "--claim", "rigged")
    result = call("assess", complaint)
    assert (result.code, result.out.splitlines()[0].split()[1]) == (3, "INCONCLUSIVE")


def test_a_complaint_is_decided_by_the_words_its_assessment_names(call: Shoeproof) -> None:
    complaint = opened(call, *SPAN, "--claim", "I lost twelve running")
    told(call("void", complaint, "--key", "ann", "--yes"), 2, "not about one round can be")
    upheld = call("uphold", complaint, "--key", "ann", "--yes")
    assert "Opened a case about the round" in upheld.out, upheld.err
    told(call("uphold", complaint, "--key", "ann", "--yes"), 2, "is decided only once")
    fair = opened(call, "--player", "p-2", *ALL_TIME, "--claim", "rigged")
    assert "Decided: rejected, nothing paid" in call("reject", fair, "--key", "ann", "--yes").out


def test_a_sum_for_a_complaint_is_awarded_by_two_persons(call: Shoeproof) -> None:
    complaint = opened(call, "--player", "p-2", *ALL_TIME, "--claim", "rigged")
    words = ("award", complaint, "20.00", "--reference", "ADR-1", "--yes", "--key")
    assert "until a second person signs" in call(*words, "ann").out
    assert "20.00 EUR" in call("list").out
    (waiting,) = json.loads(call("list", "--json").out)["cases"]
    assert (waiting["amount_minor"], waiting["currency"]) == (2_000, "EUR")
    assert "Decided: awarded, 20.00 EUR paid" in call(*words, "bob").out
    assert "20.00 EUR" in call("list", "--all").out


def test_a_complaint_is_not_paid_where_a_leaf_is_missing(call: Shoeproof, place: Path) -> None:
    complaint = opened(call, "--player", "p-2", *ALL_TIME, "--claim", "rigged")
    other = opened(call, "--player", "p-1", *ALL_TIME, "--claim", "rigged")
    with tampering(place) as database:
        rows = "SELECT event_rowid FROM stored_events WHERE originator_id = ?"
        name = (dispute_stream(other),)
        database.execute(f"DELETE FROM leaves WHERE event_rowid IN ({rows})", name)
    words = ("goodwill", complaint, "5", "--note", "sorry", "--key", "ann", "--yes")
    told(call(*words), 2, "leaves of this ledger are missing")


def test_an_award_in_a_currency_the_player_never_played_in_is_refused(
    call: Shoeproof, place: Path
) -> None:
    complaint = opened(call, "--player", "p-2", *ALL_TIME, "--claim", "rigged")
    words = ("20.00", "--reference", "ADR-1", "--yes", "--key", "ann")
    said = "the rounds are in EUR, not in eur"
    told(call("award", complaint, *words, "--currency", "eur"), 2, said)
    told(call("award", complaint, *words, "--bet", "s1:main"), 2, "names no bet: leave out --bet")
    with Ledger.open(place) as ledger:
        round_id = ledger.round_ids("")[0]
    assert call("open", round_id, "--claim", "other").code == 0
    told(call("award", round_id, *words, "--currency", "GBP"), 2, "is in EUR, not in GBP")


def test_an_exponent_that_only_the_rounds_record_places_the_point_of_unpaid_goodwill(
    shoeproof: Shoeproof, tmp_path: Path
) -> None:
    path = tmp_path / "coins"
    settings = msgspec.structs.replace(live.SETTINGS, currency="BTC", exponent=8)
    with Ledger.init(path, "test.example/coins") as ledger:
        add_published_games(ledger)
        rules = current_rules(ledger, "nba")
        simulate(ledger, rules, settings, {"s1": {"main": 1_000}}, make_player("basic", 1), 1)
        player = ledger.rounds(limit=1)[0].player
    where = ("--ledger", path)
    words = ("--player", player, *ALL_TIME, "--claim", "rigged", "--json", *where)
    complaint = json.loads(shoeproof("dispute", "open", *words).out)["complaint"]
    gift = ("goodwill", complaint, "0.5", "--note", "sorry: late", "--yes", "--key", "staff")
    result = shoeproof("dispute", *gift, *where)
    assert result.code == 0, result.err
    assert "0.50000000 BTC" in shoeproof("dispute", "list", *where).out


def test_an_award_is_in_the_currency_of_the_rounds(call: Shoeproof, place: Path) -> None:
    complaint = opened(call, "--player", "p-2", *ALL_TIME, "--claim", "rigged")
    with Ledger.open(place) as ledger:
        for name in ("ann", "bob"):
            signer = ledger.signer_of(read_key(place / "keys" / f"{name}.pem", None))
            plan = plan_text(
                ledger, complaint, "award", signer, reference="ADR-1", sum_text="20.00"
            )
            carry_out_complaint(ledger, plan, signer)
    (row,) = json.loads(call("list", "--all", "--json").out)["cases"]
    assert (row["state"], row["amount_minor"], row["keys"]) == ("decided", 2_000, ["ann", "bob"])
    assert "was decided: awarded" in call("assess", complaint).out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give a round, or --player with --from and --to or --no-round"),
        (("0193", "--player", "p-1"), "give a round, or --player"),
        (("--from", "2020-01-01"), "which player?"),
        (("--player", "", "--no-round"), "which player?"),
        (("--player", " \t", *ALL_TIME), "which player?"),
        (("--player", "p-1"), "say which time the player means: give --from and --to"),
        (("--player", "p-1", *ALL_TIME[:4]), "'2020-01-01' has no time zone"),
        (("--player", "p-1", *ALL_TIME[:4], "--zone", "Malta/Europe"), "is not a valid time zone"),
        (("--player", "nobody", *ALL_TIME), "this ledger has no round of the player 'nobody'"),
        (
            ("--player", "p-1", "--from", "2020-01-01Z", "--to", "2020-02-01Z"),
            "'2020-01-01Z' is not a valid time",
        ),
        (
            ("--player", "p-1", "--from", "2020-01-02T00:00Z", "--to", "2020-01-01T00:00Z"),
            "ends before it begins",
        ),
        (
            ("--player", "p-1", "--from", "2020-01-01T00:00Z", "--to", "2020-02-01T00:00Z"),
            "'p-1' played no round between 2020-01-01 00:00:00 UTC and 2020-02-01 00:00:00 UTC",
        ),
        (("--player", "p-1", "--no-round"), "give a file with --evidence"),
        (("--player", "p-1", "--no-round", "--evidence", "none.csv"), "none.csv: No such file"),
    ],
)
def test_what_cannot_be_opened(call: Shoeproof, words: tuple[str, ...], message: str) -> None:
    told(call("open", *words, "--claim", "rigged"), 2, message)


def test_a_statement_that_cannot_be_read(call: Shoeproof, tmp_path: Path) -> None:
    file = tmp_path / "wallet.csv"
    file.write_text("when,how much\n")
    words = ("--player", "p-1", "--no-round", "--evidence", file, "--claim", "gone")
    told(call("open", *words), 2, "wallet.csv has no column 'time'")


def test_a_complaint_received_today_is_no_older_than_its_first_round(call: Shoeproof) -> None:
    words = ("--player", "p-2", "--from", "2020-01-01", "--to", "2099-01-01", "--zone", "UTC")
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    result = call("open", *words, "--claim", "rigged", "--received", today, "--json")
    row = json.loads(result.out)
    assert (row["received_at"][:10], row["is_late"]) == (today, False)


@pytest.mark.parametrize(
    ("received", "message"),
    [
        ("2098-01-01", "received in the future"),
        ("2020-01-02", "the first of its rounds was opened after"),
    ],
)
def test_a_complaint_about_a_span_is_not_received_before_it_or_in_the_future(
    call: Shoeproof, received: str, message: str
) -> None:
    told(call("open", *SPAN, "--claim", "rigged", "--received", received), 2, message)


def test_a_complaint_about_a_span_opened_late_says_so(
    call: Shoeproof, monkeypatch: pytest.MonkeyPatch
) -> None:
    received = datetime.now(UTC)
    later = received + timedelta(days=11)
    monkeypatch.setattr(Ledger, "now", lambda _: later)
    result = call("open", *SPAN, "--claim", "rigged", "--received", received.isoformat())
    assert "LATE: the answer was due by" in result.out, result.err
    (row,) = json.loads(call("list", "--json").out)["cases"]
    assert (row["is_late"], row["is_overdue"]) == (True, True)


@pytest.mark.parametrize("number", ["", ".1"])
def test_a_report_on_a_complaint_is_refused_with_what_to_ask_instead(
    call: Shoeproof, tmp_path: Path, number: str
) -> None:
    complaint = opened(call, *SPAN, "--claim", "rigged")
    file = tmp_path / "c.txt"
    for name in (complaint, complaint[:20]):
        result = call("report", name + number, "-o", file)
        told(result, 2, "is a complaint", "about one round", f"`dispute assess {complaint}`")
    assert not file.exists()


def test_a_round_takes_no_claim_in_other_words(call: Shoeproof, place: Path) -> None:
    with Ledger.open(place) as ledger:
        (row,) = ledger.rounds(limit=1)
    told(call("open", row.round, "--claim", "rigged"), 2, "'rigged' is not a claim about a round")
