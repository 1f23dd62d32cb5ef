"""Whether a ledger may be written: only while it extends what was signed of it.

A database that was restored from a backup lacks what was written since, and does not know it: what
it would write contradicts what was signed, and what its rows call open may long be settled. So
before its first write an open ledger is held to its guard, again whenever something was signed
since, and every transaction to the size the tree had when this process wrote last. An append pays
one look at the guard's file for that, and no query.
"""

from collections.abc import Callable
from threading import Lock
from typing import Final

from shoeproof.ledger.errors import SigningRefused, StoreDamaged
from shoeproof.ledger.store.guard import Guard, Signed
from shoeproof.ledger.tree.tiles import Tree

GO_ON: Final = (
    "bring back the database that was signed (every copy whose `fsck` names no damage will do); if "
    "it is lost, keep this one as evidence and go on in a new ledger under another origin"
)


def must_extend(last: Signed, tree: Tree) -> None:
    """Raise SigningRefused where a tree does not extend what was last signed."""
    if tree.size < last.size:
        raise SigningRefused(
            f"the ledger has {tree.size} leaves, but {last.size} were signed: it was restored from "
            f"a backup or its tail was cut off; to go on, {GO_ON}"
        )
    try:
        extends = tree.root(last.size).hex() == last.root
    except StoreDamaged:
        extends = False
    if not extends:
        raise SigningRefused(
            f"the first {last.size} leaves are not those that were signed: a restored backup was "
            f"written to, a second writer went on from a copy, or it was altered; to go on, "
            f"{GO_ON}"
        )


def must_not_shrink(size: int, least: int) -> None:
    """Raise SigningRefused where a tree has fewer leaves than a process has seen in it."""
    if size < least:
        raise SigningRefused(
            f"the ledger had {least} leaves and has {size}: its database was put back to an "
            f"earlier state while it was open; nothing was written; to go on, {GO_ON}"
        )


class Growth:
    """What one open ledger has seen of its tree, held to its guard before anything is written."""

    def __init__(self, guard: Guard, size: Callable[[], int], tree: Callable[[int], Tree]) -> None:
        """Know nothing yet: the first write is held to the guard."""
        self._guard, self._size, self._tree = guard, size, tree
        self._checked: object = None
        self._lock = Lock()
        self.least = 0

    def check(self) -> None:
        """Hold the ledger to its guard now.

        Raises SigningRefused where it does not extend it, where the guard is missing or damaged, or
        where the tree has shrunk; StoreUnavailable, StoreDamaged and OSError.
        """
        # What is signed, or was reached, is always there before: so both are read first.
        stamp, last, least = self._guard.stamp(), self._guard.read(), self.least
        size = self._size()
        must_not_shrink(size, least)
        must_extend(last, self._tree(size))
        self.reached(size)
        self._checked = stamp

    def check_if_signed(self) -> None:
        """Do so unless that was done since the last signature."""
        stamp = self._guard.stamp()
        if stamp is None or stamp != self._checked:
            self.check()

    def check_size(self) -> None:
        """Do so, and that the tree has not shrunk, where no append's transaction would tell."""
        self.check_if_signed()
        # Other threads write meanwhile: the size is held to what was reached before it was read.
        least = self.least
        must_not_shrink(self._size(), least)

    def reached(self, size: int) -> None:
        """Remember how large the tree is."""
        with self._lock:
            self.least = max(self.least, size)
