"""A staged round with a case about it, decided by people with keys, and the reports on it."""

from collections.abc import Callable
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from shoeproof.audit_reports.case_report.from_ledger import UTC_ZONE, report_on
from shoeproof.audit_reports.case_report.model import Audience, CaseReport
from shoeproof.audit_reports.case_report.write import render_case_report
from shoeproof.replay.cases.assessment import Claim
from shoeproof.replay.cases.case import last_waiting, read_cases
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.decide import Plan
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.disputes.record import carry_out, open_case
from shoeproof.replay.written.round_text import read_round
from tests.disputes.money import hire
from tests.disputes.scenario import SCENARIOS, read_scenario
from tests.disputes.shoes import ROUND
from tests.disputes.stage import Stage

MALTA = ZoneInfo("Europe/Malta")


class Desk:
    """A scenario that was played, and what support makes of it; times are the scenario's."""

    def __init__(
        self, name: str, monkeypatch: pytest.MonkeyPatch, *, lie: tuple[str, ...] | None = None
    ) -> None:
        scenario = read_scenario(SCENARIOS / f"{name}.toml")
        if lie is not None:
            scenario = replace(scenario, lie=list(lie))
        self.stage = Stage(scenario, monkeypatch)
        self.stage.play()
        self.ledger = self.stage.ledger
        self.staff = hire(self.ledger)
        shown = self.stage.scenario.shown
        self.shown = None if shown is None else read_round(shown.encode())

    def wait(self, **span: float) -> None:
        self.stage.moment += timedelta(**span)

    def open(
        self,
        claim: Claim | None = None,
        *,
        note: str | None = None,
        received_ago: int | None = None,
    ) -> None:
        """Open a case; `received_ago` is how many days before that the complaint came in."""
        now = self.stage.moment
        received = None if received_ago is None else now - timedelta(days=received_ago)
        claim = claim or self.stage.scenario.claim or "other"
        open_case(self.ledger, ROUND, claim, note=note, received=received)

    def decide(
        self, planner: Callable[..., Plan], *words: object, by: str = "ann", **more: object
    ) -> None:
        evidence, cases = gather(self.ledger, ROUND), read_cases(self.ledger, ROUND)
        case = last_waiting(cases)
        assert case is not None
        assessment = assess(evidence, case.claim, self.shown)
        plan = planner(evidence, assessment, cases, *words, key=by, number=case.number, **more)
        carry_out(self.ledger, evidence, plan, getattr(self.staff, by))

    def report(
        self,
        audience: Audience = "adjudicator",
        *,
        zone: ZoneInfo = UTC_ZONE,
        number: int | None = None,
    ) -> CaseReport:
        return report_on(
            self.ledger, ROUND, audience, case_number=number, shown=self.shown, zone=zone
        )

    @property
    def headline(self) -> str:
        return self.report().headline


def text_of(report: CaseReport) -> str:
    return render_case_report(report, ".txt").decode()


def page_of(report: CaseReport) -> str:
    return render_case_report(report, ".html").decode()
