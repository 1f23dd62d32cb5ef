"""Every parser of foreign bytes: what it is given, and which errors it may raise.

A target returns or raises one of its own errors, whatever the bytes. `tests/fuzz/corpus/<name>`
holds sound files of each.
"""

import tempfile
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from shoeproof.audit_reports.errors import ParSheetRefused, SegmentsRefused
from shoeproof.audit_reports.tables.par_sheets import par_sheet_rows, read_par_sheets
from shoeproof.audit_reports.tables.segments import check_segments
from shoeproof.audit_reports.tables.segments import read_manifest as read_segments
from shoeproof.cli.commands.wallet import read_columns
from shoeproof.cli.errors import UsageError
from shoeproof.ledger.checkpoint.note import parse_note, parse_vkey
from shoeproof.ledger.checkpoint.proof import parse_head
from shoeproof.ledger.checkpoint.signed import parse_checkpoint
from shoeproof.ledger.errors import (
    BundleUnreadable,
    EventUnreadable,
    ImportRefused,
    KeyUnusable,
    NotALedger,
    NoteRefused,
    PolicyUnmet,
    PolicyUnreadable,
    ProofRefused,
    SigningRefused,
    StoreDamaged,
    UnsupportedFormat,
    WitnessRefused,
)
from shoeproof.ledger.exchange.bundle import verify_bundle
from shoeproof.ledger.exchange.publish import publish, verify_published
from shoeproof.ledger.exchange.transfer import export_leaves, import_leaves
from shoeproof.ledger.keys.key import read_key
from shoeproof.ledger.keys.trust import given_key
from shoeproof.ledger.leaf import canonical
from shoeproof.ledger.leaf.envelope import read_event, split_leaf
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.store.directory import read_settings, write_settings
from shoeproof.ledger.store.guard import Guard
from shoeproof.ledger.witness.cosigner import Witness
from shoeproof.ledger.witness.witness_policy import parse_policy, require
from shoeproof.replay.bulk.export.folder import Folder
from shoeproof.replay.bulk.export.manifest import checked, read_manifest
from shoeproof.replay.disputes.complaints.statement import compare, read_statement
from shoeproof.replay.engine.rules import rules_digest, rules_from_json
from shoeproof.replay.errors import (
    DisputeRefused,
    ExportUnusable,
    RoundTextError,
    RulesError,
    WalletUnanswered,
)
from shoeproof.replay.games.policies import policy_digest, policy_from_data
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.wallet.http import HttpWallet
from shoeproof.replay.written.adjudicate import adjudicate
from shoeproof.replay.written.round_text import read_round
from tests.ledger.helpers import ORIGIN, TickingClock, play

CORPUS: Final = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Target:
    """A parser; `more` gives sound bytes that only a running ledger can make."""

    name: str
    read: Callable[[bytes], object]
    errors: tuple[type[Exception], ...]
    more: Callable[[], list[bytes]] = field(default=list)
    weight: int = 1

    def seeds(self) -> list[bytes]:
        """Return sound bytes to begin from."""
        folder = CORPUS / self.name
        kept = [file.read_bytes() for file in sorted(folder.glob("*"))] if folder.exists() else []
        return kept + self.more()


def kept(name: str) -> str:
    return (CORPUS / "keys" / name).read_text(encoding="ascii").strip()


@cache
def folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="fuzz"))


def in_file(name: str, data: bytes) -> Path:
    """Write bytes to a file that only its owner reads, in a folder of its own."""
    place = folder() / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    place.chmod(0o600)
    return place


@cache
def ledger() -> Ledger:
    made = Ledger.in_memory(ORIGIN, clock=TickingClock())
    play(made)
    return made


@cache
def witness() -> Witness:
    return Witness.init(folder() / "witness", "witness.example", [parse_vkey(kept("log.vkey"))])


@cache
def published() -> tuple[Path, str]:
    publish(ledger(), folder() / "published")
    return folder() / "published", ledger().public_keys()["operator"]


def leaf(data: bytes) -> object:
    return read_event(split_leaf(data).payload)


def payload(data: bytes) -> object:
    """The canonical form is decided of whatever bytes, and never raises."""
    return canonical.is_canonical(data), read_event(data)


def note(data: bytes) -> object:
    return parse_note(data)


def verifier_key(data: bytes) -> object:
    text = data.decode("utf-8", "surrogateescape")
    return parse_vkey(text), given_key(text)


def tlog_proof(data: bytes) -> object:
    return parse_head(data.decode("utf-8", "replace"))


def bundle(data: bytes) -> object:
    return verify_bundle(data, kept("operator.vkey"))


def witness_request(data: bytes) -> object:
    return witness().cosigned(witness().request(data))


def witness_policy(data: bytes) -> object:
    policy = parse_policy(data)
    cosigned = (CORPUS / "checkpoint" / "cosigned.checkpoint").read_bytes()
    return require(policy, cosigned, now=datetime(2100, 1, 1, tzinfo=UTC))


def game_policy(data: bytes) -> object:
    try:
        value = canonical.decode(data)
    except ValueError:
        return None
    return policy_digest(policy_from_data(value))


def round_text(data: bytes) -> object:
    text = read_round(data)
    game = GAMES.get(text.game)
    return None if game is None else adjudicate(text, game.rules, game.limits)


def par_sheets(data: bytes) -> object:
    return par_sheet_rows(read_par_sheets(in_file("par.json", data)))


def rules(data: bytes) -> object:
    return rules_digest(rules_from_json(data))


def stream(data: bytes) -> object:
    return import_leaves(ledger(), BytesIO(data))


def entries(data: bytes) -> object:
    place, key = published()
    [file] = [each for each in (place / "tile" / "entries").rglob("*") if each.is_file()]
    sound = file.read_bytes()
    file.write_bytes(data)
    try:
        return verify_published(place, public_key=key)
    finally:
        file.write_bytes(sound)


def sound_settings() -> list[bytes]:
    """What a new ledger says of itself, in this format whichever it is."""
    place = in_file("new/ledger.toml", b"")
    write_settings(place.parent, ORIGIN, None, b64encode(bytes(range(1, 33))).decode())
    return [place.read_bytes() + b"copied_at = 5\n"]


def settings(data: bytes) -> object:
    in_file("ledger/events.sqlite", b"")
    return read_settings(in_file("ledger/ledger.toml", data).parent)


def statement(data: bytes) -> object:
    return compare(read_statement(data, "s.csv", ZoneInfo("Europe/Malta")), [])


def columns(data: bytes) -> object:
    return read_columns(in_file("columns.toml", data))


def key_file(data: bytes) -> object:
    return read_key(in_file("key.pem", data), b"pw")


def guard(data: bytes) -> object:
    return Guard(in_file("guard", data), ORIGIN).read()


def export_manifest(data: bytes) -> object:
    """Also what it names is looked for, wherever that would be."""
    place = in_file("export/manifest.json", data).parent
    return [
        checked(Folder(place), name, part.rounds_sha256)
        for part in read_manifest(place).parts
        for name in (part.rounds_file, part.symbols_file)
    ]


def segments(data: bytes) -> object:
    place = in_file("segments/manifest.json", data).parent
    found = read_segments(place)
    if found is not None:
        check_segments(place, found[0])
    return found


class _Answers(HttpWallet):
    """A wallet that answers every question by the same bytes."""

    answer = b""

    def _once(
        self, method: str, path: str, body: bytes | None, longest: int = 0
    ) -> tuple[int, bytes]:
        return 200, self.answer


def wallet_answer(data: bytes) -> object:
    wallet = _Answers("https://wallet.example", "EUR", tries=1)
    wallet.answer = data
    balance = wallet.balance_minor("p")
    for ask in (
        lambda: wallet.debit("p", 1, "r/1"),
        lambda: wallet.movements(datetime(2026, 1, 1, tzinfo=UTC)),
    ):
        try:
            ask()
        except WalletUnanswered:
            continue
    return balance


TARGETS = [
    Target("leaf", leaf, (EventUnreadable,)),
    Target(
        "payload",
        payload,
        (EventUnreadable,),
        lambda: [split_leaf(each.state).payload for each in ledger().leaves()],
    ),
    Target("note", note, (NoteRefused,)),
    Target("verifier_key", verifier_key, (KeyUnusable,), lambda: [kept("log.vkey").encode()]),
    Target("checkpoint", parse_checkpoint, (NoteRefused,)),
    Target("tlog_proof", tlog_proof, (ProofRefused,)),
    Target("bundle", bundle, (BundleUnreadable, NoteRefused, ProofRefused, KeyUnusable), weight=4),
    Target("witness_request", witness_request, (NoteRefused, WitnessRefused), weight=2),
    Target("witness_policy", witness_policy, (PolicyUnreadable, PolicyUnmet, NoteRefused)),
    Target("game_policy", game_policy, (RulesError,)),
    Target("round_text", round_text, (RoundTextError,)),
    Target("par_sheets", par_sheets, (ParSheetRefused,)),
    Target("rules", rules, (RulesError,), weight=2),
    Target(
        "stream", stream, (ImportRefused,), lambda: [b"".join(export_leaves(ledger()))], weight=2
    ),
    Target(
        "entries",
        entries,
        (StoreDamaged, NoteRefused),
        lambda: [b"".join(export_leaves(ledger()))],
        weight=8,
    ),
    Target("settings", settings, (NotALedger, UnsupportedFormat, KeyUnusable), sound_settings),
    Target("statement", statement, (DisputeRefused,)),
    Target("columns", columns, (UsageError,)),
    Target("key_file", key_file, (KeyUnusable,), weight=20),
    Target("guard", guard, (SigningRefused,)),
    Target("export_manifest", export_manifest, (ExportUnusable,)),
    Target("segments", segments, (SegmentsRefused,), weight=2),
    Target("wallet_answer", wallet_answer, ()),
]
"""`weight` says how many times longer one run takes than most."""
