"""What the rules would have paid on the bets of a round that was voided."""

from collections.abc import Mapping, Sequence

from audit_reports.rows import WouldHavePaidRow
from ledger import StoredLeaf
from ledger.recorded import read_leaf
from replay.engine.rules import Rules
from replay.replayer import replay_round


def would_have_paid(
    leaves: Sequence[StoredLeaf], rules_by_digest: Mapping[str, Rules]
) -> list[WouldHavePaidRow]:
    """Return what each bet of a voided round, given by its leaves, would have been paid.

    A bet is left out where cards or decisions are missing that it depends on: nobody knows them.
    """
    replay = replay_round([read_leaf(leaf) for leaf in leaves], rules_by_digest)
    if not replay.judged:
        return []
    sums: dict[str, int | None] = {}
    for each in replay.expected:
        before = sums.get(each.bet, 0)
        undecided = before is None or each.paid_minor is None
        sums[each.bet] = None if undecided else (before or 0) + (each.paid_minor or 0)
    first = leaves[0].leaf_index
    return [WouldHavePaidRow(first, bet, paid) for bet, paid in sums.items() if paid is not None]
