"""`dispute`: from a complaint to a signed decision, and every way of asking for what cannot be."""

import hashlib
import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from shoeproof.cli.commands.dispute import decide as decide_module
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import WinHeld
from shoeproof.ledger.rotation import new_key
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.cli.conftest import Result, Shoeproof
from tests.cli.test_bad_input import told
from tests.disputes import live
from tests.ledger.helpers import alter


class Place(NamedTuple):
    """A ledger with rounds to dispute: half of the wins of two were withheld, one is open."""

    path: Path
    underpaid: str
    large: str
    lost: str
    open: str


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Place:
    path = tmp_path_factory.mktemp("disputes") / "ledger"
    with Ledger.init(path, "test.example/disputes") as ledger:
        add_published_games(ledger)
        for name in ("ann", "bob"):
            new_key(ledger, name, ["staff"])
        large = {"s1": {"main": 900_000}}
        return Place(
            path,
            live.play(ledger, live.won, change=live.underpay),
            live.play(ledger, live.won, change=live.underpay, stakes=large, player="p-3"),
            live.play(ledger, live.lost, player="p-2"),
            live.open_round(ledger),
        )


@pytest.fixture
def place(made: Place, tmp_path: Path) -> Place:
    """A copy to write into."""
    return made._replace(path=Path(shutil.copytree(made.path, tmp_path / "ledger")))


@pytest.fixture
def call(shoeproof: Shoeproof, place: Place, monkeypatch: pytest.MonkeyPatch) -> Shoeproof:
    """`shoeproof dispute …` on the copy."""

    def dispute(*words: object) -> Result:
        return shoeproof("dispute", *words, "--ledger", place.path)

    return dispute


def size(place: Place) -> int:
    with Ledger.open(place.path) as ledger:
        return ledger.size()


def opened(call: Shoeproof, round_id: str, claim: str = "settlement") -> str:
    result = call("open", round_id, "--claim", claim, "--json")
    assert result.code == 0, result.err
    return str(json.loads(result.out)["case"])


# From a complaint to the decision


def test_a_case_from_its_opening_to_its_payment(call: Shoeproof, place: Place) -> None:
    screenshot = place.path.parent / "screen.png"
    screenshot.write_bytes(b"not quite a picture")
    words = ("--claim", "settlement", "--note", "paid 1:1", "--attach", screenshot, "--json")
    case = json.loads(call("open", place.underpaid[:23], *words).out)
    assert case["case"] == f"{place.underpaid}.1"
    digest = hashlib.sha256(screenshot.read_bytes()).hexdigest()
    assert case["attachments"] == [{"name": "screen.png", "sha256": digest}]

    assessed = call("assess", place.underpaid)
    assert assessed.code == 1
    lines = assessed.out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["verdict", "to", "clause"]
    assert "UPHELD" in lines[0]
    assert "resettle: " in assessed.out

    assessment = json.loads(call("assess", case["case"], "--json").out)
    (resettle,) = [each for each in assessment["remedies"] if each["governs"]]
    decided = call("decide", case["case"], "--remedy", "resettle", "--key", "ann", "--yes")
    assert decided.code == 0, decided.err
    assert "Decided: paid, " in decided.out
    (row,) = json.loads(call("list", "--all", "--json").out)["cases"]
    assert (row["state"], row["keys"]) == ("decided", ["ann"])
    assert row["amount_minor"] == resettle["moves_minor"] > 0
    after = json.loads(call("assess", place.underpaid, "--json").out)
    assert all(each["moves_minor"] == 0 for each in after["remedies"])
    assert verify(place.path).findings == []


def test_a_large_case_is_paid_by_the_second_person(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.large)
    words = ("decide", case, "--remedy", "resettle", "--yes", "--key")
    first = call(*words, "ann")
    assert "nothing is paid until a second key signs the same decision" in first.out
    waiting = call("assess", case).out
    assert "ann signed pay, " in waiting
    told(call(*words, "ann"), 2, "ann has signed this decision already", "another person")
    second = json.loads(call(*words, "bob", "--json").out)
    assert (second["state"], second["keys"]) == ("decided", ["ann", "bob"])


def test_a_sound_round_is_rejected(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.lost, "malfunction")
    assessed = call("assess", case)
    assert (assessed.code, assessed.out.splitlines()[0].split()[1]) == (0, "REJECTED")
    decided = call("decide", case, "--remedy", "honour", "--key", "bob", "--yes")
    assert "Decided: rejected, nothing paid" in decided.out


def test_an_assessment_only_reads(call: Shoeproof, place: Place) -> None:
    before = size(place)
    assert call("assess", place.open).code == 0
    call("assess", place.underpaid, "--json")
    assert size(place) == before


def test_a_screen_that_shows_another_payment(
    call: Shoeproof, shoeproof: Shoeproof, place: Place
) -> None:
    text = shoeproof("replay", place.lost, "--as-round", "--ledger", place.path).out
    file = place.path.parent / "screen.round"
    file.write_text(text.replace('"s1 main" = 0', '"s1 main" = 2000'))
    result = call("assess", place.lost, "--shown", file)
    assert result.code == 1
    assert "INCONCLUSIVE" in result.out.splitlines()[0]
    assert "The screen showed 20.00 EUR paid in all" in result.out


def test_an_adjudicator_may_go_by_what_the_screen_showed(
    call: Shoeproof, shoeproof: Shoeproof, place: Place
) -> None:
    text = shoeproof("replay", place.lost, "--as-round", "--ledger", place.path).out
    file = place.path.parent / "screen.round"
    file.write_text(text.replace('"s1 main" = 0', '"s1 main" = 2000'))
    assert call("open", place.lost, "--claim", "other", "--attach", file).code == 0
    words = ("decide", place.lost, "--remedy", "honour", "--shown", file, "--yes", "--key")
    told(call(*words, "ann"), 2, "give --reference")
    first = call(*words, "ann", "--reference", "ADJ-7")
    assert "nothing is paid until a second key" in first.out, first
    second = json.loads(call(*words, "bob", "--reference", "ADJ-7", "--json").out)
    assert (second["state"], second["amount_minor"]) == ("decided", 2_000)
    assert json.loads(shoeproof("verify", "--ledger", place.path, "--json").out)["findings"] == []


def test_a_screen_with_a_bet_the_round_does_not_have_pays_nothing(
    call: Shoeproof, shoeproof: Shoeproof, place: Place
) -> None:
    text = shoeproof("replay", place.lost, "--as-round", "--ledger", place.path).out
    file = place.path.parent / "screen.round"
    file.write_text(text + '"s7 main" = 900000\n')
    assert call("open", place.lost, "--claim", "other", "--attach", file).code == 0
    words = ("--remedy", "honour", "--shown", file, "--reference", "ADJ-7", "--key", "ann", "--yes")
    told(call("decide", place.lost, *words), 2, "main of s7, a bet that this round does not have")


def test_what_the_rules_pay_less_than_the_screen_showed_an_adjudicator_may_pay(
    call: Shoeproof, shoeproof: Shoeproof, place: Place
) -> None:
    text = shoeproof("replay", place.underpaid, "--as-round", "--ledger", place.path).out
    file = place.path.parent / "screen.round"
    file.write_text(re.sub(r'"s1 main" = \d+', '"s1 main" = 9900', text))
    opening = ("--claim", "settlement", "--attach", file)
    assert call("open", place.underpaid, *opening).code == 0
    found = json.loads(call("assess", place.underpaid, "--shown", file, "--json").out)
    assert (found["governs"], found["verdict"]) == ("refer", "upheld")
    words = ("--remedy", "honour", "--shown", file, "--reference", "ADJ-7", "--yes", "--key")
    assert call("decide", place.underpaid, *words, "ann").code == 0
    told_json = json.loads(call("decide", place.underpaid, *words, "bob", "--json").out)
    (paid,) = re.findall(r'"s1 main" = (\d+)', text)
    assert told_json["amount_minor"] == 9_900 - int(paid)


def test_a_screen_nobody_sent_decides_nothing(
    call: Shoeproof, shoeproof: Shoeproof, place: Place
) -> None:
    opened(call, place.lost)
    file = place.path.parent / "screen.round"
    file.write_text(shoeproof("replay", place.lost, "--as-round", "--ledger", place.path).out)
    words = ("--remedy", "honour", "--shown", file, "--reference", "ADJ-7", "--key", "ann", "--yes")
    told(call("decide", place.lost, *words), 2, "screen.round is not what was attached")


def test_a_person_confirms_at_the_terminal(
    call: Shoeproof, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = opened(call, place.underpaid)
    monkeypatch.setattr(decide_module, "_somebody_is_here", lambda: None)
    asked: list[str] = []

    def answer(question: str, **_: object) -> bool:
        asked.append(question)
        return len(asked) > 1

    monkeypatch.setattr("typer.confirm", answer)
    words = ("decide", case, "--remedy", "resettle", "--key", "ann")
    before = size(place)
    refused = call(*words)
    assert (refused.code, size(place)) == (2, before)
    shown = refused.err.splitlines()
    assert [line.split()[0] for line in shown[:3]] == ["decision", "evidence", "pays"]
    assert refused.err.endswith("shoeproof: nothing was recorded\n")
    assert call(*words).code == 0
    assert size(place) == before + 2


def test_a_held_win_is_released_by_a_person(
    call: Shoeproof, shoeproof: Shoeproof, place: Place
) -> None:
    with Ledger.open(place.path) as ledger:
        stakes = {"s1": {"main": 1_500_000}}
        round_id = live.play(ledger, live.won, stakes=stakes, game="zero", currency="GBP")
        held = ledger.events(f"holds/{round_id}")[0].event.data
    assert isinstance(held, WinHeld)
    words = ("table", "release", round_id, "--ledger", place.path, "--key")
    told(shoeproof(*words, "engine"), 2, "may not sign for staff")
    assert "honour" in call("assess", round_id).out
    result = shoeproof(*words, "ann")
    assert f"released {held.amount_minor // 100:,}.00" in result.out, result
    told(shoeproof(*words, "ann"), 2, "was released before")


def test_overdue_cases_come_first_and_are_marked(
    call: Shoeproof, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = opened(call, place.underpaid)
    slow = call("open", place.large, "--claim", "other", "--days", "60", "--json")
    later = datetime.now(UTC) + timedelta(days=11)
    monkeypatch.setattr(Ledger, "now", lambda _: later)
    first, second = json.loads(call("list", "--json").out)["cases"]
    assert (first["case"], first["is_overdue"], first["age_seconds"] // 86_400) == (late, True, 11)
    assert (second["case"], second["is_overdue"]) == (json.loads(slow.out)["case"], False)
    lines = call("list").out.splitlines()
    assert lines[1].split()[:4] == [late, "settlement", "OVERDUE", "11"]


def test_no_case_waits(call: Shoeproof) -> None:
    assert call("list").out.strip() == "no case waits"


# Finding


def test_a_round_is_found_by_player_hour_and_amount(call: Shoeproof, place: Place) -> None:
    now = datetime.now(UTC)
    begin, end = (f"{now + timedelta(hours=each):%Y-%m-%dT%H:%M}" for each in (13, 15))
    # What a clock on Kiritimati, always fourteen hours ahead, showed.
    words = ("--zone", "Pacific/Kiritimati", "--from", begin, "--to", end, "--stake", "9000.00")
    found = json.loads(call("find", "--player", "p-3", *words, "--json").out)
    assert place.large in [each["row"]["round"] for each in found["found"]]
    assert {each["row"]["player"] for each in found["found"]} == {"p-3"}
    text = call("find", "--player", "p-3", *words).out
    assert "+14" in text
    assert "staked 9,000.00 EUR" in text


def test_a_hand_is_found_by_its_result_and_shown_with_its_total(
    call: Shoeproof, place: Place
) -> None:
    words = ("--player", "p-2", "--bet", "main", "--result", "lost", "--zone", "Asia/Tokyo")
    (found, *_) = json.loads(call("find", *words, "--json").out)["found"]
    (hand,) = found["hands"]
    assert found["bets"] == [{"hand": "s1", "bet": "main", "result": "lost"}]
    totals = ("--total", hand["total"], "--dealer-total", found["dealer"]["total"])
    cards = ("--player-card", hand["cards"][0], "--dealer-card", found["dealer"]["cards"][0])
    text = call("find", *words, *totals, *cards).out
    assert found["row"]["round"] in text
    assert "JST" in text
    assert re.search(rf"s1 .* {hand['total']} +main lost", text)


def test_without_a_hit_the_search_claims_no_proof(call: Shoeproof, place: Place) -> None:
    result = call("find", "--player", "p-2", "--paid", "77.77")
    assert result.code == 0
    assert f"of a ledger of {size(place):,} leaves" in result.out
    assert "does not prove the round was never played" in result.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--from", "2026-01-31T20:15"), "'2026-01-31T20:15' has no time zone"),
        (("--from", "2026-01-31"), "add its offset, or --zone"),
        (("--from", "yesterday"), "'yesterday' is not a valid time"),
        (("--from", "2026-01-31T20:15", "--zone", "Malta/Europe"), "is not a valid time zone"),
        (("--from", "2026-01-31T20:15", "--zone", "../etc/passwd"), "is not a valid time zone"),
        (("--player", "p-1", "--stake", "ten"), "'ten' is not a valid amount; write it like 12.50"),
        (("--player", "p-1", "--paid", "12,50"), "'12,50' could mean two amounts"),
        (("--player", "p-1", "--paid", "-1"), "'-1' is not a valid amount"),
        (("--player", "p-1", "--paid", "nan"), "'nan' is not a valid amount"),
        (("--player", "p-1", "--card", "11s"), "'11s' is not a card"),
        (("--player", "p-1", "--dealer-card", "joker"), "'joker' is not a card"),
        (("--player", "p-1", "--bet", "red"), "no game here has a bet 'red'; there is insurance, "),
        (
            ("--player", "p-1", "--result", "drew"),
            "'drew' is not how a bet ends: write won, push, lost, void",
        ),
        (("--player", "p-1", "--total", "99"), "no hand comes to 99: give 2 to 31"),
        (("--stake", "10"), "give the player or a start time"),
        (("--from", "2026-03-02T00:00Z", "--to", "2026-03-01T00:00Z"), "ends before it begins"),
    ],
)
def test_what_cannot_be_looked_for(call: Shoeproof, words: tuple[str, ...], message: str) -> None:
    told(call("find", *words), 2, message)


# Bad input

ELSEWHERE = "01936f3c-7a10-7b3e-9c55-2f6d8a1b4c5d"


def test_a_case_where_a_round_is_asked_for_names_its_round(
    shoeproof: Shoeproof, place: Place
) -> None:
    told(
        shoeproof("replay", f"{ELSEWHERE}.1", "--ledger", place.path),
        2,
        f"{ELSEWHERE}.1 is a case about a round, which is {ELSEWHERE}",
    )


@pytest.mark.parametrize("command", ["assess", "open", "decide"])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        (ELSEWHERE, "is it another ledger's?"),
        ("0000", "has no round '0000'"),
        ("", "which round?"),
        ("01", "several rounds begin with '01'"),
    ],
)
def test_a_round_that_is_not_here(
    call: Shoeproof, place: Place, command: str, name: str, message: str
) -> None:
    more = {
        "assess": (),
        "open": ("--claim", "other"),
        "decide": ("--remedy", "void", "--key", "ann", "--yes"),
    }[command]
    before = size(place)
    told(call(command, name, *more), 2, message)
    assert size(place) == before


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (".2", "there is no case 2 about"),
        (".0", "there is no case 0"),
        (".x", "names no case"),
        (".", "names no case"),
    ],
)
def test_a_case_that_is_none(call: Shoeproof, place: Place, number: str, message: str) -> None:
    opened(call, place.underpaid)
    told(call("assess", place.underpaid + number), 2, message)


def test_a_case_nobody_opened(call: Shoeproof, place: Place) -> None:
    words = ("--remedy", "resettle", "--key", "ann", "--yes")
    told(call("decide", place.underpaid, *words), 2, "there is no case", "open one first")
    told(call("decide", f"{place.underpaid}.1", *words), 2, "nobody opened one")


def decide(call: Shoeproof, case: str, remedy: str, key: str = "ann", *more: str) -> Result:
    return call("decide", case, "--remedy", remedy, "--key", key, "--yes", *more)


def test_a_decision_that_may_not_be(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.underpaid)
    before = size(place)
    told(decide(call, case, "resume"), 2, "resume is not lawful here: the round has ended")
    told(
        decide(call, case, "refer", "ann", "--reference", " "),
        2,
        "an adjudicator's decision has a reference",
    )
    told(decide(call, case, "resettle", "engine"), 2, "may not sign for staff")
    told(decide(call, case, "resettle", "carol"), 2, "no key 'carol'", "keys/ has ann, bob,")
    told(decide(call, case, "resettle", "./nowhere.pem"), 2, "no key './nowhere.pem'")
    told(decide(call, case, "resettle", "seal"), 3, "not an Ed25519 key")
    wrong = call("decide", case, "--remedy", "apologise", "--key", "ann", "--yes")
    assert (wrong.code, "apologise" in wrong.err) == (2, True)
    told(call("decide", case, "--remedy", "resettle", "--key", "ann"), 2, "in a script, add --yes")
    assert size(place) == before


def test_a_key_of_another_ledger(call: Shoeproof, place: Place, tmp_path: Path) -> None:
    case = opened(call, place.underpaid)
    with Ledger.init(tmp_path / "other", "other.example/bj"):
        stranger = tmp_path / "other" / "keys" / "staff.pem"
    told(decide(call, case, "resettle", str(stranger)), 3, "was never added to this ledger")


def test_a_decided_case(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.underpaid)
    assert decide(call, case, "resettle").code == 0
    before = size(place)
    told(decide(call, case, "resettle", "bob"), 2, "was decided (paid", "decided only once")
    assert size(place) == before
    again = opened(call, place.underpaid)
    assert again == f"{place.underpaid}.2"
    told(decide(call, case, "resettle", "bob"), 2, "was decided")


def test_a_second_case_beside_an_open_one(call: Shoeproof, place: Place) -> None:
    opened(call, place.underpaid)
    told(call("open", place.underpaid, "--claim", "other"), 2, "is open: decide it first")


@pytest.mark.parametrize(
    ("file", "message"), [("nowhere.png", "No such file"), (".", "Is a directory")]
)
def test_an_attachment_that_cannot_be_read(
    call: Shoeproof, place: Place, file: str, message: str
) -> None:
    before = size(place)
    words = ("--claim", "other", "--attach", place.path.parent / file)
    told(call("open", place.underpaid, *words), 2, message)
    assert size(place) == before


def test_a_note_no_event_can_hold(call: Shoeproof, place: Place) -> None:
    before = size(place)
    words = ("--claim", "other", "--note", "x" * 70_000)
    told(call("open", place.underpaid, *words), 2, "not recorded")
    assert size(place) == before


def test_a_claim_that_is_none(call: Shoeproof, place: Place) -> None:
    result = call("open", place.underpaid, "--claim", "bad-luck")
    assert (result.code, "bad-luck" in result.err) == (2, True)


def test_a_screen_that_is_no_round(call: Shoeproof, place: Place) -> None:
    file = place.path.parent / "screen.round"
    file.write_bytes(b"\xff\xfe")
    told(call("assess", place.lost, "--shown", file), 3, "not UTF-8")


# A ledger that fails verification


@pytest.fixture
def forged(call: Shoeproof, place: Place) -> str:
    """A case about a round of which one payment was altered afterwards."""
    case = opened(call, place.underpaid)
    with Ledger.open(place.path) as ledger:
        settled = [
            each for each in ledger.events(place.underpaid) if each.event.type == "BetSettled"
        ]
    alter(place.path, settled[0].leaf_index, b'"paid_minor":1', b'"paid_minor":9')
    return case


def test_forged_evidence_moves_no_money_and_says_what_is_left(
    call: Shoeproof, place: Place, forged: str
) -> None:
    result = call("assess", forged)
    assert result.code == 3
    lines = result.out.splitlines()
    assert "INCONCLUSIVE" in lines[0]
    assert "NO MONEY MOVES" in lines[1]
    assert "events of this round, leaves" in result.out
    assert "verify by themselves" in result.out
    told(decide(call, forged, "resettle"), 2, "resettle is not lawful here")
    referred = decide(call, forged, "refer")
    assert "Referred" in referred.out
    told(decide(call, forged, "void", "ann", "--reference", "ADJ-1"), 2, "no money moves")


def test_a_forged_case_is_named_and_moves_no_money(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.underpaid)
    alter(place.path, size(place) - 1, b'"settlement"', b'"fairness"')
    listed = call("list")
    assert listed.code == 3
    assert f"The cases about {place.underpaid} do not verify" in listed.out
    result = decide(call, case, "resettle")
    assert result.code == 2
    assert "case" in result.err
