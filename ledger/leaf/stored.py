"""A leaf as a store holds it."""

from typing import NamedTuple


class StoredLeaf(NamedTuple):
    """A leaf as the store holds it: its place, what the columns say of it, its bytes.

    The columns are an index and prove nothing. Where the leaf's row is missing they are empty and
    `version` is 0; else `version` is the event's `seq` + 1 and `topic` its type.
    """

    leaf_index: int
    stream: str
    version: int
    topic: str
    state: bytes
