"""An export is judged as its ledger is; a damaged, foreign or partial one is refused."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from shutil import copytree
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.replay.audit.one_by_one import audit as scalar_audit
from shoeproof.replay.bulk.export.manifest import CANNOT_PROVE, digest_of, read_manifest
from shoeproof.replay.bulk.export.parquet import audit_parquet
from shoeproof.replay.bulk.export.write import export_parquet
from shoeproof.replay.errors import ExportUnusable
from shoeproof.replay.games.published import GAMES
from tests.bulk.helpers import of_the_play
from tests.bulk.ledgers import damage, interleaved
from tests.replay.helpers import new_ledger
from tests.replay.lies_of_money import MONEY
from tests.replay.lies_of_play import PLAY
from tests.replay.lying_table import tell

LIES = PLAY | MONEY


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    made = new_ledger()
    interleaved(made, Random(21), 90)
    damage(made)
    interleaved(made, Random(22), 30)
    return made


@pytest.fixture(scope="module")
def export(ledger: Ledger, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "rounds"
    told: list[tuple[int, int]] = []
    export_parquet(
        ledger,
        folder,
        checkpoint=sign_checkpoint(ledger),
        rounds_a_part=25,
        progress=lambda done, size: told.append((done, size)),
    )
    assert told[-1] == (ledger.size(), ledger.size())
    return folder


def test_the_report_is_the_ledger_s(ledger: Ledger, export: Path) -> None:
    told: list[tuple[int, int]] = []
    result = audit_parquet(export, lambda done, total: told.append((done, total)), workers=1)
    assert result == of_the_play(scalar_audit(ledger))
    assert told[-1][0] == told[-1][1]


def test_worker_processes_come_to_the_same(ledger: Ledger, export: Path) -> None:
    assert audit_parquet(export, workers=2) == of_the_play(scalar_audit(ledger))


@pytest.mark.parametrize("only", GAMES)
def test_one_game_alone(ledger: Ledger, export: Path, only: str) -> None:
    expected = of_the_play(scalar_audit(ledger, only=only))
    assert audit_parquet(export, only=only, workers=1) == expected


@pytest.mark.parametrize("name", LIES)
def test_every_lie_is_found_in_an_export(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = tell(LIES[name], name, monkeypatch)
    export_parquet(told.ledger, tmp_path / "rounds")
    assert audit_parquet(tmp_path / "rounds", workers=1) == of_the_play(scalar_audit(told.ledger))


def test_the_manifest_says_what_it_is(ledger: Ledger, export: Path) -> None:
    manifest = read_manifest(export)
    assert (manifest.origin, manifest.size) == (ledger.origin, ledger.size())
    assert manifest.checkpoint == sign_checkpoint(ledger).decode()
    assert manifest.cannot_prove == CANNOT_PROVE
    assert sum(part.rounds for part in manifest.parts) > 100


def test_an_export_of_nothing(tmp_path: Path) -> None:
    ledger = new_ledger()
    export_parquet(ledger, tmp_path / "rounds")
    assert audit_parquet(tmp_path / "rounds") == scalar_audit(ledger)


def test_an_export_needs_a_folder_of_its_own(ledger: Ledger, export: Path) -> None:
    with pytest.raises(ExportUnusable, match="not empty"):
        export_parquet(ledger, export)


def _manifest(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "manifest.json"
    told = msgspec.json.decode(path.read_bytes())
    change(told)
    path.write_bytes(msgspec.json.encode(told))


def _first_part(folder: Path, table: pa.Table, name: str = "rounds") -> None:
    """Put another table in the place of a part, with the digest it then has."""
    pq.write_table(table, folder / f"{name}-00000.parquet")
    digest = digest_of((folder / f"{name}-00000.parquet").read_bytes())
    _manifest(folder, lambda told: told["parts"][0].update({f"{name}_sha256": digest}))


def _truncate(folder: Path) -> None:
    path = folder / "rounds-00000.parquet"
    path.write_bytes(path.read_bytes()[:-200])


def _truncate_and_own_up(folder: Path) -> None:
    _truncate(folder)
    digest = digest_of((folder / "rounds-00000.parquet").read_bytes())
    _manifest(folder, lambda told: told["parts"][0].update(rounds_sha256=digest))


def _foreign(folder: Path) -> None:
    _first_part(folder, pa.table({"words": ["a", "b"]}))


def _words_beyond(folder: Path) -> None:
    table = pq.read_table(folder / "symbols-00000.parquet")
    _first_part(folder, table.slice(0, 3), "symbols")


def _no_event(folder: Path) -> None:
    table = pq.read_table(folder / "symbols-00000.parquet")
    rows = table.to_pydict()
    rows["type"][2] = "Nonsense"
    _first_part(folder, pa.Table.from_pydict(rows, table.schema), "symbols")


def _null_words(folder: Path) -> None:
    table = pq.read_table(folder / "rounds-00000.parquet")
    rows = table.to_pydict()
    rows["words"][0] = None
    fields = [field.with_nullable(True) for field in table.schema]
    _first_part(folder, pa.Table.from_pydict(rows, pa.schema(fields)))


def _fewer_leaves(folder: Path) -> None:
    size = read_manifest(folder).size // 2
    _manifest(folder, lambda told: told.update(size=size, checkpoint=None))


def _one_part_twice(folder: Path) -> None:
    _manifest(folder, lambda told: told.update(parts=told["parts"][:1] * 2))


def _fewer_rounds(folder: Path) -> None:
    _first_part(folder, pq.read_table(folder / "rounds-00000.parquet").slice(0, 7))


def _no_rounds(folder: Path) -> None:
    _first_part(folder, pq.read_table(folder / "rounds-00000.parquet").slice(0, 0))


def _a_folder(folder: Path) -> None:
    (folder / "rounds-00001.parquet").unlink()
    (folder / "rounds-00001.parquet").mkdir()


def _cut_manifest(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_bytes(path.read_bytes()[:-1])


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated": (_truncate, "not the file the manifest names"),
    "truncated, digest adjusted": (_truncate_and_own_up, "cannot be read as Parquet"),
    "foreign Parquet": (_foreign, "other columns"),
    "no rounds": (_no_rounds, "is empty"),
    "words without symbols": (_words_beyond, "do not agree"),
    "a symbol that is no event": (_no_event, "is no event"),
    "fewer rounds than told": (_fewer_rounds, "has 7 rounds"),
    "a part missing": (
        lambda at: (at / "rounds-00001.parquet").unlink(),
        "rounds-00001.parquet is missing",
    ),
    "no manifest": (lambda at: (at / "manifest.json").unlink(), "is this a whole export"),
    "a part's symbols missing": (
        lambda at: (at / "symbols-00002.parquet").unlink(),
        "symbols-00002.parquet is missing",
    ),
    "a part is a folder": (_a_folder, "cannot be read"),
    "nulls where there are none": (_null_words, "other columns"),
    "fewer leaves than the parts name": (_fewer_leaves, "leaves beyond"),
    "one part twice": (_one_part_twice, "twice"),
    "a checkpoint that is none": (
        lambda at: _manifest(at, lambda told: told.update(checkpoint="a checkpoint")),
        "checkpoint is none",
    ),
    "a checkpoint of more leaves": (
        lambda at: _manifest(at, lambda told: told.update(size=100)),
        "is of .* leaves of",
    ),
    "a checkpoint of another ledger": (
        lambda at: _manifest(at, lambda told: told.update(origin="other.example/ledger")),
        "of 'other.example/ledger'",
    ),
    "a manifest cut short": (_cut_manifest, "is not a manifest"),
    "no JSON": (lambda at: (at / "manifest.json").write_text("{"), "is not a manifest"),
    "another format": (lambda at: _manifest(at, lambda told: told.update(format="v9")), "format"),
    "a part elsewhere": (
        lambda at: _manifest(
            at,
            lambda told: told["parts"][0].update(rounds_file="../x"),
        ),
        "not in",
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_export_is_refused(name: str, export: Path, tmp_path: Path) -> None:
    folder = tmp_path / "rounds"
    copytree(export, folder)
    damage_it, why = DAMAGE[name]
    damage_it(folder)
    with pytest.raises(ExportUnusable, match=why):
        audit_parquet(folder, workers=1)


@pytest.mark.parametrize("rules", [{"x": 5}, {"x": {}}, {"x": {"id": "zero"}}, {"x": None}])
def test_rules_that_are_none_are_findings(export: Path, tmp_path: Path, rules: object) -> None:
    folder = tmp_path / "rounds"
    copytree(export, folder)
    _manifest(folder, lambda told: told.update(rules=rules))
    assert "rules_digest_unknown" in audit_parquet(folder, workers=1).by_code


def test_rules_that_are_not_there_are_findings(export: Path, tmp_path: Path) -> None:
    folder = tmp_path / "rounds"
    copytree(export, folder)
    _manifest(folder, lambda told: told.update(rules={}))
    assert "rules_digest_unknown" in audit_parquet(folder, workers=1).by_code
