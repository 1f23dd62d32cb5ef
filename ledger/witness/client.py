"""A log's side of witnessing: it makes requests, by file or by HTTP, and takes cosignatures in."""

from concurrent.futures import Future
from http.client import HTTPException
from threading import Thread
from urllib.error import HTTPError, URLError
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

from shoeproof.ledger.checkpoint.note import NoteKey, verify_note
from shoeproof.ledger.checkpoint.signed import parse_checkpoint
from shoeproof.ledger.errors import NoteRefused, ProofRefused, WitnessUnreachable
from shoeproof.ledger.files.durable import write_durably
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.store import directory
from shoeproof.ledger.witness.request import CosignRequest, line_of, with_cosignature

SECONDS = 10
"""How long a witness may take to answer, from first to last."""

_LONGEST_ANSWER = 1 << 16


def make_request(ledger: Ledger, old_size: int, note: bytes | None = None) -> CosignRequest:
    """Return the request to cosign a checkpoint, proven from the tree of `old_size` leaves.

    `note` is by default a checkpoint of the ledger as it stands, which is signed. Raises what
    `sign_checkpoint` does, and ProofRefused when the ledger was never that large.
    """
    if note is None:
        note = sign_checkpoint(ledger)
    size = parse_checkpoint(note).size
    if old_size > size:
        raise ProofRefused(f"the ledger has {size} leaves, and never had {old_size}")
    return CosignRequest(old_size, tuple(ledger.tree(size).consistency_proof(old_size)), note)


def ask(ledger: Ledger, note: bytes, url: str, key: NoteKey) -> bytes:
    """Return a checkpoint of a ledger with the cosignature of the witness at a URL.

    `url` is the witness's submission prefix, `key` its key. Raises WitnessUnreachable when there is
    no sound answer, saying what the witness said.
    """
    address = f"{url.rstrip('/')}/add-checkpoint"
    # Where the witness stands is asked for first: only it knows what it has cosigned.
    status, answer = _post(address, make_request(ledger, 0, note))
    if status == 409:
        status, answer = _post(address, make_request(ledger, _size(answer, note), note))
    if status != 200:
        text = answer[:200].decode("utf-8", "replace")
        raise WitnessUnreachable(f"the witness {key.name} refuses ({status}): {text}")
    try:
        cosigned = with_cosignature(note, key, line_of(answer, key))
        verify_note(cosigned, [key])
    except NoteRefused as error:
        raise WitnessUnreachable(f"the witness {key.name} did not cosign: {error}") from None
    return cosigned


def keep(ledger: Ledger, note: bytes) -> None:
    """Keep a cosigned checkpoint of a ledger in its directory; raise OSError."""
    if ledger.path is not None:
        folder = ledger.path / directory.CHECKPOINTS
        write_durably(folder / str(parse_checkpoint(note).size), note)


def _size(answer: bytes, note: bytes) -> int:
    text = answer.decode("ascii", "replace").removesuffix("\n")
    size = parse_checkpoint(note).size
    if not text.isdecimal() or int(text) > size:
        raise WitnessUnreachable(
            f"the witness has cosigned {text[:40]!r} leaves, and this ledger has {size}: "
            "the ledger was rolled back, or another one bears its name"
        )
    return int(text)


def _post(address: str, request: CosignRequest) -> tuple[int, bytes]:
    if not address.startswith(("https://", "http://")):
        raise WitnessUnreachable(
            f"{address} is not a witness's address: it must begin with https://"
        )
    answered: Future[tuple[int, bytes]] = Future()

    def exchange() -> None:
        try:
            answered.set_result(_exchange(address, request))
        except BaseException as error:
            answered.set_exception(error)

    # A time limit of the socket's would start again with every byte, and a name may be looked up
    # for as long as it takes: the thread may go on, and ends with the process.
    Thread(target=exchange, daemon=True).start()
    try:
        return answered.result(SECONDS)
    except TimeoutError:
        reason = f"it takes more than {SECONDS} seconds"
    except (URLError, HTTPException, OSError, ValueError) as error:
        reason = str(error)
    raise WitnessUnreachable(f"the witness at {address} does not answer: {reason}")


def _exchange(address: str, request: CosignRequest) -> tuple[int, bytes]:
    try:
        with urlopen(HttpRequest(address, request.encode()), timeout=SECONDS) as answer:
            return answer.status, answer.read(_LONGEST_ANSWER)
    except HTTPError as error:
        with error:
            return error.code, error.read(_LONGEST_ANSWER)
