"""What a fault owes, decided in bulk: a case of its own each, two keys, capped, and never twice."""

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from shoeproof.audit_reports.fault_report.from_ledger import FaultRequest, fault_report
from shoeproof.cli.input.options import staff_signer
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import BetResettled
from shoeproof.ledger.rotation import new_key
from shoeproof.replay.bulk.audit import audit
from shoeproof.replay.cases.case import Case, read_cases
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.decide import plan_payment
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.disputes.in_bulk import (
    KEYS,
    Caps,
    DecidedInBulk,
    Share,
    Step,
    carry_out_shares,
    hold_to_caps,
    note_of,
    prepare,
    totals,
)
from shoeproof.replay.disputes.record import carry_out, open_case
from shoeproof.replay.errors import DisputeRefused
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.faults.floor import Booked, both_ways, new_floor
from tests.ledger.faults import AFTER, BEFORE
from tests.replay.helpers import PROJECT

FAULT = "build:1.4.2"
NOTE = note_of(FAULT, 10, "ab" * 32)
ENOUGH = Caps({"EUR": 10**9})


@pytest.fixture(scope="module")
def rigged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int]]:
    """A ledger on disk of which one build pays wrongly, and what it is short of by round."""
    path = tmp_path_factory.mktemp("bulk") / "ledger"
    with Ledger.init(path, "faults.example/bulk") as ledger:
        add_published_games(ledger)
        for name in ("ann", "bob"):
            new_key(ledger, name, ["staff"])
        floor = new_floor(ledger)
        floor.play(6, build="1.4.1")
        while len(short(floor.booked)) < 4:
            floor.play(1, rig=both_ways, build="1.4.2")
    return path, short(floor.booked)


def short(booked: list[Booked]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for each in booked:
        sums[each.round] += each.short_minor
    return {round_id: minor for round_id, minor in sums.items() if minor}


@pytest.fixture
def owed(rigged: tuple[Path, dict[str, int]], tmp_path: Path) -> tuple[Path, dict[str, int]]:
    """A copy to write into."""
    return Path(shutil.copytree(rigged[0], tmp_path / "ledger")), rigged[1]


def listed(ledger: Ledger, person: str) -> list[Share]:
    report = fault_report(ledger, FaultRequest(FAULT))
    owing = [each.round for each in report.wrong if each.owed_minor or each.waits != "nobody"]
    return prepare(ledger, owing, person)


def run(path: Path, person: str, caps: Caps = ENOUGH) -> DecidedInBulk:
    with Ledger.open(path) as ledger:
        shares = listed(ledger, person)
        return carry_out_shares(ledger, shares, caps, staff_signer(ledger, person), NOTE)


def cases_of(path: Path, rounds: list[str]) -> list[Case]:
    with Ledger.open(path) as ledger:
        return [case for each in rounds for case in read_cases(ledger, each)]


def paid(path: Path) -> Counter[str]:
    """What the ledger's resettlements moved by round, read from its leaves alone."""
    sums: Counter[str] = Counter()
    with Ledger.open(path) as ledger:
        for stream in ledger.disputed():
            for recorded in ledger.events(stream):
                data = recorded.event.data
                if isinstance(data, BetResettled):
                    sums[data.round] += data.paid_minor - data.paid_before_minor
    return sums


def test_the_first_person_signs_and_the_second_pays(
    owed: tuple[Path, dict[str, int]],
) -> None:
    path, due = owed
    first = run(path, "ann")
    assert (len(first.signed), first.paid, first.failed) == (len(due), (), ())
    assert paid(path) == {}
    again = run(path, "ann")
    assert (again.signed, again.paid) == ((), ())
    second = run(path, "bob")
    assert {each.round: each.amount_minor for each in second.paid} == due
    assert paid(path) == due
    cases = cases_of(path, list(due))
    assert [case.number for case in cases] == [1] * len(due)
    for case in cases:
        assert case.state == "decided"
        assert case.decisions[-1].keys == ("ann", "bob")
        assert case.decisions[-1].data.keys_needed == KEYS
        assert case.opened.note == NOTE
    assert run(path, "bob") == DecidedInBulk((), (), ())


def test_the_decisions_stand_before_an_audit(owed: tuple[Path, dict[str, int]]) -> None:
    path, _ = owed
    with Ledger.open(path) as ledger:
        before = audit(ledger, workers=1)
    for person in ("ann", "bob"):
        run(path, person)
    with Ledger.open(path) as ledger:
        after = audit(ledger, workers=1)
    assert after.rounds.findings == before.rounds.findings
    assert after.integrity.findings == ()


def test_nothing_is_recorded_above_a_cap_or_without_one(
    owed: tuple[Path, dict[str, int]],
) -> None:
    path, due = owed
    size = size_of(path)
    total = sum(due.values())
    for caps, message in (
        (Caps({"EUR": total - 1}), "above the cap of"),
        (Caps({"GBP": 10**9}), "give a cap"),
        (Caps({"EUR": total}, len(due) - 1), "above the cap of"),
    ):
        with pytest.raises(DisputeRefused, match=message):
            run(path, "ann", caps)
    assert size_of(path) == size
    assert len(run(path, "ann", Caps({"EUR": total}, len(due))).signed) == len(due)


def size_of(path: Path) -> int:
    with Ledger.open(path) as ledger:
        return ledger.size()


def test_a_case_that_somebody_else_opened_is_left_to_them(
    owed: tuple[Path, dict[str, int]],
) -> None:
    path, due = owed
    mine = next(iter(due))
    with Ledger.open(path) as ledger:
        open_case(ledger, mine, "settlement", note="I was paid too little")
    outcome = run(path, "ann")
    assert {each.round for each in outcome.signed} == due.keys() - {mine}
    with Ledger.open(path) as ledger:
        (left,) = [each for each in listed(ledger, "ann") if each.step == "left"]
    assert left.round == mine
    assert "waits for its own decision" in left.why


def test_a_round_that_went_on_meanwhile_is_left_and_named(
    owed: tuple[Path, dict[str, int]],
) -> None:
    """Of two lists made at once the later one pays nothing again."""
    path, due = owed
    run(path, "ann")
    with Ledger.open(path) as ledger:
        late = listed(ledger, "bob")
        run(path, "bob")
        outcome = carry_out_shares(ledger, late, ENOUGH, staff_signer(ledger, "bob"), NOTE)
    assert {each.round for each in outcome.failed} == due.keys()
    assert paid(path) == due


def test_who_decides_one_of_the_cases_apart_signs_as_the_second_person(
    owed: tuple[Path, dict[str, int]],
) -> None:
    path, due = owed
    run(path, "ann")
    mine = next(iter(due))
    with Ledger.open(path) as ledger:
        evidence, cases = gather(ledger, mine), read_cases(ledger, mine)
        assessment = assess(evidence, cases[0].claim)
        plan = plan_payment(evidence, assessment, cases, key="bob")
        assert (plan.decided.keys_needed, plan.confirms, plan.stands) == (KEYS, ("ann",), True)
        with pytest.raises(DisputeRefused, match="ann has signed this decision already"):
            plan_payment(evidence, assessment, cases, key="ann")
        carry_out(ledger, evidence, plan, staff_signer(ledger, "bob"))
    assert paid(path) == {mine: due[mine]}


def test_a_key_that_is_not_for_staff_signs_nothing(owed: tuple[Path, dict[str, int]]) -> None:
    path, _ = owed
    size = size_of(path)
    with Ledger.open(path) as ledger:
        shares = listed(ledger, "engine")
        with pytest.raises(DisputeRefused, match="may not sign for staff"):
            carry_out_shares(ledger, shares, ENOUGH, staff_signer(ledger, "engine"), NOTE)
    assert size_of(path) == size


def test_totals_are_of_what_a_run_would_decide() -> None:
    steps: list[tuple[str, int, Step]] = [
        ("EUR", 5, "open"),
        ("EUR", 7, "confirm"),
        ("EUR", 100, "left"),
        ("EUR", 100, "signed"),
        ("GBP", 3, "sign"),
    ]
    shares = [
        Share(
            round="r", player="p", currency=unit, remedy="resettle", amount_minor=minor, step=step
        )
        for unit, minor, step in steps
    ]
    assert totals(shares) == {"EUR": 12, "GBP": 3}
    hold_to_caps(shares, Caps({"EUR": 12, "GBP": 3}, 3))


def test_judged_by_many_processes_it_comes_to_the_same(
    owed: tuple[Path, dict[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = owed
    with Ledger.open(path) as ledger:
        alone = fault_report(ledger, FaultRequest(FAULT))
        monkeypatch.setattr("shoeproof.audit_reports.fault_report.from_ledger.SHARED_FROM", 1)
        monkeypatch.setattr("shoeproof.audit_reports.fault_report.from_ledger.SHARE", 2)
        monkeypatch.setattr("os.cpu_count", lambda: 2)
        assert fault_report(ledger, FaultRequest(FAULT)) == alone
    assert len(alone.judged) > 2


# Killed in the midst


def killed(path: Path, person: str, place: int, when: str) -> int:
    words = [sys.executable, "-m", "tests.faults.killed", str(place), when, "fault", "remedy"]
    words += [FAULT, "--ledger", str(path), "--key", person, "--cap", "EUR=1000000.00", "--yes"]
    done = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, check=False)
    return done.returncode


@pytest.mark.parametrize("person", ["ann", "bob"])
@pytest.mark.parametrize(("place", "when"), [(6, BEFORE), (9, AFTER), (13, BEFORE), (18, AFTER)])
def test_killed_in_the_midst_it_leaves_whole_cases_and_a_repeat_pays_the_rest_once(
    owed: tuple[Path, dict[str, int]], person: str, place: int, when: str
) -> None:
    path, due = owed
    if person == "bob":
        run(path, "ann")
    assert killed(path, person, place, when) == -9
    with Ledger.open(path) as ledger:
        result = audit(ledger, workers=1)
        assert result.integrity.findings == ()
        codes = {each.code for each in result.rounds.findings}
        assert codes == {"settlement_mismatch"}
    part = paid(path)
    assert all(due[round_id] == minor for round_id, minor in part.items())
    for each in ("ann", "bob"):
        run(path, each)
    assert paid(path) == due
    assert all(case.state == "decided" for case in cases_of(path, list(due)))
    assert len(cases_of(path, list(due))) == len(due)
    assert run(path, "ann") == run(path, "bob") == DecidedInBulk((), (), ())
