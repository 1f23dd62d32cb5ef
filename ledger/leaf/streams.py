"""The names of streams, and what kind of stream each is of."""

import re
from functools import lru_cache
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["round", "keys", "rules", "policies", "operations", "disputes", "holds"]
"""The kinds of stream; each event belongs to one."""

KEYS_STREAM: Final = "keys"
RULES_STREAM: Final = "rules"
POLICIES_STREAM: Final = "policies"
OPERATIONS_STREAM: Final = "operations"
DISPUTES_PREFIX: Final = "disputes/"
HOLDS_PREFIX: Final = "holds/"

ROUND: Final = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
"""The pattern of a round's id: a lower-case dashed UUID of version 7 (RFC 9562, 5.7)."""

_is_round = re.compile(ROUND).fullmatch


@lru_cache(maxsize=1024)
def stream_kind(stream: str) -> Kind | None:
    """Return what kind of stream a name is of, None for a name no stream has."""
    match stream:
        case "keys" | "rules" | "policies" | "operations":
            return stream
    if stream.startswith(DISPUTES_PREFIX):
        return "disputes"
    if stream.startswith(HOLDS_PREFIX):
        return "holds"
    return "round" if _is_round(stream) else None
