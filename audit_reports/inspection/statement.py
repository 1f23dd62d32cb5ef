"""A wallet's statement compared with every movement of money that ledgers recorded."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from shoeproof.audit_reports.inspection.model import FindingGroup, FindingPlace
from shoeproof.audit_reports.inspection.weigh import MOST_PLACES
from shoeproof.audit_reports.rows.verified import made_of_verified
from shoeproof.ledger import Ledger, StoredLeaf
from shoeproof.ledger.leaf.events import RoundOpened
from shoeproof.ledger.leaf.recorded import Recorded, read_leaf
from shoeproof.ledger.leaf.streams import DISPUTES_PREFIX, HOLDS_PREFIX
from shoeproof.ledger.store.round_index import is_round
from shoeproof.ledger.verify.workers import Progress
from shoeproof.replay.currency import unit_of
from shoeproof.replay.disputes.complaints.statement import StatementLine, compare
from shoeproof.replay.disputes.complaints.wallet import MOVING, PlayerMovement, moved_by

_TOPICS: Final = frozenset({RoundOpened.__name__, *(each.__name__ for each in MOVING)})


def ledger_movements(
    ledger: Ledger, size: int, progress: Progress | None = None
) -> list[PlayerMovement]:
    """Return every movement of money in the first `size` leaves, from verified leaves, in order.

    Rounds for fun move none, unless a wallet says that it moved some. Raises LeafRefused.
    """
    opened: dict[str, RoundOpened] = {}
    moved: list[PlayerMovement] = []
    for run in made_of_verified(ledger, 0, size, (), partial(_of_topics, _TOPICS)):
        for recorded in map(read_leaf, run.made):
            stream = recorded.event.stream
            data = recorded.event.data
            if isinstance(data, RoundOpened) and is_round(stream):
                opened[stream] = data
                continue
            of_round = stream.removeprefix(DISPUTES_PREFIX).removeprefix(HOLDS_PREFIX)
            if of_round in opened:
                moved += _of(recorded, of_round, opened[of_round])
        if progress is not None:
            progress(run.stop, size)
    return moved


def reconciled(
    lines: Sequence[StatementLine], moved: Sequence[PlayerMovement]
) -> tuple[int, tuple[FindingGroup, ...]]:
    """Return how many lines of a statement agree with movements, and what does not."""
    found = compare(lines, moved)
    kinds = {
        "on the statement and in no round": [
            _place(None, None, f"line {each.line}: {each.amount} at {each.at}")
            for each in found.without_round
        ],
        "on the statement with another amount than in the ledger": [
            _place(None, None, f"line {each.line}: {each.amount} at {each.at}")
            for each in found.differing
        ],
        "on the statement with a balance that does not follow from the line before": [
            _place(None, None, f"line {each.line}: {each.amount}, balance {each.balance}")
            for each in found.not_following
        ],
        "in the ledger and not on the statement": [
            _place(each.round, each.leaf_index, f"{each.change_minor} {each.currency} minor units")
            for each in found.not_stated
        ],
    }
    weighed = tuple(
        FindingGroup("wrong", "statement", len(places), len({each.stream for each in places}),
              f"{_movements(len(places))} {what}", tuple(places[:MOST_PLACES]))
        for what, places in kinds.items()
        if places
    )  # fmt: skip
    return found.lines - len(found.without_round) - len(found.differing), weighed


def _of_topics(
    topics: frozenset[str], leaves: list[StoredLeaf], _texts: list[bytes | None]
) -> list[StoredLeaf]:
    return [leaf for leaf in leaves if leaf.topic in topics]


def _of(recorded: Recorded, round_id: str, opened: RoundOpened) -> list[PlayerMovement]:
    found = moved_by(recorded, round_id, unit_of(opened))
    return [each for each in found if opened.mode == "real" or each.is_told]


def _place(stream: str | None, leaf_index: int | None, text: str) -> FindingPlace:
    return FindingPlace("", stream, leaf_index, text)


def _movements(count: int) -> str:
    return "1 movement is" if count == 1 else f"{count:,} movements are"
