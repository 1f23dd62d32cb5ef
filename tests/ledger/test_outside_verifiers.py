"""What this package signs and publishes, judged by programs other people wrote."""

import os
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger.checkpoint.note import COSIGNATURE, NoteKey, cosignature_line
from shoeproof.ledger.checkpoint.proof import parse_head
from shoeproof.ledger.checkpoint.signed import Checkpoint, log_keys, parse_checkpoint
from shoeproof.ledger.exchange.bundle import make_bundle, parse_bundle
from shoeproof.ledger.exchange.publish import publish
from shoeproof.ledger.keys.key import FileSigner
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.tree.merkle import leaf_hash
from tests.ledger.helpers import ORIGIN, TickingClock, play, round_id

GO_MODULE = Path("/usr/share/gocode/src/golang.org/x/mod/sumdb")
GO_PROGRAM = """package main

import (
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func main() {
	verifier, err := note.NewVerifier(os.Args[1])
	check(err)
	old, err := os.ReadFile(os.Args[2])
	check(err)
	new, err := os.ReadFile(os.Args[3])
	check(err)
	leaf, err := os.ReadFile(os.Args[4])
	check(err)
	var trees [2]tlog.Tree
	for i, data := range [][]byte{old, new} {
		opened, err := note.Open(data, note.VerifierList(verifier))
		check(err)
		var origin, root string
		_, err = fmt.Sscanf(opened.Text, "%s\\n%d\\n%s\\n", &origin, &trees[i].N, &root)
		check(err)
		trees[i].Hash, err = tlog.ParseHash(root)
		check(err)
	}
	var proofs [2][]tlog.Hash
	which := 0
	for _, argument := range os.Args[6:] {
		if argument == "consistency" {
			which = 1
			continue
		}
		hash, err := tlog.ParseHash(argument)
		check(err)
		proofs[which] = append(proofs[which], hash)
	}
	var index int64
	fmt.Sscan(os.Args[5], &index)
	check(tlog.CheckRecord(proofs[0], trees[1].N, trees[1].Hash, index, tlog.RecordHash(leaf)))
	check(tlog.CheckTree(proofs[1], trees[1].N, trees[1].Hash, trees[0].N, trees[0].Hash))
	fmt.Print("both proofs hold")
}
"""


class Published(NamedTuple):
    """A ledger of 725 leaves, a checkpoint of its first 45, one of all, the log's verifier key."""

    ledger: Ledger
    folder: Path
    old: bytes
    new: bytes
    vkey: str

    @property
    def heads(self) -> tuple[Checkpoint, Checkpoint]:
        return parse_checkpoint(self.old), parse_checkpoint(self.new)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Published]:
    folder = tmp_path_factory.mktemp("outside")
    with Ledger.init(folder / "ledger", ORIGIN, clock=TickingClock()) as ledger:
        for number in range(5):
            play(ledger, round_id(number))
        old = sign_checkpoint(ledger)
        for number in range(5, 90):
            play(ledger, round_id(number))
        publish(ledger, folder / "published")
        new = (folder / "published" / "checkpoint").read_bytes()
        [key] = log_keys(ledger.key_ring(), ORIGIN, ledger.size())
        yield Published(ledger, folder / "published", old, new, key.vkey)


def test_metamorphic_log_accepts_checkpoints_and_proofs(published: Published) -> None:
    ml: Any = pytest.importorskip("metamorphic_log")
    old, new = published.heads
    head = ml.checkpoint_verify(published.new.decode(), [published.vkey])
    assert (head.origin, head.size, bytes(head.root)) == (new.origin, new.size, new.root)
    tree = published.ledger.tree(new.size)
    for leaf in (*published.ledger.leaves(0, 3), *published.ledger.leaves(254, 258)):
        proof = tree.inclusion_proof(leaf.leaf_index)
        ml.verify_inclusion(leaf.leaf_index, new.size, leaf_hash(leaf.state), proof, new.root)
    ml.verify_consistency(old.size, new.size, tree.consistency_proof(old.size), old.root, new.root)
    other = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    with pytest.raises(ml.VerifyError):
        ml.checkpoint_verify(published.new.decode(), [NoteKey(ORIGIN, other).vkey])


def test_aics_tlog_accepts_every_tile_every_leaf_and_proof(published: Published) -> None:
    tlog: Any = pytest.importorskip("aics_tlog")
    key = tlog.parse_vkey(published.vkey)
    result = tlog.verify_checkpoint(tlog.parse_note(published.new), key, expected_origin=ORIGIN)
    assert result.ok, result
    old, new = published.heads
    reader = tlog.FileSystemTileReader(published.folder)
    tlog.audit_tiles(reader, new.size, new.root)
    assert tlog.tree_root_from_tiles(reader, old.size, new.size) == old.root
    for leaf in published.ledger.leaves(250, 260):
        assert tlog.read_entry(reader, leaf.leaf_index, new.size) == leaf.state
    assert tlog.consistency_proof_from_tiles(reader, old.size, new.size) == (
        published.ledger.tree(new.size).consistency_proof(old.size)
    )
    bundle = parse_bundle(make_bundle(published.ledger, round_id(40), checkpoint=published.new))
    for each in bundle.leaves:
        proof = parse_head(each.proof)
        assert tlog.verify_inclusion(
            leaf_hash(each.leaf.encode()), proof.leaf_index, new.size, proof.hashes, new.root
        )


def test_aics_tlog_counts_our_cosignature(published: Published) -> None:
    tlog: Any = pytest.importorskip("aics_tlog")
    witness = FileSigner("witness.example", Ed25519PrivateKey.generate())
    line = cosignature_line(published.heads[1].text, witness, 1_700_000_000)
    key = NoteKey(witness.name, witness.public_key, COSIGNATURE)
    result = tlog.verify_checkpoint(
        tlog.parse_note(published.new + line),
        tlog.parse_vkey(published.vkey),
        [tlog.parse_vkey(key.vkey)],
        quorum=1,
    )
    assert result.ok, result


@pytest.mark.skipif(shutil.which("go") is None, reason="Go is not installed")
@pytest.mark.skipif(not GO_MODULE.is_dir(), reason="Debian's golang-golang-x-mod-dev is missing")
def test_gos_own_checksum_database_client_accepts_proofs(
    published: Published, tmp_path: Path
) -> None:
    old, new = published.heads
    tree = published.ledger.tree(new.size)
    [leaf] = published.ledger.leaves(300, 301)
    files = {"main.go": GO_PROGRAM.encode(), "old": published.old, "new": published.new}
    for name, content in (files | {"leaf": leaf.state}).items():
        (tmp_path / name).write_bytes(content)
    hashes = [
        *(b64encode(each).decode() for each in tree.inclusion_proof(300)),
        "consistency",
        *(b64encode(each).decode() for each in tree.consistency_proof(old.size)),
    ]
    environment = {
        **os.environ,
        "GO111MODULE": "off",
        "GOPATH": "/usr/share/gocode",
        "GOCACHE": str(tmp_path / "cache"),
        "GOFLAGS": "",
    }
    command = ["go", "run", "main.go", published.vkey, "old", "new", "leaf", "300", *hashes]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=1800
    )
    assert (done.returncode, done.stdout) == (0, "both proofs hold"), done.stdout + done.stderr
