"""A round as its player may see it: plain data, to be sent as JSON by the server of a table.

All of it is what events already say, so that it holds neither a card that lies face down nor one
that is to come, and not the seed before the round has ended. `seq` and `leaf_index` are those of
the last event it rests on: an input is sent with the one, a view acknowledged with the other.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from shoeproof.ledger import Ledger, Recorded
from shoeproof.ledger.leaf.clock import format_time
from shoeproof.ledger.leaf.events import (
    BetSettled,
    CardDealt,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    HoleCardShown,
    Limit,
    Mode,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    ShoeCommitted,
    ShoeRevealed,
    Stakes,
    StakesPlaced,
)
from shoeproof.replay.cases.case import read_decided, resumed_at
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.errors import RoundUnreadable
from shoeproof.replay.interruptions.waiting import default_due, waiting_of, with_resumptions
from shoeproof.replay.live.standing import standing_of
from shoeproof.replay.rounds.replayer import replay_round


class HandView(msgspec.Struct, frozen=True):
    """A hand of the player's; amounts are minor units, `over` is how it ended, "" before."""

    hand: str
    seat: str
    cards: tuple[str, ...]
    total: int
    soft: bool
    stake_minor: int
    over: str


class BetView(msgspec.Struct, frozen=True):
    """A bet that is settled; `paid_minor` includes the stake."""

    seat: str
    hand: str
    bet: str
    stake_minor: int
    paid_minor: int
    line: str


class DueView(msgspec.Struct, frozen=True):
    """What the round waits for: stakes, a decision of `hand`, the house, or nothing any more.

    `legal` may be chosen; `barred` are acts the rules allow, each with the reason it is not offered
    for. `cash_out_minor` is what cash out pays now, None where it is not offered.
    """

    what: Literal["stakes", "decision", "house", "nothing"]
    hand: str | None = None
    legal: tuple[str, ...] = ()
    barred: Mapping[str, str] = {}
    cash_out_minor: int | None = None


class RoundView(msgspec.Struct, frozen=True):
    """The view; `dealer` has None for a card that lies face down, `deadline` is None for never.

    `seed` is there once the round has ended; `void` is why it is void, None where it is not.
    """

    round: str
    seq: int
    leaf_index: int
    game: str | None
    mode: Mode
    currency: str
    exponent: int | None
    commitment: str | None
    limits: Mapping[str, Limit]
    stakes: Stakes
    hands: tuple[HandView, ...]
    dealer: tuple[str | None, ...]
    due: DueView
    deadline: str | None
    settled: tuple[BetView, ...]
    is_over: bool
    void: str | None
    seed: str | None


def view_of(ledger: Ledger, round_id: str) -> RoundView:
    """Return what the player of a round may see of it now, by its events, unverified.

    Raises UnknownStream, EventUnreadable, and RoundUnreadable for a stream that is not a round.
    """
    events = ledger.events(round_id)
    opened, last = events[0].event.data, events[-1]
    if not isinstance(opened, RoundOpened):
        raise RoundUnreadable(f"{round_id} is not a round")
    rules = standing_of(ledger).rules(ledger, opened.rules_digest)
    own = rules.get(opened.rules_digest)
    ends = [e.event.data for e in events if isinstance(e.event.data, RoundClosed | RoundVoided)]
    voids = [end.reason for end in ends if isinstance(end, RoundVoided)]
    return RoundView(
        round=round_id,
        seq=last.event.seq,
        leaf_index=last.leaf_index,
        game=None if own is None else own.id,
        mode=opened.mode,
        currency=opened.currency,
        exponent=opened.exponent,
        commitment=_last(ShoeCommitted, "commitment", events),
        limits=opened.limits or {},
        stakes=_stakes(events),
        hands=_hands(events, rules),
        dealer=_dealer(events),
        due=DueView("nothing") if ends else _due(events),
        deadline=None if ends else _deadline(ledger, events, opened, own),
        settled=tuple(_bet(e.event.data) for e in events if isinstance(e.event.data, BetSettled)),
        is_over=bool(ends),
        void=voids[0] if voids else None,
        seed=_last(ShoeRevealed, "seed", events) if ends else None,
    )


def _last(kind: type, field: str, events: Sequence[Recorded]) -> str | None:
    said = [getattr(e.event.data, field) for e in events if isinstance(e.event.data, kind)]
    return said[-1] if said else None


def _stakes(events: Sequence[Recorded]) -> Stakes:
    said = [e.event.data for e in events if isinstance(e.event.data, StakesPlaced | DealRequested)]
    return said[-1].stakes if said else {}


def _hands(events: Sequence[Recorded], rules: Mapping[str, Rules]) -> tuple[HandView, ...]:
    state = replay_round(events, rules).state
    if state is None:
        return ()
    return tuple(
        HandView(
            each.name,
            each.seat,
            each.cards,
            each.hand.total,
            each.hand.soft,
            each.stake_minor,
            each.hand.over or "",
        )
        for each in state.hands
    )


def _dealer(events: Sequence[Recorded]) -> tuple[str | None, ...]:
    """Return the dealer's cards as events show them; the hole card takes its place once shown."""
    cards: list[str | None] = []
    for recorded in events:
        data = recorded.event.data
        if isinstance(data, CardDealt) and data.receiver == "dealer":
            cards.append(data.card if isinstance(data.card, str) else None)
        elif isinstance(data, HoleCardShown) and None in cards:
            cards[cards.index(None)] = data.card
    return tuple(cards)


def _due(events: Sequence[Recorded]) -> DueView:
    for recorded in reversed(events):
        data = recorded.event.data
        if isinstance(data, DecisionOffered):
            return DueView(
                "decision", data.hand, tuple(data.legal), dict(data.barred), data.cash_out_minor
            )
        if isinstance(data, DecisionMade | DealRequested):
            return DueView("house")
    return DueView("stakes")


def _deadline(
    ledger: Ledger, events: Sequence[Recorded], opened: RoundOpened, rules: Rules | None
) -> str | None:
    """Return when the system acts for the player, by the one definition, as is known now."""
    standing = standing_of(ledger)
    named = opened.policy_digest or ""
    policy = standing.policies(ledger, named).get(named)
    names = None if rules is None else rules.id, opened.table
    stood = [each for each in standing.outages(ledger) if each.covers(*names)]
    stream = events[0].event.stream
    decided = read_decided(ledger, [stream]).get(stream, ())
    outages = with_resumptions(stood, resumed_at(decided))
    due = default_due(waiting_of(events), policy, outages, ledger.now())
    return None if due is None else format_time(due)


def _bet(data: BetSettled) -> BetView:
    return BetView(
        data.seat, data.hand, data.bet, data.stake_minor, data.paid_minor, data.line or ""
    )
