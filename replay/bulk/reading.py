"""From the bytes of leaves to words: the same reading as `ledger.envelope`, many times faster.

A leaf that is read here is read by `read_leaf` too, and says the same; whatever this reader is not
certain of, `read_leaf` decides. Only the envelope is decoded for each leaf; what an event says is
looked up by its text (`words`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from ledger import StoredLeaf, envelope
from ledger.clock import parse_time
from ledger.errors import EventUnreadable
from ledger.events import EVENTS
from replay.bulk.batch import Columns
from replay.bulk.words import Own, Vocabulary


class _Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """`ledger.envelope`'s, without names that are not asked for."""

    v: int
    ledger: str
    stream: str
    seq: int
    type: str
    at: str
    prev: str | None
    data: msgspec.Raw


_decode = msgspec.json.Decoder(_Envelope).decode
_TAIL = 99
"""Bytes of a leaf from the line feed after its payload on."""


class Head(NamedTuple):
    """What is needed of an event to place it: stream, `seq`, type and the text of its data."""

    stream: str
    seq: int
    type: str
    data: msgspec.Raw


class Reader:
    """Reads leaves' envelopes; remembers the seconds it has seen, of which few are distinct."""

    def __init__(self) -> None:
        """Begin with none."""
        self._seconds: set[str] = set()

    def head(self, leaf: StoredLeaf) -> Head:
        """Return the head of a leaf's event.

        Raises EventUnreadable where the envelope cannot be read; the data may prove unreadable
        later.
        """
        state = leaf.state
        payload = envelope.split_leaf(state).payload
        try:
            event = _decode(payload)
            if event.v != envelope.VERSION or event.type not in EVENTS:
                raise EventUnreadable(f"no event of version {event.v} and type {event.type!r}")
            at = event.at
            if at[:19] not in self._seconds or not _is_fraction(at):
                parse_time(at)
                self._seconds.add(at[:19])
        except (ValueError, RecursionError) as error:
            raise EventUnreadable(f"not an event: {error}") from error
        return Head(event.stream, event.seq, event.type, event.data)


def _is_fraction(at: str) -> bool:
    micros = at[20:26]
    return (
        at[19:20] == "."
        and at[26:] == "Z"
        and micros.isascii()
        and micros.isdigit()
        and len(micros) == 6
    )


class RoundsBuilder:
    """Gathers rounds into columns."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Begin with no round."""
        self.vocabulary = vocabulary
        self._own: list[Own] = []
        self._words: list[int] = []
        self._starts: list[int] = []

    def add(self, own: Own, words: Sequence[int]) -> int:
        """Add a round and return its place."""
        self._starts.append(len(self._words))
        self._words += words
        self._own.append(own)
        return len(self._own) - 1

    def columns(self) -> Columns:
        """Return the rounds gathered so far."""
        return Columns(
            self.vocabulary,
            self._own,
            np.array(self._words, np.int64),
            np.array(self._starts, np.int64),
        )
