"""One range of leaves: the rounds that lie in it whole are judged, of the others the places kept.

Ranges are judged apart from all others and joined in order (`bulk.audit`). A round whose first
event here is its opening and that ends here is taken for whole; whether an earlier range left it
open is seen at the join. Everything is placed by leaf index, so that joined ranges tell the same
in the same order as one walk through the ledger.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import repeat
from typing import NamedTuple

import msgspec

from ledger import Finding, StoredLeaf
from ledger.errors import EventUnreadable
from ledger.events import (
    CLOSING,
    ConnectionLost,
    ConnectionRestored,
    DecisionOffered,
    RoundOpened,
    RoundVoided,
)
from ledger.findings import EVENT_UNREADABLE
from ledger.integrity import Examined, RangeCheck
from ledger.recorded import read_leaf
from ledger.rounds import is_round
from replay.audit import OpenRound, VoidRound, is_of_game, judge, void_round
from replay.bulk.batch import replay_batch
from replay.bulk.quiet import Course, Quiet
from replay.bulk.reading import Reader, RoundsBuilder
from replay.bulk.words import KIND, OPENED, PAID, STAKE, Own, Vocabulary
from replay.engine.rules import Rules
from replay.interruptions import Circumstances

_AT = slice(len('{"at":"'), len('{"at":"2026-01-02T03:04:05.000001Z'))
"""Where the time stands in the bytes of a leaf that is known to be sound."""

_INTERRUPTIONS = {ConnectionLost.__name__, ConnectionRestored.__name__}


class Piece(NamedTuple):
    """Part of a round: the leaves of it that lie in a range, and whether it ended there."""

    stream: str
    leaves: list[int]
    ended: bool


class RangeReport(msgspec.Struct, frozen=True):
    """What the leaves `start <= leaf_index < stop` say by themselves.

    `found` and `voids` stand by the leaf that ends their round, or that cannot be read. `whole` are
    the rounds that were judged; `pieces` are of rounds that begin earlier or end later, in the
    order of their first leaves. Where rounds are given whole, as in an export, those that have not
    ended stand in `open_rounds` with what is `unended` to be found in them, and none is a piece.
    `examined` are the signatures of disputed rounds, `check` is what the leaves are in themselves.
    """

    start: int
    stop: int
    closed: int
    voids: list[tuple[int, VoidRound]]
    found: list[tuple[int, list[Finding]]]
    whole: list[str]
    pieces: list[Piece]
    unended: list[list[Finding]] = []
    open_rounds: list[OpenRound] = []
    examined: Examined = Examined({}, [])
    check: RangeCheck | None = None


Judge = Callable[..., RangeReport]
"""Judges one share of an audit, whose number and place are its arguments."""

Examine = Callable[[Iterable[StoredLeaf]], Examined]
"""Verifies signatures of leaves that were spared so far."""


def _spare(leaves: Iterable[StoredLeaf]) -> Examined:
    return Examined({}, [])


class _Gathering:
    """A round being gathered: what it says in words, and its leaves."""

    __slots__ = (
        "earliest", "interrupted", "is_whole", "last", "latest", "leaves", "offered", "own",
        "words",
    )  # fmt: skip

    def __init__(self, own: Own, is_whole: bool, at: bytes) -> None:
        self.own, self.is_whole, self.last = own, is_whole, ""
        self.earliest = self.latest = at
        self.offered: list[bytes] = []
        self.interrupted = False
        self.words: list[int] = []
        self.leaves: list[StoredLeaf] = []

    def add(self, leaf: StoredLeaf, kind: str, word: int, at: bytes) -> None:
        """Take in the round's next event, of time `at`."""
        if at > self.latest:
            self.latest = at
        elif at < self.earliest:
            self.earliest = at
        if kind == DecisionOffered.__name__:
            self.offered.append(at)
        elif kind in _INTERRUPTIONS:
            self.interrupted = True
        self.words.append(word)
        self.leaves.append(leaf)
        self.last = kind


class RangeJudge:
    """Judges ranges of one ledger, or rounds gathered from several; keeps what it has read."""

    def __init__(
        self,
        rules_by_digest: Mapping[str, Rules],
        told: Circumstances,
        only: str | None = None,
        examine: Examine = _spare,
    ) -> None:
        """Judge by these rules and circumstances, one game's rounds alone where `only` says.

        `examine` is asked for the signatures of every round in which something is found.
        """
        self.rules, self.told, self.only = rules_by_digest, told, only
        self._examine = examine
        self._head = Reader().head
        self._vocabulary = Vocabulary()
        self._quiet = Quiet(told)

    def judge(
        self,
        leaves: Iterable[StoredLeaf],
        start: int,
        stop: int,
        carried: AbstractSet[str] = frozenset(),
        texts: Iterable[bytes | None] = repeat(None),
    ) -> RangeReport:
        """Return what a range of leaves says; `carried` are rounds known to be open before it.

        `texts` are those of the leaves' data where the columns beside a leaf are known to be true,
        and None for each leaf that is yet to be read.
        """
        if self._vocabulary.is_full:
            self._vocabulary = Vocabulary()
        found: list[tuple[int, list[Finding]]] = []
        whole: list[_Gathering] = []
        pieces: list[Piece] = []
        left = set(carried)
        gathered: dict[str, _Gathering] = {}
        bad: list[StoredLeaf] = []
        read = self._vocabulary.read
        for leaf, text in zip(leaves, texts, strict=False):
            try:
                _, stream, _, kind, state = leaf
                round_ = None if text is None else gathered.get(stream)
                if round_ is None or text is None:
                    round_ = self._read(leaf, text, gathered, left)
                else:
                    round_.add(leaf, kind, read(kind, text, round_.own), state[_AT])
            except EventUnreadable as error:
                unreadable = Finding(
                    EVENT_UNREADABLE, str(error), leaf.stream, leaf.leaf_index, None
                )
                found.append((leaf.leaf_index, [unreadable]))
                bad.append(leaf)
                continue
            if round_ is not None and round_.last in CLOSING:
                stream = round_.own.round_id
                left.discard(stream)
                del gathered[stream]
                if round_.is_whole:
                    whole.append(round_)
                else:
                    pieces.append(_piece(stream, round_, ended=True))
        pieces += [_piece(stream, each, ended=False) for stream, each in gathered.items()]
        report = self._judged(whole, start, stop, bad)
        return msgspec.structs.replace(
            report,
            found=sorted(found + report.found),
            pieces=sorted(pieces, key=lambda piece: piece.leaves[0]),
        )

    def judge_rounds(
        self, rounds: Sequence[Sequence[StoredLeaf]], start: int, stop: int
    ) -> RangeReport:
        """Return what ended rounds say, each given by all of its leaves, which can be read."""
        gathered: list[_Gathering] = []
        for leaves in rounds:
            mine: dict[str, _Gathering] = {}
            for leaf in leaves:
                self._read(leaf, None, mine, frozenset())
            gathered += mine.values()
        return self._judged(gathered, start, stop)

    def _read(
        self,
        leaf: StoredLeaf,
        text: bytes | None,
        gathered: dict[str, _Gathering],
        left: AbstractSet[str],
    ) -> _Gathering | None:
        """Read a leaf into its round and return that, None for a leaf of no round."""
        try:
            if text is None:
                head = self._head(leaf.state)
                stream, kind, at = head.stream, head.type, head.at.encode()
                text = bytes(head.data)
            else:
                stream, kind, at = leaf.stream, leaf.topic, leaf.state[_AT]
            round_ = gathered.get(stream)
            own = Own(stream) if round_ is None else round_.own
            word = self._vocabulary.read(kind, text, own)
        except (EventUnreadable, ValueError, RecursionError):
            # The one reader that counts has the word, and says why.
            event = read_leaf(leaf).event
            stream, kind, at = event.stream, event.type, event.at.encode()
            round_ = gathered.get(stream)
            own, word = Own(stream), self._vocabulary.other()
        if round_ is None:
            if not is_round(stream):
                return None
            opens = kind == RoundOpened.__name__ and stream not in left
            round_ = gathered[stream] = _Gathering(own, opens, at)
        round_.add(leaf, kind, word, at)
        return round_

    def _judged(
        self,
        rounds: Sequence[_Gathering],
        start: int,
        stop: int,
        bad: Sequence[StoredLeaf] = (),
    ) -> RangeReport:
        asked = [each for each in rounds if self._concerns(each)]
        builder = RoundsBuilder(self._vocabulary)
        for each in asked:
            builder.add(each.own, each.words)
        findings = replay_batch(
            builder.columns(),
            self.rules,
            lambda place: list(
                judge([read_leaf(leaf) for leaf in asked[place].leaves], self.rules, self.told)
            ),
            {place for place, each in enumerate(asked) if not self._keeps_policy(each)},
        )
        disputed = [leaf for place in findings for leaf in asked[place].leaves]
        voids = []
        closed = 0
        for each in asked:
            if each.last != RoundVoided.__name__:
                closed += 1
            elif (void := void_round([read_leaf(leaf) for leaf in each.leaves])) is not None:
                voids.append((each.leaves[-1].leaf_index, void))
        return RangeReport(
            start=start,
            stop=stop,
            closed=closed,
            voids=sorted(voids, key=lambda void: void[0]),
            found=sorted(
                (asked[place].leaves[-1].leaf_index, list(each)) for place, each in findings.items()
            ),
            whole=[each.own.round_id for each in rounds],
            pieces=[],
            examined=self._examine([*bad, *disputed]),
        )

    def _keeps_policy(self, round_: _Gathering) -> bool:
        own, totals = round_.own, self._vocabulary.rows.items[round_.words[-1]]
        if len(own.deadlines) != len(round_.offered):
            return False
        offered = [at.decode() for at in round_.offered]
        offers = list(zip(offered, own.deadlines, strict=True))
        return self._quiet.keeps(
            Course(
                own.round_id,
                own.policy_digest,
                round_.earliest.decode(),
                round_.latest.decode(),
                offers,
                round_.interrupted,
                totals[PAID] - totals[STAKE],
            )
        )

    def _concerns(self, round_: _Gathering) -> bool:
        begun = self._vocabulary.rows.items[round_.words[0]][KIND] == OPENED
        return not begun or is_of_game(self.rules.get(round_.own.rules_digest or ""), self.only)


def _piece(stream: str, gathering: _Gathering, *, ended: bool) -> Piece:
    return Piece(stream, [leaf.leaf_index for leaf in gathering.leaves], ended)
