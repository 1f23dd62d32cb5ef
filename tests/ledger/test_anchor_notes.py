"""What signers had seen, held to the tree: which of several false words is named, and how many."""

from shoeproof.ledger.leaf.events import Seen
from shoeproof.ledger.verify.anchors import AnchorNotes
from shoeproof.ledger.verify.scan import Anchor

TRUE, FALSE = "aa" * 32, "bb" * 32


def settled(*seen: tuple[int, int, str]) -> AnchorNotes:
    """Hold anchors, each a leaf and the size and root that its signer had seen, to true roots."""
    anchors = [Anchor(leaf, "a round", Seen(root, size)) for leaf, size, root in seen]
    notes = AnchorNotes(unproven=anchors)
    notes.settle(lambda sizes: {size: bytes.fromhex(TRUE) for size in sizes})
    assert notes.unproven == []
    return notes


def test_of_two_who_saw_the_same_false_tree_the_first_is_named() -> None:
    notes = settled((5, 3, FALSE), (6, 3, FALSE))
    assert notes.broken is not None
    assert (notes.broken.leaf_index, notes.count, notes.agreeing) == (5, 2, 0)


def test_of_two_false_trees_the_smaller_is_named() -> None:
    notes = settled((5, 4, FALSE), (6, 3, FALSE), (7, 5, FALSE))
    assert notes.broken is not None
    assert (notes.broken.leaf_index, notes.count) == (6, 3)


def test_of_the_trees_that_were_rightly_seen_the_largest_counts() -> None:
    notes = settled((5, 4, TRUE), (6, 2, TRUE), (7, 5, FALSE))
    assert (notes.agreeing, notes.count) == (4, 1)
