"""Round ids: UUID version 7 (RFC 9562, 5.7), lower case with dashes, ordered by time."""

import secrets
import time
import uuid


def new_round_id() -> str:
    """Return a fresh id of 48 bits of milliseconds and 74 random bits."""
    milliseconds = time.time_ns() // 1_000_000
    value = milliseconds << 80 | 0x7 << 76 | secrets.randbits(12) << 64
    value |= 0b10 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=value))
