"""A write that fails, at every place: nothing acknowledged is lost, nothing is half-written."""

import shutil
import subprocess
import sys
from collections.abc import Iterable
from itertools import count
from pathlib import Path

import pytest

from shoeproof.ledger.errors import LedgerError
from shoeproof.ledger.exchange.publish import publish, verify_published
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.verify.fsck import fsck
from shoeproof.ledger.verify.whole import verify
from tests.ledger.faults import AFTER, BEFORE, failing, raise_error, work
from tests.ledger.helpers import FIRST, play, round_id

ROOT = Path(__file__).parents[2]


def check_after_restart(path: Path, folder: Path, said: Iterable[str]) -> None:
    """Assert that what was said holds, and that the ledger is whole and goes on."""
    with Ledger.open(path) as ledger:
        assert fsck(ledger).findings == []
        assert (ledger.size() - FIRST) % 8 == 0
        for promise in said:
            kind, _, what = promise.partition(" ")
            if kind == "leaf":
                assert ledger.size() > int(what)
            elif kind == "signed":
                assert verify(ledger, checkpoint=bytes.fromhex(what)).findings == []
            else:
                assert verify_published(folder).findings == []
        play(ledger, round_id(99))
        last = sign_checkpoint(ledger)
        publish(ledger, folder)
        assert verify_published(folder, checkpoint=last).findings == []


@pytest.mark.parametrize("when", [BEFORE, AFTER])
def test_every_write_that_fails(played: Path, tmp_path: Path, when: str) -> None:
    for place in count(1):
        path = Path(shutil.copytree(played, tmp_path / f"{place}" / "ledger"))
        folder = tmp_path / f"{place}" / "published"
        said: list[str] = []
        with failing(place, when, raise_error) as writes:
            try:
                work(path, folder, said.append)
            except (LedgerError, OSError):
                assert writes.value >= place
            else:
                # A commit that failed though it was persisted is read again, and stands.
                assert writes.value < place or when == AFTER
        check_after_restart(path, folder, said)
        if writes.value < place:
            break
    assert place > 50


@pytest.mark.parametrize("place", [1, 3, 5, 6, 8, 9, 13, 17, 22, 31, 44, 52])
def test_killed_at_a_write(played: Path, tmp_path: Path, place: int) -> None:
    folder = tmp_path / "published"
    when = AFTER if place % 2 else BEFORE
    words = [
        sys.executable,
        "-m",
        "tests.ledger.faults",
        str(played),
        str(folder),
        str(place),
        when,
    ]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == -9, done.stderr
    check_after_restart(played, folder, done.stdout.splitlines())


def test_publishing_that_fails_leaves_the_old_checkpoint(ledger: Ledger, tmp_path: Path) -> None:
    folder = tmp_path / "published"
    play(ledger, round_id(1))
    publish(ledger, folder)
    before = (folder / "checkpoint").read_bytes()
    play(ledger, round_id(2))
    with failing(4, BEFORE, raise_error), pytest.raises(OSError, match="Input/output error"):
        publish(ledger, folder)
    assert (folder / "checkpoint").read_bytes() == before
    assert verify_published(folder).findings == []
