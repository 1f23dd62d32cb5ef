"""The ends of streams, and the events that go on from them: chained, dated, sealed.

An event never goes back before the one it follows, whatever this host's clock says: where the clock
is behind by no more than a tolerance the event bears the time of the one before it, and where it is
further behind nothing is written.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

import msgspec

from shoeproof.ledger.errors import EventRefused, EventUnreadable, StreamClosed
from shoeproof.ledger.keys.key import Signer
from shoeproof.ledger.leaf import envelope, events
from shoeproof.ledger.leaf.clock import format_time, not_before, parse_time
from shoeproof.ledger.leaf.envelope import Event
from shoeproof.ledger.leaf.events import EventData, Role
from shoeproof.ledger.leaf.recorded import Recorded, read_leaf
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.store.transaction import SealedEvent
from shoeproof.ledger.tree.merkle import leaf_hash

_MOST_HEADS: Final = 100_000
"""How many streams' heads are remembered; beyond it they are looked up again."""

Draft: TypeAlias = tuple[str, EventData]


class Head(NamedTuple):
    """The end of a stream: the last event's `seq` (-1 before the first), leaf hash and time."""

    seq: int
    leaf_hash: str | None
    is_closed: bool
    at: str


NO_HEAD: Final = Head(-1, None, False, "")


class Sealed(NamedTuple):
    """An event that was chained and signed, with its leaf."""

    event: Event
    digest: bytes
    leaf: bytes

    def to_store(self) -> SealedEvent:
        """Return it as the store takes it."""
        return SealedEvent(self.event.stream, self.event.seq + 1, self.event.type, self.leaf)

    def head(self) -> Head:
        """Return the end of its stream once it is written."""
        closes = self.event.type in events.CLOSING
        return Head(self.event.seq, self.digest.hex(), closes, self.event.at)


class Heads(dict[str, Head]):
    """The ends of the streams that were written or read last; others are looked up."""

    def find(
        self, last: Callable[[str], StoredLeaf | None], stream: str, data: EventData, seen: int = -1
    ) -> Head:
        """Return the end of a stream that `data` is to follow in; `last` looks up its last leaf.

        What is known is behind where the caller has `seen` a later `seq`: another process's.
        """
        known = self.get(stream)
        if known is not None:
            if known.seq >= seen:
                return known
            self.forget([stream])
        if isinstance(data, events.RoundOpened):
            return NO_HEAD
        leaf = last(stream)
        head = NO_HEAD if leaf is None else _head_of(leaf)
        # Another thread may have gone on from it meanwhile: what it left is newer.
        return head if head.is_closed else self.setdefault(stream, head)

    def take_in(self, heads: dict[str, Head]) -> None:
        """Remember the ends of streams; those of closed rounds are not needed again."""
        if len(self) > _MOST_HEADS:
            self.clear()
        for stream, head in heads.items():
            if head.is_closed:
                self.pop(stream, None)
            else:
                self[stream] = head

    def take_in_read(self, read: dict[str, list[Recorded]]) -> None:
        """Remember the ends of streams as they were read.

        Should one go on elsewhere first, the append that follows is refused as any other.
        """
        ends = {name: Sealed(*each[-1][1:]).head() for name, each in read.items()}
        self.take_in({name: end for name, end in ends.items() if end.seq > self.seq(name)})

    def seq(self, stream: str) -> int:
        """Return the last `seq` that is remembered of a stream, -1 for none."""
        return self.get(stream, NO_HEAD).seq

    def forget(self, streams: Iterable[str]) -> None:
        """Look the ends of these streams up again."""
        for stream in streams:
            self.pop(stream, None)


def _head_of(last: StoredLeaf) -> Head:
    digest, closes = leaf_hash(last.state).hex(), last.topic in events.CLOSING
    try:
        at = read_leaf(last).event.at
    except EventUnreadable:
        # What follows a leaf that cannot be read is not held to its time.
        at = ""
    return Head(last.version - 1, digest, closes, at)


def dated(at: datetime, heads: Iterable[Head]) -> str:
    """Return the time of what follows these heads, `at` or theirs where that is a little later.

    Raises ClockStepped where `at` is behind one of them by more than the tolerance.
    """
    last = max((head.at for head in heads), default="")
    return format_time(not_before(at, parse_time(last)) if last else at)


def chain(
    drafts: Sequence[Draft],
    heads: dict[str, Head],
    at: str,
    origin: str,
    signer: Callable[[Role], Signer],
    seen: events.Seen,
) -> list[Sealed]:
    """Return the events that follow `heads`, which are set to the new ends.

    `seen` is the tree as this process saw it last; the events that carry that get it. Raises
    StreamClosed, EventRefused, and what the signers raise.
    """
    sealed: list[Sealed] = []
    for stream, data in drafts:
        head = heads[stream]
        if head.is_closed:
            raise StreamClosed(f"the round {stream} is closed: nothing may follow")
        name, seq = type(data).__name__, head.seq + 1
        if name in events.ANCHORED:
            data = msgspec.structs.replace(data, seen=seen)
        event = Event(envelope.VERSION, origin, stream, seq, name, at, head.leaf_hash, data)
        leaf = _seal(event, signer)
        sealed.append(Sealed(event, leaf_hash(leaf), leaf))
        heads[stream] = sealed[-1].head()
    return sealed


def _seal(event: Event, signer: Callable[[Role], Signer]) -> bytes:
    try:
        payload = envelope.payload(event)
        # What is signed stands for ever, so it must be what a reader will accept.
        envelope.read_event(payload)
        leaf = envelope.seal_leaf(payload, signer(event.data.signer))
    except (ValueError, EventUnreadable) as error:
        raise EventRefused(f"a {event.type} was not recorded: {error}") from None
    problem = envelope.digest_problem(event.data)
    if problem is not None:
        raise EventRefused(f"a {event.type} was not recorded: {problem}, not the one it names")
    if not events.may_stand_in(event.type, event.stream):
        raise EventRefused(f"a {event.type} cannot stand in the stream {event.stream!r}")
    return leaf
