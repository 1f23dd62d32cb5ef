"""Static files: what is published verifies, never changes, and tells every alteration."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from shoeproof.ledger import findings
from shoeproof.ledger.errors import EventUnreadable, NoteRefused, PublishRefused, StoreDamaged
from shoeproof.ledger.exchange.publish import publish, verify_published
from shoeproof.ledger.exchange.tile_files import encode_entries, read_entries, tile_path
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from tests.ledger.helpers import FIRST, ORIGIN, TickingClock, alter, play, round_id


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """A ledger of 565 leaves, to be read only: two full tiles and a partial one."""
    path = tmp_path_factory.mktemp("grown") / "ledger"
    with Ledger.init(path, ORIGIN, clock=TickingClock()) as ledger:
        for number in range(70):
            play(ledger, round_id(number))
        yield ledger


@pytest.mark.parametrize(
    ("level", "index", "width", "path"),
    [
        (0, 0, 256, "tile/0/000"),
        (0, 5, 3, "tile/0/005.p/3"),
        (3, 1234067, 256, "tile/3/x001/x234/067"),
        (None, 1000, 255, "tile/entries/x001/000.p/255"),
    ],
)
def test_names_of_files(level: int | None, index: int, width: int, path: str) -> None:
    assert tile_path(level, index, width) == Path(path)


def test_entries_are_read_back() -> None:
    leaves = [b"", b"one", b"x" * 65_535]
    assert encode_entries([b"one"]) == b"\0\3one"
    assert list(read_entries(BytesIO(encode_entries(leaves)))) == leaves
    for cut in (b"\0", b"\0\3on"):
        with pytest.raises(EventUnreadable, match="middle"):
            list(read_entries(BytesIO(cut)))


def test_published_directory_verifies_and_holds_the_tiles_of_its_size(
    grown: Ledger, tmp_path: Path
) -> None:
    head = publish(grown, tmp_path)
    key = grown.public_keys()["operator"]
    result = verify_published(tmp_path, public_key=key)
    assert (result.size, result.anchor, result.findings) == (565, key, [])
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    tiles = {
        f"tile/{kind}/{name}" for kind in ("0", "entries") for name in ("000", "001", "002.p/53")
    }
    assert files == {"checkpoint", "tile/1/000.p/2", *tiles}
    assert head.size == 565


def test_publishing_again_only_adds(ledger: Ledger, tmp_path: Path) -> None:
    folder = tmp_path / "published"
    kept = []
    before: dict[Path, bytes] = {}
    for number in range(40):
        play(ledger, round_id(number))
        if number % 13 == 0:
            publish(ledger, folder)
            publish(ledger, folder)
            kept.append((folder / "checkpoint").read_bytes())
            files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
            changed = {path for path, content in before.items() if files[path] != content}
            assert changed <= {folder / "checkpoint"}
            before = files
    for note in kept:
        assert verify_published(folder, checkpoint=note).findings == []


def test_partial_tiles_may_be_taken_away(ledger: Ledger, tmp_path: Path) -> None:
    play(ledger)
    publish(ledger, tmp_path)
    kept = (tmp_path / "checkpoint").read_bytes()
    for number in range(40):
        play(ledger, round_id(number))
    publish(ledger, tmp_path)
    (tmp_path / tile_path(0, 0, FIRST + 8)).unlink()
    (tmp_path / tile_path(None, 0, FIRST + 8)).unlink()
    assert verify_published(tmp_path, checkpoint=kept).findings == []


def test_kept_checkpoint_of_another_history(ledger: Ledger, tmp_path: Path) -> None:
    with Ledger.init(tmp_path / "other", ORIGIN, clock=TickingClock()) as other:
        publish(other, tmp_path / "published")
        with pytest.raises(NoteRefused, match="no key known here"):
            verify_published(tmp_path / "published", checkpoint=sign_checkpoint(ledger))
        with pytest.raises(PublishRefused, match="not those published"):
            publish(ledger, tmp_path / "published")


def test_directory_of_another_ledger_is_left_alone(ledger: Ledger, tmp_path: Path) -> None:
    with Ledger.init(tmp_path / "other", "other.example") as other:
        publish(other, tmp_path / "published")
        with pytest.raises(PublishRefused, match="not of this ledger"):
            publish(ledger, tmp_path / "new", sign_checkpoint(other))
    with pytest.raises(PublishRefused, match=r"'other\.example' is already published in"):
        publish(ledger, tmp_path / "published")


def test_damaged_leaf_is_not_published(ledger: Ledger, tmp_path: Path) -> None:
    assert ledger.path is not None
    play(ledger)
    note = sign_checkpoint(ledger)
    alter(ledger.path, FIRST + 3, b'"Td"', b'"Ad"')
    with pytest.raises(PublishRefused, match="run fsck"):
        publish(ledger, tmp_path, note)
    assert not (tmp_path / "checkpoint").exists()


def test_nothing_published(tmp_path: Path) -> None:
    with pytest.raises(StoreDamaged, match="nothing is published"):
        verify_published(tmp_path)


PARTIAL = tile_path(None, 2, 53)


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        (tile_path(0, 1, 256), {findings.TILE_MISMATCH}),
        (tile_path(1, 0, 2), {findings.TILE_MISMATCH}),
        (PARTIAL, {findings.CHECKPOINT_MISMATCH, findings.LEAF_INDEX_GAP}),
    ],
)
def test_file_taken_away(grown: Ledger, tmp_path: Path, name: Path, codes: set[str]) -> None:
    publish(grown, tmp_path)
    (tmp_path / name).unlink()
    assert {each.code for each in verify_published(tmp_path).findings} == codes


@pytest.mark.parametrize(
    "name",
    [
        tile_path(0, 1, 256),
        tile_path(0, 2, 53),
        tile_path(1, 0, 2),
        tile_path(None, 0, 256),
        PARTIAL,
    ],
)
@pytest.mark.parametrize("more", [b"\0", b"\0\3one", bytes(32)])
def test_bytes_appended_to_a_published_file(
    grown: Ledger, tmp_path: Path, name: Path, more: bytes
) -> None:
    publish(grown, tmp_path)
    with open(tmp_path / name, "ab") as file:
        file.write(more)
    found = verify_published(tmp_path).findings
    assert {each.code for each in found} >= {findings.TILE_MISMATCH}


def test_leaf_altered_where_it_is_published(grown: Ledger, tmp_path: Path) -> None:
    publish(grown, tmp_path)
    path = tmp_path / tile_path(None, 1, 256)
    path.write_bytes(path.read_bytes().replace(b'"Td"', b'"Ad"', 1))
    found = verify_published(tmp_path).findings
    assert [each.code for each in found] == [
        findings.SIGNATURE_INVALID,
        findings.TILE_MISMATCH,
        findings.PREV_MISMATCH,
        findings.CHECKPOINT_MISMATCH,
    ]
    assert found[0].leaf_index == found[1].leaf_index


def test_checkpoint_altered_where_it_is_published(grown: Ledger, tmp_path: Path) -> None:
    publish(grown, tmp_path)
    path = tmp_path / "checkpoint"
    path.write_bytes(path.read_bytes().replace(b"\n565\n", b"\n564\n"))
    with pytest.raises(NoteRefused, match="is not valid: the note is forged"):
        verify_published(tmp_path)
