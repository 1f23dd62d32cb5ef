"""A report on realised RTP straight from a ledger: the only part of one that reads it."""

from collections.abc import Callable, Iterable
from datetime import datetime
from hashlib import sha256
from importlib.metadata import version

import msgspec

from audit_reports import sql
from audit_reports.checks import run_checks
from audit_reports.rtp_report.build import Theories, build_games, build_report
from audit_reports.rtp_report.figures import QUERIES, Figures, Scope, figures
from audit_reports.rtp_report.model import UNKNOWN_RULES, GameReport, Provenance, RtpReport, Shuffle
from audit_reports.rtp_report.spans import moment_text
from audit_reports.rtp_report.theoretical import theoretical
from audit_reports.shuffle_tests.battery import Battery, run_shuffle_tests
from audit_reports.tables import Tables
from audit_reports.verified import checkpoint_note
from ledger import Finding, Ledger
from ledger.sharing import Progress
from replay.catalogue import rules_by_digest

TITLE = "Realised return to player"


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a report is asked to say.

    `by` are the slices; `operator` and `generated_at` stand in it as they were given. Without
    `shuffle_tests` it says that they were not made.
    """

    scope: Scope = Scope()
    by: tuple[tuple[str, ...], ...] = ()
    title: str = TITLE
    operator: str | None = None
    generated_at: datetime | None = None
    shuffle_tests: bool = True


def report_on(
    ledger: Ledger,
    tables: Tables,
    asked: Asked,
    *,
    rebuild: bool = False,
    progress: Progress | None = None,
    waiting: Callable[[], object] | None = None,
) -> RtpReport:
    """Return the report on a ledger by its tables, which say how far it is verified.

    `rebuild`, `progress` and `waiting` are for the shuffle tests. Raises QueryRefused and what
    these raise.
    """
    # First, so that what it needs of memory is free again for the tables.
    battery = None
    if asked.shuffle_tests:
        battery = run_shuffle_tests(
            ledger, tables.size, rebuild=rebuild, progress=progress, waiting=waiting
        )
    found = figures(tables, asked.scope, asked.by)
    return build_report(
        found,
        theories_of(ledger, found),
        _provenance(ledger, tables, found, asked),
        title=asked.title,
        objection=tables.objection_text,
        shuffle=None if battery is None else _shuffle(battery),
        faults=(
            *(f"{each.name}: {_rows(each.total)}: {each.asks}" for each in run_checks(tables)),
            *(map(_place, battery.findings) if battery is not None else ()),
        ),
    )


def games_of(
    ledger: Ledger, tables: Tables, scope: Scope, by: Iterable[tuple[str, ...]] = ()
) -> tuple[GameReport, ...]:
    """Return every game judged, without the rest of a report."""
    found = figures(tables, scope, tuple(by))
    return build_games(found, theories_of(ledger, found))


def theories_of(ledger: Ledger, found: Figures) -> Theories:
    """Return what each bet should return under the rules that figures are of."""
    rules = rules_by_digest(ledger)
    met = dict.fromkeys(cell.key.rules_digest for cell in found.totals)
    return {digest: theoretical(rules[digest]) for digest in met if digest in rules}


def _provenance(ledger: Ledger, tables: Tables, found: Figures, asked: Asked) -> Provenance:
    extents = found.extents
    covered = tables.checkpoint_size
    anchor = ledger.key_ring().anchor
    note = None if covered is None else checkpoint_note(ledger, covered)
    games = {cell.key.rules_digest: cell.key.game for cell in found.totals}
    return Provenance(
        operator=asked.operator,
        operators=tuple(each.operator for each in extents if each.operator is not None),
        begin=_text(asked.scope.begin),
        end=_text(asked.scope.end),
        first_ended=_text(min((each.first_ended for each in extents), default=None)),
        last_ended=_text(max((each.last_ended for each in extents), default=None)),
        generated_at=_text(asked.generated_at),
        ledger=ledger.origin,
        operator_key=None if anchor is None else anchor.public_key.vkey,
        size=tables.size,
        first_leaf=min((each.first_leaf for each in extents), default=None),
        last_leaf=max((each.last_leaf for each in extents), default=None),
        checkpoint_size=covered,
        checkpoint=None if note is None else note.decode(),
        manifest_digest=tables.manifest_digest,
        rules={digest: name or UNKNOWN_RULES for digest, name in games.items()},
        software=f"shoeproof {version('shoeproof')}",
        queries=_sql_digests(),
    )


def _sql_digests() -> dict[str, str]:
    texts = {"tables.sql": sql.statements("tables"), "sums.sql": sql.statements("sums")}
    texts |= {f"queries/{name}.sql": sql.query(name) for name in QUERIES}
    return {file: sha256(text.encode()).hexdigest() for file, text in texts.items()}


def _shuffle(battery: Battery) -> Shuffle:
    return Shuffle(
        level=battery.level,
        shoes=battery.shoes,
        deals=battery.deals,
        tested=battery.tested,
        failed=tuple(f"{test.game}: {test.name}" for test in battery.rejected),
        untested=len(battery.tests) - battery.tested,
        commitment_ages={name: count for name, count in battery.commitment_ages.items() if count},
    )


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _place(finding: Finding) -> str:
    place = "" if finding.leaf_index is None else f" (leaf {finding.leaf_index})"
    return f"{finding.code}: {finding.text}{place}"


def _text(at: datetime | None) -> str | None:
    return None if at is None else moment_text(at)
