"""Trees, proofs and tiles, against published answers and against a second way of computing each."""

import json
import sqlite3
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoeproof.ledger.errors import ProofRefused, StoreDamaged
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.tree.merkle import (
    HASH_SIZE,
    Peaks,
    add_to_peaks,
    leaf_hash,
    node_hash,
    root_hash,
    root_of_peaks,
    subtrees_of,
    verify_consistency,
    verify_inclusion,
)
from shoeproof.ledger.tree.tiles import WIDTH, Tree, grow, tiles_of
from tests.ledger.helpers import play, round_id

SHARED = Path(__file__).parents[3] / "shared" / "data" / "merkle"
DUMMY_ROOTS = "sizes-are-equal-one-and-proof-is-empty"
"""Two equal sizes with equal roots of 12 bytes: no SHA-256 tree has such a root."""


def cases(kind: str) -> Iterator[Any]:
    if not SHARED.is_dir():
        skip = pytest.mark.skip(reason=f"the public proof cases are not at {SHARED}")
        yield pytest.param(Path(), marks=skip, id=f"no {kind} cases")
    for path in sorted((SHARED / kind).rglob("*.json")):
        strict = pytest.mark.skip(reason="accepts dummy roots of 12 bytes, which are refused here")
        marks = [strict] if path.stem == DUMMY_ROOTS else []
        yield pytest.param(path, marks=marks, id=f"{path.parent.name}/{path.stem}")


def hashes_of(case: dict[str, Any], *names: str) -> list[bytes]:
    return [b64decode(case[name] or "") for name in names]


def check(case: dict[str, Any], accept: Any) -> None:
    proof = [b64decode(each or "") for each in case["proof"] or []]
    if case["wantErr"]:
        with pytest.raises(ProofRefused):
            accept(proof)
    else:
        accept(proof)


@pytest.mark.parametrize("path", list(cases("inclusion")))
def test_public_inclusion_case(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    digest, root = hashes_of(case, "leafHash", "root")
    check(
        case, lambda proof: verify_inclusion(case["leafIdx"], case["treeSize"], digest, proof, root)
    )


@pytest.mark.parametrize("path", list(cases("consistency")))
def test_public_consistency_case(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    old, new = hashes_of(case, "root1", "root2")
    check(case, lambda proof: verify_consistency(case["size1"], old, case["size2"], new, proof))


def test_published_hashes() -> None:
    assert leaf_hash(b"").hex() == (
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    )
    assert leaf_hash(b"L123456").hex() == (
        "395aa064aa4c29f7010acfe3f25db9485bbd4b91897b6ad7ad547639252b4d56"
    )
    assert node_hash(b"N123", b"N456").hex() == (
        "aa217fe888e47007fa15edab33c2b492a722cb106c64667fc2b044444de66bbb"
    )


class Grown:
    """A tree grown some leaves at a time, and its leaf hashes."""

    def __init__(self, steps: list[int]) -> None:
        self.hashes: list[bytes] = []
        self.tiles: dict[tuple[int, int], bytes] = {}
        peaks: Peaks = ()
        for step in steps:
            start = len(self.hashes)
            new = [leaf_hash(b"%d" % number) for number in range(start, start + step)]
            pieces, peaks = grow(start, peaks, new)
            for level, place, hashes in pieces:
                index, width = divmod(place, WIDTH)
                written = self.read(level, index)
                assert len(written) == width * HASH_SIZE
                assert width * HASH_SIZE + len(hashes) <= WIDTH * HASH_SIZE
                self.tiles[level, index] = written + hashes
            self.hashes += new
        self.size = len(self.hashes)
        self.tree = Tree(self.size, self.read)

    def read(self, level: int, index: int) -> bytes:
        return self.tiles.get((level, index), b"")


STEPS = st.lists(st.sampled_from([1, 2, 3, 7, 63, 255, 256, 257, 600]), min_size=1, max_size=8)


@given(STEPS, st.data())
def test_every_proof_from_tiles_is_accepted_and_no_altered_one(
    steps: list[int], data: st.DataObject
) -> None:
    grown = Grown(steps)
    root = root_hash(grown.hashes)
    assert grown.tree.root() == root
    index = data.draw(st.integers(0, grown.size - 1))
    old = data.draw(st.integers(0, grown.size))
    old_root = root_hash(grown.hashes[:old])
    assert grown.tree.root(old) == old_root
    inclusion, consistency = grown.tree.inclusion_proof(index), grown.tree.consistency_proof(old)
    verify_inclusion(index, grown.size, grown.hashes[index], inclusion, root)
    verify_consistency(old, old_root, grown.size, root, consistency)
    other = leaf_hash(b"other")
    with pytest.raises(ProofRefused):
        verify_inclusion(index, grown.size, other, inclusion, root)
    with pytest.raises(ProofRefused):
        verify_inclusion(index, grown.size, grown.hashes[index], [*inclusion, other], root)
    with pytest.raises(ProofRefused):
        verify_consistency(old, old_root, grown.size, root, [*consistency, other])
    if old:
        with pytest.raises(ProofRefused):
            verify_consistency(old, other, grown.size, root, consistency)
    for place in range(len(inclusion)):
        altered = [*inclusion[:place], other, *inclusion[place + 1 :]]
        with pytest.raises(ProofRefused):
            verify_inclusion(index, grown.size, grown.hashes[index], altered, root)


ALL = [leaf_hash(b"%d" % number) for number in range(34)]
ROOTS = [root_hash(ALL[:size]) for size in range(len(ALL) + 1)]
OTHER = leaf_hash(b"other")


def refuses(accept: Callable[..., None], *words: Any) -> bool:
    try:
        accept(*words)
    except ProofRefused:
        return True
    return False


@pytest.mark.parametrize("size", range(1, len(ALL) + 1))
def test_of_every_small_tree_no_proof_of_inclusion_but_the_true_one(size: int) -> None:
    tree, root = Grown([size]).tree, ROOTS[size]
    for index in range(size):
        digest, proof = ALL[index], tree.inclusion_proof(index)
        verify_inclusion(index, size, digest, proof, root)
        assert refuses(verify_inclusion, index, size, digest, [*proof, OTHER], root)
        assert refuses(verify_inclusion, index, size, OTHER, proof, root)
        assert refuses(verify_inclusion, index, size, digest, proof, OTHER)
        for place in range(len(proof)):
            shorter = proof[:place] + proof[place + 1 :]
            altered = [*proof[:place], OTHER, *proof[place + 1 :]]
            assert refuses(verify_inclusion, index, size, digest, shorter, root)
            assert refuses(verify_inclusion, index, size, digest, altered, root)


@pytest.mark.parametrize("size", range(1, len(ALL) + 1))
def test_of_every_small_tree_no_proof_of_consistency_but_the_true_one(size: int) -> None:
    tree, root = Grown([size]).tree, ROOTS[size]
    for old in range(1, size):
        old_root, proof = ROOTS[old], tree.consistency_proof(old)
        verify_consistency(old, old_root, size, root, proof)
        assert refuses(verify_consistency, old, old_root, size, root, [*proof, OTHER])
        assert refuses(verify_consistency, old, OTHER, size, root, proof)
        assert refuses(verify_consistency, old, old_root, size, OTHER, proof)
        for place in range(len(proof)):
            shorter = proof[:place] + proof[place + 1 :]
            altered = [*proof[:place], OTHER, *proof[place + 1 :]]
            assert refuses(verify_consistency, old, old_root, size, root, shorter)
            assert refuses(verify_consistency, old, old_root, size, root, altered)
    assert refuses(verify_consistency, size, root, size, OTHER, [])
    assert refuses(verify_consistency, size, root, size, root, [OTHER])
    assert refuses(verify_consistency, size + 1, root, size, root, [])
    assert refuses(verify_consistency, 0, OTHER, size, root, [])
    assert refuses(verify_consistency, 0, ROOTS[0], size, root, [OTHER])


@given(STEPS)
def test_peaks_give_the_root_and_grow_as_the_tree_does(steps: list[int]) -> None:
    grown = Grown(steps)
    peaks = add_to_peaks((), 0, grown.hashes)
    assert peaks == subtrees_of(0, grown.hashes) == grown.tree.peaks()
    assert root_of_peaks(peaks) == root_hash(grown.hashes)
    assert len(peaks) == grown.size.bit_count()


@given(STEPS, st.data())
def test_tiles_are_those_of_the_size(steps: list[int], data: st.DataObject) -> None:
    grown = Grown(steps)
    expected = [
        (level, index, len(hashes) // 32) for (level, index), hashes in sorted(grown.tiles.items())
    ]
    assert list(tiles_of(grown.size)) == expected
    start = data.draw(st.integers(0, grown.size))
    before = set(tiles_of(start))
    assert list(tiles_of(grown.size, start)) == [each for each in expected if each not in before]


def test_the_empty_tree() -> None:
    assert Tree(0, lambda level, index: b"").root() == root_hash([])
    assert list(tiles_of(0)) == []
    verify_consistency(0, root_hash([]), 3, leaf_hash(b""), [])


@pytest.mark.parametrize("index", [-1, 3])
def test_no_proof_for_a_leaf_that_is_not_there(index: int) -> None:
    with pytest.raises(ValueError, match="no leaf"):
        Grown([3]).tree.inclusion_proof(index)
    with pytest.raises(ValueError, match="no earlier tree"):
        Grown([3]).tree.consistency_proof(4)


def test_a_tile_too_narrow_for_the_tree() -> None:
    grown = Grown([300])
    grown.tiles[0, 0] = grown.tiles[0, 0][:-32]
    with pytest.raises(StoreDamaged, match="is incomplete"):
        Tree(300, grown.read).inclusion_proof(200)


def test_the_ledgers_tiles_are_those_of_its_leaves(ledger: Ledger) -> None:
    for number in range(70):
        play(ledger, round_id(number))
    hashes = [leaf_hash(leaf.state) for leaf in ledger.leaves()]
    assert len(hashes) > 2 * WIDTH
    assert ledger.tree(len(hashes)).root() == root_hash(hashes)
    assert ledger.tree(100).root() == root_hash(hashes[:100])


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tiles SET hashes = substr(hashes, 1, 32)",
        "UPDATE tiles SET hashes = zeroblob(length(hashes))",
        "UPDATE tiles SET hashes = hashes || zeroblob(32)",
        "UPDATE tiles SET start = start + 1",
        "DELETE FROM tiles",
    ],
)
def test_triggers_refuse_to_change_a_tile(played: Path, statement: str) -> None:
    with (
        closing(sqlite3.connect(played / "events.sqlite")) as connection,
        pytest.raises(sqlite3.IntegrityError, match="only ever added to"),
    ):
        connection.execute(statement)
