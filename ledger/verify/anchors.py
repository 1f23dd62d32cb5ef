"""Anchors: what the signers of events had last seen of the tree, held to the tree as it is.

Every round is opened and closed on a tree that its signer names by size and root (`events.Seen`).
So whoever drops, moves or replaces leaves contradicts what others signed later, and every receipt
is a kept checkpoint of all that came before it. What comes after the last anchor is held to none.
"""

from collections.abc import Callable, Iterable

import msgspec

from shoeproof.ledger.leaf.events import Seen
from shoeproof.ledger.tree.merkle import Peaks, add_subtrees, root_of_peaks
from shoeproof.ledger.verify.ranges import RangeCheck
from shoeproof.ledger.verify.scan import Anchor

Proves = Callable[[Seen, int, bytes], bool]
"""Given what was seen, and size and root of a larger tree, tells whether the one begins the other,
as far as the stored tiles prove it."""


class AnchorNotes(msgspec.Struct):
    """What holding anchors came to so far.

    `agreeing` is the size of the largest tree that was rightly seen. `broken` is the smallest one
    that never was, `count` how many events speak of such. `unproven` are those of trees further
    back that no stored tile proves: leaves are to be hashed again for them.
    """

    agreeing: int = 0
    broken: Anchor | None = None
    count: int = 0
    unproven: list[Anchor] = []

    @property
    def unbroken(self) -> int:
        """The size up to which all who saw the tree saw it rightly, 0 where signers disagree."""
        if self.broken is not None and self.agreeing >= self.broken.seen.size:
            return 0
        return self.agreeing

    def hold(self, check: RangeCheck, before: Peaks, proves: Proves) -> None:
        """Hold the anchors in a range to the tree; `before` are its peaks before the range."""
        start, roots = check.run.start, dict[int, bytes]()
        for anchor in check.anchors:
            seen = anchor.seen
            if seen.size > anchor.leaf_index:
                self._contradict(anchor)
                continue
            root = roots.get(seen.size)
            if root is None and seen.size >= start:
                subtrees = check.up_to.get(seen.size, ())
                root = root_of_peaks(add_subtrees(before, start, seen.size, subtrees))
                roots[seen.size] = root
            if root is not None:
                self._compare(anchor, root)
            elif proves(seen, start, root_of_peaks(before)):
                self.agreeing = max(self.agreeing, seen.size)
                roots[seen.size] = bytes.fromhex(seen.root)
            else:
                self.unproven.append(anchor)

    def settle(self, roots_at: Callable[[Iterable[int]], dict[int, bytes]]) -> None:
        """Hold what is unproven to leaves that are hashed again up to those sizes."""
        unproven, self.unproven = self.unproven, []
        roots = roots_at(anchor.seen.size for anchor in unproven) if unproven else {}
        for anchor in unproven:
            self._compare(anchor, roots.get(anchor.seen.size, b""))

    def _compare(self, anchor: Anchor, root: bytes) -> None:
        if root.hex() == anchor.seen.root:
            self.agreeing = max(self.agreeing, anchor.seen.size)
        else:
            self._contradict(anchor)

    def _contradict(self, anchor: Anchor) -> None:
        self.count += 1
        if self.broken is None or anchor.seen.size < self.broken.seen.size:
            self.broken = anchor
