"""A round followed by the naive settler: what it would allow and pay, beside the engine.

It is told the cards and acts and keeps them as a croupier's notes would; nothing of the engine's
own notion of a hand is read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from shoeproof.replay.engine.round import Deal, Decide, Show
from tests.replay import naive
from tests.replay.helpers import PROJECT, Played

CASH_OUT_TABLE = PROJECT / "replay" / "games" / "nba_cash_out.csv"


@cache
def cash_out_value(cards: tuple[str, ...], up_card: str, from_split: bool, stake_minor: int) -> int:
    return naive.cash_out_value(
        CASH_OUT_TABLE, list(cards), up_card, from_split=from_split, stake_minor=stake_minor
    )


@dataclass
class Notes:
    """What a croupier would note of one hand."""

    seat: str
    stake_minor: int
    cards: list[str] = field(default_factory=list)
    acts: list[str] = field(default_factory=list)
    from_split: bool = False
    zapped: bool = False
    doubled: bool = False
    even_money: bool = False
    cash_out_minor: int | None = None


class Shadow:
    """One round's notes."""

    def __init__(self, game: str, stakes: Mapping[str, Mapping[str, int]]) -> None:
        self.game = game
        self.stakes = stakes
        self.hands = {seat: Notes(seat, bets["main"]) for seat, bets in stakes.items()}
        self.first_two: dict[str, list[str]] = {}
        self.insurance: dict[str, int] = {}
        self.up = ""
        self.hole = ""
        self.draws: list[str] = []
        self.found_at_check = False

    @property
    def dealer(self) -> list[str]:
        return [self.up, self.hole, *self.draws]

    def take(self, move: Played) -> None:
        due = move.before.due
        if isinstance(due, Deal):
            self._card(due.receiver, move.symbol if move.face is None else move.face, due.down)
        elif isinstance(due, Decide):
            self._act(due.hand, move.symbol)
        elif not isinstance(due, Show):
            self.found_at_check = move.symbol == "natural"

    def _card(self, receiver: str, card: str, down: bool) -> None:
        if down:
            self.hole = card
        elif receiver == "dealer" and not self.up:
            self.up = card
        elif receiver == "dealer":
            self.draws.append(card)
        else:
            hand = self.hands[receiver]
            hand.cards.append(card)
            if len(hand.cards) == 2 and not hand.acts and not hand.from_split:
                self.first_two[hand.seat] = list(hand.cards)

    def _act(self, name: str, act: str) -> None:
        if act == "decline":
            return
        if act == "insurance":
            self.insurance[name] = naive.insurance_stake(self.stakes[name]["main"])
            return
        hand = self.hands[name]
        if act == "even-money":
            hand.even_money = True
            return
        if act == "cash-out":
            hand.cash_out_minor = self.cash_out_value(name)
        hand.acts.append(act)
        if act == "double":
            hand.doubled = True
            hand.stake_minor *= 2
        elif act == "zap":
            hand.zapped = True
            hand.cards.clear()
        elif act == "split":
            del self.hands[name]
            for number, card in enumerate(hand.cards, start=1):
                half = Notes(name, hand.stake_minor, [card], from_split=True)
                self.hands[f"{name}.{number}"] = half

    def legal(self, name: str) -> set[str]:
        hand = self.hands[name]
        return naive.legal_acts(
            self.game,
            hand.cards,
            from_split=hand.from_split,
            zapped=hand.zapped,
            acts_so_far=hand.acts,
            up_card=self.up,
        )

    def question(self, name: str) -> str | None:
        return naive.question(self.game, self.hands[name].cards, self.up, self.stakes[name]["main"])

    def cash_out_value(self, name: str) -> int:
        hand = self.hands[name]
        return cash_out_value(tuple(hand.cards), self.up, hand.from_split, hand.stake_minor)

    def paid(self) -> dict[tuple[str, str], int]:
        """What every bet is paid, by hand and bet."""
        found = {(name, "main"): self._main(hand) for name, hand in self.hands.items()}
        for seat, stake in self.insurance.items():
            found[seat, "insurance"] = naive.settle_insurance(stake, self.dealer)
        for seat, bets in self.stakes.items():
            two = self.first_two[seat]
            if "perfect_pairs" in bets:
                paid = naive.settle_perfect_pairs(bets["perfect_pairs"], two)
                found[seat, "perfect_pairs"] = paid
            if "twenty_one_plus_three" in bets:
                stake_minor = bets["twenty_one_plus_three"]
                paid = naive.settle_twenty_one_plus_three(stake_minor, two, self.up)
                found[seat, "twenty_one_plus_three"] = paid
        return found

    def _main(self, hand: Notes) -> int:
        return naive.settle_hand(
            self.game,
            hand.cards,
            doubled=hand.doubled,
            from_split=hand.from_split,
            zapped=hand.zapped,
            cash_out_minor=hand.cash_out_minor,
            even_money=hand.even_money,
            stake_minor=hand.stake_minor,
            dealer=self.dealer,
            found_at_check=self.found_at_check,
        )
