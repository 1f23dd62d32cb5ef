"""Whether kept counts can be gone on from: what a file holds may be damaged, or made by hand.

This tells of what does not hang together, not of figures made to; such a file is only found out by
counting again.
"""

from collections.abc import Mapping
from math import isfinite

import numpy as np

from shoeproof.audit_reports.rows.round_leaves import RuleSet
from shoeproof.audit_reports.shuffle_tests.counting import AGES, ComparedRound, Counts, Noted
from shoeproof.audit_reports.shuffle_tests.deals import PLACES, DealCounts, Dealt
from shoeproof.audit_reports.shuffle_tests.order import BeginningOrder
from shoeproof.audit_reports.shuffle_tests.shoes import LAGS, Ints, ShoeCounts
from shoeproof.replay.engine.cards import PACK, RANKS

_WITHIN = {*(f"serial {lag}" for lag in LAGS), "ten-card runs", "colour runs"}
_WITHIN |= {"rank pairs", "card pairs"}
_BETWEEN = {"fixed", "successions", "overlap", "products"}


def are_whole(
    counts: Counts, order: BeginningOrder, noted: Noted, rule_sets: Mapping[str, RuleSet]
) -> bool:
    """Tell whether kept counts, of rounds under these rules, have their shapes and add up.

    `noted` is what is kept of each of the rounds counted.
    """
    decks = {digest: found.rules.decks for digest, found in rule_sets.items()}
    waiting = (each.counted for each in order.waiting.values())
    return (
        all(decks.get(digest) == each.decks for digest, each in counts.shoes.items())
        and all(decks.get(digest) == each.decks for digest, each in counts.deals.items())
        and all(map(_are_shoes, counts.shoes.values()))
        and all(map(_are_deals, counts.deals.values()))
        and all(_may_follow(each, counts) for each in waiting if each is not None)
        and set(counts.ages) <= set(AGES)
        and _are_prints(noted)
        and len(noted.shoes.leaves) == 8 * sum(each.shoes for each in counts.shoes.values())
        and counts.rounds <= order.begun
    )


def _are_shoes(counts: ShoeCounts) -> bool:
    n, shoes, followed = counts.size, counts.shoes, counts.followed
    return (
        _are_counts(counts.by_place, (n, n))
        and _are_counts(counts.first_two, (n, n))
        and _are_counts(counts.collected, (n + 1,))
        and bool((counts.by_place.sum(axis=0) == shoes).all())
        and bool((counts.by_place.sum(axis=1) == shoes).all())
        and counts.first_two.sum() == shoes == counts.collected.sum()
        and 0 <= followed <= shoes
        and len(counts.last) == min(followed, 1)
        and all(_is_shoe(each, n) for each in counts.last)
        and set(counts.sums) == (_WITHIN | _BETWEEN if followed > 1 else _WITHIN)
    )


def _are_deals(counts: DealCounts) -> bool:
    last, followed = counts.last, counts.followed
    return (
        _are_counts(counts.by_place, (PLACES, len(PACK)))
        and _are_counts(counts.first_two, (len(RANKS), len(RANKS)))
        and counts.by_place[0].sum() == counts.deals == counts.first_two.sum()
        and counts.by_place.sum() == counts.cards
        and counts.spreads >= counts.cards
        and 0 <= counts.tens <= followed <= counts.deals
        and isfinite(counts.products)
        and (_is_deal(last) if last is not None else not followed)
    )


def _may_follow(counted: ComparedRound, counts: Counts) -> bool:
    digest, shoe, deal = counted.rules_digest, counted.shoe, counted.deal
    return (
        shoe is None or (digest in counts.shoes and _is_shoe(shoe, counts.shoes[digest].size))
    ) and (deal is None or (digest in counts.deals and _is_deal(deal)))


def _are_counts(table: Ints, shape: tuple[int, ...]) -> bool:
    return table.shape == shape and table.dtype.kind == "i" and int(table.min()) >= 0


def _is_shoe(shoe: Ints, size: int) -> bool:
    of_places = shoe.shape == (size,) and shoe.dtype.kind in "iu"
    return of_places and bool((np.sort(shoe) == np.arange(size)).all())


def _is_deal(deal: Dealt) -> bool:
    return 0 <= deal.first < len(PACK) and isfinite(deal.score)


def _are_prints(noted: Noted) -> bool:
    of_rounds = (noted.seeds, noted.shoes, noted.commitments)
    return all(len(each.prints) == 2 * len(each.leaves) for each in of_rounds)
