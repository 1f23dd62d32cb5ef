"""A stream of leaves that reaches somebody other than as it was written."""

from io import BytesIO
from pathlib import Path

import pytest

from shoeproof.ledger.exchange.leaf_stream import read_stream
from shoeproof.ledger.exchange.tile_files import encode_entries
from shoeproof.ledger.exchange.transfer import export_leaves
from shoeproof.ledger.ledger import Ledger
from tests.attacks.conftest import Scene
from tests.cli.conftest import Shoeproof, shoeproof
from tests.ledger.helpers import ROUND

__all__ = ["shoeproof"]


@pytest.fixture
def stream(scene: Scene) -> bytes:
    with Ledger.open(scene.path) as ledger:
        return b"".join(export_leaves(ledger))


def refused(scene: Scene, stream: bytes, shoeproof: Shoeproof, tmp_path: Path, said: str) -> None:
    """Nobody takes the stream for whole: neither who has these leaves, nor who has none of them."""
    file = tmp_path / "stream"
    file.write_bytes(stream)
    told = shoeproof("import", file, "--ledger", scene.path)
    assert (told.code, said in told.err, told.out) == (3, True, ""), told.err
    words = ("--export", file, "--public-key", scene.public_key)
    told = shoeproof("rebuild", tmp_path / "anew", *words)
    assert (told.code, said in told.err) == (3, True), told.err
    assert not (tmp_path / "anew").exists()


def test_export_cut_between_two_leaves(
    scene: Scene, stream: bytes, shoeproof: Shoeproof, tmp_path: Path
) -> None:
    leaves = list(read_stream(BytesIO(stream)))
    for kept in (0, 5, 13, len(leaves)):
        refused(scene, encode_entries(leaves[:kept]), shoeproof, tmp_path, "it was cut short")
    end = stream[len(encode_entries(leaves)) :]
    for cut in (2, len(end) - 1):
        whole = encode_entries(leaves) + end[:cut]
        refused(scene, whole, shoeproof, tmp_path, "does not say which leaves it holds")


def test_export_without_a_round(
    scene: Scene, stream: bytes, shoeproof: Shoeproof, tmp_path: Path
) -> None:
    leaves = list(read_stream(BytesIO(stream)))
    end = stream[len(encode_entries(leaves)) :]
    fewer = [leaf for leaf in leaves if ROUND.encode() not in leaf]
    refused(scene, encode_entries(fewer) + end, shoeproof, tmp_path, "some were left out")
    refused(scene, encode_entries([*leaves, leaves[-1]]) + end, shoeproof, tmp_path, "not those")
    refused(scene, stream + b"more\n", shoeproof, tmp_path, "does not say which leaves it holds")
