"""What each round says of its shoe: whether its seed is the one committed to, and which it was.

A commitment binds only where it is the round's one, stands before the stakes, and opens by the seed
that was revealed. Of a seed 8 bytes of its hash are kept: two of ten million seeds agree there by
chance once in 300,000 such ledgers.
"""

from hashlib import sha256
from typing import Final, Literal, TypeAlias

import msgspec

from shoeproof.ledger.store.round_index import RoundState
from shoeproof.replay.engine.shoe import SEED_BYTES, commitment
from shoeproof.replay.rounds.shoe_check import seed_bytes

ShoeState: TypeAlias = Literal["as committed", "broken", "late", "uncommitted", "unrevealed"]

_PRINT_BYTES: Final = 8


class CommittedShoe(msgspec.Struct):
    """What was committed to in a round, and the seed that it revealed, None before it did."""

    commitments: list[str] = []
    is_late: bool = False
    seed: str | None = None

    def commit(self, to: str, *, is_late: bool) -> None:
        """Take in a commitment, which `is_late` once stakes were laid."""
        self.commitments.append(to)
        self.is_late = self.is_late or is_late

    def state(
        self, round_id: str, rules_digest: str, of_round: RoundState, *, is_dealt: bool
    ) -> ShoeState | None:
        """Return what became of the commitment, None where nothing can be told yet.

        A shoe that no card was dealt from needs no commitment. One of an open round is still
        sealed, and of a voided one it may stay so.
        """
        if self.seed is None and not is_dealt:
            return None
        if len(self.commitments) != 1:
            return "uncommitted"
        if self.seed is None:
            return "unrevealed" if of_round == "closed" else None
        seed = seed_bytes(self.seed) or b""
        fits = len(seed) == SEED_BYTES and (
            commitment(round_id, rules_digest, seed).hex() == self.commitments[0]
        )
        if not fits:
            return "broken"
        return "late" if self.is_late else "as committed"

    @property
    def seed_print(self) -> int | None:
        """The seed as a number that another seed does not have, None where it is not a seed."""
        seed = None if self.seed is None else seed_bytes(self.seed)
        if seed is None or len(seed) != SEED_BYTES:
            return None
        return int.from_bytes(sha256(seed).digest()[:_PRINT_BYTES], signed=True)
