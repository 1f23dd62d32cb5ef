"""A witness: it cosigns a log's checkpoint only if the log proves that it has only grown.

Of each log it keeps the checkpoint it cosigned last. A new one must be signed by the log and proven
to extend that one; it is on the disk before its cosignature leaves. So whoever trusts the witness
knows that one history was shown, no later than the time stated. Where no proof joins two notes that
a log signed, both are kept in a file: two roots for one size are the log's own word against it.

The directory: `witness.pem`, the private key; `witness.vkey`, the public one, to be handed over;
`logs`, a policy whose `log` lines are the logs watched, to be edited when their keys rotate;
`seen/`, the checkpoint last cosigned of each, at first the text of the empty tree's; `evidence/`.
"""

import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Self

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger.checkpoint.note import (
    COSIGNATURE,
    NoteKey,
    cosignature_line,
    parse_note,
    parse_vkey,
    verify_note,
)
from shoeproof.ledger.checkpoint.signed import (
    Checkpoint,
    SignedCheckpoint,
    parse_checkpoint,
    parse_text,
    verify_checkpoint,
)
from shoeproof.ledger.errors import (
    ClockBehind,
    KeyUnusable,
    NotALedger,
    NotConsistent,
    NoteRefused,
    NotSignedByLog,
    OldSizeDiffers,
    StoreDamaged,
    UnknownLog,
)
from shoeproof.ledger.files.durable import locked, write_durably
from shoeproof.ledger.keys.key import ED25519, FileSigner, check_name, read_key, write_key
from shoeproof.ledger.leaf.clock import Clock, utc_now
from shoeproof.ledger.store import directory
from shoeproof.ledger.tree.merkle import root_hash
from shoeproof.ledger.witness.request import (
    CosignRequest,
    check_extends,
    is_request,
    line_of,
    origin_digest,
    parse_request,
    signed_only_by,
)
from shoeproof.ledger.witness.witness_policy import parse_policy

_digest = re.compile(r"[0-9a-f]{64}").fullmatch

PRIVATE_KEY = "witness.pem"
PUBLIC_KEY = "witness.vkey"
LOGS = "logs"
SEEN = "seen"
EVIDENCE = "evidence"


class SplitView(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two notes of one log that no proof joins: the one cosigned, and the one shown after it.

    They convict the log only where they name two roots for one size. A smaller tree may be an old
    checkpoint sent again, and a proof that fails may be anybody's rubbish: `why` says which it is.
    """

    why: str
    cosigned: str
    refused: str
    proof: list[str]


class Witness:
    """A witness's directory, opened; several processes may use it at once."""

    def __init__(
        self, path: Path, signer: FileSigner, logs: Sequence[NoteKey], clock: Clock
    ) -> None:
        """Put a witness together; callers use `init` or `open`."""
        self.path = path
        self.key = NoteKey(signer.name, signer.public_key, COSIGNATURE)
        self._signer = signer
        self._logs = logs
        self._clock = clock

    @classmethod
    def init(
        cls,
        path: Path,
        name: str,
        logs: Sequence[NoteKey],
        *,
        passphrase: bytes | None = None,
        clock: Clock = utc_now,
    ) -> Self:
        """Make a witness's directory with a new key, and open it.

        Raises LedgerExists, KeyUnusable for a name or a log's key that cannot be one, and
        StoreUnavailable.
        """
        for log in logs:
            _check_log_key(log)
        private_key = Ed25519PrivateKey.generate()
        raw = private_key.public_key().public_bytes_raw()
        key = NoteKey(check_name(name), raw, COSIGNATURE)
        with directory.building(path) as temporary:
            write_key(temporary / PRIVATE_KEY, private_key, passphrase)
            (temporary / PUBLIC_KEY).write_text(f"{key.vkey}\n", encoding="ascii")
            lines = "".join(f"log {log.vkey}\n" for log in logs)
            (temporary / LOGS).write_text(f"{lines}quorum none\n", encoding="utf-8")
            (temporary / SEEN).mkdir()
            for origin in {log.name for log in logs}:
                record = temporary / SEEN / origin_digest(origin)
                record.write_bytes(_empty(origin).text.encode())
            (temporary / EVIDENCE).mkdir()
        return cls.open(path, passphrase=passphrase, clock=clock)

    @classmethod
    def open(cls, path: Path, *, passphrase: bytes | None = None, clock: Clock = utc_now) -> Self:
        """Open a witness's directory.

        Raises NotALedger when there is none, KeyUnusable, and PolicyUnreadable for its `logs`.
        """
        try:
            key = parse_vkey((path / PUBLIC_KEY).read_text(encoding="utf-8").strip())
            logs = parse_policy((path / LOGS).read_bytes()).logs
        except (FileNotFoundError, NotADirectoryError):
            raise NotALedger(
                f"{path} is not a witness: make one with `shoeproof witness init`"
            ) from None
        except UnicodeDecodeError:
            raise KeyUnusable(
                f"{path / PUBLIC_KEY} is not text, so it is not a public key"
            ) from None
        private_key = read_key(path / PRIVATE_KEY, passphrase)
        if not isinstance(private_key, Ed25519PrivateKey):
            raise KeyUnusable(f"{path / PRIVATE_KEY} is not an Ed25519 key")
        signer = FileSigner(key.name, private_key)
        if signer.public_key != key.raw:
            raise KeyUnusable(f"{path / PRIVATE_KEY} is not the key that {PUBLIC_KEY} names")
        return cls(path, signer, logs, clock)

    def last(self, digest: str) -> bytes | None:
        """Return the note last cosigned of a log, bearing the cosignature; None if there is none.

        `digest` is the `origin_digest` of the log; nothing else names a file. Raises OSError.
        """
        if _digest(digest) is None:
            return None
        try:
            kept = (self.path / SEEN / digest).read_bytes()
        except FileNotFoundError:
            return None
        # The record that stands for the empty tree at first is no note: nobody signed it.
        return kept if b"\n\n" in kept else None

    def watch(self, log: NoteKey) -> None:
        """Watch one more log, of which nothing was cosigned so far; a server must be restarted.

        Raises KeyUnusable for a witness's key and for a log that is watched already, whose record
        must not start afresh, PolicyUnreadable and OSError.
        """
        _check_log_key(log)
        place = self.path / LOGS
        with locked(self.path):
            text = place.read_bytes()
            if log.name in {each.name for each in parse_policy(text).logs}:
                raise KeyUnusable(
                    f"{log.name} is already watched: edit {place} to add another key of it"
                )
            record = self.path / SEEN / origin_digest(log.name)
            if not record.exists():
                write_durably(record, _empty(log.name).text.encode())
            text = f"log {log.vkey}\n".encode() + text
            parse_policy(text)
            write_durably(place, text)

    def request(self, data: bytes) -> CosignRequest:
        """Return the request in a file: a request, or a checkpoint alone where it needs no proof.

        Raises NoteRefused for what is neither, OldSizeDiffers when a proof is needed, UnknownLog,
        StoreDamaged and OSError.
        """
        if is_request(data):
            return parse_request(data)
        new = parse_checkpoint(data)
        self._keys_of(new.origin)
        size = self._read(new.origin)[1].size
        if 0 < size < new.size:
            raise OldSizeDiffers(
                f"this needs the proof that {new.origin} grew from {size} to {new.size} leaves: "
                f"ask for what `shoeproof witness request --old {size}` writes",
                size,
            )
        return CosignRequest(min(size, new.size), (), data)

    def cosign(self, request: CosignRequest) -> bytes:
        """Return this witness's line for a checkpoint; raise what `cosigned` does."""
        return line_of(self.cosigned(request).rpartition(b"\n\n")[2], self.key)

    def cosigned(self, request: CosignRequest) -> bytes:
        """Return a checkpoint with this witness's line, having kept it.

        It bears the log's signatures and this witness's. No other line is kept, since anybody can
        append lines: enough of them would make a note that nobody reads again.

        Raises NoteRefused for what is no checkpoint, UnknownLog, NotSignedByLog, OldSizeDiffers,
        NotConsistent, ClockBehind, StoreDamaged and OSError.
        """
        new, _, note = self._signed_by_log(request.note)
        place = self.path / SEEN / origin_digest(new.origin)
        with locked(self.path):
            kept, last, cosigned_at = self._read(new.origin)
            try:
                check_extends(request, new, last)
            except (NotConsistent, OldSizeDiffers) as error:
                if self._tells(error, request, new, last):
                    proof = [b64encode(each).decode() for each in request.proof]
                    evidence = SplitView(str(error), kept.decode(), note.decode(), proof)
                    error.args = (f"{error}; both notes are in {self._keep(evidence)}",)
                raise
            now = int(self._clock().timestamp())
            if now < cosigned_at:
                raise ClockBehind("the clock here shows a time before the last cosignature")
            cosigned = note + cosignature_line(new.text, self._signer, now)
            write_durably(place, cosigned)
        return cosigned

    def _signed_by_log(self, note: bytes) -> SignedCheckpoint:
        checkpoint = parse_checkpoint(note)
        keys = self._keys_of(checkpoint.origin)
        try:
            signed = verify_checkpoint(note, keys, checkpoint.origin)
        except NoteRefused as error:
            raise NotSignedByLog(str(error)) from None
        return signed._replace(note=signed_only_by(note, [each.key for each in signed.signatures]))

    def _keys_of(self, origin: str) -> list[NoteKey]:
        keys = [key for key in self._logs if key.name == origin]
        if not keys:
            raise UnknownLog(f"no log line in {self.path / LOGS} names {origin!r}")
        return keys

    def _read(self, origin: str) -> tuple[bytes, Checkpoint, int]:
        """Return what was last cosigned of a log: the record, what it says, and when that was.

        Whoever forgets what was cosigned might cosign a second history, so StoreDamaged is raised
        for a record that is missing, too.
        """
        place = self.path / SEEN / origin_digest(origin)
        try:
            kept = place.read_bytes()
        except FileNotFoundError:
            raise StoreDamaged(
                f"{place}, the record of what was last cosigned for {origin}, is missing: "
                f"restore it; a log "
                "that is new here is added by `shoeproof witness watch`, not by hand"
            ) from None
        if kept == _empty(origin).text.encode():
            return kept, _empty(origin), 0
        try:
            note, [own] = verify_note(kept, [self.key])
            last = parse_text(note.text)
        except NoteRefused as error:
            raise StoreDamaged(
                f"{place}, the record of what was last cosigned for {origin}, is damaged: {error}"
            ) from None
        if last.origin != origin or own.time is None:
            raise StoreDamaged(
                f"{place}, the record of what was last cosigned for {origin}, is of {last.origin}"
            )
        return kept, last, own.time

    def _tells(
        self, error: Exception, request: CosignRequest, new: Checkpoint, last: Checkpoint
    ) -> bool:
        """Say whether a note that was refused is worth keeping beside the one last cosigned."""
        if last.size == 0 or new == last:
            return False
        if isinstance(error, NotConsistent):
            return True
        return new.size < last.size and not self._bears_own_cosignature(request.note)

    def _bears_own_cosignature(self, note: bytes) -> bool:
        try:
            verify_note(note, [self.key])
        except NoteRefused:
            return False
        return True

    def _keep(self, evidence: SplitView) -> Path:
        # Named by what the log signed, so that the same shown again is kept once: whoever asks
        # chooses the proof, and the time of the cosignature.
        texts = [parse_note(each.encode()).text for each in (evidence.cosigned, evidence.refused)]
        name = sha256("\n".join(texts).encode()).hexdigest()[:16]
        place = self.path / EVIDENCE / f"{name}.json"
        if not place.exists():
            write_durably(place, msgspec.json.format(msgspec.json.encode(evidence), indent=2))
        return place


def _empty(origin: str) -> Checkpoint:
    return Checkpoint(origin, 0, root_hash(()))


def _check_log_key(key: NoteKey) -> None:
    if key.kind != ED25519:
        raise KeyUnusable("a key of kind 4 is a witness's: give the logs' keys, of kind 1")
