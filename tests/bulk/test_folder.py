"""Exports on a disk and in an object store: whole or none, and what their checkpoint is worth."""

import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.checkpoint.note import sign_note
from shoeproof.ledger.checkpoint.signed import Checkpoint
from shoeproof.ledger.errors import NoteRefused
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.needs import NotInstalled
from shoeproof.replay.audit.one_by_one import audit as scalar_audit
from shoeproof.replay.bulk.export.folder import Folder
from shoeproof.replay.bulk.export.manifest import check_is_kept, read_manifest
from shoeproof.replay.bulk.export.parquet import audit_parquet
from shoeproof.replay.bulk.export.write import export_parquet
from shoeproof.replay.errors import ExportUnusable
from tests.bulk.helpers import of_the_play
from tests.bulk.ledgers import interleaved
from tests.replay.helpers import new_ledger

fsspec = pytest.importorskip("fsspec", reason="object stores need the extra `object-store`")

_numbers = count()


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    made = new_ledger()
    interleaved(made, Random(51), 12)
    return made


def _on_disk(tmp_path: Path) -> str:
    return str(tmp_path / "a folder" / "rounds")


def _on_disk_by_url(tmp_path: Path) -> str:
    return (tmp_path / "rounds").as_uri()


def _in_memory(tmp_path: Path) -> str:
    return f"memory://bucket-{next(_numbers)}/rounds"


def _on_disk_by_fsspec(tmp_path: Path) -> str:
    return f"local://{tmp_path}/rounds"


PLACES = [_on_disk, _on_disk_by_url, _in_memory, _on_disk_by_fsspec]
Place = Callable[[Path], str]


@pytest.mark.parametrize("place", PLACES)
def test_an_export_anywhere_is_judged_as_its_ledger(
    ledger: Ledger, tmp_path: Path, place: Place
) -> None:
    where = place(tmp_path)
    export_parquet(ledger, where, rounds_a_part=5)
    assert audit_parquet(where, workers=2) == of_the_play(scalar_audit(ledger))
    with pytest.raises(ExportUnusable, match="not empty"):
        export_parquet(ledger, where)


class _Broken(Exception):
    pass


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("how", ["nothing written", "half written", "written all the same"])
def test_an_export_that_breaks_off_leaves_nothing(
    ledger: Ledger, tmp_path: Path, place: Place, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever write fails, and whether or not bytes arrived; the folder can be used again."""
    whole = export_parquet(ledger, _in_memory(tmp_path), rounds_a_part=5)
    where, real = place(tmp_path), Folder.write
    for nth in range(2 * len(whole.parts) + 1):
        left = [nth]

        def fail(self: Folder, name: str, data: Any, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] >= 0 or how == "written all the same":
                real(self, name, data)
            elif how == "half written":
                real(self, name, memoryview(data)[: len(data) // 2])
            if left[0] < 0:
                # What a dying process leaves must not be readable even before it is removed.
                if how != "written all the same" or name != "manifest.json":
                    with pytest.raises(ExportUnusable):
                        audit_parquet(where, workers=1)
                raise _Broken

        monkeypatch.setattr(Folder, "write", fail)
        with pytest.raises(_Broken):
            export_parquet(ledger, where, rounds_a_part=5)
        assert not Folder(where).names()
    monkeypatch.setattr(Folder, "write", real)
    assert export_parquet(ledger, where, rounds_a_part=5).parts == whole.parts
    assert audit_parquet(where, workers=1) == of_the_play(scalar_audit(ledger))


def test_a_file_of_an_object_store_that_was_changed(ledger: Ledger) -> None:
    where = _in_memory(Path())
    export_parquet(ledger, where)
    Folder(where).write("rounds-00000.parquet", b"PAR1")
    with pytest.raises(ExportUnusable, match="not the file the manifest names"):
        audit_parquet(where)


@pytest.mark.parametrize(
    "url", ["nonsense://x/y", "s3://", "://", "file://elsewhere/x", "http://127.0.0.1:1/x"]
)
def test_a_url_of_no_file_system(url: str) -> None:
    with pytest.raises(ExportUnusable):
        audit_parquet(url)


def test_fsspec_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(NotInstalled, match=r"pip install 'shoeproof\[object-store\]'"):
        Folder("memory://x")


def test_a_checkpoint_of_the_ledger_goes_into_the_manifest(ledger: Ledger) -> None:
    where, note = _in_memory(Path()), sign_checkpoint(ledger)
    export_parquet(ledger, where, checkpoint=note)
    manifest = read_manifest(where)
    assert manifest.checkpoint == note.decode()
    check_is_kept(manifest, note)


def _signed(ledger: Ledger, checkpoint: Checkpoint) -> bytes:
    return sign_note(checkpoint.text, *ledger.signers("log"))


@pytest.mark.parametrize("size", [30, 10_000])
def test_a_checkpoint_of_another_history_is_not_exported(ledger: Ledger, size: int) -> None:
    where = _in_memory(Path())
    with pytest.raises(ExportUnusable, match="not of this ledger"):
        export_parquet(
            ledger, where, checkpoint=_signed(ledger, Checkpoint(ledger.origin, size, bytes(32)))
        )
    assert not Folder(where).names()


def test_a_checkpoint_nobody_of_the_ledger_signed_is_not_exported(ledger: Ledger) -> None:
    for note in (sign_checkpoint(new_ledger()), b"a checkpoint", b"\xff"):
        with pytest.raises(NoteRefused):
            export_parquet(ledger, _in_memory(Path()), checkpoint=note)


def test_a_kept_checkpoint_that_the_export_does_not_carry(ledger: Ledger) -> None:
    where = _in_memory(Path())
    export_parquet(ledger, where, checkpoint=sign_checkpoint(ledger))
    manifest, size = read_manifest(where), ledger.size()
    other = Checkpoint(ledger.origin, size, bytes(32))
    with pytest.raises(ExportUnusable, match="two histories"):
        check_is_kept(manifest, _signed(ledger, other))
    with pytest.raises(ExportUnusable, match="no proof"):
        check_is_kept(manifest, _signed(ledger, other._replace(size=size - 1)))
    with pytest.raises(ExportUnusable, match="carries no checkpoint"):
        check_is_kept(msgspec.structs.replace(manifest, checkpoint=None), sign_checkpoint(ledger))
    with pytest.raises(NoteRefused):
        check_is_kept(manifest, b"none")
