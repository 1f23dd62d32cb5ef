"""What a verified leaf says, as the tables need it: when, and its data."""

from functools import lru_cache
from typing import NamedTuple

import msgspec

from shoeproof.ledger import StoredLeaf
from shoeproof.ledger.leaf import layout
from shoeproof.ledger.leaf.envelope import read_data, read_event, split_leaf
from shoeproof.ledger.leaf.events import EventData

_AT = slice(layout.TIME.start, layout.TIME.stop - len("Z"))

_REPEATED = frozenset({"BetSettled", "CardDealt", "DecisionMade", "HoleCardShown", "RoundClosed"})
"""Few texts of these are distinct."""

_remembered = lru_cache(1 << 16)(read_data)


class Said(NamedTuple):
    """An event: its leaf index, its time in UTC without a zone, and its data."""

    leaf_index: int
    at: str
    data: EventData


def text_of(leaf: StoredLeaf) -> bytes:
    """Return the data of a verified leaf as JSON."""
    return msgspec.json.encode(read_event(split_leaf(leaf.state).payload).data)


def said(leaf: StoredLeaf, text: bytes | None) -> Said:
    """Return what a verified leaf says; `text` is that of its data where the leaf is sound.

    A sound leaf is canonical, so its time stands where it always does.
    """
    if text is None:
        event = read_event(split_leaf(leaf.state).payload)
        return Said(leaf.leaf_index, event.at.removesuffix("Z"), event.data)
    read = _remembered if leaf.topic in _REPEATED else read_data
    return Said(leaf.leaf_index, leaf.state[_AT].decode(), read(leaf.topic, text))
