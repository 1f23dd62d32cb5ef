"""Rounds in the order in which they began, which does not depend on their cards.

A round with low cards is a long one: in the order in which rounds end, or among those that end
together, shoes that follow each other would have more in common than chance gives.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Final

import msgspec

from shoeproof.audit_reports.shuffle_tests.counting import ComparedRound

MOST_WAITING: Final = 32_768
"""How many rounds may begin before one that has not ended is left out of the order."""


class _Begun(msgspec.Struct):
    """A round and its number in the order; `is_over` when it has ended or is left out."""

    number: int
    is_over: bool = False
    counted: ComparedRound | None = None

    def after(self, begun: int) -> int:
        """Return how many of the first `begun` rounds began after this one."""
        return begun - 1 - self.number


class BeginningOrder(msgspec.Struct):
    """The rounds that wait for others before them to end, by their first leaf.

    `begun` counts all that began. What is left out depends on the ledger alone: a round of which
    more than MOST_WAITING others began before it ended.
    """

    begun: int = 0
    waiting: dict[int, _Begun] = {}

    def take(self, begun: Sequence[int], ended: Iterable[ComparedRound]) -> list[ComparedRound]:
        """Take in a range of leaves, and return the rounds whose turn it is, in order.

        `begun` are the first leaves of rounds that begin in it, in order; `ended` are those that
        end in it.
        """
        before = self.begun
        for number, first_leaf in enumerate(begun, before):
            self.waiting[first_leaf] = _Begun(number)
        self.begun += len(begun)
        for each in ended:
            mine = self.waiting.get(each.first_leaf)
            if mine is None or each.last_leaf is None:
                continue
            mine.is_over = True
            if mine.after(before + bisect_left(begun, each.last_leaf)) <= MOST_WAITING:
                mine.counted = each
        ready = list(takewhile(self._is_due, self.waiting.items()))
        for first_leaf, _ in ready:
            del self.waiting[first_leaf]
        return [each.counted for _, each in ready if each.counted is not None]

    def rest(self) -> list[ComparedRound]:
        """Return the rounds that wait and have ended, in order."""
        return [each.counted for each in self.waiting.values() if each.counted is not None]

    def _is_due(self, item: tuple[int, _Begun]) -> bool:
        _, each = item
        return each.is_over or each.after(self.begun) > MOST_WAITING
