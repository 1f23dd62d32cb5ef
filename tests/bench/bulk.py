"""How fast a whole ledger is audited, and where the time goes: `python -m tests.bench.bulk`.

One run makes a ledger (`--rounds` of each game, one seat, by the basic player) or takes one
(`--ledger`), and prints a table. Each rate is of rounds a second of wall time; `cpu` is processor
time a round, workers included, and `of floor` that time in SHA-256 over the same leaves. Peers play
rounds where they are installed (extra `bench`); nobody else replays any.
"""

import argparse
import gc
import hashlib
import os
import resource
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger import Ledger, Recorded, StoredLeaf
from shoeproof.ledger.keys.keyring import KeyRing
from shoeproof.ledger.leaf.events import CLOSING
from shoeproof.ledger.leaf.recorded import read_leaf
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.store.round_index import is_round
from shoeproof.ledger.tree.merkle import leaf_hash, root_hash
from shoeproof.ledger.verify.batch import LeafBatch, elsewhere
from shoeproof.ledger.verify.ranges import check_range
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.audit.one_by_one import Gathered
from shoeproof.replay.audit.one_by_one import audit as scalar_audit
from shoeproof.replay.bulk.audit import RANGE, audit
from shoeproof.replay.bulk.export.manifest import NAME, read_manifest
from shoeproof.replay.bulk.export.parquet import audit_parquet
from shoeproof.replay.bulk.export.write import export_parquet
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.kernel.batch import Columns, sound
from shoeproof.replay.kernel.reading import Reader, RoundsBuilder
from shoeproof.replay.kernel.shoes import committed, first_cards
from shoeproof.replay.kernel.symbols import RoundColumns, Vocabulary
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules, rules_by_digest
from shoeproof.replay.rounds.replayer import replay_round
from tests.bench.engine import STAKES, timed
from tests.bench.peers import ROUNDS as PLAYED
from tests.bench.peers import peers

SAMPLE = 160_000
"""Leaves on which the parts of an audit are measured; the whole is measured on the whole."""

SIGNED = 12_000
"""Rounds up to which every signature is verified too."""

ENGINE_ROUNDS = 1_000_000
"""Rounds that one process judges where the engine is measured, the same ones again and again."""

CARDS = 6
"""Cards of a usual round of one seat."""


class Used(NamedTuple):
    """Seconds of wall and processor time."""

    wall: float
    cpu: float


def main() -> None:
    """Print the table."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--rounds", type=int, default=1_000, help="of each game")
    asked.add_argument("--ledger", type=Path, help="measure this one")
    asked.add_argument("--parquet-rounds", type=int, default=0, help="memory of so many rounds")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = given.ledger or made(Path(folder) / "ledger", given.rounds)
        with Ledger.open(path) as ledger:
            _measure(ledger, Path(folder) / "rounds", given.parquet_rounds)


def made(path: Path, rounds: int) -> Path:
    """Make a ledger of so many rounds of each game, one seat, by the basic player."""
    with Ledger.init(path, "bench.example/bulk") as ledger:
        add_published_games(ledger)
        settings = TableSettings(limits={"main": (1, 100_000)}, currency="EUR")
        for game in GAMES:
            rules = current_rules(ledger, game)
            simulate(ledger, rules, settings, STAKES, make_player("basic", 5), rounds)
    return path


def _measure(ledger: Ledger, folder: Path, parquet_rounds: int) -> None:
    leaves = list(islice(ledger.leaves(), SAMPLE))
    rules = rules_by_digest(ledger)
    rounds, columns = _columns(leaves)
    share = len(leaves) / ledger.size()
    # What the bench itself holds is no part of what is measured, nor walking it for garbage.
    gc.collect()
    gc.freeze()
    count = len(rounds)
    print(f"{count:,} rounds, {len(leaves):,} leaves; load {os.getloadavg()[0]:.1f}")
    print(f"{'':<34}{'rounds/s':>12}{'cpu µs':>9}{'of floor':>10}")
    floor = time_used(lambda: [hashlib.sha256(leaf.state).digest() for leaf in leaves])

    def row(what: str, rounds: float, used: Used) -> float:
        ratio, rate = used.cpu / rounds / (floor.cpu / count), rounds / used.wall
        cpu = used.cpu / rounds * 1e6
        print(f"{what:<34}{rate:>12,.0f}{cpu:>9.1f}{ratio:>9.1f}x", flush=True)
        return rate

    row("SHA-256 over the leaves (floor)", count, floor)
    row("leaf hashes and Merkle root", count, time_used(
        lambda: root_hash([leaf_hash(leaf.state) for leaf in leaves])))  # fmt: skip
    row("fetching from SQLite", count, time_used(lambda: _fetched(ledger, len(leaves))))
    row("decoding, scalar", count / 10, time_used(
        lambda: [read_leaf(leaf) for leaf in leaves[: len(leaves) // 10]]))  # fmt: skip
    ring = ledger.key_ring()
    row("leaves checked: hash, place, form", count, time_used(
        lambda: _checked(ledger, leaves, ring)))  # fmt: skip
    row("decoding to words, unchecked", count, time_used(lambda: _columns(leaves)))
    few = rounds[: max(1, count // 20)]
    events = list(Gathered().ended(read_leaf(leaf) for round_ in few for leaf in round_))
    row("engine, scalar (replay)", len(events), time_used(lambda: _replayed(events, rules)))
    sound(columns, rules, with_shoes=False)
    times = max(1, ENGINE_ROUNDS // count)

    def engine() -> None:
        for _ in range(times):
            assert sound(columns, rules, with_shoes=False).all()

    row("engine, bulk, one process", times * count, time_used(engine))
    bulk = row("engine, bulk, two processes", 2 * times * count, time_used(lambda: _twice(engine)))
    row("shoes and commitments", count, time_used(lambda: _shoes(columns)))
    row("rounds judged, bulk", count, time_used(lambda: sound(columns, rules)))
    whole = count / share
    # A checkpoint covers everything: every leaf is hashed, no signature but a sample verified.
    sign_checkpoint(ledger)
    row("whole audit, one process", whole, time_used(lambda: audit(ledger, workers=1)))
    row("whole audit, two workers", whole, time_used(lambda: audit(ledger, workers=2)))
    if whole <= SIGNED:
        row("whole audit, scalar", whole, time_used(lambda: scalar_audit(ledger)))
        row("`verify`, two workers", whole, time_used(lambda: verify(ledger, workers=2)))
        for count_of_workers in (1, 2):
            used = time_used(partial(audit, ledger, workers=count_of_workers, every_signature=True))
            row(f"audit --every-signature, {count_of_workers} at work", whole, used)
        key = Ed25519PrivateKey.generate()
        signed, public = key.sign(bytes(600)), key.public_key()
        some = leaves[: len(leaves) // 10]
        bare = time_used(lambda: [public.verify(signed, bytes(600)) for _ in some])
        row("bare Ed25519, one thread", count / 10, bare)
    row("export to Parquet", whole, time_used(lambda: export_parquet(ledger, folder)))
    row("audit of Parquet, one process", whole, time_used(lambda: audit_parquet(folder, workers=1)))
    repeat(folder, max(1, parquet_rounds // int(whole)))
    manifest = read_manifest(folder)
    many = sum(part.rounds for part in manifest.parts)
    row("audit of Parquet, two workers", many, time_used(lambda: audit_parquet(folder, workers=2)))
    for name, play in peers().items():
        if play is None:
            print(f"{name}: not installed (extra `bench`)")
            continue
        played = row(f"{name}, playing", PLAYED, time_used(partial(play, PLAYED)))
        print(f"  engine, bulk, two processes: {bulk / played:.1f} times that rate")
    mine = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"most memory: {mine:,.0f} MB here, {worker:,.0f} MB in the largest worker")


def _twice(work: Callable[[], None]) -> None:
    """Do the work in two processes at once; what they judge is in memory when they start."""
    processes = [get_context("fork").Process(target=work) for _ in range(2)]
    for each in processes:
        each.start()
    for each in processes:
        each.join()
        assert each.exitcode == 0


def time_used(work: Callable[[], Any]) -> Used:
    """Return what some work took, with processes it started that have ended."""
    before = _cpu()
    wall, _ = timed(work)
    return Used(wall, _cpu() - before)


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _columns(leaves: list[StoredLeaf]) -> tuple[list[list[StoredLeaf]], Columns]:
    """Read closed rounds into columns, as a range is read."""
    head, vocabulary = Reader().head, Vocabulary()
    builder = RoundsBuilder(vocabulary)
    gathered: dict[str, tuple[RoundColumns, list[int], list[StoredLeaf]]] = {}
    rounds = []
    for leaf in leaves:
        read = head(leaf.state)
        if not is_round(read.stream):
            continue
        own, words, mine = gathered.setdefault(read.stream, (RoundColumns(read.stream), [], []))
        words.append(vocabulary.read(read.type, bytes(read.data), own))
        mine.append(leaf)
        if read.type in CLOSING:
            builder.add(own, words)
            rounds.append(mine)
            del gathered[read.stream]
    return rounds, builder.columns()


def _checked(ledger: Ledger, leaves: list[StoredLeaf], ring: KeyRing) -> None:
    for start in range(0, len(leaves), RANGE):
        some = LeafBatch.of_leaves(leaves[start : start + RANGE])
        stop = start + len(some)
        check = check_range(some, start, stop, ledger.origin, ring, stop).check
        assert not check.run.findings


def _fetched(ledger: Ledger, size: int) -> None:
    fetch = elsewhere(ledger.store)
    for start in range(0, size, RANGE):
        fetch(start, min(start + RANGE, size))


def _replayed(rounds: list[list[Recorded]], rules: Any) -> None:
    for events in rounds:
        assert not replay_round(events, rules).findings


def _shoes(columns: Columns) -> None:
    by_digest: dict[str, list[RoundColumns]] = {}
    for own in columns.own:
        by_digest.setdefault(own.rules_digest or "", []).append(own)
    for digest, rounds in by_digest.items():
        assert committed(rounds, digest).all()
        first_cards(rounds, digest, 8, CARDS)


def repeat(folder: Path, times: int) -> None:
    """Give an export its parts many times over, by links: more rounds, and no more to write."""
    manifest = read_manifest(folder)
    parts = list(manifest.parts)
    for number in range(len(parts), times * len(parts)):
        part = parts[number % len(manifest.parts)]
        names = f"rounds-{number:05}.parquet", f"symbols-{number:05}.parquet"
        (folder / names[0]).hardlink_to(folder / part.rounds_file)
        (folder / names[1]).hardlink_to(folder / part.symbols_file)
        parts.append(msgspec.structs.replace(part, rounds_file=names[0], symbols_file=names[1]))
    told = msgspec.structs.replace(manifest, parts=tuple(parts))
    (folder / NAME).write_bytes(msgspec.json.encode(told))


if __name__ == "__main__":
    main()
