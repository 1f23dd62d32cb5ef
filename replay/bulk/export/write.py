"""Rounds of a ledger as Parquet: words of symbols, and beside them what is a round's alone.

A part is two files. In one each row is a round: its id and player, commitment and seeds as bytes,
and for each event the number of a symbol, its `seq` and its leaf. In the other each row is a
symbol: an event's type and data, without what the columns hold and without what no replay reads
(sealed seeds, software, tables). Of a wallet's transactions only which are the same is kept. From
both the events can be made again as far as the replayer looks at them. The manifest is written
last: an export that was cut short has none.
"""

import re
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from shoeproof.ledger import Finding, Ledger
from shoeproof.ledger.checkpoint.signed import verify_by_ring
from shoeproof.ledger.leaf.events import (
    DealRequested,
    EventData,
    Funds,
    RoundOpened,
    RoundVoided,
    ShoeCommitted,
    ShoeRevealed,
)
from shoeproof.ledger.leaf.recorded import Recorded
from shoeproof.ledger.verify.workers import Progress
from shoeproof.replay.audit.one_by_one import Gathered, read_leaves
from shoeproof.replay.bulk.export.folder import Folder
from shoeproof.replay.bulk.export.manifest import FORMAT, NAME, ExportedFile, Manifest, digest_of
from shoeproof.replay.errors import ExportUnusable
from shoeproof.replay.kernel.symbols import hex_bytes

ROUNDS: Final = 50_000
"""Rounds in a part, so that a part is some megabytes and a fair share of work."""

OWN: Final[dict[str, tuple[type[EventData], str]]] = {
    "player": (RoundOpened, "player"),
    "commitment": (ShoeCommitted, "commitment"),
    "server_seed": (ShoeRevealed, "seed"),
    "client_seed": (DealRequested, "client_seed"),
}
"""Columns that hold a field of the first event of a kind; null where a round has no such event.
Where the field should be hexadecimal and is written in another way, the symbol keeps it instead."""

HEX: Final = {"commitment": 32, "server_seed": 32, "client_seed": -1}
"""Those of them that are bytes, and how many; -1 for any number."""

ROUND_SCHEMA: Final = pa.schema(
    [
        pa.field("round_id", pa.string(), nullable=False),
        pa.field("opened_at", pa.string(), nullable=False),
        pa.field("ended", pa.bool_(), nullable=False),
        *(pa.field(n, pa.binary(HEX[n]) if n in HEX else pa.string()) for n in OWN),
        pa.field(
            "words", pa.list_(pa.field("element", pa.int32(), nullable=False)), nullable=False
        ),
        pa.field("seqs", pa.list_(pa.field("element", pa.int64(), nullable=False)), nullable=False),
        pa.field(
            "leaves", pa.list_(pa.field("element", pa.int64(), nullable=False)), nullable=False
        ),
        # What a wallet said of each event, as JSON; null where it said nothing.
        pa.field("funds", pa.list_(pa.field("element", pa.string())), nullable=False),
    ]
)
SYMBOL_SCHEMA: Final = pa.schema(
    [
        pa.field("type", pa.string(), nullable=False),
        pa.field("data", pa.string(), nullable=False),
    ]
)
_ROUND_ENCODING: Final[dict[str, Any]] = {
    "use_dictionary": ["player", "words.list.element", "seqs.list.element"],
    # The leaves of a round lie close together: their differences take a third of the room.
    "column_encoding": {"leaves.list.element": "DELTA_BINARY_PACKED"},
}
_BLANK: Final = {
    "session": None, "operator": None, "table": None, "channel": None, "build": None,
    "policy_digest": None, "deadline": None, "sealed_seed": "", "escrow_sealed_seed": None,
}  # fmt: skip


def export_parquet(
    ledger: Ledger,
    place: Path | str,
    *,
    checkpoint: bytes | None = None,
    rounds_a_part: int = ROUNDS,
    progress: Progress | None = None,
) -> Manifest:
    """Write every round of the ledger as it stands now into a new folder; return the manifest.

    `place` is a path or a URL. `checkpoint` is a signed one of this ledger, put into the manifest
    as it is. Whatever goes wrong, the files written so far are removed. Raises ExportUnusable when
    the folder holds anything or the checkpoint is not of these leaves, NoteRefused for one that no
    key of this ledger signed, OSError when files cannot be written, and the ledger's errors.
    """
    size = ledger.size()
    note = None if checkpoint is None else _checked(checkpoint, ledger, size)
    folder = Folder(place)
    folder.make()
    with folder.alone():
        if folder.is_local and all(map(_is_part, folder.names())):
            folder.remove(folder.names())
        if folder.names():
            raise ExportUnusable(f"{folder} is not empty: an export needs a folder of its own")
        return _export(ledger, folder, size, note, progress, rounds_a_part)


_is_part = re.compile(r"(rounds|symbols)-\d{5}\.parquet|\.shoeproof-[0-9a-f]{16}").fullmatch
"""What a killed export leaves: parts, one of them unfinished, and no manifest."""


def _export(
    ledger: Ledger,
    folder: Folder,
    size: int,
    note: str | None,
    progress: Progress | None,
    rounds_a_part: int,
) -> Manifest:
    unreadable: list[Finding] = []
    gathered = Gathered()
    writer = _Writer(folder, rounds_a_part)
    try:
        for events in gathered.ended(
            read_leaves(ledger.leaves(0, size), size, unreadable, progress)
        ):
            writer.add(events, ended=True)
        for events in gathered.unended():
            writer.add(events, ended=False)
        writer.flush()
        manifest = Manifest(
            format=FORMAT,
            origin=ledger.origin,
            size=size,
            checkpoint=note,
            rules=dict(ledger.rules()),
            unreadable=tuple(unreadable),
            parts=tuple(writer.parts),
        )
        writer.write(NAME, msgspec.json.format(msgspec.json.encode(manifest)))
    except BaseException:
        folder.remove(writer.names)
        raise
    return manifest


def _checked(checkpoint: bytes, ledger: Ledger, size: int) -> str:
    """Return a checkpoint's text once it is known to be of the first leaves of the ledger."""
    said = verify_by_ring(checkpoint, ledger.key_ring(), ledger.origin).checkpoint
    if said.size > size or ledger.tree(size).root(said.size) != said.root:
        raise ExportUnusable(
            f"the checkpoint of {said.size} leaves is not of this ledger of {size}: `verify "
            "--checkpoint` says what differs"
        )
    return checkpoint.decode()


class _Writer:
    """Gathers rounds and writes a part whenever there are enough; `names` are files it began."""

    def __init__(self, folder: Folder, rounds_a_part: int) -> None:
        self.parts: list[ExportedFile] = []
        self.names: list[str] = []
        self._folder, self._most = folder, rounds_a_part
        self._begin()

    def _begin(self) -> None:
        self._rows: dict[str, list[Any]] = {name: [] for name in ROUND_SCHEMA.names}
        self._symbols: dict[tuple[str, str], int] = {}

    def add(self, events: list[Recorded], *, ended: bool) -> None:
        """Take a round."""
        own: dict[str, str | bytes | None] = {}
        words, funds = [], []
        numbers: dict[str, str] = {}
        for recorded in events:
            data = _numbered(recorded.event.data, numbers)
            symbol = recorded.event.type, _symbol(data, own)
            funds.append(_funds_text(data))
            words.append(self._symbols.setdefault(symbol, len(self._symbols)))
        first = events[0].event
        values = {
            **{name: own.get(name) for name in OWN},
            "round_id": first.stream,
            "opened_at": first.at,
            "ended": ended,
            "words": words,
            "seqs": [recorded.event.seq for recorded in events],
            "leaves": [recorded.leaf_index for recorded in events],
            "funds": funds,
        }
        for name, column in self._rows.items():
            column.append(values[name])
        if len(self._rows["words"]) >= self._most:
            self.flush()

    def flush(self) -> None:
        """Write what was gathered, if anything was."""
        count = len(self._rows["words"])
        if not count:
            return
        number = len(self.parts)
        names = f"rounds-{number:05}.parquet", f"symbols-{number:05}.parquet"
        symbols = {"type": [t for t, _ in self._symbols], "data": [d for _, d in self._symbols]}
        tables: tuple[tuple[pa.Table, dict[str, Any]], ...] = (
            (pa.Table.from_pydict(self._rows, ROUND_SCHEMA), _ROUND_ENCODING),
            (pa.Table.from_pydict(symbols, SYMBOL_SCHEMA), {}),
        )
        digests = []
        for name, (table, encoding) in zip(names, tables, strict=True):
            sink = pa.BufferOutputStream()
            pq.write_table(table, sink, compression="zstd", **encoding)
            data = sink.getvalue()
            digests.append(digest_of(data))
            self.write(name, data)
        self.parts.append(ExportedFile(names[0], digests[0], names[1], digests[1], count))
        self._begin()

    def write(self, name: str, data: bytes | pa.Buffer) -> None:
        """Write a file."""
        self.names.append(name)
        self._folder.write(name, data)


def _symbol(data: EventData, own: dict[str, str | bytes | None]) -> str:
    """Return an event's data as the text of a symbol; note in `own` what the columns hold."""
    blank: dict[str, Any] = {
        name: value for name, value in _BLANK.items() if name in data.__struct_fields__
    }
    for name, (kind, field) in OWN.items():
        if isinstance(data, kind) and name not in own:
            own[name] = _held(name, getattr(data, field))
            if own[name] is not None:
                blank[field] = ""
    if getattr(data, "funds", None) is not None:
        blank["funds"] = None
    text = msgspec.json.encode(msgspec.structs.replace(data, **blank) if blank else data)
    return text.decode()


def _numbered(data: EventData, numbers: dict[str, str]) -> EventData:
    """Return an event with its round's wallet transactions called by numbers, the same by one."""

    def told(funds: Funds | None) -> Funds | None:
        if funds is None or funds.transaction is None:
            return funds
        number = numbers.setdefault(funds.transaction, str(len(numbers)))
        return msgspec.structs.replace(funds, transaction=number)

    if isinstance(data, RoundVoided):
        refunds = [msgspec.structs.replace(each, funds=told(each.funds)) for each in data.refunds]
        return msgspec.structs.replace(data, refunds=refunds)
    funds = getattr(data, "funds", None)
    return data if funds is None else msgspec.structs.replace(data, funds=told(funds))


def _funds_text(data: EventData) -> str | None:
    funds = getattr(data, "funds", None)
    return None if funds is None else msgspec.json.encode(funds).decode()


def _held(name: str, text: str) -> str | bytes | None:
    """Return what a column holds of a text, None where it cannot hold it as it is written."""
    if name not in HEX:
        return text
    found = hex_bytes(text)
    return found if found is not None and HEX[name] in (-1, len(found)) else None
