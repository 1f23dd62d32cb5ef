"""Proofs that outlive the ledger (C2SP tlog-proof): an index, an inclusion proof, a checkpoint.

Such a proof together with the leaf it is about convinces whoever trusts the log's key. Hashes and
the checkpoint are those of any log; nothing here knows what a leaf says.
"""

import re
from base64 import b64decode, b64encode
from typing import NamedTuple

from shoeproof.ledger.errors import ProofRefused
from shoeproof.ledger.tree.merkle import HASH_SIZE

_HEADER = "c2sp.org/tlog-proof@v1"
_head = re.compile(
    rf"{re.escape(_HEADER)}\n(?:extra [A-Za-z0-9+/]+={{0,2}}\n)?index (0|[1-9][0-9]{{0,18}})\n"
    rf"((?:[A-Za-z0-9+/]{{43}}=\n){{0,63}})\n",
    re.ASCII,
).fullmatch


class InclusionProof(NamedTuple):
    """The 0-based index of a leaf and the hashes beside its path, leaf first."""

    leaf_index: int
    hashes: list[bytes]


def proof_head(proof: InclusionProof) -> str:
    """Return a proof up to the empty line after which a checkpoint follows verbatim.

    Head and checkpoint together are a C2SP tlog-proof.
    """
    hashes = "".join(f"{b64encode(each).decode()}\n" for each in proof.hashes)
    return f"{_HEADER}\nindex {proof.leaf_index}\n{hashes}\n"


def parse_head(text: str) -> InclusionProof:
    """Return what `proof_head` wrote, or another log with `extra` data, which proves nothing.

    Raises ProofRefused for every other text.
    """
    match = _head(text)
    if match is None:
        raise ProofRefused("not the head of a tlog-proof: header, index, hashes, an empty line")
    hashes = [b64decode(line) for line in match[2].splitlines()]
    encoded = "".join(f"{b64encode(each).decode()}\n" for each in hashes)
    if encoded != match[2] or any(len(each) != HASH_SIZE for each in hashes):
        raise ProofRefused("a tlog-proof's hash is not padded base64 of 32 bytes")
    return InclusionProof(int(match[1]), hashes)
