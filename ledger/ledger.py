"""A ledger: one directory, or one memory, to which signed events are only ever added.

An append is all or nothing, and durable when it returns. It signs each event with the key of the
role its type demands, and chains it to the event before it in its stream. Reading needs no key.
Many processes may append to one ledger; where two append to one stream, one is refused. One
`Ledger` is for one thread at a time.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Self

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from ledger import directory, envelope, events, rounds, schema
from ledger.clock import Clock, format_time, utc_now
from ledger.envelope import Event
from ledger.errors import (
    EventRefused,
    EventUnreadable,
    KeyUnusable,
    NotALedger,
    StreamClosed,
    StreamConflict,
    UnknownStream,
)
from ledger.events import EventData, KeyAdded, Role
from ledger.guard import Guard
from ledger.keyring import KeyRing
from ledger.keys import (
    FileSigner,
    PrivateKey,
    Signer,
    ed25519,
    key_name,
    read_key,
    write_key,
)
from ledger.merkle import leaf_hash
from ledger.recorded import Recorded, read_leaf
from ledger.rounds import Alone, RoundRow, RoundState
from ledger.schema import StoredLeaf
from ledger.sealing import unseal_seed
from ledger.store import SealedEvent, Store
from ledger.tree import Tree
from ledger.trust import Admission, build_ring

_MOST_HEADS = 100_000
"""How many streams' heads are remembered; beyond it they are looked up again."""


class _Head(NamedTuple):
    """The end of a stream: the last event's `seq` (-1 before the first) and leaf hash."""

    seq: int
    leaf_hash: str | None
    is_closed: bool


_NO_HEAD = _Head(-1, None, False)


class Ledger:
    """An open ledger; `path` is None for one in memory, `origin` is its name."""

    def __init__(
        self,
        path: Path | None,
        origin: str,
        store: Store,
        private_key: Callable[[str], PrivateKey],
        clock: Clock,
        escrow_public_key: bytes | None = None,
    ) -> None:
        """Put a ledger together; callers use `init`, `open` or `in_memory`."""
        self.path = path
        self.origin = origin
        self.store = store
        self.guard = Guard(None if path is None else path / directory.GUARD, origin)
        self.escrow_public_key = escrow_public_key
        self._private_key = private_key
        self._clock = clock
        self._signers: dict[Role, Signer] = {}
        self._sealing: X25519PrivateKey | None = None
        self._heads: dict[str, _Head] = {}
        self._admission = Admission()

    @classmethod
    def init(
        cls,
        path: Path,
        origin: str,
        *,
        passphrase: bytes | None = None,
        clock: Clock = utc_now,
        escrow_public_key: str | None = None,
        database_url: str | None = None,
    ) -> Self:
        """Make a ledger's directory with its keys, and open it.

        `origin` is the ledger's name, like `casino.example/blackjack`. The keys are encrypted when
        a passphrase is given. `escrow_public_key` is padded base64 of an X25519 key that seeds are
        sealed to as well. `database_url` names an empty PostgreSQL database to keep the leaves in;
        without it they are in a file of SQLite. Raises LedgerExists, KeyUnusable for an origin or
        escrow key that cannot be one, UnsupportedFormat for another kind of URL, and
        StoreUnavailable.
        """
        path = Path(path)
        with directory.building(path) as temporary:
            directory.write_settings(temporary, origin, database_url, escrow_public_key)
            keys = directory.new_keys()
            (temporary / directory.KEYS).mkdir(mode=0o700)
            for name, key in keys.items():
                write_key(temporary / directory.KEYS / f"{name}.pem", key, passphrase)
            place = database_url or temporary / directory.DATABASE
            with Store.at(place, create=True) as store:
                made = cls(temporary, origin, store, keys.__getitem__, clock)
                made._add_first_keys()
                made.guard.create()
        return cls.open(path, passphrase=passphrase, clock=clock)

    @classmethod
    def open(cls, path: Path, *, passphrase: bytes | None = None, clock: Clock = utc_now) -> Self:
        """Open a ledger's directory; a private key is read when something is first signed by it.

        Raises NotALedger, UnsupportedFormat, StoreUnavailable and StoreDamaged.
        """
        path = Path(path)
        settings = directory.read_settings(path)

        def private_key(name: str) -> PrivateKey:
            return read_key(path / directory.KEYS / f"{name}.pem", passphrase)

        return cls(
            path,
            settings.origin,
            Store.at(settings.database),
            private_key,
            clock,
            settings.escrow_public_key,
        )

    @classmethod
    def open_url(cls, url: str) -> Self:
        """Open a ledger in PostgreSQL without its directory, and so without its keys, to be read.

        Its origin is what its first leaf says. Raises NotALedger when there is none,
        StoreUnavailable and StoreDamaged.
        """

        def private_key(name: str) -> PrivateKey:
            raise KeyUnusable(f"no {name} key: open the ledger by its directory to append to it")

        store = Store.at(url)
        first = store.fetch(0, 1)
        if not first:
            store.close()
            raise NotALedger("the database holds no ledger")
        return cls(None, read_leaf(first[0]).event.ledger, store, private_key, utc_now)

    @classmethod
    def in_memory(cls, origin: str, *, clock: Clock = utc_now) -> Self:
        """Make a ledger with fresh keys that lives as long as this object."""
        ledger = cls(None, origin, Store.in_memory(), directory.new_keys().__getitem__, clock)
        ledger._add_first_keys()
        return ledger

    def _add_first_keys(self) -> None:
        added: list[tuple[str, EventData]] = []
        for role in directory.FIRST_ROLES:
            signer = FileSigner(key_name(role, self.origin), ed25519(self._private_key(role)))
            self._signers[role] = signer
            added.append((events.KEYS_STREAM, signer.as_added([role])))
        self.append(*added)

    def now(self) -> datetime:
        """Return the present moment by the ledger's clock, the one its events are dated by."""
        return self._clock()

    def append(
        self,
        *drafts: tuple[str, EventData],
        at: datetime | None = None,
        after: Mapping[str, int] | None = None,
        alone: Alone | None = None,
    ) -> list[Recorded]:
        """Sign and write events, each given as its stream and its data, in one transaction.

        All get the one time `at`, by default the clock's. `after` maps streams to the last `seq`
        the caller has seen there, -1 for none, also of streams it only read: who decides by what it
        read passes it. `alone` is a condition on the player's open rounds, held to in the
        transaction. Raises RoundStillOpen where it does not hold, StreamConflict when another
        writer appended to one of the streams first (a retry sees what it wrote), StreamClosed,
        EventRefused for an event that could not be read back or that cannot stand in its stream,
        KeyUnusable when a key to sign with, or to add, is none, KeyNotValid when one may not sign
        there, StoreUnavailable and StoreDamaged. Nothing is written then.
        """
        moment = format_time(at or self.now())
        heads: dict[str, _Head] = {}
        sealed: list[SealedEvent] = []
        written: list[tuple[Event, bytes, bytes]] = []
        for stream, data in drafts:
            head = heads.get(stream)
            if head is None:
                head = self._head(stream, data)
                if after is not None and after.get(stream, head.seq) != head.seq:
                    self._heads.pop(stream, None)
                    raise StreamConflict(f"{stream} went on elsewhere: read it again, then decide")
            if head.is_closed:
                raise StreamClosed(f"the round {stream} is closed: nothing may follow")
            name = type(data).__name__
            event = Event(
                envelope.VERSION,
                self.origin,
                stream,
                head.seq + 1,
                name,
                moment,
                head.leaf_hash,
                data,
            )
            leaf = self._seal(event)
            digest = leaf_hash(leaf)
            heads[stream] = _Head(event.seq, digest.hex(), name in events.CLOSING)
            sealed.append(SealedEvent(stream, event.seq + 1, name, leaf))
            written.append((event, digest, leaf))
        try:
            read = {stream: seq for stream, seq in (after or {}).items() if stream not in heads}
            leaf_indices = self.store.append(sealed, self._admission, alone, read)
        except BaseException:
            self._admission = Admission()
            # Whether it was written is not known for certain: look the heads up again.
            for stream in heads:
                self._heads.pop(stream, None)
            raise
        self._remember(heads)
        return [Recorded(index, *parts) for index, parts in zip(leaf_indices, written, strict=True)]

    def _seal(self, event: Event) -> bytes:
        try:
            payload = envelope.payload(event)
            # What is signed stands for ever, so it must be what a reader will accept.
            envelope.read_event(payload)
            leaf = envelope.seal_leaf(payload, self.signer(event.data.signer))
        except (ValueError, EventUnreadable) as error:
            raise EventRefused(f"a {event.type} was not recorded: {error}") from None
        if not events.may_stand_in(event.type, event.stream):
            raise EventRefused(f"a {event.type} cannot stand in the stream {event.stream!r}")
        return leaf

    def _head(self, stream: str, data: EventData) -> _Head:
        known = self._heads.get(stream)
        if known is not None:
            return known
        if isinstance(data, events.RoundOpened):
            return _NO_HEAD
        last = self.store.head(stream)
        if last is None:
            return _NO_HEAD
        return _Head(last.version - 1, leaf_hash(last.state).hex(), last.topic in events.CLOSING)

    def _remember(self, heads: dict[str, _Head]) -> None:
        if len(self._heads) > _MOST_HEADS:
            self._heads.clear()
        for stream, head in heads.items():
            if head.is_closed:
                self._heads.pop(stream, None)
            else:
                self._heads[stream] = head

    def events(self, stream: str) -> list[Recorded]:
        """Return a stream's events in order, unverified.

        Raises UnknownStream when it has none and EventUnreadable when one cannot be read.
        """
        recorded = self._existing(stream)
        if not recorded:
            raise UnknownStream(f"the ledger has nothing in {stream!r}")
        return recorded

    def events_of(self, streams: Sequence[str]) -> dict[str, list[Recorded]]:
        """Return the events of some streams, at most a few hundred, in order, unverified.

        A stream that has none, or one that cannot be read, is left out.
        """
        found: dict[str, list[Recorded]] = {}
        unreadable = set()
        for leaf in self.store.streams(streams):
            try:
                found.setdefault(leaf.stream, []).append(read_leaf(leaf))
            except EventUnreadable:
                unreadable.add(leaf.stream)
        readable = {stream: each for stream, each in found.items() if stream not in unreadable}
        # Who reads many rounds goes on with them; should one go on elsewhere first, its append is
        # refused as any other.
        ends = {stream: each[-1] for stream, each in readable.items()}
        self._remember(
            {
                stream: _Head(end.event.seq, end.leaf_hash.hex(), end.event.type in events.CLOSING)
                for stream, end in ends.items()
            }
        )
        return readable

    def _existing(self, stream: str) -> list[Recorded]:
        return [read_leaf(leaf) for leaf in self.store.stream(stream)]

    def leaves(self, start: int = 0, stop: int | None = None) -> Iterator[StoredLeaf]:
        """Yield the leaves with `start <= leaf_index < stop` in order, in constant memory."""
        return self.store.leaves(start, stop)

    def size(self) -> int:
        """Return the number of leaves."""
        return self.store.size()

    def tree(self, size: int) -> Tree:
        """Return the Merkle tree of the first `size` leaves, by the tiles the store holds."""
        return Tree(size, self.store.read_tile)

    def rounds(
        self,
        *,
        rules_digests: Collection[str] | None = None,
        player: str | None = None,
        state: RoundState | None = None,
        opened_from: datetime | None = None,
        opened_to: datetime | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[RoundRow]:
        """Return the rounds that satisfy every condition given, in the order they were opened.

        `opened_from` is inclusive, `opened_to` exclusive. The index this reads proves nothing.
        """
        statement, parameters = rounds.selection(
            rules_digests=rules_digests,
            player=player,
            state=state,
            opened_from=opened_from,
            opened_to=opened_to,
            limit=limit,
            newest_first=newest_first,
        )
        return [RoundRow(*row) for row in self.store.query(statement, parameters)]

    def tables(self) -> set[str]:
        """Return the names of the tables that rounds were opened at, by the look-up index."""
        rows = self.store.query("SELECT DISTINCT table_name FROM rounds")
        return {name for (name,) in rows if name is not None}

    def round_ids(self, prefix: str) -> list[str]:
        """Return the ids of at most two rounds that begin with `prefix`, by the look-up index."""
        statement = "SELECT round FROM rounds WHERE round >= ? AND round < ? ORDER BY round LIMIT 2"
        return [row[0] for row in self.store.query(statement, (prefix, prefix + "\x7f"))]

    def disputed(self) -> list[str]:
        """Return the streams in which a dispute was opened, by index, in the order of their names.

        What they say of themselves is for whoever reads them to verify.
        """
        return sorted(str(stream) for (stream,) in self.store.query(schema.SELECT_DISPUTED))

    def signer(self, role: Role) -> Signer:
        """Return who signs for a role.

        Raises KeyUnusable when the role's private key cannot be used or is no key of this ledger.
        """
        signer = self._signers.get(role)
        if signer is None:
            key = ed25519(self._private_key(role))
            unnamed = FileSigner(role, key).as_added([role])
            for recorded in self._existing(events.KEYS_STREAM):
                data = recorded.event.data
                if (
                    isinstance(data, KeyAdded)
                    and data.public_key == unnamed.public_key
                    and role in data.roles
                ):
                    signer = self._signers[role] = FileSigner(data.name, key)
                    return signer
            raise KeyUnusable(f"the private key for {role} is none added for that role here")
        return signer

    def signers(self, role: Role) -> list[Signer]:
        """Return who signs for a role, then each older key of it that is kept and not revoked.

        Between a rotation and the revocation there are two: what both sign can be verified by
        whoever knows either. Raises KeyUnusable as `signer` does.
        """
        current = self.signer(role)
        keys = [each.public_key for each in self.key_ring().holders(role)]
        older = [
            FileSigner(key.name, ed25519(self._private_key(name)))
            for key in reversed(keys)
            for name in [f"{role}-{key.key_id_hex}"]
            if key.key_id_hex != current.key_id_hex
            and self.path is not None
            and (self.path / directory.KEYS / f"{name}.pem").exists()
        ]
        return [current, *older]

    def signer_of(self, private_key: PrivateKey) -> Signer:
        """Return who signs with a private key, under the name this ledger added it by.

        Raises KeyUnusable when it is none this ledger has added.
        """
        key = ed25519(private_key)
        raw = key.public_key().public_bytes_raw()
        for added in self.key_ring():
            if added.public_key.raw == raw:
                return FileSigner(added.public_key.name, key)
        raise KeyUnusable("the private key is none that this ledger has added: `keys list`")

    def sign_with(self, role: Role, signer: Signer) -> None:
        """Let a signer of the caller's, such as a hardware module, sign for a role from now on.

        Its key must be one this ledger has added: appending is refused otherwise.
        """
        self._signers[role] = signer

    def key_ring(self) -> KeyRing:
        """Return every key the ledger has added, with what it may sign; see `ledger.trust`."""
        return build_ring(self.store.stream(events.KEYS_STREAM), None)[0]

    def public_keys(self) -> dict[Role, str]:
        """Return the verifier key of each role: of those not revoked the last one added."""
        keys = [key for key in self.key_ring() if key.stop is None]
        return {role: key.public_key.vkey for key in keys for role in key.roles}

    def seal_public_key(self) -> bytes:
        """Return the 32 raw bytes of the X25519 key that seeds are sealed to.

        Raises KeyUnusable when its private key, of which it is a part, cannot be used.
        """
        return self._seal_key().public_key().public_bytes_raw()

    def unseal(self, text: str, commitment: bytes) -> bytes:
        """Return the seed inside a sealed seed, given the round's 32-byte commitment.

        Raises KeyUnusable when it does not open.
        """
        return unseal_seed(text, self._seal_key(), commitment)

    def _seal_key(self) -> X25519PrivateKey:
        if self._sealing is None:
            key = self._private_key(directory.SEAL)
            if not isinstance(key, X25519PrivateKey):
                raise KeyUnusable("the key to seal seeds to is not an X25519 key")
            self._sealing = key
        return self._sealing

    def rules(self) -> dict[str, dict[str, object]]:
        """Return every rule set in the ledger by its digest."""
        return {
            recorded.event.data.digest: recorded.event.data.rules
            for recorded in self._existing(events.RULES_STREAM)
            if isinstance(recorded.event.data, events.RulesAdded)
        }

    def policies(self) -> dict[str, dict[str, object]]:
        """Return every policy in the ledger by its digest."""
        return {
            recorded.event.data.digest: recorded.event.data.policy
            for recorded in self._existing(events.POLICIES_STREAM)
            if isinstance(recorded.event.data, events.PolicyAdded)
        }

    def close(self) -> None:
        """Release the store; a ledger in memory is gone then."""
        self.store.close()

    def __enter__(self) -> Self:
        """Return this ledger, to be closed when the block ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close this ledger."""
        self.close()
