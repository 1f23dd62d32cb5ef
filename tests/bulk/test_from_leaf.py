"""An audit that goes on from a leaf: which rounds it judges, and what it proves of those before."""

import shutil
from pathlib import Path
from random import Random

import pytest

from shoeproof.ledger import Ledger, findings
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.replay.audit.one_by_one import AuditResult
from shoeproof.replay.audit.one_by_one import audit as scalar_audit
from shoeproof.replay.bulk.audit import audit
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.attacks.helpers import rebuild_tiles
from tests.bulk.ledgers import damage, interleaved
from tests.ledger.helpers import alter, tampering
from tests.replay.helpers import ORIGIN, new_ledger


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes, int]:
    """A ledger, the checkpoint kept at the last audit, and a leaf in the middle of many rounds."""
    path = tmp_path_factory.mktemp("from") / "ledger"
    with Ledger.init(path, ORIGIN) as ledger:
        add_published_games(ledger)
        interleaved(ledger, Random(4), 40)
        kept = sign_checkpoint(ledger)
        interleaved(ledger, Random(5), 20)
        sign_checkpoint(ledger)
    return path, kept, int(kept.split(b"\n")[1]) // 2


@pytest.fixture
def path(made: tuple[Path, bytes, int], tmp_path: Path) -> Path:
    return Path(shutil.copytree(made[0], tmp_path / "ledger"))


def _later(ledger: Ledger, from_leaf: int, whole: AuditResult) -> AuditResult:
    """What is left of a whole audit: rounds that have an event at or after the leaf."""
    streams = {leaf.stream for leaf in ledger.leaves(from_leaf)}
    ended = [leaf.stream for leaf in ledger.leaves(from_leaf) if leaf.topic == "RoundClosed"]
    return AuditResult(
        whole.size,
        len(ended),
        tuple(each for each in whole.void_rounds if each.round in streams),
        tuple(each for each in whole.open_rounds if each.round in streams),
        tuple(each for each in whole.findings if each.stream in streams),
    )


@pytest.mark.parametrize("partitions", [1, 7, 60])
def test_rounds_that_go_on_are_judged_whole(made: tuple[Path, bytes, int], partitions: int) -> None:
    path, _, middle = made
    with Ledger.open(path) as ledger:
        told = audit(ledger, from_leaf=middle, partitions=partitions)
        assert told.rounds == _later(ledger, middle, scalar_audit(ledger))
        assert not told.integrity.findings
        assert told.integrity.earlier == "proved by tiles"
        assert f"before leaf {middle}" in " ".join(told.integrity.left_open)
        assert 0 < told.rounds.closed_rounds < scalar_audit(ledger).closed_rounds


def test_from_the_leaf_a_kept_checkpoint_ends_at(made: tuple[Path, bytes, int]) -> None:
    path, kept, _ = made
    with Ledger.open(path) as ledger:
        size = int(kept.split(b"\n")[1])
        told = audit(ledger, from_leaf=size, checkpoint=kept)
        assert [held.agrees for held in told.integrity.checkpoints] == [True, True]
        later = audit(ledger, from_leaf=size + 5, checkpoint=kept)
        assert [held.agrees for held in later.integrity.checkpoints] == [True, True]
        everything = audit(ledger, from_leaf=ledger.size())
        assert everything.rounds.closed_rounds == 0


def test_findings_are_those_of_a_whole_audit() -> None:
    ledger = new_ledger()
    interleaved(ledger, Random(7), 40)
    middle = ledger.size() - 60
    damage(ledger)
    whole = audit(ledger).rounds
    told = audit(ledger, from_leaf=middle)
    streams = {leaf.stream for leaf in ledger.leaves(middle)}
    expected = [each for each in whole.findings if each.stream in streams]
    assert [each for each in told.rounds.findings if each.stream in streams] == expected
    assert told.integrity.earlier == "not held to anything"
    assert told.integrity.signatures.uncovered >= ledger.size() - middle


def test_damaged_tiles_are_hashed_again(path: Path, made: tuple[Path, bytes, int]) -> None:
    with tampering(path) as connection:
        connection.execute("UPDATE tiles SET hashes = zeroblob(length(hashes)) WHERE level = 0")
    with Ledger.open(path) as ledger:
        proved = audit(ledger, from_leaf=made[2]).integrity
    assert proved.earlier == "hashed again"
    assert [each.code for each in proved.findings] == [findings.TILE_MISMATCH]
    assert [held.agrees for held in proved.checkpoints] == [True]


def test_forged_tiles_do_not_hide_a_leaf_altered_earlier(
    path: Path, made: tuple[Path, bytes, int]
) -> None:
    alter(path, 30, b'"v":1', b'"v":2')
    with tampering(path) as connection:
        rebuild_tiles(connection)
    with Ledger.open(path) as ledger:
        proved = audit(ledger, from_leaf=made[2]).integrity
    assert findings.CHECKPOINT_MISMATCH in {each.code for each in proved.findings}


def test_a_leaf_altered_later(path: Path, made: tuple[Path, bytes, int]) -> None:
    place = made[2] + 9
    alter(path, place, b'"v":1', b'"v":2')
    with Ledger.open(path) as ledger:
        proved = audit(ledger, from_leaf=made[2]).integrity
    codes = {(each.leaf_index, each.code) for each in proved.findings}
    assert (place, findings.TILE_MISMATCH) in codes
    assert (None, findings.CHECKPOINT_MISMATCH) in codes


def test_an_altered_beginning_of_a_round_that_goes_on(
    path: Path, made: tuple[Path, bytes, int]
) -> None:
    """Its leaf is not read from the tree, but the event after it names another hash."""
    with Ledger.open(path) as ledger:
        dealt = next(
            leaf.leaf_index for leaf in ledger.leaves(made[2]) if leaf.topic == "DealRequested"
        )
    alter(path, dealt, b'"client_seed":"', b'"client_seed":"00')
    with Ledger.open(path) as ledger:
        proved = audit(ledger, from_leaf=dealt + 1, checkpoint=made[1]).integrity
    assert findings.PREV_MISMATCH in {each.code for each in proved.findings}


def test_a_leaf_the_ledger_has_not_reached(path: Path) -> None:
    with Ledger.open(path) as ledger, pytest.raises(ValueError, match="none has the index"):
        audit(ledger, from_leaf=ledger.size() + 1)
