"""A finding: one place where a readable ledger contradicts itself or its rules.

Findings are data. A check collects all of them and decides nothing; the caller decides what
they mean. The codes of this layer are listed here, those of the game in `replay/findings.py`.
"""

from collections.abc import Iterable

import msgspec

SIGNATURE_INVALID = "signature_invalid"
NOT_CANONICAL = "not_canonical"
SEQ_GAP = "seq_gap"
PREV_MISMATCH = "prev_mismatch"
STREAM_MISMATCH = "stream_mismatch"
KEY_NOT_VALID = "key_not_valid"
CLOCK_BACKWARDS = "clock_backwards"
EVENT_AFTER_CLOSE = "event_after_close"
EVENT_UNREADABLE = "event_unreadable"
LEAF_INDEX_GAP = "leaf_index_gap"
CHECKPOINT_MISMATCH = "checkpoint_mismatch"
TILE_MISMATCH = "tile_mismatch"
LOOK_UP_MISMATCH = "look_up_mismatch"
GUARD_DAMAGED = "guard_damaged"
DATABASE_DAMAGED = "database_damaged"
ANCHOR_MISMATCH = "anchor_mismatch"
INDEX_MISMATCH = "index_mismatch"
CLOCK_IMPLAUSIBLE = "clock_implausible"
ID_OF_ANOTHER_TIME = "id_of_another_time"
DIGEST_MISMATCH = "digest_mismatch"


class Finding(msgspec.Struct, frozen=True, order=True):
    """One contradiction, placed as exactly as it can be.

    `leaf_index` is the 0-based place in the ledger and `seq` the 0-based place in the stream;
    either is None when the finding is about something that is missing.
    """

    code: str
    text: str
    stream: str | None = None
    leaf_index: int | None = None
    seq: int | None = None


def sort_findings(found: Iterable[Finding]) -> list[Finding]:
    """Return findings in the order of their leaves, each once; those without a leaf come last."""
    return sorted(set(found), key=_place)


def _place(finding: Finding) -> tuple[bool, int, str, str]:
    return (
        finding.leaf_index is None,
        finding.leaf_index or 0,
        finding.code,
        finding.stream or "",
    )
