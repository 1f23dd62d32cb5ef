"""A ledger: one directory, or one memory, to which signed events are only ever added.

An append is all or nothing, and durable when it returns. It signs each event with the key of the
role its type demands, and chains it to the event before it in its stream. Reading needs no key.
Many processes may append to one ledger; where two append to one stream, one is refused. Threads may
share a `Ledger`: what they append at once goes into one transaction, and where two append to one
stream the second follows the first.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Self

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from shoeproof.ledger.errors import EventUnreadable, KeyUnusable, UnknownStream
from shoeproof.ledger.keys.key import (
    FileSigner,
    PrivateKey,
    Signer,
    ed25519,
    key_name,
    read_key,
    write_key,
)
from shoeproof.ledger.keys.keyring import KeyRing
from shoeproof.ledger.keys.sealing import unseal_seed
from shoeproof.ledger.keys.trust import build_ring
from shoeproof.ledger.leaf import events, streams
from shoeproof.ledger.leaf.clock import Clock, SteadyClock, format_time, utc_now
from shoeproof.ledger.leaf.events import EventData, Role
from shoeproof.ledger.leaf.recorded import Recorded, read_leaf, readable
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.store import directory, schema
from shoeproof.ledger.store import round_index as rounds
from shoeproof.ledger.store.extends import Growth
from shoeproof.ledger.store.guard import Guard
from shoeproof.ledger.store.intents import Intents
from shoeproof.ledger.store.opening import origin_in, store_at, store_of
from shoeproof.ledger.store.round_index import Alone, IndexedRound, RoundState
from shoeproof.ledger.store.second_look import look_again
from shoeproof.ledger.store.sqlite import Store
from shoeproof.ledger.tree.tiles import Tree
from shoeproof.ledger.writing.appending import Appender, PendingAppend
from shoeproof.ledger.writing.heads import Draft
from shoeproof.ledger.writing.signers import Signers


class Ledger:
    """An open ledger, which threads may share; `path` is None for one in memory.

    `origin` is its name.
    """

    def __init__(
        self,
        path: Path | None,
        origin: str,
        store: Store,
        private_key: Callable[[str], PrivateKey],
        clock: Clock,
        escrow_public_key: bytes | None = None,
        copied_at: int | None = None,
    ) -> None:
        """Put a ledger together; callers use `init`, `open` or `in_memory`."""
        self.path = path
        self.origin = origin
        self.store = store
        self.guard = Guard(None if path is None else path / directory.GUARD, origin)
        self.escrow_public_key = escrow_public_key
        self.growth = Growth(self.guard, self.size, self.tree)
        self.intents = Intents(store, lambda: format_time(clock()), self.growth)
        self._private_key = private_key
        self._clock = clock
        self._signers = Signers(path, private_key, self.key_ring)
        self._copied_at = copied_at
        self._appender = Appender(store, origin, self._signers, self.growth, self.seen)
        self._heads = self._appender.heads
        self._sealing: X25519PrivateKey | None = None

    @classmethod
    def init(
        cls,
        path: Path,
        origin: str,
        *,
        passphrase: bytes | None = None,
        clock: Clock | None = None,
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
            with store_at(place, create=True) as store:
                made = cls(temporary, origin, store, keys.__getitem__, clock or utc_now)
                made.guard.create()
                made._add_first_keys()
        return cls.open(path, passphrase=passphrase, clock=clock, database_url=database_url)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        passphrase: bytes | None = None,
        clock: Clock | None = None,
        database_url: str | None = None,
    ) -> Self:
        """Open a ledger's directory; a private key is read when something is first signed by it.

        A restored copy, or whatever else does not extend the guard, can be read and not written.
        `database_url` is where leaves in PostgreSQL are, by default what SHOEPROOF_DATABASE says.
        Raises NotALedger, UnsupportedFormat, StoreUnavailable and StoreDamaged.
        """
        path = Path(path)
        settings = directory.read_settings(path)
        store = store_of(path, settings, database_url)

        def private_key(name: str) -> PrivateKey:
            return read_key(path / directory.KEYS / f"{name}.pem", passphrase)

        return cls(
            path,
            settings.origin,
            store,
            private_key,
            clock or SteadyClock(),
            settings.escrow_public_key,
            settings.copied_at,
        )

    @classmethod
    def open_url(cls, url: str) -> Self:
        """Open a ledger in PostgreSQL without its directory, and so without its keys, to be read.

        Its origin is what its first leaf says. Raises NotALedger when there is none,
        StoreUnavailable and StoreDamaged.
        """

        def private_key(name: str) -> PrivateKey:
            raise KeyUnusable(f"no {name} key: open the ledger by its directory to append to it")

        store = store_at(url)
        return cls(None, origin_in(store), store, private_key, utc_now)

    @classmethod
    def in_memory(cls, origin: str, *, clock: Clock | None = None) -> Self:
        """Make a ledger with fresh keys that lives as long as this object."""
        keys = directory.new_keys().__getitem__
        ledger = cls(None, origin, Store.in_memory(), keys, clock or SteadyClock())
        ledger._add_first_keys()
        return ledger

    def _add_first_keys(self) -> None:
        added: list[tuple[str, EventData]] = []
        for role in directory.FIRST_ROLES:
            signer = FileSigner(key_name(role, self.origin), ed25519(self._private_key(role)))
            self._signers.take_up(role, signer)
            added.append((streams.KEYS_STREAM, signer.as_added([role])))
        self.append(*added)

    def now(self) -> datetime:
        """Return the present moment by the ledger's clock, the one its events are dated by."""
        return self._clock()

    def look_again(self) -> None:
        """Hold this host's clock to how it was when a program last did so (`second_look`).

        Raises ClockStepped where it leapt since. A ledger in memory, or with a clock of the
        caller's, is not looked at.
        """
        if self.path is not None and isinstance(self._clock, SteadyClock):
            look_again(self.path, self.now())

    def append(
        self,
        *drafts: Draft,
        at: datetime | None = None,
        after: Mapping[str, int] | None = None,
        alone: Alone | None = None,
        records: Sequence[str] = (),
    ) -> list[Recorded]:
        """Sign and write events, each given as its stream and its data, in one transaction.

        All get the one time `at`, by default the clock's, or that of the last event of one of their
        streams where that is a little later. `after` maps streams to the last `seq` the caller has
        seen there, -1 for none, also of streams it only read: who decides by what it read passes
        it. `alone` is a condition on the player's open rounds, `records` are the references of the
        intents that the events settle; both hold in the transaction. Raises RoundStillOpen where
        `alone` does not hold, StreamConflict when another writer appended to one of the streams
        first (a retry sees what it wrote) or gave up a movement of `records`, StreamClosed,
        EventRefused for an event that could not be read back or that cannot stand in its stream,
        KeyUnusable when a key to sign with, or to add, is none, KeyNotValid when one may not sign
        there, SignerFailed, ClockStepped, SigningRefused where the ledger does not extend its guard
        (`shoeproof.ledger.store.extends`), StoreUnavailable and StoreDamaged. Nothing is written
        then, except that OutcomeUnknown, a StoreUnavailable, leaves that open.
        """
        asked = PendingAppend(lambda _: drafts, at or self.now(), after or {}, alone, records)
        return self._appender.append(asked)

    def append_at_size(self, make: Callable[[int], Draft]) -> Recorded:
        """Write an event that says the size of the tree it is written at, as `append` does.

        `make` is told that size, perhaps more than once, the last time inside the transaction.
        """
        asked = PendingAppend(lambda size: (make(size),), self.now(), {}, is_late=True)
        return self._appender.append(asked)[0]

    def seen(self) -> events.Seen:
        """Return what this process saw last of the tree, which some events carry.

        It is what its last append left, or what was there when it began. The ledger of a second
        game server saw last what it was copied from: its own leaves stand elsewhere once they are
        imported.
        """
        size, root = self.store.last_seen
        if self._copied_at is not None:
            size, root = self._copied_at, self.tree(self._copied_at).root()
        elif not size:
            size = self.size()
            root = self.tree(size).root()
        return events.Seen(root.hex(), size)

    def events(self, stream: str) -> list[Recorded]:
        """Return a stream's events in order, unverified.

        Raises UnknownStream when it has none and EventUnreadable when one cannot be read.
        """
        recorded = self._existing(stream)
        if not recorded:
            raise UnknownStream(f"the ledger has nothing in {stream!r}")
        return recorded

    def events_after(self, stream: str, seq: int) -> list[Recorded]:
        """Return a stream's events after that `seq`, unverified; an empty answer is not an error.

        Its time is that of what is new. Raises EventUnreadable when one cannot be read.
        """
        return [read_leaf(leaf) for leaf in self.store.stream_after(stream, seq + 1)]

    def events_beyond(self, seqs: Mapping[str, int]) -> list[Recorded]:
        """Return the events of some streams after the `seq` given for each, in leaf order.

        They are unverified. Raises EventUnreadable when one cannot be read.
        """
        return [read_leaf(leaf) for leaf in self.store.streams_after(seqs)]

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
        self._heads.take_in_read(readable)
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
    ) -> list[IndexedRound]:
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
        return [IndexedRound(*row) for row in self.store.query(statement, parameters)]

    def tables(self) -> set[str]:
        """Return the names of the tables that rounds were opened at, by the look-up index."""
        rows = self.store.query("SELECT DISTINCT table_name FROM rounds")
        return {name for (name,) in rows if name is not None}

    def currencies(self) -> set[str]:
        """Return the currencies that rounds were opened in, by the look-up index."""
        return {code for (code,) in self.store.query("SELECT DISTINCT currency FROM rounds")}

    def round_ids(self, prefix: str) -> list[str]:
        """Return the ids of at most two rounds that begin with `prefix`, by the look-up index."""
        statement = "SELECT round FROM rounds WHERE round >= ? AND round < ? ORDER BY round LIMIT 2"
        return [row[0] for row in self.store.query(statement, (prefix, prefix + "\x7f"))]

    def disputed(self) -> list[str]:
        """Return the streams in which a dispute was opened, by index, in the order of their names.

        The reader must verify what they say of themselves.
        """
        return sorted(str(stream) for (stream,) in self.store.query(schema.SELECT_DISPUTED))

    def signer(self, role: Role) -> Signer:
        """Return who signs for a role.

        Raises KeyUnusable when the role's private key cannot be used or is not at a key of this
        ledger.
        """
        return self._signers.signer(role)

    def signers(self, role: Role) -> list[Signer]:
        """Return who signs for a role, then each older key of it that is kept and not revoked.

        Between a rotation and the revocation there are two: what both sign can be verified by
        whoever knows either. Raises KeyUnusable as `signer` does.
        """
        return self._signers.all_of(role)

    def signer_of(self, private_key: PrivateKey) -> Signer:
        """Return who signs with a private key, under the name this ledger added it by.

        Raises KeyUnusable when this ledger never added it.
        """
        return self._signers.of_key(private_key)

    def sign_with(self, role: Role, signer: Signer) -> None:
        """Let a signer of the caller's, such as a hardware module, sign for a role from now on.

        Its key must be one this ledger has added: appending is refused otherwise. What it signs is
        verified before it is written.
        """
        self._signers.give(role, signer)

    def take_up(self, role: Role, signer: FileSigner) -> None:
        """Sign for a role with the key that its file holds now."""
        self._signers.take_up(role, signer)

    def key_ring(self) -> KeyRing:
        """Return every key the ledger has added, with what it may sign; see
        `shoeproof.ledger.keys.trust`.
        """
        return build_ring(self.store.stream(streams.KEYS_STREAM), None)[0]

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
        """Return every rule set in the ledger by its digest, as far as it can be read."""
        return {
            recorded.event.data.digest: recorded.event.data.rules
            for recorded in readable(self.store.stream(streams.RULES_STREAM))
            if isinstance(recorded.event.data, events.RulesAdded)
        }

    def policies(self) -> dict[str, dict[str, object]]:
        """Return every policy in the ledger by its digest, as far as it can be read."""
        return {
            recorded.event.data.digest: recorded.event.data.policy
            for recorded in readable(self.store.stream(streams.POLICIES_STREAM))
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
