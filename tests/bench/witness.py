"""How long a cosignature takes, on the disk when it leaves: `python -m tests.bench.witness`."""

import tempfile
import time
from pathlib import Path
from statistics import median

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger.checkpoint.note import NoteKey, sign_note
from shoeproof.ledger.checkpoint.signed import Checkpoint
from shoeproof.ledger.files.durable import write_durably
from shoeproof.ledger.keys.key import FileSigner
from shoeproof.ledger.tree.merkle import consistency_proof, leaf_hash, root_hash
from shoeproof.ledger.witness.cosigner import Witness
from shoeproof.ledger.witness.request import CosignRequest

ORIGIN = "bench.example/log"
SIZES = range(1000, 1200)
ALLOWED_MS = 20.0


def main() -> None:
    """Print the table."""
    signer = FileSigner(ORIGIN, Ed25519PrivateKey.generate())
    requests = make_requests(signer)
    with tempfile.TemporaryDirectory() as folder:
        key = NoteKey(signer.name, signer.public_key)
        witness = Witness.init(Path(folder) / "witness", "w.example", [key])
        floor = [milliseconds_to_write(Path(folder) / "file") for _ in requests]
        taken = [milliseconds_to_cosign(witness, each) for each in requests]
    print(f"{'a small file flushed to this disk':<44}{median(floor):>10.2f} ms")
    print(f"{'cosignature, median':<44}{median(taken):>10.2f} ms")
    print(f"{f'cosignature, slowest of {len(taken)}':<44}{max(taken):>10.2f} ms")
    print(f"{'allowed':<44}{ALLOWED_MS:>10.2f} ms")


def make_requests(signer: FileSigner) -> list[CosignRequest]:
    """Return requests of a log that grows leaf by leaf."""
    hashes = [leaf_hash(str(number).encode()) for number in range(SIZES.stop)]

    def node(level: int, index: int) -> bytes:
        return root_hash(hashes[index << level : (index + 1) << level])

    made = []
    old = 0
    for size in SIZES:
        note = sign_note(Checkpoint(ORIGIN, size, root_hash(hashes[:size])).text, signer)
        made.append(CosignRequest(old, tuple(consistency_proof(old, size, node)), note))
        old = size
    return made


def milliseconds_to_cosign(witness: Witness, request: CosignRequest) -> float:
    """Return how long a witness took, its checkpoint on the disk included."""
    start = time.perf_counter()
    witness.cosign(request)
    return (time.perf_counter() - start) * 1000


def milliseconds_to_write(path: Path) -> float:
    """Return how long a file of a checkpoint's size takes to be on the disk."""
    start = time.perf_counter()
    write_durably(path, bytes(400))
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    main()
