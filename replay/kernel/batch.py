"""Many rounds at once: which are sound, and for all others what the replayer finds.

The kernel (`walk`, `money`, `shoes`) proves rounds sound; what it cannot prove it leaves to
`judge`, which alone makes findings. So codes, places and sentences are the replayer's own, and a
mistake here can cost time and never invent or word a finding.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from shoeproof.ledger import Finding
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.kernel.due import LayoutOf, layouts_of
from shoeproof.replay.kernel.money import amounts_hold
from shoeproof.replay.kernel.openings import Opening, laid, openings_of
from shoeproof.replay.kernel.shape_check import courses_hold
from shoeproof.replay.kernel.shoes import shoes_hold
from shoeproof.replay.kernel.symbols import IGNORED, KIND, RoundColumns, Vocabulary
from shoeproof.replay.kernel.tables import Ints
from shoeproof.replay.kernel.walk import RoundBatch, walk
from shoeproof.replay.kernel.wallets import wallets_hold

_AT_A_TIME = 16_384
"""Rounds judged together: enough to pay for NumPy's calls, few enough to bound the memory."""


class Columns(NamedTuple):
    """Rounds as columns: each round's words are those from its start to the next one's.

    `words` are numbers of the vocabulary's rows, flat; `starts` has one place a round.
    """

    vocabulary: Vocabulary
    own: Sequence[RoundColumns]
    words: Ints
    starts: Ints


def replay_batch(
    columns: Columns,
    rules_by_digest: Mapping[str, Rules],
    judge: Callable[[int], Sequence[Finding]],
    doubted: Collection[int] = (),
) -> dict[int, tuple[Finding, ...]]:
    """Return the findings of every round that has any, by its place in the columns.

    `judge` replays one round by its place: it is asked for the rounds that are not proved sound,
    and for those `doubted` for what no column holds.
    """
    found = {}
    proved = sound(columns, rules_by_digest)
    proved[list(doubted)] = False
    for place in np.flatnonzero(~proved):
        findings = tuple(judge(int(place)))
        if findings:
            found[int(place)] = findings
    return found


def sound(
    columns: Columns, rules_by_digest: Mapping[str, Rules], *, with_shoes: bool = True
) -> Ints:
    """Tell of each round whether it is proved that the replayer finds nothing in it.

    Without `with_shoes` the play and the money are judged alone, as a bench of the engine asks.
    """
    proved = np.zeros(len(columns.own), np.bool_)
    bounds = np.append(columns.starts, len(columns.words))
    layouts = cache(lambda digest: layouts_of(rules_by_digest[digest]))
    for first in range(0, len(proved), _AT_A_TIME):
        places = slice(first, first + _AT_A_TIME)
        edges = bounds[first : first + _AT_A_TIME + 1]
        proved[places] = _sound(
            columns.vocabulary,
            rules_by_digest,
            layouts,
            columns.own[places],
            columns.words[edges[0] : edges[-1]],
            np.diff(edges),
            with_shoes=with_shoes,
        )
    return proved


def _sound(
    vocabulary: Vocabulary,
    rules_by_digest: Mapping[str, Rules],
    layouts: Callable[[str], LayoutOf],
    own: Sequence[RoundColumns],
    words: Ints,
    lengths: Ints,
    *,
    with_shoes: bool,
) -> Ints:
    words, lengths = _without_ignored(vocabulary, words, lengths)
    openings, which = openings_of(vocabulary, rules_by_digest, words, lengths)
    by_digest: dict[str, list[tuple[int, Opening]]] = {}
    for number, opening in enumerate(openings):
        if opening is not None:
            by_digest.setdefault(opening.digest, []).append((number, opening))
    proved = np.zeros(len(lengths), np.bool_)
    answered = wallets_hold(vocabulary, own, words, lengths)
    for digest, mine in by_digest.items():
        place = np.full(len(openings), -1)
        place[[number for number, _ in mine]] = np.arange(len(mine))
        chosen = (place[which] >= 0) & answered
        batch = RoundBatch.of_rounds(
            vocabulary.table(),
            words if chosen.all() else words[np.repeat(chosen, lengths)],
            lengths[chosen],
            laid([opening for _, opening in mine], vocabulary),
            place[which[chosen]],
        )
        right = np.flatnonzero(chosen)
        held = _play_holds(vocabulary, layouts(digest), batch)
        if with_shoes:
            batch, right = batch.only(held), right[held]
            asked = [own[round_] for round_ in right.tolist()]
            held = shoes_hold(asked, digest, mine[0][1].rules.decks, batch)
        proved[right] = held
    return proved


def _play_holds(vocabulary: Vocabulary, layouts: LayoutOf, batch: RoundBatch) -> Ints:
    """Tell of each round whether play and money are as the rules say, whatever the shoe was."""
    tables = layouts(1).tables
    walked = walk(tables, batch)
    right = courses_hold(layouts, batch, walked, vocabulary)
    if not right.all():
        batch = batch.only(right)
        walked = walk(tables, batch)
    right[right] = amounts_hold(layouts, batch, walked, vocabulary.names)
    return right


def _without_ignored(vocabulary: Vocabulary, words: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """Leave out the events that the replayer passes over; return the words, how many a round."""
    kept = (vocabulary.table()[KIND] != IGNORED).take(words)
    if kept.all():
        return words, lengths
    number = np.repeat(np.arange(len(lengths)), lengths)
    # A round begins with its opening and ends with its close: nothing is passed over there.
    ends = np.cumsum(lengths)
    within = lengths > 0
    kept[(ends - lengths)[within]] = kept[(ends - 1)[within]] = True
    return words[kept], np.bincount(number[kept], minlength=len(lengths))
