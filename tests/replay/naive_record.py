"""Does a written record, every card of it known, follow the rules, and what does it pay?

Asked of the naive settler alone: the engine, its states and its order of play are not used. What
cards could stand for unknown ones is then found by trying them all.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from shoeproof.replay.engine.cards import PACK
from shoeproof.replay.written.round_text import ActMove, DealMove, Move
from tests.replay import naive
from tests.replay.shadow import Shadow

Paid = dict[tuple[str, str], int]


class _Misfit(Exception):
    """The record is not one that the rules allow, or not of a whole round."""


def naive_payments(
    game: str, stakes: Mapping[str, Mapping[str, int]], moves: Sequence[Move]
) -> Paid | None:
    """What a whole record is paid, None where the rules do not allow it or it is cut short."""
    try:
        return _Record(game, stakes, moves).follow()
    except _Misfit:
        return None


class _Record:
    def __init__(
        self, game: str, stakes: Mapping[str, Mapping[str, int]], moves: Sequence[Move]
    ) -> None:
        self.game = game
        self.seats = sorted(stakes)
        self.notes = Shadow(game, stakes)
        self.left = list(moves)

    def follow(self) -> Paid:
        self._first_cards()
        for seat in self.seats:
            asked = self.notes.question(seat)
            if asked is not None:
                self._act(seat, {asked, "decline"})
        natural = naive.is_natural([self.notes.up, self.notes.hole])
        if natural and naive.dealer_checks(self.game, self.notes.up):
            self.notes.found_at_check = True
        else:
            for seat in self.seats:
                self._play(seat)
            while naive.dealer_draws(self.game, self.notes.dealer):
                self._card("dealer")
        if self.left:
            raise _Misfit
        return self.notes.paid()

    def _first_cards(self) -> None:
        """Every page deals the seats first; only Zero puts the hole card before the up card."""
        for down in (self.game == "zero", self.game != "zero"):
            for seat in self.seats:
                self._card(seat)
            self._card("dealer", down=down)

    def _play(self, name: str) -> None:
        while not self.notes.hands[name].even_money and (legal := self.notes.legal(name)):
            act = self._act(name, legal)
            if act == "split":
                for half in (f"{name}.1", f"{name}.2"):
                    self._card(half)
                for half in (f"{name}.1", f"{name}.2"):
                    self._play(half)
                return
            for _ in range({"hit": 1, "double": 1, "zap": 2}.get(act, 0)):
                self._card(name)

    def _card(self, receiver: str, *, down: bool = False) -> None:
        move = self.left.pop(0) if self.left else None
        if not isinstance(move, DealMove) or (move.receiver, move.down) != (receiver, down):
            raise _Misfit
        self.notes._card(receiver, move.card, down)

    def _act(self, name: str, legal: set[str]) -> str:
        move = self.left.pop(0) if self.left else None
        if not isinstance(move, ActMove) or move.hand != name or move.act not in legal:
            raise _Misfit
        self.notes._act(name, move.act)
        if move.shown_minor is not None:
            self.notes.hands[name].cash_out_minor = move.shown_minor
        return move.act


def every_reading(moves: Sequence[Move], decks: int) -> Iterator[list[Move]]:
    """The record with every card that the shoe still holds in the place of each unknown one."""
    written = Counter(move.card for move in moves if isinstance(move, DealMove))
    place = next(
        (n for n, move in enumerate(moves) if isinstance(move, DealMove) and move.card == "??"),
        None,
    )
    if place is None:
        yield list(moves)
        return
    unknown = moves[place]
    assert isinstance(unknown, DealMove)
    for card in PACK:
        if written[card] < decks:
            known = DealMove(unknown.receiver, card, down=unknown.down)
            yield from every_reading([*moves[:place], known, *moves[place + 1 :]], decks)


def agreed(payments: Sequence[Paid]) -> dict[tuple[str, str], int | None]:
    """What every one of several outcomes pays alike, None where they do not."""
    return {
        bet: payments[0][bet] if len({each[bet] for each in payments}) == 1 else None
        for bet in payments[0]
    }
