"""A second, deliberately plain reading of the three rule pages, to compare the engine with.

It shares nothing with the engine: no tables, no folding of moves, only the rules of each game
written out one after another with ifs. Where a rule of two games reads alike it is written twice,
so that a slip in one of them cannot hide in the other. Amounts are integers of minor units, and
what is paid includes the stake that comes back.
"""

import csv
from fractions import Fraction
from pathlib import Path

TENS = ("T", "J", "Q", "K")
SEQUENCE = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K")
RED = ("d", "h")


def card_value(card: str) -> int:
    """Count one card, an ace as one."""
    if card[0] == "A":
        return 1
    if card[0] in TENS:
        return 10
    return int(card[0])


def total(cards: list[str]) -> int:
    """Count a hand the way its holder would: one ace is eleven where that does not bust it."""
    low = sum(card_value(card) for card in cards)
    if any(card[0] == "A" for card in cards) and low + 10 <= 21:
        return low + 10
    return low


def is_soft(cards: list[str]) -> bool:
    """Say whether an ace of the hand counts eleven."""
    return total(cards) != sum(card_value(card) for card in cards)


def is_natural(cards: list[str]) -> bool:
    """Say whether two cards are an ace and a ten; the caller knows whether they are the first."""
    return len(cards) == 2 and total(cards) == 21


def winnings(stake_minor: int, numerator: int, denominator: int) -> int:
    """Work out what a stake wins at the odds, a half of a minor unit going to the player."""
    return (2 * stake_minor * numerator + denominator) // (2 * denominator)


def settle_hand(
    game: str,
    cards: list[str],
    *,
    doubled: bool,
    from_split: bool,
    zapped: bool,
    cash_out_minor: int | None,
    even_money: bool,
    stake_minor: int,
    dealer: list[str],
    found_at_check: bool,
) -> int:
    """Pay one finished hand.

    `stake_minor` is all that lies on the hand, a double included; `dealer` holds every card of the
    dealer at the end. With `found_at_check` the dealer's natural ended the round before any act.
    """
    if game == "zappit":
        return _settle_zappit(cards, from_split or zapped, stake_minor, dealer)
    if game == "zero":
        return _settle_zero(
            cards, from_split, doubled, even_money, stake_minor, dealer, found_at_check
        )
    if game == "nba":
        return _settle_nba(cards, from_split, cash_out_minor, stake_minor, dealer)
    raise ValueError(game)


def _settle_zappit(
    cards: list[str], natural_barred: bool, stake_minor: int, dealer: list[str]
) -> int:
    if total(cards) > 21:
        return 0
    if is_natural(cards) and not natural_barred:
        if is_natural(dealer):
            return stake_minor
        return stake_minor + winnings(stake_minor, 3, 2)
    if is_natural(dealer):
        return 0
    if total(dealer) == 22:
        return stake_minor
    if total(dealer) > 22:
        return 2 * stake_minor
    if total(cards) > total(dealer):
        return 2 * stake_minor
    if total(cards) == total(dealer):
        return stake_minor
    return 0


def _settle_zero(
    cards: list[str],
    from_split: bool,
    doubled: bool,
    even_money: bool,
    stake_minor: int,
    dealer: list[str],
    found_at_check: bool,
) -> int:
    if even_money:
        return 2 * stake_minor
    if total(cards) > 21:
        return 0
    if len(cards) == 5 and total(cards) == 21 and not doubled and not found_at_check:
        return 3 * stake_minor
    if is_natural(cards) and not from_split:
        if is_natural(dealer):
            return stake_minor
        if cards[0][1] == cards[1][1]:
            return 3 * stake_minor
        return stake_minor + winnings(stake_minor, 3, 2)
    if is_natural(dealer):
        return 0
    if total(dealer) > 21:
        return 2 * stake_minor
    if total(cards) > total(dealer):
        return 2 * stake_minor
    if total(cards) == total(dealer):
        return stake_minor
    return 0


def _settle_nba(
    cards: list[str],
    from_split: bool,
    cash_out_minor: int | None,
    stake_minor: int,
    dealer: list[str],
) -> int:
    if cash_out_minor is not None:
        return cash_out_minor
    if total(cards) > 21:
        return 0
    if is_natural(cards) and not from_split:
        if is_natural(dealer):
            return stake_minor
        return stake_minor + winnings(stake_minor, 3, 2)
    if is_natural(dealer):
        return 0
    if total(dealer) > 21:
        return 2 * stake_minor
    if total(cards) > total(dealer):
        return 2 * stake_minor
    if total(cards) == total(dealer):
        return stake_minor
    return 0


def question(game: str, cards: list[str], up_card: str, stake_minor: int) -> str | None:
    """Name what a seat is asked before play: `insurance`, `even-money` or nothing."""
    if up_card[0] != "A":
        return None
    if game == "zero" and is_natural(cards):
        return "even-money"
    if stake_minor < 2:
        return None
    return "insurance"


def insurance_stake(main_stake_minor: int) -> int:
    """Halve the main stake; an odd minor unit stays with the player."""
    return main_stake_minor // 2


def settle_insurance(stake_minor: int, dealer: list[str]) -> int:
    """Pay an insurance stake: two to one when the dealer's first two cards are a natural."""
    if is_natural(dealer[:2]):
        return 3 * stake_minor
    return 0


def settle_perfect_pairs(stake_minor: int, two_cards: list[str]) -> int:
    """Pay Perfect Pairs on the first two cards of a seat."""
    first, second = two_cards
    if first[0] != second[0]:
        return 0
    if first[1] == second[1]:
        return stake_minor + 25 * stake_minor
    if (first[1] in RED) == (second[1] in RED):
        return stake_minor + 12 * stake_minor
    return stake_minor + 6 * stake_minor


def settle_twenty_one_plus_three(stake_minor: int, two_cards: list[str], up_card: str) -> int:
    """Pay 21+3 on the first two cards of a seat and the dealer's up card."""
    three = [*two_cards, up_card]
    one_suit = len({card[1] for card in three}) == 1
    one_rank = len({card[0] for card in three}) == 1
    places = sorted(SEQUENCE.index(card[0]) for card in three)
    in_sequence = (places[1] == places[0] + 1 and places[2] == places[1] + 1) or places == [
        0,
        11,
        12,
    ]
    if one_rank and one_suit:
        return 101 * stake_minor
    if in_sequence and one_suit:
        return 41 * stake_minor
    if one_rank:
        return 31 * stake_minor
    if in_sequence:
        return 11 * stake_minor
    if one_suit:
        return 6 * stake_minor
    return 0


def dealer_checks(game: str, up_card: str) -> bool:
    """Say whether the dealer looks for a natural before the first act."""
    if game == "zappit":
        return up_card[0] == "A" or up_card[0] in TENS
    if game == "zero":
        return up_card[0] == "A"
    if game == "nba":
        return up_card[0] == "A"
    raise ValueError(game)


def dealer_draws(game: str, cards: list[str]) -> bool:
    """Say whether the dealer must take another card."""
    if game == "zappit":
        if len(cards) >= 13:
            return False
        if total(cards) == 17 and is_soft(cards):
            return True
        return total(cards) <= 16
    if game == "zero":
        return total(cards) <= 16
    if game == "nba":
        return total(cards) <= 16
    raise ValueError(game)


def legal_acts(
    game: str,
    cards: list[str],
    *,
    from_split: bool,
    zapped: bool,
    acts_so_far: list[str],
    up_card: str,
) -> set[str]:
    """List what a hand may do next, money aside; the empty set means that the hand is finished.

    `acts_so_far` holds the acts made on this very hand since it was dealt or split. No clause of
    the three games lets an act hang on `up_card`; it is asked for so that one that did would show.
    """
    if not up_card:
        raise ValueError("an act needs an up card on the table")
    if total(cards) >= 21:
        return set()
    if any(act in ("stand", "double", "cash-out") for act in acts_so_far):
        return set()
    if game == "zappit":
        return _legal_zappit(cards, from_split, zapped, acts_so_far)
    if game == "zero":
        return _legal_zero(cards, from_split)
    if game == "nba":
        return _legal_nba(cards, from_split)
    raise ValueError(game)


def _legal_zappit(
    cards: list[str], from_split: bool, zapped: bool, acts_so_far: list[str]
) -> set[str]:
    if len(cards) >= 13:
        return set()
    if from_split and cards[0][0] == "A":
        return set()
    acts = {"hit", "stand"}
    if "hit" not in acts_so_far:
        acts.add("double")
    first_act = not acts_so_far and not from_split and not zapped
    if first_act and cards[0][0] == cards[1][0]:
        acts.add("split")
    if first_act and 15 <= total(cards) <= 18 and not is_soft(cards):
        acts.add("zap")
    return acts


def _legal_zero(cards: list[str], from_split: bool) -> set[str]:
    acts = {"hit", "stand"}
    if len(cards) == 2:
        # An ace may be counted as one here, so that are eight, nine and ten.
        low = card_value(cards[0]) + card_value(cards[1])
        if low in (8, 9, 10, 11):
            acts.add("double")
        if not from_split and cards[0][0] != "A" and card_value(cards[0]) == card_value(cards[1]):
            acts.add("split")
    return acts


def _legal_nba(cards: list[str], from_split: bool) -> set[str]:
    if from_split and cards[0][0] == "A":
        return set()
    acts = {"hit", "stand", "cash-out"}
    if len(cards) == 2 and not from_split:
        acts.add("double")
        if card_value(cards[0]) == card_value(cards[1]):
            acts.add("split")
    return acts


def cash_out_ratio(path: Path, cards: list[str], up_card: str, *, from_split: bool) -> Fraction:
    """Look one ratio up in a cash-out table."""
    block = "first" if len(cards) == 2 and not from_split else "later"
    kind = ("soft" if is_soft(cards) else "hard") + str(total(cards))
    column = "10" if up_card[0] in TENS else up_card[0]
    with path.open(newline="") as table:
        for row in csv.DictReader(table):
            if row["decision"] == block and row["hand"] == kind:
                return Fraction(row[column])
    raise LookupError(f"no ratio for {block} {kind} against {column}")


def cash_out_value(
    path: Path, cards: list[str], up_card: str, *, from_split: bool, stake_minor: int
) -> int:
    """Price a cash-out in minor units, a half going to the player."""
    ratio = cash_out_ratio(path, cards, up_card, from_split=from_split)
    return winnings(stake_minor, ratio.numerator, ratio.denominator)
