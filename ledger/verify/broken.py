"""What the leaves that were taken in break of known checkpoints and of anchors."""

from collections.abc import Iterable
from functools import partial
from typing import Final

from shoeproof.ledger import findings as codes
from shoeproof.ledger.findings import Finding
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.verify.known_checkpoints import tail_is_gone
from shoeproof.ledger.verify.locate_damage import contradicted
from shoeproof.ledger.verify.rebuild_tree import roots_at
from shoeproof.ledger.verify.tile_check import bundles
from shoeproof.ledger.verify.trusted import Trust


def broken_findings(size: int, trust: Trust) -> list[Finding]:
    """Return what the first `size` leaves break of known checkpoints.

    They are of the smallest that leaves differ from, and of the largest that they do not reach to.
    """
    found: list[Finding] = []
    for is_receipt in (False, True):
        broken = [
            each.size
            for each in trust.known
            if not each.agrees and (each.source == "receipt") == is_receipt
        ]
        altered = [each for each in broken if each <= size]
        signed = "a receipt speaks of" if is_receipt else "the checkpoint was signed for"
        if altered:
            text = f"the first {min(altered)} leaves are not those {signed}"
            found.append(Finding(codes.CHECKPOINT_MISMATCH, text))
        if len(altered) < len(broken):
            what = "receipt" if is_receipt else "checkpoint"
            found.append(tail_is_gone(max(broken), size, what))
    return found


def broken_anchors(
    ledger: Ledger, size: int, trust: Trust, others: Iterable[Finding]
) -> list[Finding]:
    """Return what the first `size` leaves break of anchors, where nothing else says so.

    Leaves are hashed again for anchors that no tile proves. `others` are the findings there are:
    what is known to be damaged, or not what a checkpoint was signed for, cannot be what was seen.
    """
    pages = partial(bundles, ledger.store.fetch, ledger.store.bounded(size))
    trust.anchors.settle(lambda sizes: roots_at(sizes, pages()))
    broken, agreeing = trust.anchors.broken, trust.anchors.unbroken
    if broken is None or any(_explains(each, agreeing, broken.seen.size) for each in others):
        return []
    return contradicted(ledger, trust.anchors, trust.known)


def _explains(finding: Finding, agreeing: int, size: int) -> bool:
    """Tell whether a finding says that leaves from `agreeing` up to `size` are altered."""
    leaf = finding.leaf_index
    return finding.code in _ALTERED and (leaf is None or agreeing <= leaf < size)


_ALTERED: Final = {
    codes.SIGNATURE_INVALID, codes.NOT_CANONICAL, codes.SEQ_GAP, codes.PREV_MISMATCH,
    codes.STREAM_MISMATCH, codes.EVENT_UNREADABLE, codes.LEAF_INDEX_GAP, codes.KEY_NOT_VALID,
    codes.CHECKPOINT_MISMATCH, codes.TILE_MISMATCH,
}  # fmt: skip
