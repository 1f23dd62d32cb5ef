"""The inspection itself: the only part of it that reads ledgers, each of them once for each part.

A ledger is audited first: leaves, keys, checkpoints, rounds, seeds and cases. Only where its leaves
are what they claim to be are its returns counted and its shuffle tested, by tables of the
inspector's own, which lie in the folder of the inspection until it is done: what was stopped goes
on there.
"""

import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from shoeproof.audit_reports.errors import LeafRefused
from shoeproof.audit_reports.inspection import weigh
from shoeproof.audit_reports.inspection.model import (
    FORMAT,
    FindingGroup,
    FindingPlace,
    InspectedLedger,
    InspectedReturn,
    Inspection,
    Repeat,
    Stated,
    Weight,
)
from shoeproof.audit_reports.inspection.statement import ledger_movements, reconciled
from shoeproof.audit_reports.rtp_report.build import judge
from shoeproof.audit_reports.rtp_report.figures import Scope, figures
from shoeproof.audit_reports.rtp_report.from_ledger import theories_of
from shoeproof.audit_reports.rtp_report.model import GameReport, Judged
from shoeproof.audit_reports.rtp_report.spans import moment_text
from shoeproof.audit_reports.shuffle_tests.battery import Battery, run_shuffle_tests
from shoeproof.audit_reports.tables.checks.run import run_checks
from shoeproof.audit_reports.tables.views import Tables, open_tables, together
from shoeproof.ledger import Finding, Ledger
from shoeproof.ledger.errors import LedgerError, NoteRefused, PolicyUnmet
from shoeproof.ledger.files.durable import locked
from shoeproof.ledger.store.kept_checkpoints import kept_checkpoints
from shoeproof.ledger.witness.witness_policy import WitnessPolicy, parse_policy, require
from shoeproof.replay.bulk.audit import LedgerAudit, audit
from shoeproof.replay.disputes.complaints.statement import StatementLine
from shoeproof.replay.live.alarms import alarms_of
from shoeproof.replay.rounds.catalogue import rules_by_digest

WORK: Final = ".inspecting"
"""Where what an inspection has done so far lies in its folder; it goes when it is done."""

Told = Callable[[str, int, int], None]
"""Called with the part at work, how many leaves it has done, and of how many."""


class InspectionRequest(NamedTuple):
    """What an inspection compares with: the operator's key, one for each ledger or one for all, a
    checkpoint that was kept, a witness policy, and a wallet's statement with its name and its
    bytes. Whether signatures are verified that a checkpoint would spare.
    """

    public_keys: tuple[str, ...]
    every_signature: bool = False
    checkpoint: bytes | None = None
    policy: bytes | None = None
    statement: tuple[str, bytes, tuple[StatementLine, ...]] | None = None


class _Looked(NamedTuple):
    ledger: Ledger
    audited: LedgerAudit
    cosigned_by: dict[str, str]
    refused: tuple[Finding, ...]

    @property
    def forged(self) -> tuple[Finding, ...]:
        return (*self.audited.integrity.findings, *self.refused)


def inspect(
    ledgers: Sequence[Ledger], asked: InspectionRequest, folder: Path, command: str, told: Told
) -> Inspection:
    """Inspect ledgers and return what they come to together.

    What is done so far lies in `folder`, which is there, under `WORK`, so that an inspection that
    was stopped goes on; a second one of the same folder waits. `command` is how to repeat it.
    Raises the errors of the parts for what cannot be read or written at all, and OSError.
    """
    policy = None if asked.policy is None else parse_policy(asked.policy)
    with locked(folder):
        return _inspect(ledgers, asked, policy, folder / WORK, command, told)


def _inspect(
    ledgers: Sequence[Ledger],
    asked: InspectionRequest,
    policy: WitnessPolicy | None,
    work: Path,
    command: str,
    told: Told,
) -> Inspection:
    work.mkdir(exist_ok=True)
    keys = asked.public_keys * (len(ledgers) if len(asked.public_keys) == 1 else 1)
    looked = [
        _look(ledger, key, asked, policy, work / f"audit-{number}.json", told)
        for number, (ledger, key) in enumerate(zip(ledgers, keys, strict=True))
    ]
    found = [
        *weigh.by_code({each.ledger.origin: each.forged for each in looked}, "forged"),
        *weigh.by_code(
            {each.ledger.origin: each.audited.rounds.findings for each in looked}, "wrong"
        ),
    ]
    counted = _Counted((), (), (), (), (), {}, None)
    if not any(each.forged for each in looked):
        found += weigh.of_alarms({each.ledger.origin: alarms_of(each.ledger) for each in looked})
        try:
            counted = _count(looked, asked, work, told)
        except LeafRefused as refused:
            found.append(FindingGroup("forged", "tables", 1, 0, str(refused)))
    found += counted.found
    unjudged = (*_unjudged(looked), *counted.unjudged)
    ordered = weigh.in_order(found)
    word = weigh.word_of(ordered, unjudged)
    shutil.rmtree(work)
    return Inspection(
        format=FORMAT,
        word=word,
        headline=weigh.headline_of(word, ordered, unjudged),
        examined=tuple(
            _examined(each, key, counted.extents) for each, key in zip(looked, keys, strict=True)
        ),
        found=ordered,
        unjudged=unjudged,
        left_open=tuple(
            dict.fromkeys(
                [each for one in looked for each in one.audited.integrity.left_open]
                + list(weigh.rare_bets(counted.games))
            )
        ),
        returns=counted.returns,
        shuffle=counted.shuffle,
        statement=counted.stated,
        repeat=Repeat(command, f"shoeproof {version('shoeproof')}", _digests(asked)),
    )


def _look(
    ledger: Ledger,
    key: str,
    asked: InspectionRequest,
    policy: WitnessPolicy | None,
    notes: Path,
    told: Told,
) -> _Looked:
    audited = audit(
        ledger,
        lambda done, size: told(f"auditing {ledger.origin}", done, size),
        public_key=key,
        every_signature=asked.every_signature,
        checkpoint=asked.checkpoint,
        notes=notes,
    )
    cosigned: dict[str, str] = {}
    refused: list[Finding] = []
    if policy is not None:
        try:
            cosigned = _cosigned(ledger, asked, policy)
        except (PolicyUnmet, NoteRefused) as error:
            refused.append(Finding("policy_unmet", str(error), None, None))
    return _Looked(ledger, audited, cosigned, tuple(refused))


def _cosigned(ledger: Ledger, asked: InspectionRequest, policy: WitnessPolicy) -> dict[str, str]:
    """Return which witnesses of the policy cosigned the checkpoint, and when."""
    note = asked.checkpoint
    if note is None and ledger.path is not None:
        note = next(kept_checkpoints(ledger.path), None)
    if note is None:
        raise PolicyUnmet("the ledger has no checkpoint that a witness could have cosigned")
    times = require(policy, note, now=datetime.now(UTC))
    return {name: moment_text(datetime.fromtimestamp(at, UTC)) for name, at in times.items()}


class _Extent(msgspec.Struct):
    """What the rounds of one ledger are, as its tables say."""

    rounds: int
    fun: int
    first: str | None
    last: str | None
    builds: tuple[str, ...]
    operators: tuple[str, ...]


class _Counted(NamedTuple):
    found: tuple[FindingGroup, ...]
    unjudged: tuple[str, ...]
    returns: tuple[InspectedReturn, ...]
    shuffle: tuple[str, ...]
    games: tuple[GameReport, ...]
    extents: dict[str, _Extent]
    stated: Stated | None


def _count(looked: Sequence[_Looked], asked: InspectionRequest, work: Path, told: Told) -> _Counted:
    """Count the returns of all ledgers as one, test each one's shuffle, and hold the statement to
    their movements.
    """
    found: list[FindingGroup] = []
    of_shuffle: list[FindingGroup] = []
    shuffle: list[str] = []
    unjudged: list[str] = []
    with ExitStack() as stack:
        opened: list[Tables] = []
        for number, each in enumerate(looked):
            name, place = each.ledger.origin, work / str(number)
            place.mkdir(exist_ok=True)
            tables = open_tables(
                each.ledger, folder=place, progress=_part(told, f"counting {name}")
            )
            opened.append(stack.enter_context(tables))
            battery = run_shuffle_tests(
                each.ledger, tables.size, folder=place, progress=_part(told, f"shuffles of {name}")
            )
            of_shuffle += _of_shuffle(battery, name)
            shuffle.append(_shuffle_says(battery, name))
            if not battery.tested:
                unjudged.append(f"too few rounds of {name} for any test of its shuffle")
        all_tables = opened[0]
        if len(opened) > 1:
            all_tables = stack.enter_context(together(opened))
        judged = _judged(looked, all_tables)
        extents = {name: _extent(all_tables, name) for name in (t.origin for t in opened)}
        found += _of_checks(all_tables)
    for game in judged.games:
        found += weigh.of_game(game)
    found += [FindingGroup("wrong", "wallet", 1, 0, says) for says in judged.findings]
    found += of_shuffle
    unjudged += weigh.too_few(judged.games)
    if not judged.games:
        unjudged.append("no round for real money was played to its end")
    stated, differing = _of_statement(looked, asked, told)
    if stated is not None and stated.outside:
        unjudged.append(
            f"the statement reaches from {stated.begin[:19]} to {stated.end[:19]} UTC: "
            f"{stated.outside:,} movements of the ledger before and after it were not "
            "compared with anything"
        )
    returns = tuple(_returned(game) for game in judged.games)
    return _Counted(
        (*found, *differing), tuple(unjudged), tuple(each for game in returns for each in game),
        tuple(shuffle), judged.games, extents, stated,
    )  # fmt: skip


def _part(told: Told, part: str) -> Callable[[int, int], None]:
    return lambda done, size: told(part, done, size)


def _judged(looked: Sequence[_Looked], tables: Tables) -> Judged:
    counted = figures(tables, Scope(), ())
    return judge(counted, theories_of([each.ledger for each in looked], counted))


def _returned(game: GameReport) -> Iterator[InspectedReturn]:
    for bet in game.bets:
        yield InspectedReturn(
            title=game.title,
            rules_digest=game.rules_digest,
            currency=game.currency,
            bet=bet.row.bet,
            word=bet.word,
            why=bet.why,
            rounds=bet.row.rounds,
            initial_minor=bet.row.initial_minor,
            realised=bet.row.rtp_on_initial_stakes,
            expected=bet.row.expected,
            detectable=weigh.detectable(bet),
        )


def _of_shuffle(battery: Battery, ledger: str) -> Iterator[FindingGroup]:
    if battery.rejected:
        failed = ", ".join(f"{test.game}: {test.name}" for test in battery.rejected)
        says = f"{len(battery.rejected)} of {battery.tested} tests of the shuffle failed: {failed}"
        if not battery.beyond:
            says += "; one in a hundred honest ledgers has such a failure at a single look"
        weight: Weight = "wrong" if battery.beyond else "watch"
        yield FindingGroup(weight, "shuffle", len(battery.rejected), battery.rounds, says)
    yield from weigh.by_code({ledger: battery.findings}, "wrong")


def _shuffle_says(battery: Battery, ledger: str) -> str:
    if not battery.tested:
        return f"{ledger}: too few rounds for any test"
    outcome = f"{len(battery.rejected)} failed" if battery.rejected else "none failed"
    return f"{ledger}: {battery.shoes:,} shoes re-derived, {battery.tested} tests, {outcome}"


def _of_checks(tables: Tables) -> Iterator[FindingGroup]:
    for each in run_checks(tables):
        rounds = {row["round"] for row in each.rows if "round" in row}
        places = tuple(
            FindingPlace(tables.origin, row.get("round"), row.get("leaf_index"), each.asks)
            for row in each.rows[: weigh.MOST_PLACES]
        )
        yield FindingGroup("wrong", each.name, each.total, len(rounds), each.asks, places)


def _extent(tables: Tables, ledger: str) -> _Extent:
    select = f"""SELECT count(*) AS rounds, count(*) FILTER (mode = 'fun') AS fun,
        min(opened_at)::VARCHAR AS first, max(closed_at)::VARCHAR AS last,
        list_sort(list_distinct(list(build))) AS builds,
        list_sort(list_distinct(list(operator))) AS operators
        FROM rounds WHERE ledger = '{ledger.replace("'", "''")}'"""
    (row,) = tables.ask(select).to_pylist()
    return msgspec.convert({**row, "builds": row["builds"] or (), "operators": row["operators"]
                            or ()}, _Extent)  # fmt: skip


def _of_statement(
    looked: Sequence[_Looked], asked: InspectionRequest, told: Told
) -> tuple[Stated | None, tuple[FindingGroup, ...]]:
    if asked.statement is None:
        return None, ()
    name, content, lines = asked.statement
    moved = [
        movement
        for each in looked
        for movement in ledger_movements(
            each.ledger, each.audited.rounds.size, _part(told, f"movements of {each.ledger.origin}")
        )
    ]
    agreeing, found = reconciled(lines, moved)
    begin, end = lines[0].at, lines[-1].at
    outside = sum(not begin <= each.at <= end for each in moved)
    digest = hashlib.sha256(content).hexdigest()
    return Stated(name, digest, begin, end, len(lines), agreeing, outside), found


def _examined(looked: _Looked, key: str, extents: dict[str, _Extent]) -> InspectedLedger:
    ledger, rounds, integrity = looked.ledger, looked.audited.rounds, looked.audited.integrity
    extent = extents.get(ledger.origin, _Extent(0, 0, None, None, (), ()))
    signed = integrity.signatures
    try:
        roles = Counter(role for key in ledger.key_ring() for role in key.roles)
        rules = {digest: each.id for digest, each in rules_by_digest(ledger).items()}
    except LedgerError:
        roles, rules = Counter(), {}
    return InspectedLedger(
        ledger=ledger.origin,
        size=rounds.size,
        # The ledger's own word for its key is worth nothing where it is not the one given.
        anchor=integrity.anchor if key in (integrity.anchor or "") else None,
        covered=integrity.covered,
        kept=any(held.source == "given" and held.agrees for held in integrity.checkpoints),
        cosigned_by=looked.cosigned_by,
        signatures=signed.uncovered + signed.disputed + signed.sampled,
        rounds=rounds.closed_rounds + len(rounds.void_rounds) + len(rounds.open_rounds),
        void=len(rounds.void_rounds),
        open=len(rounds.open_rounds),
        fun=extent.fun,
        first_opened=extent.first,
        last_ended=extent.last,
        keys=dict(sorted(roles.items())),
        rules=rules,
        builds=extent.builds,
        operators=extent.operators,
    )


def _unjudged(looked: Sequence[_Looked]) -> Iterator[str]:
    for each in looked:
        if not each.audited.rounds.closed_rounds:
            yield f"no round of {each.ledger.origin} was played to its end"


def _digests(asked: InspectionRequest) -> dict[str, str]:
    given = {"checkpoint": asked.checkpoint, "policy": asked.policy}
    if asked.statement is not None:
        given["statement"] = asked.statement[1]
    return {
        name: hashlib.sha256(content).hexdigest()
        for name, content in given.items()
        if content is not None
    }
