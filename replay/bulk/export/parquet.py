"""The audit of an export: columns in, the report of `shoeproof.replay.audit.one_by_one` out.

A part is judged as a range of leaves is, by the same kernel. Only for a round that is not proved
sound are its events made again from the columns, for the replayer. Nothing in a file is trusted
before its digest and its schema agree with what is expected.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoeproof.ledger import Event, Finding, Recorded
from shoeproof.ledger.leaf.events import EVENTS, Funds, RoundVoided, ShoeRevealed
from shoeproof.ledger.verify.workers import Progress, Share
from shoeproof.replay.audit.one_by_one import (
    AuditResult,
    OpenRound,
    VoidRound,
    concerns,
    is_of_game,
    open_round,
    void_round,
)
from shoeproof.replay.bulk.export.folder import Folder
from shoeproof.replay.bulk.export.manifest import ExportedFile, Manifest, checked, read_manifest
from shoeproof.replay.bulk.export.write import HEX, OWN, ROUND_SCHEMA, SYMBOL_SCHEMA
from shoeproof.replay.bulk.pool import shared
from shoeproof.replay.bulk.ranges import Judge, RangeReport
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.errors import ExportUnusable
from shoeproof.replay.interruptions.judge import judge
from shoeproof.replay.kernel.batch import Columns, replay_batch
from shoeproof.replay.kernel.symbols import RoundColumns, Vocabulary
from shoeproof.replay.kernel.tables import Ints
from shoeproof.replay.rounds.catalogue import rules_by_content
from shoeproof.replay.rounds.seeds import Revealed, Reveals, revealed, seed_findings
from shoeproof.replay.rounds.shoe_check import seed_bytes

_decode_funds = msgspec.json.Decoder(Funds).decode


def audit_parquet(
    place: Path | str,
    progress: Progress | None = None,
    *,
    only: str | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
) -> AuditResult:
    """Judge every round of an export; the result is that of auditing the ledger it was made of.

    `place` is a path or a URL. `progress` is told rounds judged and rounds in all; `only` is a
    game's id; `workers` and `scheduler` are as in `shoeproof.replay.bulk.audit`. Raises
    ExportUnusable for an export that is not whole, WorkersLost and ClusterUnusable.
    """
    folder, manifest = Folder(place), read_manifest(place)
    total = sum(part.rounds for part in manifest.parts)
    found = [((each.leaf_index or 0, 0), [each]) for each in manifest.unreadable]
    closed = done = 0
    voids: list[tuple[int, VoidRound]] = []
    still_open: list[OpenRound] = []
    unended: list[list[Finding]] = []
    reveals = Reveals()
    for number, report in enumerate(_reports(folder, manifest, only, workers, scheduler)):
        closed += report.closed
        voids += report.voids
        found += [((leaf, 1), findings) for leaf, findings in report.found]
        unended += report.unended
        still_open += report.open_rounds
        reveals.merge(report.reveals)
        done += manifest.parts[number].rounds
        if progress is not None:
            progress(done, total)
    ordered = [findings for _, findings in sorted(found, key=lambda item: item[0])]
    of_seeds = _check_seeds(folder, manifest, reveals, only)
    return AuditResult(
        size=manifest.size,
        closed_rounds=closed,
        void_rounds=tuple(void for _, void in sorted(voids, key=lambda item: item[0])),
        open_rounds=tuple(still_open),
        findings=tuple(each for findings in [*ordered, *unended, of_seeds] for each in findings),
    )


def _check_seeds(
    folder: Folder, manifest: Manifest, reveals: Reveals, only: str | None
) -> list[Finding]:
    """Return what revealed seeds show of one another; those that look alike are read again."""
    alike = set(reveals.suspects())
    if not alike:
        return []
    rules = rules_by_content(manifest.rules.values())
    read: list[Revealed] = []
    asked: set[str] = set()
    for number, part in enumerate(manifest.parts):
        rounds = _Rounds(folder, manifest, number, part)
        for place in rounds.with_leaves(alike):
            events = rounds.events(place)
            read += [each for each in map(revealed, events) if each and each.leaf_index in alike]
            if concerns(events, rules, only):
                asked.add(events[0].event.stream)
    return [each for each in seed_findings(read) if each.stream in asked]


def _reports(
    folder: Folder,
    manifest: Manifest,
    only: str | None,
    workers: int | None,
    scheduler: str | None,
) -> Iterator[RangeReport]:
    shares: list[Share] = list(enumerate(manifest.parts))
    count = workers or os.cpu_count() or 1
    bare = msgspec.structs.replace(manifest, parts=())
    make_judge = partial(_make_judge, folder, bare, only)
    if scheduler is not None and folder.is_in_memory:
        raise ExportUnusable(f"{folder} is in this process's memory: no cluster can see it")
    if scheduler is None and (count == 1 or len(shares) < 2 or folder.is_in_memory):
        judge_here = make_judge()
        for share in shares:
            yield judge_here(*share)
    else:
        yield from shared(shares, make_judge, count, scheduler)


def _make_judge(folder: Folder, manifest: Manifest, only: str | None) -> Judge:
    rules = rules_by_content(manifest.rules.values())
    vocabulary = Vocabulary()

    def judge_part(number: int, part: ExportedFile) -> RangeReport:
        nonlocal vocabulary
        # Parts say the same things: what was read or judged in one is known in the next.
        if vocabulary.is_full:
            vocabulary = Vocabulary()
        return _Rounds(folder, manifest, number, part).judged(rules, only, vocabulary)

    return judge_part


class _Rounds:
    """The rounds of one part of an export, read and held to its manifest."""

    def __init__(self, folder: Folder, manifest: Manifest, number: int, part: ExportedFile) -> None:
        self.origin, self.number = manifest.origin, number
        self.name = part.rounds_file
        self.rounds = _read(folder, part.rounds_file, part.rounds_sha256, ROUND_SCHEMA)
        symbols = _read(folder, part.symbols_file, part.symbols_sha256, SYMBOL_SCHEMA)
        if self.rounds.num_rows != part.rounds:
            raise ExportUnusable(
                f"{self.name} has {self.rounds.num_rows} rounds, not {part.rounds}"
            )
        words = self.rounds["words"]
        self.starts = words.offsets.to_numpy()
        self.words = words.values.to_numpy()
        self.symbols = list(
            zip(symbols["type"].to_pylist(), symbols["data"].to_pylist(), strict=True)
        )
        lengths = np.diff(self.starts)
        same = all(
            np.array_equal(self.rounds[name].offsets.to_numpy(), self.starts)
            for name in ("seqs", "leaves", "funds")
        )
        inside = not len(self.words) or (
            self.words.min() >= 0 and self.words.max() < len(self.symbols)
        )
        if not (same and inside and (lengths > 0).all()):
            raise ExportUnusable(f"{self.name}: its words do not agree with its other columns")
        leaves = self.rounds["leaves"].values.to_numpy()
        if leaves.min() < 0 or leaves.max() >= manifest.size:
            raise ExportUnusable(f"{self.name} names leaves beyond the {manifest.size} exported")

    def judged(
        self, rules: Mapping[str, Rules], only: str | None, vocabulary: Vocabulary
    ) -> RangeReport:
        """Return what the part's rounds say."""
        rows, digests = self._read_symbols(vocabulary)
        of_game = np.array(
            [digest is None or is_of_game(rules.get(digest), only) for digest in digests]
        )
        kept = of_game[self.words[self.starts[:-1]]]
        ended = self._column("ended").astype(np.bool_)
        places = np.flatnonzero(kept & ended)
        chosen, waiting = places.tolist(), np.flatnonzero(kept & ~ended).tolist()
        findings = replay_batch(
            self._columns(places, rows, vocabulary),
            rules,
            lambda place: list(judge(self.events(chosen[place]), rules, None)),
        )
        is_void = np.array([kind == RoundVoided.__name__ for kind, _ in self.symbols])
        ends = self.starts[1:] - 1
        last = self.rounds["leaves"].values.to_numpy()[ends]
        void = places[is_void[self.words[ends[places]]]].tolist()
        voids = [(int(last[place]), void_round(self.events(place))) for place in void]
        unended = [self.events(place) for place in waiting]
        return RangeReport(
            start=self.number,
            stop=self.number + 1,
            closed=len(chosen) - len(void),
            voids=[(leaf, told) for leaf, told in voids if told is not None],
            found=[(int(last[chosen[place]]), list(each)) for place, each in findings.items()],
            whole=[],
            pieces=[],
            unended=[list(judge(events, rules, None)) for events in unended],
            open_rounds=[told for told in map(open_round, unended) if told is not None],
            reveals=self._reveals().raw,
        )

    def _reveals(self) -> Reveals:
        """Return what the part's rounds reveal, of whatever game."""
        said = {
            number: seed_bytes(msgspec.json.decode(text, type=ShoeRevealed).seed)
            for number, (kind, text) in enumerate(self.symbols)
            if kind == ShoeRevealed.__name__
        }
        at = np.flatnonzero(np.isin(self.words, list(said)))
        held = self._column("server_seed")[self._rounds_of(at)].tolist()
        leaves = self.rounds["leaves"].values.to_numpy()[at].tolist()
        reveals = Reveals()
        for word, leaf, seed in zip(self.words[at].tolist(), leaves, held, strict=True):
            # The symbol keeps what the column cannot hold.
            reveals.add(said[word] or seed, leaf)
        return reveals

    def with_leaves(self, wanted: Iterable[int]) -> list[int]:
        """Return the places of the rounds that have one of these leaves."""
        leaves = self.rounds["leaves"].values.to_numpy()
        places: list[int] = self._rounds_of(np.flatnonzero(np.isin(leaves, list(wanted)))).tolist()
        return sorted(set(places))

    def _rounds_of(self, at: Ints) -> Ints:
        """Return the place of the round that each of some words is in."""
        found: Ints = np.searchsorted(self.starts, at, side="right") - 1
        return found

    def _read_symbols(self, vocabulary: Vocabulary) -> tuple[Ints, list[str | None]]:
        """Return each symbol's row in the vocabulary, and the rules that it names if any."""
        digests: list[str | None] = []
        rows = np.zeros(len(self.symbols), np.int64)
        for number, (kind, text) in enumerate(self.symbols):
            said = RoundColumns("")
            try:
                rows[number] = vocabulary.read(kind, text.encode(), said)
            except (KeyError, ValueError, RecursionError) as error:
                raise ExportUnusable(f"{self.name}: symbol {number} is no event") from error
            digests.append(said.rules_digest)
        return rows, digests

    def _columns(self, places: Ints, rows: Ints, vocabulary: Vocabulary) -> Columns:
        names = ("round_id", "commitment", "server_seed", "client_seed")
        own = list(map(RoundColumns, *(self._column(name)[places].tolist() for name in names)))
        self._note_funds(dict(zip(places.tolist(), own, strict=True)), rows)
        lengths = np.diff(self.starts)
        words, starts = self.words, self.starts[:-1].astype(np.int64)
        if len(places) < len(lengths):
            mask = np.zeros(len(lengths), np.bool_)
            mask[places] = True
            words = words[np.repeat(mask, lengths)]
            starts = np.cumsum(lengths[places]) - lengths[places]
        return Columns(vocabulary, own, rows[words], starts)

    def _note_funds(self, own: Mapping[int, RoundColumns], rows: Ints) -> None:
        """Note in `own`, by the rounds' places, what a wallet said of their events."""
        told = self.rounds["funds"].values
        said = np.flatnonzero(told.is_valid().to_numpy(zero_copy_only=False))
        places = np.searchsorted(self.starts, said, side="right") - 1
        numbers = rows[self.words[said]].tolist()
        texts = told.take(said).to_pylist()
        for place, row, text in zip(places.tolist(), numbers, texts, strict=True):
            if place in own:
                own[place].funds.append((row, self._funds(text)))

    def _funds(self, text: str) -> Funds:
        try:
            return _decode_funds(text)
        except ValueError as error:
            raise ExportUnusable(f"{self.name}: a wallet's answer cannot be read") from error

    def _column(self, name: str) -> Ints:
        found: Ints = self.rounds[name].to_numpy(zero_copy_only=False)
        return found

    def events(self, place: int) -> list[Recorded]:
        """Make a round's events again, as far as a replay looks at them."""
        row = {name: self.rounds[name][place].as_py() for name in ROUND_SCHEMA.names}
        found, filled = [], set[str]()
        columns = (row[name] for name in ("words", "seqs", "leaves", "funds"))
        for word, seq, leaf, funds in zip(*columns, strict=True):
            kind, text = self.symbols[word]
            data = msgspec.json.decode(text, type=EVENTS[kind])
            for name, (cls, field) in OWN.items():
                if isinstance(data, cls) and name not in filled and row[name] is not None:
                    held = row[name].hex() if name in HEX else row[name]
                    data = msgspec.structs.replace(data, **{field: held})
                    filled.add(name)
            if funds is not None:
                data = msgspec.structs.replace(data, funds=self._funds(funds))
            event = Event(1, self.origin, row["round_id"], seq, kind, row["opened_at"], None, data)
            found.append(Recorded(leaf, event, b"", b""))
        return found


def _read(folder: Folder, name: str, digest: str, schema: pa.Schema) -> pa.RecordBatch:
    """Return a file's rows.

    Raises ExportUnusable for one of another digest or schema, without rows, or unreadable.
    """
    data = checked(folder, name, digest)
    try:
        table = pq.read_table(pa.BufferReader(data))
    except (OSError, pa.ArrowException) as error:
        raise ExportUnusable(f"{folder}/{name} cannot be read as Parquet: {error}") from error
    if not table.schema.equals(schema):
        raise ExportUnusable(f"{folder}/{name} has other columns than an export has")
    if not table.num_rows:
        raise ExportUnusable(f"{folder}/{name} is empty")
    return table.combine_chunks().to_batches()[0]
