"""Who cosigned a checkpoint, and whether a policy accepts that."""

from datetime import UTC, datetime
from pathlib import Path

from shoeproof.cli.errors import UsageError
from shoeproof.cli.input.options import parse_age
from shoeproof.ledger.leaf.clock import utc_now
from shoeproof.ledger.witness.witness_policy import parse_policy, require


def cosigned_by(note: bytes | None, policy: Path | None, max_age: str | None) -> dict[str, str]:
    """Return which witnesses of a policy cosigned a checkpoint, and when; nothing without policy.

    Raises PolicyUnmet when they do not suffice, NoteRefused, and UsageError for an age without a
    policy or a policy without a checkpoint.
    """
    age = parse_age(max_age)
    if policy is None:
        if age is not None:
            raise UsageError("--max-age is that of cosignatures: say whose by --policy")
        return {}
    if note is None:
        raise UsageError("a policy judges a checkpoint: give one by --checkpoint, or --tiles")
    times = require(parse_policy(policy.read_bytes()), note, now=utc_now(), max_age=age)
    return {name: f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%SZ}"
            for name, time in times.items()}  # fmt: skip
