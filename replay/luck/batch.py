"""Many rounds decomposed at once, with the tables: the same sums as `one_round`, without a walk.

What a card to a hand adds depends on that hand alone, and what the dealer's cards add on hands that
have ended; so every move can be valued by itself, all moves together. Tests hold the sums to those
of `one_round` on rounds of every kind.
"""

from typing import Final, NamedTuple

import numpy as np

from shoeproof.replay.engine.cards import PACK, VALUE
from shoeproof.replay.engine.hand import CASH_OUT, EVEN_MONEY, INSURANCE, SPLIT
from shoeproof.replay.engine.outcomes import INSURANCE_BET, MAIN
from shoeproof.replay.engine.round import NATURAL, initial_deal_length
from shoeproof.replay.kernel.tables import ABSENT, ACTS, NUMBER, OWES, Ints
from shoeproof.replay.luck.counts import (
    DEALER_BUST,
    DEALER_LATE_BUST,
    DEALER_NATURAL,
    DOUBLE_MADE,
    PLAYER_NATURAL,
    Tally,
    bust_states,
    doubled_states,
    made_states,
    natural_chance,
    stiff_states,
)
from shoeproof.replay.luck.kinds import (
    ACT_KINDS,
    BETWEEN_CARDS,
    CHECK,
    DEALER_DRAW,
    HOLE_CARD,
    INITIAL_DEAL,
    LUCK_KINDS,
    SKILL_KINDS,
    drawn_by,
)
from shoeproof.replay.luck.values import CARDS, Values
from shoeproof.replay.theory.branch import draw_probabilities
from shoeproof.replay.theory.values import ACE, TEN, Floats, full_shoe

_PLACE: Final = np.array([VALUE[card] - 1 for card in PACK])
_FIRST_ACT: Final = NUMBER[ACTS[0]]
_LUCK: Final = {kind: number for number, kind in enumerate(LUCK_KINDS)}
_SKILL: Final = {kind: number for number, kind in enumerate(SKILL_KINDS)}
_SKILL_OF_LUCK: Final = np.array([_SKILL.get(kind, -1) for kind in LUCK_KINDS])
_OF_ACT: Final = np.array([_SKILL.get(ACT_KINDS[act], _SKILL[BETWEEN_CARDS]) for act in ACTS])


class Moves(NamedTuple):
    """The moves of whole rounds, flat, round by round in order; `number` is each one's round.

    `column` is 2n for the n-th seat that plays, 2n + 1 for the second hand of its split; after the
    hands come the columns of the dealer, of the look at the hole card, and one for each seat's
    answer to an ace. `symbol` is a place in `tables.SYMBOLS`, `shown_minor` what a hand was sold
    for, in minor units, 0 at other moves.
    """

    number: Ints
    column: Ints
    symbol: Ints
    shown_minor: Ints


class Stakes(NamedTuple):
    """Stakes in minor units, shape (rounds, seats); of insurance, what it costs where taken."""

    main: Ints
    insurance: Ints
    side: dict[str, Ints]


class BatchParts(NamedTuple):
    """Rounds taken apart: sums over moves and seats in minor units, shape (rounds, bets, kinds).

    The bets are main, insurance and the rules' side bets in order, the kinds LUCK_KINDS and
    SKILL_KINDS; rounding is left at 0. `stake`, `start` and `worth` have shape (rounds, bets): the
    initial stake, the mean net win before the first card, and the net win without rounding.
    `counts` are the sums of `counts.Tally`, (rounds, COUNT_KINDS, COUNT_SUMS).
    """

    luck: Floats
    skill: Floats
    stake: Ints
    start: Floats
    worth: Floats
    counts: Ints


def decompose_moves(values: Values, moves: Moves, stakes: Stakes) -> BatchParts:
    """Decompose whole rounds of one number of seats, whose moves are all as the rules say."""
    batch = _Batch(values, moves, stakes)
    batch.deal()
    batch.answers()
    batch.check()
    batch.acts()
    batch.cards()
    batch.dealer()
    return batch.parts()


class _Batch:
    """The rounds, with everything that is looked up more than once."""

    def __init__(self, values: Values, moves: Moves, stakes: Stakes) -> None:
        self.values, self.moves, self.stakes = values, moves, stakes
        self.tables, self.rules = values.tables, values.tables.rules
        rounds, self.seats = stakes.main.shape
        self.hands = 2 * self.seats
        self.states, self.before, self.after = _followed(values, moves, stakes.main.shape)
        states = self.states
        self.bets = values.bets
        self.up = self.tables.up_value[states[:, self.hands]].astype(np.int64) - 1
        first = np.searchsorted(moves.number, np.arange(rounds))
        place = np.arange(len(moves.number)) - first[moves.number]
        self.late = place >= initial_deal_length(self.seats)
        self.is_card = moves.symbol < len(PACK)
        seen = np.zeros((len(moves.number) + 1, 10), np.int32)
        seen[np.flatnonzero(self.is_card) + 1, _PLACE[moves.symbol[self.is_card]]] = 1
        np.cumsum(seen, axis=0, out=seen)
        self.seen, self.seen_before = seen, seen[first]
        self.luck = np.zeros(rounds * len(self.bets) * len(LUCK_KINDS))
        self.skill = np.zeros(rounds * len(self.bets) * len(SKILL_KINDS))
        self.stake = np.zeros((rounds, len(self.bets)), np.int64)
        self.looked = np.zeros(rounds, np.bool_)
        self.looked[moves.number[moves.column == self.hands + 1]] = True
        self.tally = Tally(rounds)
        self._note_decisions()
        self.sold = self._sold()

    def _note_decisions(self) -> None:
        """Note which moves are decisions, and for each move the kind of one right before it."""
        symbol = self.moves.symbol
        self.decides = self.late & (symbol >= _FIRST_ACT) & (symbol < _FIRST_ACT + len(ACTS))
        self.decided = np.full(len(symbol), _SKILL[BETWEEN_CARDS])
        act = symbol[:-1][self.decides[:-1]] - _FIRST_ACT
        self.decided[1:][self.decides[:-1]] = _OF_ACT[act]

    def _sold(self) -> Floats:
        """Return what each hand was sold for, net, (rounds, hands); nan where it was not."""
        sold = np.full((len(self.states), self.hands), np.nan)
        at = np.flatnonzero(self.decides & (self.moves.symbol == NUMBER[CASH_OUT]))
        number, column = self.moves.number[at], self.moves.column[at]
        sold[number, column] = self.moves.shown_minor[at] - self.stakes.main[number, column // 2]
        return sold

    def parts(self) -> BatchParts:
        """Return what was summed."""
        rounds, bets = self.stake.shape
        means = np.array([self.values.means.get(bet, 0.0) for bet in self.bets])
        start = self.stake * means
        luck = self.luck.reshape(rounds, bets, -1)
        skill = self.skill.reshape(rounds, bets, -1)
        worth = start + luck.sum(axis=2) + skill.sum(axis=2)
        return BatchParts(luck, skill, self.stake, start, worth, self.tally.sums)

    # The moves

    def deal(self) -> None:
        """The initial deal: what the two cards and the up card are worth, less the mean."""
        moves, dealt = self.moves, np.flatnonzero(~self.late & self.is_card)
        number, column = moves.number[dealt], moves.column[dealt]
        mine = column < self.hands
        second = mine & (self.tables.role[self.after[dealt]] != OWES)
        self.dealt = np.zeros((len(self.states), self.seats), np.int64)
        self.dealt[number[second], column[second] // 2] = self.after[dealt[second]]
        worth = self.values.start[self.dealt, self.up[:, np.newaxis]]
        self._lucky_deal(MAIN, worth, self.stakes.main)
        cards = np.zeros((2, len(self.states), self.seats), np.int64)
        for which, chosen in enumerate((mine & ~second, second)):
            cards[which, number[chosen], column[chosen] // 2] = moves.symbol[dealt[chosen]]
        self._count_naturals(cards)
        up = np.zeros(len(self.states), np.int64)
        up[number[~mine]] = moves.symbol[dealt[~mine]]
        for bet, table in self.tables.side_bets.items():
            line = table.line[cards[0], cards[1], up[:, np.newaxis]]
            pays = table.pays
            nets = pays.times_stake - 1 + pays.numerator / pays.denominator
            self._lucky_deal(bet, nets[line], self.stakes.side[bet])

    def _count_naturals(self, cards: Ints) -> None:
        every = np.arange(len(self.states))
        unseen = np.tile(full_shoe(self.rules.decks), (len(every), 1))
        for seat in range(self.seats):
            natural = self.tables.natural[self.dealt[:, seat]]
            self.tally.add(PLAYER_NATURAL, every, natural_chance(unseen), natural)
            for held in cards[:, :, seat]:
                unseen[every, _PLACE[held]] -= 1

    def _lucky_deal(self, bet: str, worth: Floats, stake: Ints) -> None:
        place = self.bets.index(bet)
        self.stake[:, place] += stake.sum(axis=1)
        amount = ((worth - self.values.means[bet]) * stake).sum(axis=1)
        self._add(self.luck, np.arange(len(stake)), bet, _LUCK[INITIAL_DEAL], amount)

    def answers(self) -> None:
        """Insurance and even money; insurance moves on where the dealer's natural shows."""
        moves, column = self.moves, self.moves.column - self.hands - 2
        answered = self.decides & (column >= 0)
        taken = np.flatnonzero(answered & (moves.symbol == NUMBER[EVEN_MONEY]))
        number, seat = moves.number[taken], column[taken]
        start, up = self.values.start, self.up[number]
        held = self.dealt[number, seat]
        paid = self.states[number, 2 * seat]
        amount = (start[paid, up] - start[held, up]) * self.stakes.main[number, seat]
        self._add(self.skill, number, MAIN, _SKILL[ACT_KINDS[EVEN_MONEY]], amount)
        self.dealt[number, seat] = paid
        self._insurance(answered, column)

    def _insurance(self, answered: Ints, column: Ints) -> None:
        moves = self.moves
        insured = np.flatnonzero(answered & (moves.symbol == NUMBER[INSURANCE]))
        if not len(insured):
            return
        number = moves.number[insured]
        stake = self.stakes.insurance[number, column[insured]]
        self.stake[:, self.bets.index(INSURANCE_BET)] = np.bincount(
            number, stake, len(self.states)
        ).astype(np.int64)
        worth = self._insured(insured)
        amount = (worth - self.values.means[INSURANCE_BET]) * stake
        self._add(self.skill, number, INSURANCE_BET, _SKILL[INSURANCE], amount)
        kind, shown = self._natural_shows()
        mean = self._insured(shown[number])
        pays = self.tables.insurance
        odds = pays.numerator[1] / pays.denominator[1]
        natural = self.tables.natural[self.states[number, self.hands]]
        self._add(self.skill, number, INSURANCE_BET, _SKILL[BETWEEN_CARDS], (mean - worth) * stake)
        amount = (np.where(natural, odds, -1.0) - mean) * stake
        self._add(self.luck, number, INSURANCE_BET, kind[number], amount)

    def _insured(self, moves: Ints) -> Floats:
        """Return what a unit of insurance is worth before some moves."""
        unseen = self._unseen(moves)
        chance = unseen[:, TEN] / unseen.sum(axis=1)
        pays = self.tables.insurance
        worth: Floats = chance * (pays.numerator[1] / pays.denominator[1]) - (1 - chance)
        return worth

    def _natural_shows(self) -> tuple[Ints, Ints]:
        """Return for each round the luck kind and the move that shows if there is a natural."""
        moves = self.moves
        shown = np.zeros(len(self.states), np.int64)
        kind = np.where(self.looked, _LUCK[CHECK], _LUCK[HOLE_CARD])
        turned = self._hole_card()
        shown[moves.number[turned]] = turned
        checked = np.flatnonzero(moves.column == self.hands + 1)
        shown[moves.number[checked]] = checked
        return kind, shown

    def check(self) -> None:
        """The look at the hole card: the hands are cut short, or play on."""
        checked = np.flatnonzero(self.moves.column == self.hands + 1)
        pairs, seat = (each.ravel() for each in np.indices((len(checked), self.seats)))
        move = checked[pairs]
        number = self.moves.number[move]
        held, up = self.dealt[number, seat], self.up[number]
        stake = self.stakes.main[number, seat]
        unseen = self._unseen(checked)
        natural = self._naturals(self.up[self.moves.number[checked]])
        chances = (unseen * natural).sum(axis=1) / unseen.sum(axis=1)
        is_natural = self.moves.symbol[checked] == NUMBER[NATURAL]
        self.tally.add(DEALER_NATURAL, self.moves.number[checked], chances, is_natural)
        chance = chances[pairs]
        played, before = self.values.play[held, up], self.values.start[held, up]
        cut = self._at_natural(held, up)
        gap = chance * (cut - before) + (1 - chance) * (played - before)
        after = np.where(is_natural[pairs], cut, played)
        self._add(self.skill, number, MAIN, _SKILL[BETWEEN_CARDS], gap * stake)
        self._add(self.luck, number, MAIN, _LUCK[CHECK], (after - before - gap) * stake)

    def acts(self) -> None:
        """How much each act changes the worth of its hand, before any card."""
        moves = self.moves
        acts = np.flatnonzero(self.decides & (moves.column < self.hands))
        number, column, symbol = (each[acts] for each in (moves.number, moves.column, moves.symbol))
        play, up = self.values.play, self.up[number]
        stake = self.stakes.main[number, column // 2]
        after = play[self.after[acts], up] * np.where(symbol == NUMBER[SPLIT], 2, 1) * stake
        after = np.where(symbol == NUMBER[CASH_OUT], self.sold[number, column], after)
        amount = after - play[self.before[acts], up] * stake
        self._add(self.skill, number, MAIN, _OF_ACT[symbol - _FIRST_ACT], amount)

    def cards(self) -> None:
        """The cards that acts drew."""
        moves, play = self.moves, self.values.play
        drawn = np.flatnonzero(self.late & self.is_card & (moves.column < self.hands))
        number, before, up = moves.number[drawn], self.before[drawn], self.up[moves.number[drawn]]
        seat = moves.column[drawn] // 2
        stake = self.stakes.main[number, seat]
        now = play[before, up]
        could_be = play[self.tables.transition[before[:, np.newaxis], CARDS], up[:, np.newaxis]]
        chance = self._draw_chances(drawn)
        self._count_doubles(drawn, chance)
        gap = (chance * (could_be - now[:, np.newaxis])).sum(axis=1)
        kind = _drawn_kinds(self.values)[before]
        # The card that a decision draws comes right after it.
        at_once = self.decided[drawn] == _SKILL_OF_LUCK[kind]
        skill = np.where(at_once, self.decided[drawn], _SKILL[BETWEEN_CARDS])
        self._add(self.skill, number, MAIN, skill, gap * stake)
        amount = (play[self.after[drawn], up] - now - gap) * stake
        self._add(self.luck, number, MAIN, kind, amount)

    def _count_doubles(self, drawn: Ints, chance: Floats) -> None:
        first, tables = self.tables.first_hand, self.tables
        doubled = doubled_states(tables)[self.before[drawn] - first]
        move, made = drawn[doubled], made_states(tables)
        leads_to = tables.transition[self.before[move][:, np.newaxis], CARDS].astype(np.int64)
        chances = (chance[doubled] * made[leads_to - first]).sum(axis=1)
        came = made[self.after[move] - first]
        self.tally.add(DOUBLE_MADE, self.moves.number[move], chances, came)

    def dealer(self) -> None:
        """The hole card and the dealer's draws, for every hand that is not sold."""
        moves, tables, final = self.moves, self.tables, self.values.final
        drawn = np.flatnonzero(self.late & self.is_card & (moves.column == self.hands))
        rows, column = np.nonzero(
            (self.states[:, : self.hands] != ABSENT)[moves.number[drawn]]
            & np.isnan(self.sold)[moves.number[drawn]]
        )
        move = drawn[rows]
        number = moves.number[move]
        hand = self.states[number, column]
        facts, times = tables.facts[hand], 1 + tables.doubled[hand]
        stake = times * self.stakes.main[number, column // 2]
        hole = np.isin(move, self._hole_card())
        chance = np.where(
            np.isin(drawn, self._hole_card())[:, np.newaxis],
            self._hole_chances(drawn),
            draw_probabilities(self._unseen(drawn), None),
        )
        first = tables.first_dealer
        leads_to = tables.transition[self.before[drawn][:, np.newaxis], CARDS].astype(np.int64)
        self._count_dealer(drawn, chance, leads_to)
        could_be = final[facts[:, np.newaxis], leads_to[rows] - first]
        now = final[facts, self.before[move] - first]
        now[hole] = self._before_hole_card(number[hole], hand[hole]) / times[hole]
        gap = (chance[rows] * (could_be - now[:, np.newaxis])).sum(axis=1)
        self._add(self.skill, number, MAIN, _SKILL[BETWEEN_CARDS], gap * stake)
        amount = (final[facts, self.after[move] - first] - now - gap) * stake
        kind = np.where(hole, _LUCK[HOLE_CARD], _LUCK[DEALER_DRAW])
        self._add(self.luck, number, MAIN, kind, amount)

    def _count_dealer(self, drawn: Ints, chance: Floats, leads_to: Ints) -> None:
        tables, first, number = self.tables, self.tables.first_dealer, self.moves.number[drawn]
        before, after = self.before[drawn], self.after[drawn]
        bust = bust_states(tables)
        chances = (chance * bust[leads_to - first]).sum(axis=1)
        came = bust[after - first]
        for kind in (DEALER_BUST, DEALER_LATE_BUST):
            stiff = stiff_states(tables, kind)[before - first]
            self.tally.add(kind, number[stiff], chances[stiff], came[stiff])
        shown = np.isin(drawn, self._hole_card()) & ~self.looked[number]
        naturals = (chance * self._naturals(self.up[number])).sum(axis=1)
        self.tally.add(DEALER_NATURAL, number[shown], naturals[shown], tables.natural[after[shown]])

    def _before_hole_card(self, number: Ints, hand: Ints) -> Floats:
        """Return what hands are worth before the hole card is shown, in initial stakes."""
        up = self.up[number]
        found_natural = self.looked[number] & self.tables.natural[self.states[number, self.hands]]
        worth: Floats = np.where(
            found_natural, self._at_natural(hand, up), self.values.play[hand, up]
        )
        return worth

    def _at_natural(self, hand: Ints, up: Ints) -> Floats:
        natural = np.zeros(10, np.int64)
        for place, dealer in self.values.natural_dealer.items():
            natural[place] = dealer
        tables = self.tables
        worth: Floats = (1 + tables.doubled[hand]) * self.values.final[
            tables.facts[hand], natural[up]
        ]
        return worth

    # Chances

    def _hole_card(self) -> Ints:
        """Return the moves that turn the hole card over."""
        dealer = self.late & self.is_card & (self.moves.column == self.hands)
        one = np.array([dealer.count == 1 for dealer in self.tables.dealers])
        moves = np.flatnonzero(dealer)
        turned: Ints = moves[one[self.before[moves] - self.tables.first_dealer]]
        return turned

    def _unseen(self, moves: Ints) -> Ints:
        """Return the count of cards nobody has seen before some moves, (moves, 10)."""
        seen = self.seen[moves] - self.seen_before[self.moves.number[moves]]
        unseen: Ints = full_shoe(self.rules.decks) - seen
        return unseen

    def _draw_chances(self, moves: Ints) -> Floats:
        """Return the chance of each value as a hand's next card, the hole card face down."""
        unseen, number = self._unseen(moves), self.moves.number[moves]
        up, looked = self.up[number], self.looked[number]
        shares = draw_probabilities(unseen, None)
        for place, hidden in ((ACE, TEN), (TEN, ACE)):
            known = np.flatnonzero(looked & (up == place))
            shares[known] = draw_probabilities(unseen[known], hidden)
        return shares

    def _hole_chances(self, moves: Ints) -> Floats:
        unseen, number = self._unseen(moves), self.moves.number[moves]
        naturals = self._naturals(self.up[number])
        natural = self.tables.natural[self.states[number, self.hands]]
        fits = (naturals == natural[:, np.newaxis]) | ~self.looked[number][:, np.newaxis]
        return draw_probabilities(np.where(fits, unseen, 0), None)

    def _naturals(self, up: Ints) -> Ints:
        """Tell which values make a natural with each up card, (…, 10)."""
        makes = np.zeros((10, 10), np.bool_)
        makes[ACE, TEN] = makes[TEN, ACE] = True
        found: Ints = makes[up]
        return found

    # Sums

    def _add(self, sums: Floats, number: Ints, bet: str, kind: Ints | int, amount: Floats) -> None:
        kinds = len(sums) // self.stake.size
        cell = (number * len(self.bets) + self.bets.index(bet)) * kinds + kind
        sums += np.bincount(cell, amount, len(sums))


def _followed(values: Values, moves: Moves, shape: tuple[int, ...]) -> tuple[Ints, Ints, Ints]:
    """Return the last states of the hands and the dealer, and those before and after each move."""
    tables, (rounds, seats) = values.tables, shape
    dealer = 2 * seats
    states = np.full((rounds, dealer + 1), ABSENT)
    states[:, 0:dealer:2] = tables.first_hand
    states[:, dealer] = tables.first_dealer
    before, after = np.zeros((2, len(moves.number)), np.int64)
    first = np.searchsorted(moves.number, np.arange(rounds))
    place = np.arange(len(moves.number)) - first[moves.number]
    # All first moves, then all second ones: no two of one step are of the same round.
    order = np.argsort(place, kind="stable")
    for step in np.split(order, np.cumsum(np.bincount(place))[:-1]):
        number, column, symbol = (each[step] for each in (moves.number, moves.column, moves.symbol))
        answers = np.flatnonzero((symbol == NUMBER[EVEN_MONEY]) & (column > dealer + 1))
        column = column.copy()
        # Even money is the answer of a seat and ends its hand.
        column[answers] = 2 * (column[answers] - dealer - 2)
        moved = column <= dealer
        step, number, column, symbol = (each[moved] for each in (step, number, column, symbol))
        old = states[number, column]
        new = tables.transition[old, symbol].astype(np.int64)
        states[number, column] = new
        before[step], after[step] = old, new
        split = symbol == NUMBER[SPLIT]
        states[number[split], column[split] + 1] = new[split]
    return states, before, after


def _drawn_kinds(values: Values) -> Ints:
    tables = values.tables
    kinds = np.zeros(len(tables.transition), np.int64)
    kinds[tables.first_hand : tables.first_dealer] = [_LUCK[drawn_by(h)] for h in tables.hands]
    return kinds
