"""Attackers whose store shows an audit other leaves where it looks them up than where it reads all.

What an audit judges are the leaves it verified, whatever is shown to it before or after.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from re import finditer
from typing import Any

import pytest

from shoeproof.ledger import findings
from shoeproof.ledger.errors import StoreDamaged
from shoeproof.ledger.leaf.events import Refunded
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.leaf.streams import DISPUTES_PREFIX
from shoeproof.ledger.ledger import Ledger
from shoeproof.replay import findings as codes
from shoeproof.replay.bulk.audit import LedgerAudit, audit
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.bulk.ledgers import interleaved
from tests.ledger.helpers import ORIGIN
from tests.replay.test_seeds import SEED, played


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger of many rounds, in which money went back that nobody had decided on."""
    path = tmp_path / "ledger"
    with Ledger.init(path, ORIGIN) as ledger:
        add_published_games(ledger)
        interleaved(ledger, Random(1), 20)
        round_id = ledger.rounds(state="closed")[0].round
        ledger.append((DISPUTES_PREFIX + round_id, Refunded(round_id, "s1", "main", 1, None)))
        ledger.store.query("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with Ledger.open(path) as ledger:
        yield ledger


def told(ledger: Ledger) -> LedgerAudit:
    return audit(ledger, partitions=7, workers=1, sample=0)


def test_an_index_hides_a_dispute(path: Path) -> None:
    with Ledger.open(path) as ledger:
        honest = told(ledger).rounds
        last = ledger.size() - 1
        stream = ledger.store.fetch(last, last + 1)[0].stream
    assert codes.PAYMENT_UNDECIDED in honest.by_code
    file = path / "events.sqlite"
    data, name = bytearray(file.read_bytes()), stream.encode()
    # In the leaf it stands in quotes, in the table before the topic, and else in the index.
    places = [each.start() for each in finditer(rb'(?<!")' + name + rb"(?!.{0,9}Refunded)", data)]
    assert len(places) == 1
    data[places[0]] -= 1
    file.write_bytes(data)
    with Ledger.open(path) as ledger:
        assert last not in {leaf.leaf_index for leaf in ledger.store.under(DISPUTES_PREFIX)}
        hidden = told(ledger)
    assert hidden.rounds == honest
    assert (last, findings.INDEX_MISMATCH) in {
        (each.leaf_index, each.code) for each in hidden.integrity.findings
    }


Lie = Callable[[StoredLeaf], StoredLeaf]


def lie(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, name: str, told: Lie) -> None:
    """Have a way to look leaves up show others."""
    shown = getattr(ledger.store, name)
    monkeypatch.setattr(ledger.store, name, lambda *asked: list(map(told, shown(*asked))))


def test_a_dispute_reads_otherwise_where_it_is_looked_up(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = told(ledger)

    def nothing_was_paid(leaf: StoredLeaf) -> StoredLeaf:
        return leaf._replace(state=leaf.state.replace(b'"amount_minor":1,', b'"amount_minor":0,'))

    for name in ("stream", "under"):
        lie(ledger, monkeypatch, name, nothing_was_paid)
    assert told(ledger).rounds == honest.rounds


def test_a_round_with_a_case_reads_otherwise_when_it_is_read_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    refunded = ledger.store.fetch(ledger.size() - 1, ledger.size())[0]
    round_id = refunded.stream.removeprefix(DISPUTES_PREFIX)

    def more_was_staked(leaf: StoredLeaf) -> StoredLeaf:
        state = leaf.state.replace(b'"stakes":', b'"steaks":')
        return leaf._replace(state=state) if leaf.stream == round_id else leaf

    lie(ledger, monkeypatch, "fetch", more_was_staked)
    with pytest.raises(StoreDamaged, match="gave other leaves"):
        told(ledger)


def test_a_revealed_seed_reads_otherwise_when_it_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.init(tmp_path / "ledger", ORIGIN) as ledger:
        add_published_games(ledger)
        for _ in range(2):
            played(ledger, SEED, "zero")
        assert codes.SEED_REPEATED in told(ledger).rounds.by_code
        seed, rows_fetcher = f"{SEED:064x}".encode(), ledger.store.rows_fetcher
        read: set[tuple[int, int]] = set()

        def lying(start: int, stop: int) -> list[tuple[Any, ...]]:
            rows = rows_fetcher()(start, stop)
            if (start, stop) in read:
                rows = [
                    (*row[:-1], row[-1].replace(seed, seed[:-1] + b"%d" % row[2])) for row in rows
                ]
            read.add((start, stop))
            return rows

        monkeypatch.setattr(ledger.store, "rows_fetcher", lambda: lying)
        with pytest.raises(StoreDamaged, match="gave other leaves"):
            audit(ledger, workers=1, sample=0)
