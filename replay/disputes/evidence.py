"""What an assessment rests on: the verified events about one round, and what vouches for them.

`gather` is the only part of an assessment that reads a ledger. It goes by index from the round to
its streams and never scans; of what it reads it verifies every signature and link.
"""

from collections.abc import Mapping

import msgspec

from ledger import Finding, Ledger, Recorded
from replay.engine.rules import Rules
from replay.policies import Policy


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the ledger can show of one round, as read at tree size `size`.

    `events` is the round's own stream, `holds` that of its held win, `disputes` the events of all
    cases about it, `operations` what befell the service while it lasted; each holds only events
    whose leaves verify, in the order of their leaves. `integrity` says what does not verify in
    exactly these streams. `rules` and `policies` are the ledger's, by digest. `as_of` is the time
    of the ledger's last leaf (RFC 3339, UTC), by which waiting is measured. The first `covered`
    leaves stand under the last checkpoint that was signed.
    """

    round_id: str
    events: tuple[Recorded, ...]
    holds: tuple[Recorded, ...]
    disputes: tuple[Recorded, ...]
    operations: tuple[Recorded, ...]
    rules: Mapping[str, Rules]
    policies: Mapping[str, Policy]
    integrity: tuple[Finding, ...]
    size: int
    as_of: str
    covered: int


def gather(ledger: Ledger, round_id: str) -> Evidence:
    """Read and verify what the ledger holds about a round, by index.

    `round_id` is the whole id. Raises UnknownStream when the ledger has no such round,
    StoreUnavailable and StoreDamaged.
    """
    raise NotImplementedError
