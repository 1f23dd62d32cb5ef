"""The settlement table, enumerated: every finished player hand against every dealer hand.

The player's facts are all that `step` can reach from an empty hand, closed over ranks and acts;
each is shown by one word of cards and acts that leads there, so that the naive settler, which
knows cards alone, can be asked the same question.
"""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from shoeproof.replay.engine.dealer import EMPTY_DEALER, Dealer, dealer_draws, dealer_step
from shoeproof.replay.engine.hand import (
    CASH_OUT,
    EMPTY_HAND,
    EVEN_MONEY,
    SPLIT,
    Hand,
    legal_acts,
    split,
    step,
)
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.engine.settlement import paid_minor, settle
from tests.replay import naive

STAKE = 100
SHOWN = 87
"""The value shown with the cash-out offer."""

RANKS = ("Ac", "2c", "3c", "4c", "5c", "6c", "7c", "8c", "9c", "Tc", "Ad", "Td")
"""A card of every value, and two of another suit to make naturals of both kinds."""


class Facts(NamedTuple):
    """What the golden table says of a player's hand."""

    ending: str
    origin: str
    total: int
    cards: int
    suits: str
    doubled: bool


class Player(NamedTuple):
    """A player's hand and one way to it."""

    hand: Hand
    cards: tuple[str, ...]
    acts: tuple[str, ...]
    open_at_check: bool = False

    @property
    def facts(self) -> Facts:
        """All that a settlement line can ask for, and whether the hand was doubled."""
        hand = self.hand
        ending = "open at the check" if self.open_at_check else hand.over
        suits = ""
        if hand.over in ("natural", "even_money"):
            suits = "suited" if hand.suited else "mixed"
        return Facts(ending, hand.origin, hand.total, hand.count, suits, hand.doubled)


def reachable(rules: Rules) -> Iterator[Player]:
    """Every hand there can be, each once, with the shortest way to it."""
    queue, seen = deque([Player(EMPTY_HAND, (), ())]), {EMPTY_HAND}
    while queue:
        player = queue.popleft()
        yield player
        for after in _next(rules, player):
            if after.hand not in seen:
                seen.add(after.hand)
                queue.append(after)


def players(rules: Rules) -> dict[Facts, Player]:
    """Every finished hand, and every hand that a natural at the check can cut short, by facts."""
    found: dict[Facts, Player] = {}
    for player in reachable(rules):
        hand = player.hand
        if hand.over:
            found.setdefault(player.facts, player)
        elif not hand.owed and not hand.acted:
            cut_short = player._replace(open_at_check=True)
            found.setdefault(cut_short.facts, cut_short)
    return found


def _next(rules: Rules, player: Player) -> list[Player]:
    hand, cards, acts = player.hand, player.cards, player.acts
    if hand.owed:
        # The suit matters to the two first cards alone.
        some = RANKS if hand.origin == "initial" and hand.count < 2 else RANKS[:10]
        return [Player(step(rules, hand, card), (*cards, card), acts) for card in some]
    after = []
    for act in legal_acts(rules, hand):
        if act == SPLIT:
            after.append(Player(split(rules, hand)[0], cards[:1], (*acts, act)))
        else:
            kept = () if act == "zap" else cards
            after.append(Player(step(rules, hand, act), kept, (*acts, act)))
    if rules.even_money and hand.over == "natural":
        after.append(Player(step(rules, hand, EVEN_MONEY), cards, (*acts, EVEN_MONEY)))
    return after


def dealers(rules: Rules) -> dict[str, tuple[Dealer, tuple[str, ...]]]:
    """Every final hand of the dealer by what settlement can ask of it, with cards that make it."""
    queue: deque[tuple[Dealer, tuple[str, ...]]] = deque([(EMPTY_DEALER, ())])
    found: dict[str, tuple[Dealer, tuple[str, ...]]] = {}
    seen = set()
    while queue:
        dealer, cards = queue.popleft()
        if dealer.count >= 2 and not dealer_draws(rules, dealer):
            found.setdefault("natural" if dealer.natural else str(dealer.total), (dealer, cards))
            continue
        for card in RANKS[:10]:
            after = dealer_step(rules, dealer, card)
            facts = (after.total, after.soft, min(after.count, 3))
            if facts not in seen:
                seen.add(facts)
                queue.append((after, (*cards, card)))
    order = sorted((key for key in found if key != "natural"), key=int)
    return {key: found[key] for key in [*order, "natural"]}


def pays(rules: Rules, player: Player, dealer: Dealer) -> tuple[str, int]:
    """The engine's line and payment."""
    line = settle(rules, player.hand, dealer)
    return line.name, paid_minor(line, STAKE, SHOWN, rules.rounding)


def naively_pays(rules: Rules, player: Player, dealer_cards: tuple[str, ...]) -> int:
    """The naive settler's payment for the same cards and acts."""
    return naive.settle_hand(
        rules.id,
        list(player.cards),
        doubled="double" in player.acts,
        from_split=SPLIT in player.acts,
        zapped="zap" in player.acts,
        cash_out_minor=SHOWN if CASH_OUT in player.acts else None,
        even_money=EVEN_MONEY in player.acts,
        stake_minor=STAKE,
        dealer=list(dealer_cards),
        found_at_check=player.open_at_check,
    )


def golden(rules: Rules) -> str:
    """The whole table as text, hands of one kind whose rows are alike joined in one row."""
    against = dealers(rules)
    rows: dict[tuple[str, ...], list[int]] = {}
    for player in players(rules).values():
        facts = player.facts
        cells = [
            "-" if player.open_at_check and name != "natural" else "{} {}".format(*paid)
            for name, (dealer, _) in against.items()
            for paid in [pays(rules, player, dealer)]
        ]
        key = (facts.ending, facts.origin, f"{facts.total:02}", facts.suits, *cells)
        rows.setdefault(key, []).append(facts.cards)
    lines = [
        f"# What a stake of {STAKE} is paid, and the settlement line; a cash-out shows {SHOWN}."
    ]
    lines.append(f"# A regression golden, written by this project from its rules {rules.id}; the")
    lines.append("# values are proved by the naive settler, not by this file.")
    lines.append(",".join(["ending", "origin", "total", "suits", "cards", *against]))
    for key, counts in sorted(rows.items()):
        lines.append(",".join([*key[:4], _ranges(counts), *key[4:]]))
    return "\n".join(lines) + "\n"


def _ranges(counts: list[int]) -> str:
    parts: list[list[int]] = []
    for count in sorted(set(counts)):
        if parts and parts[-1][-1] == count - 1:
            parts[-1].append(count)
        else:
            parts.append([count])
    return " ".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts)
