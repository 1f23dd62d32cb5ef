"""The basic strategy as a chart: one row for each hand a person would look up.

The rows of the first two cards come whole; of what follows (a split, a zap, more cards) only the
rows that a reader of the first could not guess: where an act has gone and has no substitute there,
or the number of cards changes the act.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from shoeproof.replay.engine.hand import DOUBLE, SPLIT, Act, Hand, legal_acts
from shoeproof.replay.engine.rules import Origin, Rules
from shoeproof.replay.theory.basic import HandGroup, counted_cards, group_of
from shoeproof.replay.theory.results import BasicRow
from shoeproof.replay.theory.starts import starts
from shoeproof.replay.theory.values import VALUE_NAMES

UP_ORDER = (1, 2, 3, 4, 5, 6, 7, 8, 9, 0)
"""The places of the up cards as charts show them, 2 to 10 and the ace."""

SECTIONS: Mapping[str, str] = {
    "hard": "Hard totals, first two cards",
    "soft": "Soft totals, first two cards",
    "pairs": "Pairs",
    "split": "After a split, two cards, where it differs",
    "zapped": "After a zap or a split, two cards, where it differs",
    "later": "Three or more cards, where it differs",
}


class ChartRow(msgspec.Struct, frozen=True):
    """A line of the chart: its section, the hand, and the act against 2 to 10 and the ace.

    `double/hit` is double, and hit once doubling is gone. `cards` is the number of cards the row is
    for, 0 for any, and `or_more` tells that it is for more of them too.
    """

    section: str
    hand: str
    cards: int
    acts: tuple[str, ...]
    or_more: bool = False


_FEWEST_LATER = 3
"""The fewest cards of a hand that has been hit."""

Acts = tuple[Act, ...]
Table = Mapping[HandGroup, Acts]


def basic_table(rows: tuple[BasicRow, ...]) -> dict[HandGroup, Acts]:
    """Return the acts of each group against each up card's place."""
    return {HandGroup(row.legal, row.total, row.soft, row.cards): row.acts for row in rows}


def chart_rows(rules: Rules, table: Table) -> list[ChartRow]:
    """Return the chart of a basic strategy, section by section."""
    dealt = {group_of(rules, start.hand) for start in starts(rules) if not start.hand.over}
    rows = list(_pairs(rules, table))
    for soft in (False, True):
        for total in range(4, 21):
            hand = Hand(total=total, soft=soft, count=2, owed=0)
            by_total = group_of(rules, hand)
            first = table[by_total] if by_total in dealt else None
            rows.extend(_total_rows(rules, table, hand, first))
    order = list(SECTIONS)
    return sorted(rows, key=lambda row: order.index(row.section))


def _total_rows(rules: Rules, table: Table, hand: Hand, first: Acts | None) -> Iterator[ChartRow]:
    """Yield the row of two first cards of a total, then of other hands of it where they differ."""
    name = f"{'soft' if hand.soft else 'hard'} {hand.total}"
    others = dict(_other_hands(rules, hand))
    substitutes = next((table[group] for group in reversed(others) if group in table), None)
    if first is not None:
        shown = [
            f"{act}/{substitutes[up]}" if act == DOUBLE and substitutes else act
            for up, act in enumerate(first)
        ]
        yield _row("soft" if hand.soft else "hard", name, 0, shown)
    elif substitutes is not None:
        group = next(group for group in reversed(others) if group in table)
        yield _row(others[group], name, 0, substitutes)
    for group, section in reversed(others.items()):
        acts = table.get(group)
        if acts is not None and acts != _guess(group, first, substitutes):
            row = _row(section, name, group.cards, acts)
            or_more = group.cards != 0 and group.cards == counted_cards(rules)[-1]
            yield msgspec.structs.replace(row, or_more=or_more)


def _other_hands(rules: Rules, first: Hand) -> Iterator[tuple[HandGroup, str]]:
    """Yield the groups that hands of a total can be in later, the commonest last."""
    origins: list[Origin] = ["split", "zapped"] if rules.zap else ["split"]
    later = msgspec.structs.replace(first, acted=True)
    for origin in origins:
        yield group_of(rules, msgspec.structs.replace(later, origin=origin)), origin
    for count in reversed(counted_cards(rules) or (_FEWEST_LATER,)):
        if _can_be(first, count):
            yield group_of(rules, msgspec.structs.replace(later, count=count)), "later"


def _can_be(hand: Hand, count: int) -> bool:
    """Tell whether so many cards can come to a hand's total: no card counts less than 2 but aces,
    and of these a hard hand below 12 has none.
    """
    if hand.soft:
        return hand.total >= 10 + count
    return hand.total >= (count if hand.total >= 12 else 2 * count)


def _guess(group: HandGroup, first: Acts | None, substitutes: Acts | None) -> Acts | None:
    """Return what a reader of the first two cards' row would do with another hand."""
    if first is None:
        return substitutes
    gone = [act not in group.legal for act in first]
    if any(gone) and substitutes is None:
        return None
    if any(act != DOUBLE for act, missing in zip(first, gone, strict=True) if missing):
        return None
    return tuple(
        substitutes[up] if gone[up] and substitutes else act for up, act in enumerate(first)
    )


def _pairs(rules: Rules, table: Table) -> Iterator[ChartRow]:
    for value in (*range(2, 11), 1):
        ace = value == 1
        hand = Hand(total=12 if ace else 2 * value, soft=ace, count=2, owed=0, pair=True)
        acts = table.get(group_of(rules, hand))
        if acts is not None and SPLIT in legal_acts(rules, hand):
            name = VALUE_NAMES[value - 1]
            yield _row("pairs", f"{name},{name}", 0, acts)


def _row(section: str, hand: str, cards: int, acts: Iterable[Act]) -> ChartRow:
    by_place = tuple(acts)
    return ChartRow(section, hand, cards, tuple(by_place[up] for up in UP_ORDER))
