"""Replay every round of a ledger, the open ones as far as they go, and hold each to its rules.

Rounds are gathered from the leaves in their order, never from the look-up index, so a round that
the index does not list is audited too. Memory is in proportion to the rounds that are open, but for
16 bytes of each revealed seed (`shoeproof.replay.rounds.seeds`).
`audit` here replays round by round; `shoeproof.replay.bulk` comes to the same result in bulk.
Signatures are `shoeproof.ledger.verify`'s business: what a forged ledger replays to means nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

import msgspec

from shoeproof.ledger import Finding, Ledger, Recorded
from shoeproof.ledger.errors import EventUnreadable
from shoeproof.ledger.findings import EVENT_UNREADABLE
from shoeproof.ledger.leaf.events import CLOSING, RoundOpened, RoundVoided
from shoeproof.ledger.leaf.recorded import read_leaf, readable
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.store.round_index import is_round
from shoeproof.ledger.store.schema import SELECT_SEED_HEADS
from shoeproof.ledger.verify.beside import Leaves, read_before
from shoeproof.ledger.verify.workers import Progress
from shoeproof.replay import findings as codes
from shoeproof.replay.audit.cases import check_cases
from shoeproof.replay.audit.complaints import check_complaints
from shoeproof.replay.currency import unit_of
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.interruptions.check import circumstances_of
from shoeproof.replay.interruptions.judge import judge
from shoeproof.replay.rounds.catalogue import rules_by_digest
from shoeproof.replay.rounds.seeds import Reveals, revealed, seed_findings
from shoeproof.replay.rounds.shoe_check import Problem, check_reveal, seed_bytes

_HEADS = (b"", *(b"%02x" % byte for byte in range(1, 256)), b"\xff")
"""Where ranges of seeds begin and end, in hex: a 256th of all are listed at a time."""


class OpenRound(msgspec.Struct, frozen=True):
    """A round that has not ended: no finding, but never to be forgotten."""

    round: str
    player: str
    opened_at: str
    last_leaf: int


class VoidRound(msgspec.Struct, frozen=True):
    """A round that was voided, why, and what went back in minor units of its currency."""

    round: str
    player: str
    reason: str
    refunded_minor: int
    currency: str


class AuditResult(msgspec.Struct, frozen=True):
    """What replaying the first `size` leaves found: ended rounds in the order of their ends, then
    open ones as far as they go.
    """

    size: int
    closed_rounds: int
    void_rounds: tuple[VoidRound, ...]
    open_rounds: tuple[OpenRound, ...]
    findings: tuple[Finding, ...]

    @property
    def by_code(self) -> dict[str, int]:
        """Return how many findings there are of each code."""
        return dict(Counter(finding.code for finding in self.findings))


def audit(
    ledger: Ledger, progress: Progress | None = None, *, only: str | None = None
) -> AuditResult:
    """Replay every round of the ledger as it stands now, one by one.

    `only` is a game's id: rounds of other games are passed over. `bulk.audit` comes to the same
    result, many times faster.
    """
    rules = rules_by_digest(ledger)
    size = ledger.size()
    told = circumstances_of(ledger, size)
    found: list[Finding] = []
    voids: list[VoidRound] = []
    closed = 0
    reveals, gathered = Reveals(), Gathered()
    said = reveals.noting(read_leaves(ledger.leaves(0, size), size, found, progress))
    for events in gathered.ended(said):
        if not concerns(events, rules, only):
            continue
        found.extend(judge(events, rules, told))
        if not isinstance(events[-1].event.data, RoundVoided):
            closed += 1
        elif (void := void_round(events)) is not None:
            voids.append(void)
    unended = [events for events in gathered.unended() if concerns(events, rules, only)]
    for events in unended:
        found.extend(judge(events, rules, told))
    asked = partial(concerns, rules=rules, only=only)
    found += check_seeds(ledger.store, size, reveals, asked)
    found += check_cases(ledger, ledger.store, size, asked)
    # A complaint is of no one game.
    found += check_complaints(ledger.store, size) if only is None else []
    return AuditResult(
        size=size,
        closed_rounds=closed,
        void_rounds=tuple(voids),
        open_rounds=tuple(filter(None, map(open_round, unended))),
        findings=tuple(found),
    )


def reveals_before(ledger: Ledger, stop: int) -> Reveals:
    """Return what was revealed before a leaf, by the store's list of reveals."""
    reveals = Reveals()
    for bounds in pairwise(_HEADS) if stop else ():
        for leaf_index, head in ledger.store.query(SELECT_SEED_HEADS, (*bounds, stop)):
            reveals.add(seed_bytes(head.decode("latin-1")), leaf_index)
    return reveals


def check_seeds(
    leaves: Leaves,
    size: int,
    reveals: Reveals,
    concerns: Callable[[Sequence[Recorded]], bool],
    from_leaf: int = 0,
) -> list[Finding]:
    """Return what is wrong with the seeds revealed in the first `size` leaves.

    `reveals` were noted from those leaves; the ones that look alike are read again. `concerns`
    tells of a round's events whether its findings are asked for; rounds without an event at
    `from_leaf` or later are not judged, though others are held to what they revealed.
    """
    alike = [leaf for place in reveals.suspects() for leaf in leaves.fetch(place, place + 1)]
    found = []
    for finding in seed_findings(filter(None, map(revealed, readable(alike)))):
        events = read_before(leaves, finding.stream or "", size)
        # An index that hides the round hides nothing of what was revealed.
        if not events or (events[-1].leaf_index >= from_leaf and concerns(events)):
            found.append(finding)
    return found


def concerns(events: Sequence[Recorded], rules: Mapping[str, Rules], only: str | None) -> bool:
    """Tell whether a round is of the game asked for; one of unknown rules may always be."""
    opened = events[0].event.data
    if only is None or not isinstance(opened, RoundOpened):
        return True
    return is_of_game(rules.get(opened.rules_digest), only)


def is_of_game(rules: Rules | None, only: str | None) -> bool:
    """Tell whether rules, None for unknown ones, may be those of the game asked for."""
    return only is None or rules is None or rules.id == only


def void_round(events: Sequence[Recorded]) -> VoidRound | None:
    """Return what is told of a voided round, None of one that was not begun or not voided."""
    opened, ending = events[0].event.data, events[-1].event.data
    if not isinstance(opened, RoundOpened) or not isinstance(ending, RoundVoided):
        return None
    refunded = sum(refund.amount_minor for refund in ending.refunds)
    stream = events[0].event.stream
    return VoidRound(stream, opened.player, ending.reason, refunded, unit_of(opened))


def open_round(events: Sequence[Recorded]) -> OpenRound | None:
    """Return what is told of a round that has not ended, None of one that was not begun."""
    first, opened = events[0].event, events[0].event.data
    if not isinstance(opened, RoundOpened):
        return None
    return OpenRound(first.stream, opened.player, first.at, events[-1].leaf_index)


def check_reveals(
    leaves: Iterable[StoredLeaf], size: int, progress: Progress | None = None
) -> list[Finding]:
    """Hold every ended round's revealed seed to its commitment, and say nothing of the cards.

    `leaves` are the first `size`, of a ledger or of what one published.
    """
    found: list[Finding] = []
    gathered = Gathered()
    for events in gathered.ended(read_leaves(leaves, size, [], progress)):
        found.extend(_placed(problem, events) for problem in check_reveal(events))
    return found


class Gathered:
    """Events of rounds gathered by stream until each round ends."""

    def __init__(self) -> None:
        """Begin with no round."""
        self._open: dict[str, list[Recorded]] = {}

    def ended(self, events: Iterable[Recorded]) -> Iterator[list[Recorded]]:
        """Yield the events of each round as it ends."""
        for recorded in events:
            stream = recorded.event.stream
            if not is_round(stream):
                continue
            self._open.setdefault(stream, []).append(recorded)
            if recorded.event.type in CLOSING:
                yield self._open.pop(stream)

    def unended(self) -> Iterator[list[Recorded]]:
        """Yield the events of rounds that are open, and those that came after one had ended."""
        yield from self._open.values()


def read_leaves(
    leaves: Iterable[StoredLeaf], size: int, found: list[Finding], progress: Progress | None
) -> Iterator[Recorded]:
    """Yield what leaves say; what cannot be read is told in `found` and passed over."""
    for leaf in leaves:
        try:
            yield read_leaf(leaf)
        except EventUnreadable as error:
            found.append(Finding(EVENT_UNREADABLE, str(error), leaf.stream, leaf.leaf_index, None))
        if progress is not None and leaf.leaf_index % 1024 == 0:
            progress(leaf.leaf_index, size)
    if progress is not None:
        progress(size, size)


def _placed(problem: Problem, events: list[Recorded]) -> Finding:
    code, text = problem
    kind = "ShoeRevealed" if code == codes.COMMITMENT_MISMATCH else events[-1].event.type
    at = next((each for each in events if each.event.type == kind), events[-1])
    return Finding(code, text, at.event.stream, at.leaf_index, at.event.seq)
