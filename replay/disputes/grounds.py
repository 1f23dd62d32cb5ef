"""For each bet of a round, every ground on which something is due, and the best of them.

Pure. A bet is judged by itself: which fault touched it and from which event on, whether its outcome
was certain by then, what was debited for it and what it was paid. Every fault adds grounds and none
takes one away, so that a second fault of the house never lowers what is due. The table of grounds
in the README of this room is this module in a lawyer's words.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from shoeproof.ledger.leaf.events import DecisionMade, DecisionOffered
from shoeproof.replay import findings as codes
from shoeproof.replay.cases.assessment import BetPrice, GroundName, Range, Source
from shoeproof.replay.cases.faults import Fault
from shoeproof.replay.disputes import sources
from shoeproof.replay.disputes.facts import Facts
from shoeproof.replay.disputes.money import SURPLUS, beyond_laid, chips_laid
from shoeproof.replay.disputes.withheld import could_have
from shoeproof.replay.engine.hand import CASH_OUT
from shoeproof.replay.engine.outcomes import MAIN, Outcome
from shoeproof.replay.rounds.money_check import Bet
from shoeproof.replay.rounds.play_on import (
    Outcomes,
    by_bet,
    fixed_outcomes,
    is_certain,
    is_dealing,
    state_of,
    steps_before,
)


class Ground(NamedTuple):
    """One reason why something is due for a bet, and how much in all, in minor units."""

    name: GroundName
    amount_minor: int
    source: Source


class BetFacts(msgspec.Struct, frozen=True):
    """One bet: its stake by the rules, what was debited for it, what reached the player (None while
    unsettled), and every ground that holds. `is_decided` tells that nothing is left to play in it,
    `is_touched` that a malfunction came before its outcome was certain.
    """

    seat: str
    hand: str
    bet: str
    stake_minor: int
    debited_minor: int
    paid_minor: int | None
    line: str | None
    grounds: tuple[Ground, ...]
    is_decided: bool
    is_touched: bool
    could_have: Range | None = None

    @property
    def best(self) -> Ground | None:
        """The ground that gives most, the first of equals; None where play has yet to decide."""
        return max(self.grounds, key=lambda ground: ground.amount_minor, default=None)

    @property
    def due_minor(self) -> int | None:
        """What the bet comes to, None where play has yet to decide."""
        return None if self.best is None else self.best.amount_minor

    @property
    def moves_minor(self) -> int:
        """What is still to be paid to the player."""
        return max(0, (self.due_minor or 0) - (self.paid_minor or 0))

    def by(self, *names: GroundName) -> int | None:
        """Return the most that grounds of these names give, None where none of them holds."""
        return max((each.amount_minor for each in self.grounds if each.name in names), default=None)

    def price(self, due_minor: int | None, ground: Ground | None) -> BetPrice:
        """Return the bet as one remedy prices it."""
        return BetPrice(
            self.seat, self.hand, self.bet, self.stake_minor, self.paid_minor, due_minor, self.line,
            None if ground is None else ground.name,
            None if ground is None else ground.source,
            self.could_have,
        )  # fmt: skip


class _Break(NamedTuple):
    """One malfunction: what was decided before it, and whether it came while the outcome was open:
    an input of the player was left, or the initial cards were not all dealt.
    """

    fault: Fault
    decided: Outcomes
    is_open: bool


def bets_of(facts: Facts) -> tuple[BetFacts, ...]:
    """Return every bet of a round with its grounds, and what was debited beyond all of them."""
    judge = _Judge(facts)
    bets = tuple(map(judge.bet, judge.rows()))
    return (*bets, *judge.surplus(bets))


class _Judge:
    """What is the same for every bet of a round; lives for one call of `bets_of`."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.events = facts.evidence.events
        self.breaks = tuple(map(self._break, facts.malfunctions))

    def _break(self, fault: Fault) -> _Break:
        replay = self.facts.replay
        steps = [] if replay is None or fault.reach == "shoe" else steps_before(replay, fault.seq)
        state = state_of(steps)
        decided = {} if state is None else fixed_outcomes(state)
        is_open = is_dealing(state) or not is_certain(steps, self.facts.shoe)
        return _Break(fault, decided, is_open)

    def rows(self) -> Sequence[Outcome]:
        """Return the bets there are: by the engine, by what was debited, by what was settled."""
        replay = self.facts.replay
        rows: dict[Bet, Outcome] = {}
        if replay is not None:
            rows.update(by_bet(replay.expected))
        if not rows:
            stakes = self.facts.debits.by_bet or chips_laid(self.events)
            rows = {bet: _unknown(bet, stake) for bet, stake in stakes.items()}
        settled = {} if replay is None else replay.settled
        if replay is not None and not replay.judged:
            # Where play could not be followed, the hands there were are those that were debited.
            debited = self.facts.debits.by_bet
            at = {(hand.split(".")[0], bet) for hand, bet in debited}
            rows = {
                bet: row
                for bet, row in rows.items()
                if bet in debited or bet in settled or (row.seat, row.bet) not in at
            }
            for bet, stake in debited.items():
                rows.setdefault(bet, _unknown(bet, stake))
        for bet, data in settled.items():
            rows.setdefault(bet, Outcome(data.seat, *bet, data.stake_minor, None, None))
        for bet in self.facts.paid:
            if bet[1] != SURPLUS:
                rows.setdefault(bet, _unknown(bet, 0))
        return list(rows.values())

    def bet(self, row: Outcome) -> BetFacts:
        """Return one bet with its grounds."""
        facts, key = self.facts, (row.hand, row.bet)
        debited, paid = facts.debits.by_bet.get(key, 0), facts.paid.get(key)
        is_judged = facts.replay is not None and facts.replay.judged
        touched = [each for each in self.breaks if each.is_open and _touches(each, row)]
        decided = row.paid_minor is not None
        grounds = tuple(self._grounds(row, debited, paid, touched))
        chips_return = not facts.is_dealt and facts.returns_chips
        if facts.goes_on and not decided and paid is None and not chips_return:
            grounds = ()
        return BetFacts(
            seat=row.seat,
            hand=row.hand,
            bet=row.bet,
            stake_minor=row.stake_minor if is_judged else max(row.stake_minor, debited),
            debited_minor=debited,
            paid_minor=paid,
            line=row.line,
            grounds=grounds,
            is_decided=decided,
            is_touched=bool(touched),
            could_have=self._could_have(row, touched),
        )

    def _grounds(
        self, row: Outcome, debited: int, paid: int | None, touched: Sequence[_Break]
    ) -> Iterator[Ground]:
        facts, game, key = self.facts, self.facts.game, (row.hand, row.bet)
        if facts.is_fun and not facts.is_open:
            yield Ground("recorded_payment", paid or 0, sources.of_bet(game, row.bet, row.line))
            if facts.has(codes.MONEY_IN_FUN_ROUND):
                yield Ground("over_debit", debited, sources.OVER_DEBIT)
            return
        if paid is not None:
            yield Ground("recorded_payment", paid, sources.of_bet(game, row.bet, row.line))
        if row.paid_minor is not None:
            source = sources.of_bet(game, row.bet, row.line)
            yield Ground("right_payment", row.paid_minor, source)
        shown = facts.as_shown.get(key)
        if shown is not None and shown.paid_minor is not None and row.paid_minor is None:
            yield Ground(
                "right_payment", shown.paid_minor, sources.of_bet(game, row.bet, shown.line)
            )
        outcome = facts.true.get(key)
        if outcome is not None and outcome.paid_minor is not None:
            source = sources.certain(game, row.bet, outcome.line)
            yield Ground("certain_outcome", outcome.paid_minor, source)
        taken = self._offer_taken(row)
        if taken is not None:
            yield Ground("offer_taken", taken, sources.of_bet(game, MAIN, "cash_out"))
        default = None if facts.default is None else facts.default.get(key)
        if (
            default is not None
            and default.paid_minor is not None
            and not _settled_before(facts, key)
        ):
            source = sources.of_page(game, "disconnection") or sources.NO_DEFAULT
            yield Ground("default_due", default.paid_minor, source)
        if self._stake_comes_back(row, touched):
            is_founded = bool(touched) or not facts.has(codes.VOID_UNFOUNDED)
            yield Ground("stake_back", debited, sources.void_of(game, is_founded=is_founded))
        elif facts.has(codes.MONEY_IN_FUN_ROUND):
            yield Ground("over_debit", debited, sources.OVER_DEBIT)

    def _stake_comes_back(self, row: Outcome, touched: Sequence[_Break]) -> bool:
        facts = self.facts
        if touched:
            return True
        if (row.hand, row.bet) in ({} if facts.replay is None else facts.replay.settled):
            return False
        if facts.is_void:
            return True
        # A round that cannot be taken up again, or whose shoe nobody was bound to.
        stuck = facts.is_open and facts.is_dealt and not facts.goes_on
        chips = facts.is_open and not facts.is_dealt and facts.returns_chips
        if chips:
            return True
        certain = facts.is_committed and facts.is_played
        return stuck and row.paid_minor is None and not certain

    def _offer_taken(self, row: Outcome) -> int | None:
        """Return the value at which a hand was sold where play could not be followed to it."""
        if row.bet != MAIN or row.paid_minor is not None:
            return None
        shown: int | None = None
        for recorded in self.events:
            data = recorded.event.data
            if isinstance(data, DecisionOffered) and data.hand == row.hand:
                shown = data.cash_out_minor
            elif isinstance(data, DecisionMade) and (data.hand, data.act) == (row.hand, CASH_OUT):
                return shown
        return None

    def _could_have(self, row: Outcome, touched: Sequence[_Break]) -> Range | None:
        """Return what could have come of an act that was refused, withheld or cut off."""
        facts = self.facts
        if row.bet != MAIN or facts.replay is None:
            return None
        acts = [each.fault for each in touched if each.fault.reach in ("hand", "table")]
        acts.sort(key=lambda fault: fault.reach != "hand")
        if not acts and facts.has(codes.VOID_UNFOUNDED) and not facts.is_played:
            acts = [each for each in facts.faults if each.code == codes.VOID_UNFOUNDED]
        for fault in acts[:1]:
            steps = steps_before(facts.replay, fault.seq)
            return could_have(steps, facts.shoe, fault.hand or row.hand)
        return None

    def surplus(self, bets: Sequence[BetFacts]) -> Iterator[BetFacts]:
        """Yield what was debited beyond all costs by hand, and beyond the chips laid by seat."""
        if self.facts.is_fun and not self.facts.has(codes.MONEY_IN_FUN_ROUND):
            return
        over = dict(self.facts.debits.surplus)
        came_back: dict[str, int] = {}
        for (seat, name), part in beyond_laid(self.events).items():
            minor = int(part * self._dealt_on(seat, name))
            # What the bet comes to on chips that were never laid gives those chips back.
            mine = (bet for bet in bets if (bet.seat, bet.bet) == (seat, name))
            returned = sum(int(part * (bet.due_minor or 0)) for bet in mine)
            over[seat] = over.get(seat, 0) + minor
            came_back[seat] = came_back.get(seat, 0) + min(returned, minor)
        for hand, minor in over.items():
            yield self._surplus(hand, minor, came_back.get(hand, 0))

    def _dealt_on(self, seat: str, bet: str) -> int:
        requested = None if self.facts.replay is None else self.facts.replay.requested
        return 0 if requested is None else requested.stakes[seat][bet]

    def _surplus(self, hand: str, minor: int, came_back_minor: int) -> BetFacts:
        paid = self.facts.paid.get((hand, SURPLUS))
        if came_back_minor:
            paid = (paid or 0) + came_back_minor
        return BetFacts(
            seat=hand.split(".")[0],
            hand=hand,
            bet=SURPLUS,
            stake_minor=minor,
            debited_minor=minor,
            paid_minor=paid,
            line=SURPLUS,
            grounds=(Ground("over_debit", minor, sources.OVER_DEBIT),),
            is_decided=True,
            is_touched=False,
        )


def _touches(each: _Break, row: Outcome) -> bool:
    decided = each.decided.get((row.hand, row.bet))
    if decided is not None and decided.paid_minor is not None:
        return False
    return each.fault.concerns(row.hand, row.bet)


def _settled_before(facts: Facts, bet: Bet) -> bool:
    """Tell whether a bet was settled before the first input that came too late."""
    late = min(fault.seq for fault in facts.faults if fault.code == codes.DECISION_LATE)
    before = (each.event.data for each in facts.evidence.events if each.event.seq < late)
    return any((getattr(e, "hand", ""), getattr(e, "bet", "")) == bet for e in before)


def _unknown(bet: Bet, stake_minor: int) -> Outcome:
    return Outcome(bet[0].split(".")[0], *bet, stake_minor, None, None)
