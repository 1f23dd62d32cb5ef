"""Vectors made apart from this project, and published known answers."""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger.errors import KeyUnusable
from shoeproof.ledger.keys.key import FileSigner, key_id, parse_vkey
from shoeproof.ledger.leaf.canonical import is_canonical
from shoeproof.ledger.leaf.envelope import PAYLOAD_TYPE, pae, seal_leaf, split_leaf
from shoeproof.ledger.tree.merkle import leaf_hash, node_hash, root_hash

SHARED = Path(__file__).parents[3] / "shared" / "data" / "leaf_vectors.json"


@pytest.fixture(scope="module")
def vectors() -> Any:
    if not SHARED.is_file():
        pytest.skip(f"the shared vectors are not at {SHARED}")
    return json.loads(SHARED.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def signers(vectors: Any) -> dict[str, FileSigner]:
    return {
        key["name"]: FileSigner(
            key["name"],
            Ed25519PrivateKey.from_private_bytes(bytes.fromhex(key["private_key_hex"])),
        )
        for key in vectors["keys"]
    }


def test_keys_have_the_ids_and_the_text_of_the_vectors(
    vectors: Any, signers: dict[str, FileSigner]
) -> None:
    assert vectors["dsse_type"] == PAYLOAD_TYPE
    for key in vectors["keys"]:
        public = parse_vkey(key["vkey"])
        assert public.raw == signers[key["name"]].public_key
        assert (public.key_id_hex, public.vkey) == (key["kid"], key["vkey"])


def test_signing_reproduces_each_leaf_byte_for_byte(
    vectors: Any, signers: dict[str, FileSigner]
) -> None:
    for vector in vectors["leaves"]:
        leaf = vector["leaf"].encode()
        taken_apart = split_leaf(leaf)
        assert is_canonical(taken_apart.payload)
        assert seal_leaf(taken_apart.payload, signers[vector["signer"]]) == leaf
        assert leaf_hash(leaf).hex() == vector["leaf_hash"]


def test_roots_and_the_checkpoint(vectors: Any, signers: dict[str, FileSigner]) -> None:
    hashes = [bytes.fromhex(vector["leaf_hash"]) for vector in vectors["leaves"]]
    for size, root in vectors["roots"].items():
        assert root_hash(hashes[: int(size)]).hex() == root
    text, signature_line = vectors["checkpoint"].split("\n\n")
    assert b64decode(text.split("\n")[2]) == root_hash(hashes)
    _, name, encoded = signature_line.split()
    signer = signers[name]
    signature = signer.sign(f"{text}\n".encode())
    assert b64decode(encoded) == key_id(name, signer.public_key) + signature


def test_published_hashes() -> None:
    assert leaf_hash(b"").hex().startswith("6e340b9cffb37a98")
    assert (
        leaf_hash(b"L123456").hex()
        == "395aa064aa4c29f7010acfe3f25db9485bbd4b91897b6ad7ad547639252b4d56"
    )
    assert (
        node_hash(b"N123", b"N456").hex()
        == "aa217fe888e47007fa15edab33c2b492a722cb106c64667fc2b044444de66bbb"
    )
    data = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657"]
    leaves = [leaf_hash(bytes.fromhex(text)) for text in data]
    leaves.append(leaf_hash(bytes(range(0x60, 0x70))))
    roots = {
        3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        7: "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    }
    for size, root in roots.items():
        assert root_hash(leaves[:size]).hex() == root


def test_published_verifier_key() -> None:
    text = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
    assert parse_vkey(text).vkey == text


@pytest.mark.parametrize(
    "text",
    [
        "example.com/foo+530d903b+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "example.com/foo+530D903A+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "example.com/foo+530d903a+BOkyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k\n",
        "example.com/foo+530d903a",
        "",
    ],
)
def test_verifier_key_that_is_none(text: str) -> None:
    with pytest.raises(KeyUnusable):
        parse_vkey(text)


def test_dsse_encoding_is_that_of_the_specification() -> None:
    kind = PAYLOAD_TYPE.encode()
    assert pae(b"hello world") == b"DSSEv1 39 " + kind + b" 11 hello world"
