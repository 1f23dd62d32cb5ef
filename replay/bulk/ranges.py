"""One range of leaves: the rounds that lie in it whole are judged, of the others the places kept.

Ranges are judged apart from all others and joined in order (`bulk.audit`). A round whose first
event here is its opening and that ends here is taken for whole; whether an earlier range left it
open is seen at the join. Everything is placed by leaf index, so that joined ranges tell the same
in the same order as one walk through the ledger.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from hashlib import sha256
from typing import NamedTuple

import msgspec

from shoeproof.ledger import Finding, StoredLeaf
from shoeproof.ledger.errors import EventUnreadable
from shoeproof.ledger.findings import EVENT_UNREADABLE
from shoeproof.ledger.leaf import layout
from shoeproof.ledger.leaf.events import (
    CLOSING,
    ConnectionLost,
    ConnectionRestored,
    DecisionOffered,
    InputRefused,
    RoundOpened,
    RoundVoided,
    ShoeRevealed,
)
from shoeproof.ledger.leaf.recorded import read_leaf
from shoeproof.ledger.store.round_index import is_round
from shoeproof.ledger.verify.batch import LeafBatch
from shoeproof.ledger.verify.integrity import SignatureCounts
from shoeproof.ledger.verify.ranges import RangeCheck
from shoeproof.replay.audit.one_by_one import OpenRound, VoidRound, is_of_game, void_round
from shoeproof.replay.bulk.policy_fast import Course, Quiet
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.interruptions.check import Circumstances
from shoeproof.replay.interruptions.judge import judge
from shoeproof.replay.kernel.batch import replay_batch
from shoeproof.replay.kernel.reading import Reader, RoundsBuilder
from shoeproof.replay.kernel.symbols import KIND, OPENED, PAID, STAKE, RoundColumns, Vocabulary
from shoeproof.replay.rounds.seeds import Reveals
from shoeproof.replay.rounds.shoe_check import seed_bytes

_INTERRUPTIONS = {ConnectionLost.__name__, ConnectionRestored.__name__}
_OFFERED = DecisionOffered.__name__.encode()
_REVEALED = ShoeRevealed.__name__.encode()
_REFUSED = InputRefused.__name__.encode()
_ASIDE_INTERRUPTIONS = {name.encode() for name in _INTERRUPTIONS}
_ASIDE = {_REFUSED, *_ASIDE_INTERRUPTIONS}


class RoundPiece(NamedTuple):
    """Part of a round: the leaves of it that lie in a range, and whether it ended there.

    `digest` is the SHA-256 of those leaves one after the other, in lower hex: what is read again
    when the round has ended must be what was checked.
    """

    stream: str
    leaves: list[int]
    ended: bool
    digest: str

    @classmethod
    def of(cls, stream: str, leaves: Sequence[StoredLeaf], *, ended: bool) -> "RoundPiece":
        """Return the piece that leaves are."""
        places = [leaf.leaf_index for leaf in leaves]
        return cls(
            stream, places, ended, sha256(b"".join(leaf.state for leaf in leaves)).hexdigest()
        )


class RangeReport(msgspec.Struct, frozen=True):
    """What the leaves `start <= leaf_index < stop` say by themselves.

    `found` and `voids` stand by the leaf that ends their round, or that cannot be read. `whole` are
    the rounds that were judged; `pieces` are of rounds that begin earlier or end later, in the
    order of their first leaves; `with_cases` is all that it holds of rounds that cases are about.
    Where rounds are given whole, as in an export, those that have not
    ended stand in `open_rounds` with what is `unended` to be found in them, and none is a piece.
    `examined` are the signatures of disputed rounds, `check` is what the leaves are in themselves,
    `reveals` are the seeds they reveal (`Reveals.raw`).
    """

    start: int
    stop: int
    closed: int
    voids: list[tuple[int, VoidRound]]
    found: list[tuple[int, list[Finding]]]
    whole: list[str]
    pieces: list[RoundPiece]
    with_cases: list[RoundPiece] = []
    unended: list[list[Finding]] = []
    open_rounds: list[OpenRound] = []
    examined: SignatureCounts = SignatureCounts({}, [])
    check: RangeCheck | None = None
    reveals: bytes = b""


Judge = Callable[..., RangeReport]
"""Judges one share of an audit, whose number and place are its arguments."""

Examine = Callable[[Iterable[StoredLeaf]], SignatureCounts]
"""Verifies signatures of leaves that were spared so far."""


def _spare(leaves: Iterable[StoredLeaf]) -> SignatureCounts:
    return SignatureCounts({}, [])


class _Gathering:
    """A round being gathered from a batch: what it says in words, and where its leaves stand."""

    __slots__ = (
        "batch", "earliest", "interrupted", "is_whole", "last", "latest", "offered", "own",
        "places", "refused", "words",
    )  # fmt: skip

    def __init__(self, batch: LeafBatch, own: RoundColumns, is_whole: bool, at: bytes) -> None:
        self.batch, self.own, self.is_whole, self.last = batch, own, is_whole, ""
        self.earliest = self.latest = at
        self.offered: list[bytes] = []
        self.interrupted = self.refused = False
        self.words: list[int] = []
        self.places: list[int] = []

    def add(self, place: int, kind: str, word: int, at: bytes) -> None:
        """Take in the round's next event, of time `at`."""
        if at > self.latest:
            self.latest = at
        elif at < self.earliest:
            self.earliest = at
        if kind == DecisionOffered.__name__:
            self.offered.append(at)
        elif kind in _INTERRUPTIONS:
            self.interrupted = True
        elif kind == InputRefused.__name__:
            self.refused = True
        self.words.append(word)
        self.places.append(place)
        self.last = kind

    @property
    def leaves(self) -> list[StoredLeaf]:
        """Its leaves, in order."""
        return list(map(self.batch.leaf, self.places))

    @property
    def last_leaf(self) -> int:
        """The index of the last of them."""
        return self.batch.leaf_index[self.places[-1]]


class RangeJudge:
    """Judges ranges of one ledger, or rounds gathered from several; keeps what it has read."""

    def __init__(
        self,
        rules_by_digest: Mapping[str, Rules],
        told: Circumstances,
        only: str | None = None,
        examine: Examine = _spare,
        with_cases: AbstractSet[str] = frozenset(),
    ) -> None:
        """Judge by these rules and circumstances, one game's rounds alone where `only` says.

        `examine` is asked for the signatures of every round in which something is found. Of
        the rounds `with_cases` each report says which leaves are theirs.
        """
        self.rules, self.told, self.only = rules_by_digest, told, only
        self._examine, self._with_cases = examine, with_cases
        self._head = Reader().head
        self._vocabulary = Vocabulary()
        self._quiet = Quiet(told)

    def judge(
        self,
        batch: LeafBatch,
        start: int,
        stop: int,
        carried: AbstractSet[str] = frozenset(),
        texts: Sequence[bytes | None] | None = None,
        whole: AbstractSet[str] = frozenset(),
    ) -> RangeReport:
        """Return what a range of leaves says; `carried` are rounds known to be open before it.

        `texts` are those of the leaves' data where the columns beside a leaf are known to be true,
        and None for each leaf that is yet to be read. `whole` are the rounds of which all leaves
        are known to be so, from the first to the one that ends them.
        """
        if self._vocabulary.is_full:
            self._vocabulary = Vocabulary()
        texts = [None] * len(batch) if texts is None else texts
        reveals = Reveals()
        gathered, rest = self._gather_whole(batch, texts, whole - carried, reveals)
        found: list[tuple[int, list[Finding]]] = []
        bad: list[StoredLeaf] = []
        pieces: list[RoundPiece] = []
        left, begun = set(carried), dict[str, _Gathering]()
        for place in rest:
            try:
                round_ = self._read(batch, place, texts[place], begun, left)
            except EventUnreadable as error:
                leaf = batch.leaf(place)
                text = str(error)
                unreadable = Finding(EVENT_UNREADABLE, text, leaf.stream, leaf.leaf_index, None)
                found.append((leaf.leaf_index, [unreadable]))
                bad.append(leaf)
                continue
            if round_ is None:
                continue
            if round_.last == ShoeRevealed.__name__:
                reveals.add(round_.own.seed, batch.leaf_index[place])
            elif round_.last in CLOSING:
                stream = round_.own.round_id
                left.discard(stream)
                del begun[stream]
                if round_.is_whole:
                    gathered.append(round_)
                else:
                    pieces.append(RoundPiece.of(stream, round_.leaves, ended=True))
        pieces += [
            RoundPiece.of(stream, each.leaves, ended=False) for stream, each in begun.items()
        ]
        wanted = [each for each in gathered if each.own.round_id in self._with_cases]
        asked = [RoundPiece.of(each.own.round_id, each.leaves, ended=True) for each in wanted]
        asked += [piece for piece in pieces if piece.stream in self._with_cases]
        report = self._judged(gathered, start, stop, bad)
        return msgspec.structs.replace(
            report,
            found=sorted(found + report.found),
            pieces=sorted(pieces, key=_first),
            with_cases=sorted(asked, key=_first),
            reveals=reveals.raw,
        )

    def _gather_whole(
        self,
        batch: LeafBatch,
        texts: Sequence[bytes | None],
        whole: AbstractSet[str],
        reveals: Reveals,
    ) -> tuple[list[_Gathering], list[int]]:
        """Return the rounds that are whole, and the places of all other leaves."""
        names = {stream.encode() for stream in whole}
        places: dict[bytes, list[int]] = {name: [] for name in names}
        rest: list[int] = []
        for place, stream in enumerate(batch.stream):
            places.get(stream, rest).append(place)
        gathered = [self._whole(batch, texts, each, reveals) for each in places.values() if each]
        return gathered, rest

    def _whole(
        self,
        batch: LeafBatch,
        texts: Sequence[bytes | None],
        places: list[int],
        reveals: Reveals,
    ) -> _Gathering:
        """Gather a round of which every leaf is sound, so that its times are in order."""
        topics, states, known = batch.topic, batch.state, self._vocabulary.known
        own = RoundColumns(batch.stream[places[0]].decode())
        round_ = _Gathering(batch, own, True, states[places[0]][layout.TIME])
        round_.latest = states[places[-1]][layout.TIME]
        round_.places, words = places, round_.words
        for place in places:
            topic, text = topics[place], texts[place]
            assert text is not None
            # Of an offer the deadline is noted, whether its text was met before or not.
            row = None if topic == _OFFERED else known[topic].get(text)
            if row is None:
                row = self._vocabulary.read(topic.decode(), text, own)
                if topic == _OFFERED:
                    round_.offered.append(states[place][layout.TIME])
                elif topic == _REVEALED:
                    reveals.add(own.seed, batch.leaf_index[place])
            words.append(row)
            if topic in _ASIDE:
                round_.interrupted |= topic in _ASIDE_INTERRUPTIONS
                round_.refused |= topic == _REFUSED
        round_.last = topics[places[-1]].decode()
        return round_

    def judge_rounds(
        self, rounds: Sequence[Sequence[StoredLeaf]], start: int, stop: int
    ) -> RangeReport:
        """Return what ended rounds say, each given by all of its leaves, which can be read."""
        gathered: list[_Gathering] = []
        for leaves in rounds:
            mine: dict[str, _Gathering] = {}
            batch = LeafBatch.of_leaves(leaves)
            for place in range(len(batch)):
                self._read(batch, place, None, mine, frozenset())
            gathered += mine.values()
        return self._judged(gathered, start, stop)

    def _read(
        self,
        batch: LeafBatch,
        place: int,
        text: bytes | None,
        gathered: dict[str, _Gathering],
        left: AbstractSet[str],
    ) -> _Gathering | None:
        """Read a leaf into its round and return that, None for a leaf of no round."""
        state = batch.state[place]
        try:
            if text is None:
                head = self._head(state)
                stream, kind, at = head.stream, head.type, head.at.encode()
                text = bytes(head.data)
            else:
                stream, kind = batch.stream[place].decode(), batch.topic[place].decode()
                at = state[layout.TIME]
            round_ = gathered.get(stream)
            own = RoundColumns(stream) if round_ is None else round_.own
            word = self._vocabulary.read(kind, text, own)
        except (EventUnreadable, ValueError, RecursionError):
            # The one reader that counts has the word, and says why.
            event = read_leaf(batch.leaf(place)).event
            stream, kind, at = event.stream, event.type, event.at.encode()
            round_ = gathered.get(stream)
            own = RoundColumns(stream) if round_ is None else round_.own
            if isinstance(event.data, ShoeRevealed):
                own.seed = seed_bytes(event.data.seed)
            word = self._vocabulary.other()
        if round_ is None:
            if not is_round(stream):
                return None
            opens = kind == RoundOpened.__name__ and stream not in left
            round_ = gathered[stream] = _Gathering(batch, own, opens, at)
        round_.add(place, kind, word, at)
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
                voids.append((each.last_leaf, void))
        return RangeReport(
            start=start,
            stop=stop,
            closed=closed,
            voids=sorted(voids, key=lambda void: void[0]),
            found=sorted((asked[place].last_leaf, list(each)) for place, each in findings.items()),
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
                round_.refused,
                totals[PAID] - totals[STAKE],
            )
        )

    def _concerns(self, round_: _Gathering) -> bool:
        begun = self._vocabulary.rows.items[round_.words[0]][KIND] == OPENED
        return not begun or is_of_game(self.rules.get(round_.own.rules_digest or ""), self.only)


def _first(piece: RoundPiece) -> int:
    return piece.leaves[0]
