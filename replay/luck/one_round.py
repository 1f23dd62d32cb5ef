"""One round decomposed: what each of its moves added to each bet.

The walk hands the moves to the engine and keeps a worth for each bet: the table's value times the
initial stake. A card, or a look at the hole card, moves it from the exact mean over the cards that
nobody has seen (luck); a decision, or the passing from one chance move to the next, moves it to
that mean (skill). So the parts add up whatever the table says, and luck has mean zero whatever
players do.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import msgspec
import numpy as np

from shoeproof.replay.engine.cards import VALUE
from shoeproof.replay.engine.dealer import makes_natural
from shoeproof.replay.engine.hand import CASH_OUT, INSURANCE
from shoeproof.replay.engine.outcomes import INSURANCE_BET, MAIN, Outcome, outcomes
from shoeproof.replay.engine.round import (
    NATURAL,
    NO_NATURAL,
    Check,
    Deal,
    Decide,
    RoundState,
    Seat,
    SeatHand,
    Settle,
    Show,
    apply,
    in_initial_deal,
)
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.engine.side_bets import side_bet_line, side_bet_odds
from shoeproof.replay.luck.counts import PLAYER_NATURAL, Count, came, may_come, natural_chance
from shoeproof.replay.luck.kinds import (
    ACT_KINDS,
    BETWEEN_CARDS,
    CHECK,
    DEALER_DRAW,
    HOLE_CARD,
    INITIAL_DEAL,
    LUCK,
    ROUNDING,
    SKILL,
    drawn_by,
)
from shoeproof.replay.luck.values import Values, values_of
from shoeproof.replay.theory.branch import draw_probabilities
from shoeproof.replay.theory.up_card import checks
from shoeproof.replay.theory.values import CARD_OF_VALUE, Floats, Ints, full_shoe, place

Symbol: TypeAlias = tuple[str, int | None]
"""A move as `apply` takes it: a card, an act or what a look showed, and the value a sale showed."""

BetName: TypeAlias = tuple[str, str]
"""Seat and bet; both hands of a split are one bet."""


class Contribution(msgspec.Struct, frozen=True):
    """What one move added to one bet, in minor units and fractions of them.

    `move` is the move's place among the symbols, None for what no move made; `term` is luck or
    skill, `kind` one of LUCK_KINDS or SKILL_KINDS. `worth_minor` is what the bet is worth after it.
    """

    move: int | None
    seat: str
    bet: str
    term: str
    kind: str
    amount_minor: float
    worth_minor: float


class BetParts(msgspec.Struct, frozen=True):
    """One bet of a seat decomposed; amounts are minor units.

    `returned_minor` is what was paid less the stakes added after the first, and equals
    `start_minor` (the mean before the first card, the stake included) + luck + skill +
    `error_minor`, which is what was paid less what the rules pay. `wrong_hands` counts the hands
    that were paid otherwise: what one lost and another gained is not an error of their sum. What
    hands were paid too little in all is `underpaid_minor`. A hand that was sold is due what the
    rules' table said it was worth: another value shown is an error of the house, and nobody's
    skill.
    """

    seat: str
    bet: str
    initial_stake_minor: int
    staked_minor: int
    paid_minor: int
    start_minor: float
    error_minor: int
    underpaid_minor: int
    wrong_hands: int

    @property
    def returned_minor(self) -> int:
        """Return what was paid less the stakes added."""
        return self.paid_minor - self.staked_minor + self.initial_stake_minor


class Decomposition(msgspec.Struct, frozen=True):
    """A settled round decomposed, with the events that were counted in it."""

    bets: tuple[BetParts, ...]
    parts: tuple[Contribution, ...]
    counts: tuple[Count, ...]

    def sums(self) -> dict[tuple[str, str, str], float]:
        """Return the sums of the parts over moves and seats, by bet, term and kind."""
        sums: dict[tuple[str, str, str], float] = {}
        for part in self.parts:
            key = part.bet, part.term, part.kind
            sums[key] = sums.get(key, 0.0) + part.amount_minor
        return sums


def decompose(
    first: RoundState,
    symbols: Iterable[Symbol],
    paid_minor: Mapping[tuple[str, str], int] | None = None,
) -> Decomposition:
    """Decompose a whole round, from the state before its first card to its settlement.

    `paid_minor` maps (hand, bet) to what was paid, in minor units; by default what the rules pay.
    Raises IllegalMove for a move that is not due and ValueError for a round that has not ended.
    """
    walk = RoundWalk(first)
    for number, symbol in enumerate(symbols):
        walk.take(number, *symbol)
    return walk.ended(paid_minor)


def chances(state: RoundState, unseen: Ints) -> list[tuple[str, float]]:
    """Return what can come at a chance move after the deal, with its probability.

    One card stands for all of its value. `unseen` counts the cards nobody has seen, the hole card
    among them. A hole card that was looked at and made no natural is known to be none that does.
    """
    naturals = np.array([makes_natural(state.dealer, card) for card in CARD_OF_VALUE])
    if isinstance(state.due, Check):
        natural = float(unseen[naturals].sum() / unseen.sum())
        return [(NATURAL, natural), (NO_NATURAL, 1 - natural)]
    if isinstance(state.due, Show):
        fits = naturals == state.hole_natural if state.hole_natural is not None else unseen >= 0
        left = np.where(fits, unseen, 0)
        shares: Floats = left / left.sum()
    else:
        down = state.dealer.count == 1 and state.hole_natural is False
        hidden = int(naturals.argmax()) if down else None
        shares = draw_probabilities(unseen[np.newaxis], hidden)[0]
    return [pair for pair in zip(CARD_OF_VALUE, shares.tolist(), strict=True) if pair[1]]


class RoundWalk:
    """A round as far as it was walked; `worth` is what each bet is worth net, in minor units."""

    def __init__(self, first: RoundState) -> None:
        """Begin before the first card."""
        self.state = first
        self.values = values_of(first.rules)
        self.unseen = full_shoe(first.rules.decks)
        self.worth: dict[BetName, float] = {}
        self.start: dict[BetName, float] = {}
        self.parts: list[Contribution] = []
        self.counts: list[Count] = []
        self.decided = ""
        self.sold: dict[str, int] = {}

    def take(self, number: int, symbol: str, shown_minor: int | None) -> None:
        """Take the move of that number and note what it added; raises IllegalMove."""
        before, self.number = self.state, number
        dealing = not self.worth
        kind = None
        if not dealing and not isinstance(before.due, Decide):
            kind = may_come(before)
            chance = self._expect(kind)
        self.state = apply(before, symbol, shown_minor)
        if symbol == CASH_OUT and isinstance(before.due, Decide):
            self.sold[before.due.hand] = before.due.cash_out_minor or 0
        if kind is not None:
            self.counts.append(Count(kind, chance, came(kind, before, self.state)))
        if symbol in VALUE:
            self.unseen[place(symbol)] -= 1
        if isinstance(before.due, Decide):
            self._decision(before.due, symbol)
        elif not dealing:
            self._chance(before)
        elif not _is_dealing(self.state):
            self._deal()

    def ended(self, paid_minor: Mapping[tuple[str, str], int] | None) -> Decomposition:
        """Return the whole round decomposed, as `decompose`; raise ValueError before its end."""
        if not isinstance(self.state.due, Settle):
            raise ValueError("the round has not ended")
        recorded = dict(paid_minor or {})
        bets = outcomes(self.state)
        due: dict[BetName, list[Outcome]] = {}
        for bet in bets:
            due.setdefault((bet.seat, bet.bet), []).append(bet)
        found = []
        for name, mine in due.items():
            right = [self._right_minor(bet) for bet in mine]
            got = [bet.paid_minor or 0 for bet in mine]
            if paid_minor is not None:
                got = [recorded.pop((bet.hand, bet.bet), 0) for bet in mine]
            staked = sum(bet.stake_minor for bet in mine)
            self._move(None, name, SKILL, ROUNDING, float(sum(right) - staked))
            found.append(self._bet(name, staked, got, right))
        for (hand, surplus), paid in recorded.items():
            # A payment for a bet the round does not have.
            short = max(-paid, 0)
            found.append(BetParts(hand.partition(".")[0], surplus, 0, 0, paid, 0.0, paid, short, 1))
        return Decomposition(tuple(found), tuple(self.parts), tuple(self.counts))

    def _right_minor(self, bet: Outcome) -> int:
        is_sold = bet.bet == MAIN and bet.hand in self.sold
        return self.sold[bet.hand] if is_sold else bet.paid_minor or 0

    def _bet(self, name: BetName, staked: int, got: list[int], right: list[int]) -> BetParts:
        initial = self._initial_stake(name)
        errors = [paid - due for paid, due in zip(got, right, strict=True)]
        return BetParts(
            *name,
            initial,
            staked,
            sum(got),
            initial + self.start[name],
            sum(errors),
            -sum(min(error, 0) for error in errors),
            sum(error != 0 for error in errors),
        )

    def _initial_stake(self, name: BetName) -> int:
        seat = next(seat for seat in self.state.seats if seat.name == name[0])
        return seat.insurance_minor if name[1] == INSURANCE_BET else seat.stakes[name[1]]

    # The moves

    def _deal(self) -> None:
        state, rules, up = self.state, self.state.rules, place(self.state.dealer.up)
        left = full_shoe(rules.decks)
        for seat, held in zip(state.seats, state.hands, strict=True):
            likely = float(natural_chance(left))
            self.counts.append(Count(PLAYER_NATURAL, likely, held.hand.over == NATURAL))
            for card in seat.initial_cards:
                left[place(card)] -= 1
            for bet, stake in seat.stakes.items():
                if bet == MAIN:
                    worth = self.values.at_start(held.hand, up)
                else:
                    worth = _side_bet_net(rules, bet, seat, state.dealer.up)
                name = seat.name, bet
                self.start[name] = self.worth[name] = self.values.means[bet] * stake
                self._move(self.number, name, LUCK, INITIAL_DEAL, worth * stake)

    def _decision(self, due: Decide, act: str) -> None:
        seat = due.hand.partition(".")[0]
        self.decided = ACT_KINDS[act]
        if act == INSURANCE:
            name = seat, INSURANCE_BET
            stake = self._initial_stake(name)
            self.start[name] = self.worth[name] = self.values.means[INSURANCE_BET] * stake
            self._move(self.number, name, SKILL, ACT_KINDS[act], self._insured(stake))
        self._move(self.number, (seat, MAIN), SKILL, ACT_KINDS[act], self._main(self.state, seat))

    def _insured(self, stake: int) -> float:
        """Return what insurance is worth when it is taken: the chance of a natural is exact."""
        rules = self.state.rules
        naturals = [makes_natural(self.state.dealer, card) for card in CARD_OF_VALUE]
        chance = float(self.unseen[naturals].sum() / self.unseen.sum())
        return stake * (chance * _insurance_odds(rules) - (1 - chance))

    def _expect(self, kind: str | None) -> float:
        """Set every bet to its mean over the results of the chance move that is due.

        Return the chance of the event of that kind, 0 for none.
        """
        means, likely = dict(self.worth), 0.0
        for symbol, chance in chances(self.state, self.unseen):
            after = apply(self.state, symbol)
            likely += chance * (kind is not None and came(kind, self.state, after))
            for name, worth in self.worth.items():
                # Summed as differences, a bet that nothing can move any more stays exactly put.
                means[name] += chance * (self._worth_in(after, name) - worth)
        # The card that a decision draws comes right after it, and concerns that hand alone.
        at_once = self.decided == _chance_kind(self.state)
        decided = self.decided if at_once else BETWEEN_CARDS
        for name, mean in means.items():
            self._move(self.number - 1, name, SKILL, decided, mean)
        self.decided = ""
        return likely

    def _chance(self, before: RoundState) -> None:
        kind = _chance_kind(before)
        for name in self.worth:
            self._move(self.number, name, LUCK, kind, self._worth_in(self.state, name))

    def _move(self, move: int | None, name: BetName, term: str, kind: str, to: float) -> None:
        amount = to - self.worth[name]
        self.worth[name] = to
        if not amount:
            return
        worth = to + self._initial_stake(name)
        part = Contribution(move, *name, term, kind, amount, worth)
        if self.parts and _same_move(part, self.parts[-1]):
            # A decision and the mean of the card it draws are one.
            amount += self.parts.pop().amount_minor
            part = msgspec.structs.replace(part, amount_minor=amount)
        self.parts.append(part)

    # What bets are worth

    def _worth_in(self, state: RoundState, name: BetName) -> float:
        seat, bet = name
        if bet == MAIN:
            return self._main(state, seat)
        natural = state.dealer.natural if state.dealer.count > 1 else state.hole_natural
        if bet == INSURANCE_BET and natural is not None:
            stake = self._initial_stake(name)
            return stake * (_insurance_odds(state.rules) if natural else -1.0)
        return self.worth[name]

    def _main(self, state: RoundState, seat: str) -> float:
        stake = next(each.stakes[MAIN] for each in state.seats if each.name == seat)
        return sum(
            float(self.sold[held.name] - held.stake_minor)
            if held.hand.over == "cash_out"
            else stake * _units(self.values, state, held)
            for held in state.hands
            if held.seat == seat
        )


def _units(values: Values, state: RoundState, held: SeatHand) -> float:
    dealer, up = state.dealer, place(state.dealer.up)
    if dealer.count > 1:
        return values.at_end(held.hand, dealer)
    if state.hole_natural:
        return values.at_natural(held.hand, up)
    if state.hole_natural is None and checks(state.rules, up):
        return values.at_start(held.hand, up)
    return values.in_play(held.hand, up)


def _same_move(one: Contribution, other: Contribution) -> bool:
    return (one.move, one.seat, one.bet, one.term, one.kind) == (
        (other.move, other.seat, other.bet, other.term, other.kind)
    )


def _is_dealing(state: RoundState) -> bool:
    return isinstance(state.due, Deal) and in_initial_deal(state)


def _side_bet_net(rules: Rules, bet: str, seat: Seat, up: str) -> float:
    table = rules.side_bets[bet]
    line = side_bet_line(table, seat.initial_cards, up)
    return -1.0 if line is None else float(side_bet_odds(table, line))


def _insurance_odds(rules: Rules) -> float:
    return 0.0 if rules.insurance is None else float(rules.insurance.odds)


def _chance_kind(state: RoundState) -> str:
    due = state.due
    if isinstance(due, Check):
        return CHECK
    if isinstance(due, Show):
        return HOLE_CARD
    if not isinstance(due, Deal) or due.receiver not in [held.name for held in state.hands]:
        return DEALER_DRAW
    hand = next(held.hand for held in state.hands if held.name == due.receiver)
    return drawn_by(hand)
