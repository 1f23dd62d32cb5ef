"""A report on realised RTP straight from ledgers: the only part of one that reads them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from importlib.metadata import version

import msgspec

from shoeproof.audit_reports.rows.verified import checkpoint_note
from shoeproof.audit_reports.rtp_report.build import Theories, build_report, judge
from shoeproof.audit_reports.rtp_report.figures import QUERIES, Figures, Scope, figures
from shoeproof.audit_reports.rtp_report.model import (
    UNKNOWN_RULES,
    CountedLedger,
    Judged,
    Provenance,
    RtpReport,
    Shuffle,
)
from shoeproof.audit_reports.rtp_report.spans import moment_text
from shoeproof.audit_reports.rtp_report.theoretical import theoretical
from shoeproof.audit_reports.shuffle_tests.battery import (
    LEVEL,
    Battery,
    is_beyond,
    run_shuffle_tests,
)
from shoeproof.audit_reports.shuffle_tests.results import judge as judge_tests
from shoeproof.audit_reports.tables import sql
from shoeproof.audit_reports.tables.checks.run import run_checks
from shoeproof.audit_reports.tables.views import LedgerSegments, Tables
from shoeproof.ledger import Finding, Ledger
from shoeproof.ledger.verify.workers import Progress
from shoeproof.replay.rounds.catalogue import rules_by_digest

TITLE = "Realised return to player"


class ReportRequest(msgspec.Struct, frozen=True, kw_only=True):
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
    ledgers: Sequence[Ledger],
    tables: Tables,
    asked: ReportRequest,
    *,
    rebuild: bool = False,
    progress: Progress | None = None,
    waiting: Callable[[], object] | None = None,
) -> RtpReport:
    """Return the report on ledgers by their tables, which say how far they are verified.

    `ledgers` are those of the tables, in their order; several are counted as one. `rebuild`,
    `progress` and `waiting` are for the shuffle tests. Raises QueryRefused and what these raise.
    """
    # First, so that what it needs of memory is free again for the tables.
    batteries = {}
    for ledger, source in zip(ledgers, tables.sources, strict=True):
        if asked.shuffle_tests:
            batteries[ledger.origin] = run_shuffle_tests(
                ledger,
                source.manifest.size,
                rebuild=rebuild,
                progress=progress,
                waiting=waiting,
            )
    found = figures(tables, asked.scope, asked.by)
    return build_report(
        found,
        theories_of(ledgers, found),
        _provenance(ledgers, tables, found, asked),
        title=asked.title,
        objection=tables.objection_text,
        shuffle=_shuffle(batteries) if batteries else None,
        faults=(
            *(f"{each.name}: {_rows(each.total)}: {each.asks}" for each in run_checks(tables)),
            *_found_by(batteries),
        ),
    )


def judged_of(
    ledgers: Sequence[Ledger], tables: Tables, scope: Scope, by: Iterable[tuple[str, ...]] = ()
) -> Judged:
    """Return every game judged and what stands apart, without the rest of a report."""
    found = figures(tables, scope, tuple(by))
    return judge(found, theories_of(ledgers, found))


def theories_of(ledgers: Iterable[Ledger], found: Figures) -> Theories:
    """Return what each bet should return under the rules that figures are of."""
    rules = {digest: each for ledger in ledgers for digest, each in rules_by_digest(ledger).items()}
    met = dict.fromkeys(cell.key.rules_digest for cell in found.totals)
    return {digest: theoretical(rules[digest]) for digest in met if digest in rules}


def _provenance(
    ledgers: Sequence[Ledger], tables: Tables, found: Figures, asked: ReportRequest
) -> Provenance:
    extents = found.extents
    games = {cell.key.rules_digest: cell.key.game for cell in found.totals}
    return Provenance(
        operator=asked.operator,
        operators=tuple(each.operator for each in extents if each.operator is not None),
        begin=_text(asked.scope.begin),
        end=_text(asked.scope.end),
        zone=asked.scope.zone,
        first_ended=_text(min((each.first_ended for each in extents), default=None)),
        last_ended=_text(max((each.last_ended for each in extents), default=None)),
        generated_at=_text(asked.generated_at),
        ledgers=tuple(map(_counted, ledgers, tables.sources)),
        size=tables.size,
        first_leaf=min((each.first_leaf for each in extents), default=None),
        last_leaf=max((each.last_leaf for each in extents), default=None),
        rules={digest: name or UNKNOWN_RULES for digest, name in games.items()},
        software=f"shoeproof {version('shoeproof')}",
        queries=_sql_digests(),
    )


def _counted(ledger: Ledger, source: LedgerSegments) -> CountedLedger:
    covered = source.manifest.checkpoint_size
    anchor = ledger.key_ring().anchor
    note = None if covered is None else checkpoint_note(ledger, covered)
    return CountedLedger(
        ledger=ledger.origin,
        operator_key=None if anchor is None else anchor.public_key.vkey,
        size=source.manifest.size,
        checkpoint_size=covered,
        checkpoint=None if note is None else note.decode(),
        manifest_digest=source.digest,
    )


def _sql_digests() -> dict[str, str]:
    texts = {"tables.sql": sql.statements("tables"), "sums.sql": sql.statements("sums")}
    texts |= {f"queries/{name}.sql": sql.query(name) for name in QUERIES}
    return {file: sha256(text.encode()).hexdigest() for file, text in texts.items()}


def _shuffle(batteries: Mapping[str, Battery]) -> Shuffle:
    """Return what the batteries of ledgers, by their names, say together at one level."""
    whose = [name for name, each in batteries.items() for _ in each.tests]
    tests = judge_tests([test for each in batteries.values() for test in each.tests], LEVEL)
    tested = sum(test.p_value is not None for test in tests)
    named = [
        (f"{test.game}: {test.name}{f' ({ledger})' if len(batteries) > 1 else ''}", test)
        for ledger, test in zip(whose, tests, strict=True)
    ]
    ages: Counter[str] = Counter()
    for each in batteries.values():
        ages.update(each.commitment_ages)
    return Shuffle(
        level=LEVEL,
        shoes=sum(each.shoes for each in batteries.values()),
        deals=sum(each.deals for each in batteries.values()),
        tested=tested,
        failed=tuple(name for name, test in named if test.rejected),
        beyond=tuple(name for name, test in named if is_beyond(test)),
        untested=len(tests) - tested,
        commitment_ages={name: count for name, count in ages.items() if count},
    )


def _found_by(batteries: Mapping[str, Battery]) -> Iterator[str]:
    for name, battery in batteries.items():
        for finding in battery.findings:
            yield f"{f'{name}: ' if len(batteries) > 1 else ''}{_place(finding)}"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _place(finding: Finding) -> str:
    place = "" if finding.leaf_index is None else f" (leaf {finding.leaf_index})"
    return f"{finding.code}: {finding.text}{place}"


def _text(at: datetime | None) -> str | None:
    return None if at is None else moment_text(at)
