"""Leaves of rounds: verified ones, gathered round by round until they are made into rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from shoeproof.audit_reports.rows.funds import wallet_rows
from shoeproof.audit_reports.rows.records import DisputeRow, InterruptionRow, WalletRow
from shoeproof.audit_reports.rows.round_rows import READ
from shoeproof.audit_reports.rows.said import Said, said, text_of
from shoeproof.ledger import StoredLeaf
from shoeproof.ledger.leaf.events import (
    CLOSING,
    Awarded,
    BetResettled,
    ComplaintOpened,
    DisputeDecided,
    DisputeOpened,
    EventData,
    Incident,
    Refunded,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    RulesAdded,
    WinReleased,
)
from shoeproof.ledger.store.round_index import is_round
from shoeproof.replay.engine.rules import Rules, rules_digest, rules_from_data
from shoeproof.replay.errors import RulesError
from shoeproof.replay.wallet.movements import movements_of

Earlier: TypeAlias = Callable[[str], Sequence[StoredLeaf]]
"""Given a stream, returns its leaves that were gathered before, verified, in order."""

_DISPUTES = {
    cls.__name__
    for cls in (Awarded, BetResettled, ComplaintOpened, DisputeDecided, DisputeOpened, Refunded)
}
_INCIDENTS = {cls.__name__ for cls in Incident.__subclasses__()}
_OTHERS = {RulesAdded.__name__, WinReleased.__name__, *_DISPUTES, *_INCIDENTS}

SoundLeaf: TypeAlias = tuple[StoredLeaf, bytes | None]
"""A verified leaf, and the text of its data where that is canonical."""


class RuleSet(msgspec.Struct, frozen=True):
    """Rules that the ledger holds from a leaf on."""

    rules: Rules
    leaf_index: int


class Gathered(msgspec.Struct):
    """A round's leaves, as far as they are there, up to the one that ended it."""

    stream: str
    leaves: list[StoredLeaf]
    texts: list[bytes]
    events: list[Said]
    is_stored: bool
    is_ended: bool = False

    @classmethod
    def of(cls, leaves: Sequence[SoundLeaf]) -> "Gathered":
        """Gather leaves of one round, in order."""
        found = cls(leaves[0][0].stream, [], [], [], is_stored=False)
        for each in leaves:
            found.take(*each)
        return found

    def take(self, leaf: StoredLeaf, text: bytes | None) -> None:
        """Take in the next leaf."""
        self.leaves.append(leaf)
        self.texts.append(text_of(leaf) if text is None else text)
        if leaf.topic in READ:
            self.events.append(said(leaf, text))
        self.is_ended = leaf.topic in CLOSING

    @property
    def is_closed(self) -> bool:
        """Whether it ended by being settled."""
        return self.leaves[-1].topic == RoundClosed.__name__

    @property
    def is_void(self) -> bool:
        """Whether it ended by being voided."""
        return self.leaves[-1].topic == RoundVoided.__name__

    @property
    def rules_digest(self) -> str:
        """The digest of the rules it was opened with; empty where that cannot be told."""
        first = self.events[0].data
        return first.rules_digest if isinstance(first, RoundOpened) else ""


class Changes(msgspec.Struct, frozen=True):
    """What leaves changed: rounds, and what stands by itself."""

    rounds: list[Gathered] = []
    disputes: list[DisputeRow] = []
    interruptions: list[InterruptionRow] = []
    wallet: list[WalletRow] = []
    rule_sets: dict[str, RuleSet] = {}


class Parts(NamedTuple):
    """What a range of leaves holds, each leaf with the text of its data where that is sound.

    `whole` are the rounds that begin and end in it, `pieces` the leaves of other rounds, each
    round's in order, and `others` those that say something by themselves.
    """

    whole: list[Gathered]
    pieces: list[SoundLeaf]
    others: list[SoundLeaf]


def part(leaves: Iterable[SoundLeaf]) -> Parts:
    """Part verified leaves, in order, into whole rounds and the rest."""
    every = list(leaves)
    whole, pieces = part_rounds(every)
    gathered = [Gathered.of(each) for each in whole]
    return Parts(gathered, pieces, [each for each in every if each[0].topic in _OTHERS])


def part_rounds(leaves: Iterable[SoundLeaf]) -> tuple[list[list[SoundLeaf]], list[SoundLeaf]]:
    """Part the leaves of rounds among verified ones, in order.

    First the rounds that begin and end there, in the order of their beginnings; then the leaves of
    others. Events after its end do not belong to a round.
    """
    held: dict[str, list[SoundLeaf]] = {}
    pieces: list[SoundLeaf] = []
    for each in leaves:
        leaf = each[0]
        mine = held.get(leaf.stream)
        if mine is None:
            if not is_round(leaf.stream):
                continue
            if leaf.version != 1:
                pieces.append(each)
                continue
            mine = held[leaf.stream] = []
        if not mine or mine[-1][0].topic not in CLOSING:
            mine.append(each)
    whole = []
    for mine in held.values():
        if mine[-1][0].topic in CLOSING:
            whole.append(mine)
        else:
            pieces += mine
    return whole, pieces


class Gatherer:
    """All rounds that are open, and what changed since it was last asked."""

    def __init__(self, start: int, earlier: Earlier, rule_sets: Mapping[str, RuleSet]) -> None:
        """Go on from leaf `start`, with all rule sets of the ledger."""
        self._start, self._earlier, self._rule_sets = start, earlier, rule_sets
        self._open: dict[str, Gathered] = {}
        self._changed: dict[str, Gathered] = {}
        self._ended: set[str] = set()
        self._now = Changes()

    def take(self, parts: Parts) -> None:
        """Take in what the next range of leaves holds, but for its whole rounds."""
        for leaf, text in parts.pieces:
            self._take_of_round(leaf, text)
        for leaf, text in parts.others:
            self._take_other(leaf, text)

    def changes(self) -> Changes:
        """Return what changed since this was last asked."""
        now, self._now = self._now, Changes()
        now.rounds.extend(self._changed.values())
        self._changed = {}
        return now

    def _take_of_round(self, leaf: StoredLeaf, text: bytes | None) -> None:
        stream = leaf.stream
        held = self._open.get(stream)
        if held is None:
            held = self._begun(leaf)
            if held is None or held.is_ended:
                return
            self._open[stream] = held
        held.take(leaf, text)
        self._changed[stream] = held
        if held.is_ended:
            del self._open[stream]
            self._ended.add(stream)

    def _begun(self, leaf: StoredLeaf) -> Gathered | None:
        if leaf.version == 1:
            return Gathered(leaf.stream, [], [], [], is_stored=False)
        if leaf.stream in self._ended or not self._start:
            return None
        held = Gathered(leaf.stream, [], [], [], is_stored=True)
        for each in self._earlier(leaf.stream):
            if held.is_ended:
                break
            held.take(each, None)
        return held if held.leaves else None

    def _take_other(self, leaf: StoredLeaf, text: bytes | None) -> None:
        event = said(leaf, text)
        if leaf.topic == RulesAdded.__name__:
            found = read_rules(event)
            # Of rules that were added twice, the first count.
            if found is not None and self._rule_sets[found[0]].leaf_index == leaf.leaf_index:
                self._now.rule_sets[found[0]] = found[1]
        elif leaf.topic in _INCIDENTS:
            self._now.interruptions.append(_interruption(leaf, event))
        else:
            if leaf.topic in _DISPUTES:
                self._now.disputes.append(_dispute(event))
            self._now.wallet.extend(wallet_rows(event, _subject(event.data), None, fun=False))


def rule_sets_of(leaves: Iterable[StoredLeaf]) -> dict[str, RuleSet]:
    """Return the rule sets that verified leaves add, by digest; of equal ones the first."""
    found: dict[str, RuleSet] = {}
    for leaf in leaves:
        rules = read_rules(said(leaf, None))
        if rules is not None:
            found.setdefault(*rules)
    return found


def read_rules(event: Said) -> tuple[str, RuleSet] | None:
    """Return the rules an event adds, by the digest that their content has."""
    if not isinstance(event.data, RulesAdded):
        return None
    try:
        rules = rules_from_data(event.data.rules)
    except RulesError:
        return None
    return rules_digest(rules), RuleSet(rules, event.leaf_index)


def _interruption(leaf: StoredLeaf, event: Said) -> InterruptionRow:
    data = event.data
    assert isinstance(data, Incident)
    round_ = leaf.stream if is_round(leaf.stream) else None
    return InterruptionRow(
        event.leaf_index, event.at, leaf.topic, round_, data.cause, data.scope, data.note
    )


def _dispute(event: Said) -> DisputeRow:
    data: EventData = event.data
    fields = {
        name: getattr(data, name) for name in DisputeRow.__struct_fields__ if hasattr(data, name)
    }
    fields["round"] = _subject(data)
    if isinstance(data, Refunded):
        fields |= {"amount_minor": None, "refunded_minor": data.amount_minor}
    if isinstance(data, DisputeDecided):
        fields["case_number"] = data.case
    if isinstance(data, ComplaintOpened):
        fields |= {"span_begin": data.begin, "span_end": data.end}
    for moved in movements_of(data):
        if moved.funds is not None:
            fields |= {
                "cash_minor": moved.funds.cash_minor,
                "incentive_minor": moved.funds.incentive_minor,
            }
    name = type(data).__name__
    return DisputeRow(leaf_index=event.leaf_index, recorded_at=event.at, event=name, **fields)


def _subject(data: EventData) -> str:
    """Return the round, or the complaint, that an event outside of rounds is about."""
    return str(data.complaint if isinstance(data, ComplaintOpened) else getattr(data, "round", ""))
