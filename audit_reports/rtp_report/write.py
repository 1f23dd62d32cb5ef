"""A report on realised RTP in the form a file's name asks for: HTML, PDF, CSV or JSON."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any, Final

import msgspec
from markupsafe import Markup

from shoeproof.audit_reports.pages.cells import write_rows
from shoeproof.audit_reports.pages.charts import Funnel, funnel_chart, waterfall_chart
from shoeproof.audit_reports.pages.forms import Forms, json_bytes, render_report
from shoeproof.audit_reports.pages.numerals import percent, points, standard_errors
from shoeproof.audit_reports.pages.pdf import pdf_of
from shoeproof.audit_reports.pages.render import render_page
from shoeproof.audit_reports.pages.words import bet_words
from shoeproof.audit_reports.rtp_report.apart import accounted_words
from shoeproof.audit_reports.rtp_report.figures import SLICES
from shoeproof.audit_reports.rtp_report.judge import part_words
from shoeproof.audit_reports.rtp_report.model import (
    BetReport,
    Day,
    GameReport,
    Idle,
    Rolling,
    Row,
    RtpReport,
)
from shoeproof.audit_reports.rtp_report.slices import KINDS, kind_words, slice_words
from shoeproof.audit_reports.rtp_report.spans import day_of
from shoeproof.audit_reports.statistics.verdict import (
    INCONCLUSIVE,
    NO_EVIDENCE,
    OUT_OF_RANGE,
    WATCH,
)
from shoeproof.ledger.files.durable import write_durably

FORMS: Final[Forms[RtpReport]] = {
    ".html": lambda report: _page(report).encode(),
    ".pdf": lambda report: pdf_of(_page(report)),
    ".csv": lambda report: _table(report).encode(),
    ".json": json_bytes,
}

MOST_ROWS: Final = 200
"""How many rows of a list the page shows; CSV and JSON have all."""

MOST_LEAVES: Final = 10
"""How many leaves the page names for equal findings."""

TONES: Final = {NO_EVIDENCE: "good", INCONCLUSIVE: "", WATCH: "warn", OUT_OF_RANGE: "bad"}

_OF_ROW: Final = (
    "rounds", "hands", "players", "initial_minor", "staked_minor", "paid_minor", "win_minor",
    "rtp_on_initial_stakes", "rtp_on_total_staked", "interval_lower", "interval_upper",
    "expected", "skill", "luck", "luck_z", "voided_rounds", "voided_minor", "open_rounds",
    "held_minor", "resettled_rounds", "resettled_minor", "cash_minor", "incentive_minor",
)  # fmt: skip
_OF_BET: Final = (
    "verdict", "why", "published_percent", "computed", "approved_percent", "par_sheet_id",
    "par_sheet_date", "par_sheet_sha256", "par_sheet_note", "band_lower", "band_upper",
    "anytime_lower", "anytime_upper", "wrong_rounds", "wrong_minor",
    "underpaid_minor", "overpaid_minor",
    "wallet_rounds", "wallet_minor", "wallet_rtp", "rolling_rtp", "rolling_verdict",
)  # fmt: skip
_OF_KINDS: Final = tuple(f"z_{kind}" for kind in KINDS)
COLUMNS: Final = (
    "rows", "game", "rules_digest", "currency", "bet", *SLICES, *_OF_ROW, *_OF_BET, *_OF_KINDS
)  # fmt: skip


def write_rtp_report(report: RtpReport, path: Path) -> None:
    """Write a report whole or not at all, in the form its file's suffix names.

    Raises ReportError for another suffix, or where PDF cannot be made, and OSError.
    """
    write_durably(path, render_rtp_report(report, path.suffix.lower()))


def render_rtp_report(report: RtpReport, suffix: str) -> bytes:
    """Return a report as the bytes of a `.html`, `.pdf`, `.csv` or `.json` file.

    HTML, CSV and JSON are the same bytes for the same report. Raises ReportError.
    """
    return render_report(FORMS, report, suffix)


def _page(report: RtpReport) -> str:
    return render_page(
        "rtp.html",
        title=report.title,
        report=report,
        tones=TONES,
        most=MOST_ROWS,
        bet_words=bet_words,
        part_words=part_words,
        kind_words=kind_words,
        accounted_words=accounted_words,
        day_in=_day_in,
        slice_words=slice_words,
        tone=_tone,
        in_time=rows_in_time,
        runs=runs_of_days,
        alike=alike,
        percent=percent,
        points=points,
        standard_errors=standard_errors,
        funnel=funnel_of,
        waterfall=waterfall_of,
    )


def _day_in(moment: str, zone: str) -> str:
    """Return the day on which clocks of a zone showed a moment that the report names in UTC."""
    return day_of(datetime.fromisoformat(moment), zone).isoformat()


def rows_in_time(rows: Sequence[Row], idle: Sequence[Idle]) -> list[tuple[str, Row | None]]:
    """Return rows, with the spans without activity, which have no row, put between them."""
    named = [(idle_words(each), each.first, None) for each in idle] + [
        ("", next(iter(row.slice.values())) or "", row) for row in rows
    ]
    if idle:
        named.sort(key=lambda each: each[1])
    return [(label, row) for label, _, row in named]


def idle_words(idle: Idle) -> str:
    """Return what a span without activity is called."""
    return idle.first if idle.first == idle.last else f"{idle.first} to {idle.last}"


def _tone(report: RtpReport) -> str:
    """Return the colour a report begins in: none where there is too little to say anything, and
    never a good one beside something found.
    """
    if report.objection is not None:
        return TONES[OUT_OF_RANGE]
    if report.word in (NO_EVIDENCE, INCONCLUSIVE):
        failed = report.shuffle is not None and report.shuffle.failed
        if report.faults or failed:
            return TONES[WATCH]
        # Without a game there is nothing to speak of.
        return TONES[report.word] if report.games else ""
    return TONES[report.word]


def runs_of_days(days: tuple[Day, ...]) -> list[tuple[str, tuple[Row, ...]]]:
    """Return days by name, those without activity that follow each other as one."""
    found: list[tuple[str, tuple[Row, ...]]] = []
    idle: list[str] = []
    for day in (*days, None):
        if day is not None and not day.rows:
            idle.append(day.day)
            continue
        if idle:
            name = idle[0] if len(idle) == 1 else f"{idle[-1]} to {idle[0]}"
            found.append((name, ()))
            idle = []
        if day is not None:
            found.append((day.day, day.rows))
    return found


def alike(findings: Sequence[str]) -> list[str]:
    """Return findings, with those that differ only in their leaf as one."""
    leaves: dict[str, list[str]] = {}
    for finding in findings:
        says, _, leaf = finding.removesuffix(")").rpartition(" (leaf ")
        leaves.setdefault(says if leaf.isdecimal() else finding, []).append(leaf)
    return [_of_leaves(says, found) for says, found in leaves.items()]


def _of_leaves(says: str, leaves: list[str]) -> str:
    known = [leaf for leaf in leaves if leaf.isdecimal()]
    if len(leaves) == 1:
        return f"{says} (leaf {known[0]})" if known else says
    more = " and so on" if len(known) > MOST_LEAVES else ""
    places = f", leaves {', '.join(known[:MOST_LEAVES])}{more}" if known else ""
    return f"{says} ({len(leaves):,} times{places})"


def funnel_of(game: GameReport, bet: BetReport) -> Markup:
    """Draw a bet's realised return over rounds against both bands about what was expected."""
    growth, expected = bet.growth, bet.row.expected
    if growth is None or expected is None:
        return Markup("")
    last = growth.realised[-1]
    return funnel_chart(
        f"{game.title}, {bet_words(bet.row.bet)} bet: realised return over rounds",
        f"After {growth.rounds[-1]:,} rounds {percent(last)} was returned on initial stakes, where "
        f"{percent(expected)} was expected. The shaded band, plus or minus "
        f"{percent(growth.fixed[-1])}, holds 95% of single looks; the dashed one, plus or minus "
        f"{percent(growth.anytime[-1])}, holds at all times together.",
        Funnel(growth.rounds, growth.realised, expected, growth.fixed, growth.anytime),
    )


def waterfall_of(game: GameReport, bet: BetReport) -> Markup:
    """Draw how the return of a bet came about."""
    told = ", ".join(f"{step.label} {points(step.value)}" for step in bet.steps[1:])
    total = sum(step.value for step in bet.steps)
    return waterfall_chart(
        f"{game.title}, {bet_words(bet.row.bet)} bet: how the return came about",
        f"From {percent(bet.steps[0].value)} in theory, in points: {told}; "
        f"{percent(total)} was realised.",
        [(step.label, step.value) for step in bet.steps],
    )


def _table(report: RtpReport) -> str:
    out = StringIO()
    objection = None if report.objection is None else f"# NOT VERIFIED: {report.objection}"
    write_rows(out, COLUMNS, _records(report), first=objection)
    return out.getvalue()


def _records(report: RtpReport) -> Iterator[dict[str, Any]]:
    for game in report.games:
        named = {
            "game": game.game or "",
            "rules_digest": game.rules_digest,
            "currency": game.currency,
        }
        for bet in game.bets:
            yield {"rows": "all", **named, **_of_row(bet.row), **_of_bet(bet)}
        for by, rows in game.slices.items():
            for row in rows:
                yield {"rows": f"by {by}", **named, **_of_row(row), **_of_slice(row)}
            for idle in game.idle.get(by, ()):
                yield {"rows": f"by {by}: no activity", **named, by: idle_words(idle)}
        for each in game.rolling:
            yield {"rows": "last 30 days together", **named, **_of_window(each)}
        for day in game.days:
            for row in day.rows:
                yield {"rows": "last 30 days", **named, **_of_row(row), "day": day.day}
            if not day.rows:
                yield {"rows": "last 30 days: no activity", **named, "day": day.day}


def _of_row(row: Row) -> dict[str, Any]:
    data = msgspec.structs.asdict(row)
    lower, upper = (None, None) if row.interval is None else msgspec.structs.astuple(row.interval)
    data |= {"interval_lower": lower, "interval_upper": upper}
    return {"bet": row.bet, **row.slice} | {name: data[name] for name in _OF_ROW}


def _of_slice(row: Row) -> dict[str, Any]:
    kinds = {f"z_{kind}": z for kind, z in row.kinds.items()}
    rolling = {}
    if row.rolling is not None:
        rolling = {"rolling_rtp": row.rolling.rtp_on_initial_stakes,
                   "rolling_verdict": row.rolling.word}  # fmt: skip
    return {"verdict": row.word, "why": "; ".join(row.why), **rolling, **kinds}


def _of_window(each: Rolling) -> dict[str, Any]:
    same = ("bet", "rounds", "initial_minor", "rtp_on_initial_stakes", "expected", "luck_z")
    bounds = each.interval
    return {
        **{name: getattr(each, name) for name in same},
        "day": f"{each.first} to {each.last}",
        "interval_lower": None if bounds is None else bounds.lower,
        "interval_upper": None if bounds is None else bounds.upper,
        "verdict": each.word,
        "why": "; ".join(each.why),
    }


def _of_bet(bet: BetReport) -> dict[str, Any]:
    found: dict[str, Any] = {
        "verdict": bet.word,
        "why": "; ".join(bet.why),
        "wrong_rounds": bet.wrong_rounds,
        "wrong_minor": bet.wrong_minor,
        "underpaid_minor": bet.underpaid_minor,
        "overpaid_minor": bet.overpaid_minor,
        "wallet_rounds": bet.wallet_rounds,
        "wallet_minor": bet.wallet_minor,
        "wallet_rtp": bet.wallet_rtp,
    }
    if bet.theory is not None:
        found["published_percent"] = bet.theory.published_percent
        found["computed"] = bet.theory.computed
    if bet.approved is not None:
        sheet = bet.approved
        found |= {
            "approved_percent": sheet.percent,
            "par_sheet_id": sheet.id,
            "par_sheet_date": sheet.date,
            "par_sheet_sha256": sheet.sha256,
            "par_sheet_note": sheet.note,
        }
    for name, bounds in (("band", bet.band), ("anytime", bet.anytime)):
        if bounds is not None:
            found |= {f"{name}_lower": bounds.lower, f"{name}_upper": bounds.upper}
    return found
