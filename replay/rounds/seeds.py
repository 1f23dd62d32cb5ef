"""Revealed seeds compared: none may be used again, and none may follow from another.

A shoe is secret only as long as its seed is. Once a seed is revealed, everybody can work out the
shoes made of it, and of seeds that can be guessed from it. So a round may not reveal a seed that
another round revealed before, nor one that lies close to such a seed: of n seeds drawn at random
two are closer than 2¹²⁸ with a chance of about n²/2¹²⁸, which is 3·10⁻²⁵ for ten million rounds.
Seeds that are derived in a less simple way look random, and nobody who reads the ledger can tell.

An audit keeps 16 bytes of each reveal (`Reveals`) and reads again only those that look alike.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from shoeproof.ledger import Finding, Recorded
from shoeproof.ledger.leaf.events import ShoeRevealed
from shoeproof.ledger.store.round_index import is_round
from shoeproof.needs import need
from shoeproof.replay import findings as codes
from shoeproof.replay.engine.shoe import SEED_BYTES
from shoeproof.replay.rounds.shoe_check import seed_bytes

NEAR: Final = 1 << 128
"""Seeds closer to each other than this, as big-endian integers, were not drawn at random."""

_HEAD: Final = 8
"""How many bytes of a seed are kept: seeds that are `NEAR` differ there by at most 1."""


class Revealed(NamedTuple):
    """A seed as a big-endian integer, and the leaf that revealed it."""

    seed: int
    leaf_index: int
    stream: str
    seq: int


def revealed(recorded: Recorded) -> Revealed | None:
    """Return the seed that an event of a round reveals, None for every other event.

    What is not hexadecimal or not 32 bytes long is not a seed, and replay says so.
    """
    event = recorded.event
    if not isinstance(event.data, ShoeRevealed) or not is_round(event.stream):
        return None
    seed = seed_bytes(event.data.seed)
    if seed is None or len(seed) != SEED_BYTES:
        return None
    return Revealed(int.from_bytes(seed), recorded.leaf_index, event.stream, event.seq)


class Reveals:
    """The beginnings of revealed seeds and the leaves that revealed them: 16 bytes each."""

    def __init__(self, raw: bytes = b"") -> None:
        """Begin with the contents of another's `raw`."""
        self._raw = bytearray(raw)

    @property
    def raw(self) -> bytes:
        """All of it, to be sent to another process."""
        return bytes(self._raw)

    def add(self, seed: bytes | None, leaf_index: int) -> None:
        """Note a revealed seed, by its first 8 bytes or more; what is shorter is passed over."""
        if seed is not None and len(seed) >= _HEAD:
            self._raw += seed[:_HEAD] + leaf_index.to_bytes(_HEAD)

    def note(self, recorded: Recorded) -> None:
        """Note what an event reveals, if anything."""
        reveal = revealed(recorded)
        if reveal is not None:
            self.add(reveal.seed.to_bytes(SEED_BYTES), reveal.leaf_index)

    def noting(self, events: Iterable[Recorded]) -> Iterator[Recorded]:
        """Pass events on, and note what they reveal."""
        for recorded in events:
            self.note(recorded)
            yield recorded

    def merge(self, raw: bytes) -> None:
        """Take in the contents of another's `raw`."""
        self._raw += raw

    def suspects(self) -> list[int]:
        """Return the leaves whose seeds may be near, or be, the seed of another leaf, in order.

        Raises NotInstalled without NumPy.
        """
        need("holding seeds to one another", "numpy")
        import numpy as np

        rows = np.frombuffer(self._raw, ">u8").reshape(-1, 2)
        heads = np.sort(rows[:, 0].astype(np.uint64))
        close = heads[1:] - heads[:-1] <= 1
        alike = np.union1d(heads[1:][close], heads[:-1][close])
        leaves: list[int] = rows[np.isin(rows[:, 0], alike), 1].tolist()
        return sorted(leaves)


def seed_findings(reveals: Iterable[Revealed]) -> list[Finding]:
    """Return what revealed seeds show about each other, by the leaves that revealed them.

    The finding is that of the later reveal, whichever of the two rounds was committed to first. A
    round that reveals more than once is held to the others by the first reveal alone.
    """
    first: dict[str, Revealed] = {}
    for each in sorted(reveals, key=_leaf):
        first.setdefault(each.stream, each)
    distinct: dict[int, Revealed] = {}
    found: list[Finding] = []
    for each in first.values():
        other = distinct.setdefault(each.seed, each)
        if other is not each:
            text = (
                f"its seed is the one that round {other.stream} had revealed before, at leaf "
                f"{other.leaf_index}"
            )
            found.append(_finding(codes.SEED_REPEATED, text, each))
    found += _predictable(list(distinct.values()))
    return sorted(found, key=lambda finding: finding.leaf_index or 0)


def repeated_seed(
    round_id: str, events: Sequence[Recorded], same_seed: Sequence[Recorded]
) -> list[Finding]:
    """Return what the reveals of other rounds, `same_seed`, show about the seed of one round."""
    reveals = filter(None, map(revealed, (*same_seed, *events)))
    return [each for each in seed_findings(reveals) if each.stream == round_id]


def _predictable(distinct: Sequence[Revealed]) -> Iterator[Finding]:
    """Yield the seeds that are near one revealed before; all differ and are in order of leaves."""
    ordered = sorted(distinct)
    below = {high: low for low, high in pairwise(ordered)}
    above = dict(pairwise(ordered))
    # Taken away from the last one on, each has for its neighbours the nearest of those before it.
    for each in reversed(distinct):
        low, high = below.pop(each, None), above.pop(each, None)
        if high is not None:
            del below[high]
        if low is not None:
            del above[low]
        if low is not None and high is not None:
            below[high], above[low] = low, high
        for other in (low, high):
            if other is not None and abs(other.seed - each.seed) < NEAR:
                text = (
                    f"its seed is less than 2^128 away from the one that round {other.stream} had "
                    f"revealed before, at leaf {other.leaf_index}: seeds drawn at random are not"
                )
                yield _finding(codes.SEED_PREDICTABLE, text, each)
                break


def _finding(code: str, text: str, about: Revealed) -> Finding:
    return Finding(code, text, about.stream, about.leaf_index, about.seq)


def _leaf(reveal: Revealed) -> int:
    return reveal.leaf_index
