"""How long a round has waited for its player, and when the policy has the system act instead.

One definition for the live table, the sweep and the audit: a fold over a round's events, and a pure
function of it. Every time is one that an event was recorded at. The period runs from the latest of
opening, chips laid, deal, offer, input, loss and restoration; an input that was refused changed
nothing and starts no period. While the service stood still nobody could play: that time never
counts against the player. A case decided by `resume` starts the period again.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from shoeproof.ledger import Recorded
from shoeproof.ledger.leaf.clock import parse_time
from shoeproof.ledger.leaf.events import (
    BetSettled,
    CardDealt,
    ConnectionLost,
    ConnectionRestored,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    EventData,
    GameDisabled,
    GameEnabled,
    HoleCardShown,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    ServiceStarted,
    ServiceStopped,
    ShoeRevealed,
    StakesPlaced,
)
from shoeproof.replay.games.policies import Policy


class Outage(NamedTuple):
    """The service was stopped from `start` to `stop`, for a game's id, a table, or (None) all.

    `start` is None where a start was recorded and no stop: the service broke down, nobody knows
    when. `stop` is None while it lasts. `grants_whole_period` tells that the period starts again at
    its end whatever the policy says of outages.
    """

    start: datetime | None
    stop: datetime | None
    scope: str | None
    grants_whole_period: bool = False

    def covers(self, *names: str | None) -> bool:
        """Tell whether it concerns any of these, a game's id and a table's name."""
        return self.scope is None or self.scope in names

    def lasts_at(self, moment: datetime) -> bool:
        """Tell whether the service is known to have stood still at a moment."""
        begun = self.start is not None and self.start <= moment
        return begun and (self.stop is None or moment < self.stop)


class Waiting(NamedTuple):
    """A round as its waiting goes.

    `since` is when the period last began, `laid` whether chips were laid or cards dealt, `dealt`
    whether a deal was requested, `offered` whether a decision is the player's, `lost` whether the
    connection is. `by_default` tells that the
    system has begun to act for the player, so that what it is offered now starts no new period.
    """

    since: datetime
    laid: bool = False
    dealt: bool = False
    offered: bool = False
    lost: bool = False
    by_default: bool = False
    ended: bool = False


_TOLD: Final = {
    RoundOpened, StakesPlaced, DealRequested, DecisionOffered, DecisionMade, ConnectionLost,
    ConnectionRestored, RoundClosed, RoundVoided,
}  # fmt: skip


def follow(waiting: Waiting, data: EventData, at: datetime) -> Waiting:
    """Return how the waiting goes on after an event recorded at that time."""
    if type(data) not in _TOLD:
        return waiting
    if isinstance(data, RoundClosed | RoundVoided):
        return waiting._replace(ended=True)
    if isinstance(data, StakesPlaced):
        return waiting._replace(since=at, laid=bool(data.stakes), lost=False)
    if isinstance(data, DealRequested):
        return waiting._replace(since=at, laid=True, dealt=True, offered=False, lost=False)
    if isinstance(data, DecisionMade):
        if data.actor == "system":
            return waiting._replace(offered=False, by_default=True)
        return waiting._replace(since=at, offered=False, lost=False, by_default=False)
    if isinstance(data, DecisionOffered):
        return waiting._replace(since=waiting.since if waiting.by_default else at, offered=True)
    return waiting._replace(since=at, lost=isinstance(data, ConnectionLost))


def waiting_of(events: Sequence[Recorded]) -> Waiting:
    """Return how a round waits after all of its events, at least one."""
    waiting = Waiting(parse_time(events[0].event.at))
    for recorded in events:
        waiting = follow(waiting, recorded.event.data, parse_time(recorded.event.at))
    return waiting


def default_due(
    waiting: Waiting, policy: Policy | None, outages: Iterable[Outage], now: datetime
) -> datetime | None:
    """Return the moment the system is to act for the player, as it is known `now`; None for never.

    `outages` are those that concern the round, in the order they were recorded. Before the deal
    the act is to give the stakes back. Where the service stands still it is None.
    """
    if policy is None or policy.default is None or waiting.ended:
        return None
    if not waiting.dealt and policy.stakes_before_deal == "kept_open":
        return None
    if not (policy.idling_counts_as_loss or waiting.lost):
        return None
    period = timedelta(seconds=policy.default.after_seconds)
    due = waiting.since + period
    for outage in outages:
        stop = outage.stop if outage.stop is not None and outage.stop <= now else None
        start = waiting.since if outage.start is None else max(waiting.since, outage.start)
        if stop is None and (outage.start is None or outage.start > now):
            continue
        if start >= due or (stop is not None and stop <= waiting.since):
            continue
        if stop is None:
            return None
        whole = stop + period
        restarts = policy.service_stop_restarts_period or outage.grants_whole_period
        due = max(due, whole if restarts else due + (stop - start))
    return due


def with_resumptions(outages: Iterable[Outage], resumed: Iterable[datetime]) -> tuple[Outage, ...]:
    """Return what puts a round's default off: outages, and decisions to resume it, in order.

    From each such decision on the player has the whole period again, as after a restoration. Like
    any outage it revives nothing that was due before it.
    """
    decided = [Outage(at, at, None, grants_whole_period=True) for at in resumed]
    if not decided:
        return tuple(outages)
    return tuple(sorted((*outages, *decided), key=_first_known))


def _first_known(outage: Outage) -> datetime:
    moment = outage.start or outage.stop
    assert moment is not None
    return moment


def offer_deadline(waiting: Waiting, policy: Policy | None) -> datetime | None:
    """Return the deadline an offer names, made when the round waits so: what the policy gives while
    neither a loss nor an outage comes between.
    """
    return default_due(waiting, policy, (), waiting.since)


def outages_in(operations: Iterable[Recorded]) -> tuple[Outage, ...]:
    """Return when the service stood still, from the events of `operations`.

    A start ends the stop of its own scope. One without such a stop follows a breakdown that nobody
    recorded: a player who was playing then is given the benefit of it.
    """
    service = Service()
    for recorded in operations:
        service.follow(recorded)
    return tuple(service.outages)


class Service:
    """What stands still or is closed: a fold over the events of `operations`, in their order."""

    def __init__(self) -> None:
        """Begin before the first event: everything is in service."""
        self.outages: list[Outage] = []
        self._lasting: dict[str | None, int] = {}
        self._closed: dict[tuple[bool, str | None], GameDisabled | ServiceStopped] = {}

    def follow(self, recorded: Recorded) -> None:
        """Take the next event."""
        data, at = recorded.event.data, parse_time(recorded.event.at)
        if isinstance(data, GameDisabled | ServiceStopped):
            # The order of dict keys is that of the first closure: a renewed one keeps its place.
            self._closed[isinstance(data, GameDisabled), data.scope] = data
        elif isinstance(data, GameEnabled | ServiceStarted):
            self._closed.pop((isinstance(data, GameEnabled), data.scope), None)
        if isinstance(data, ServiceStopped):
            if data.scope not in self._lasting:
                self._lasting[data.scope] = len(self.outages)
                self.outages.append(Outage(at, None, data.scope))
        elif isinstance(data, ServiceStarted):
            lasting = self._lasting.pop(data.scope, None)
            if lasting is None:
                self.outages.append(Outage(None, at, data.scope))
            else:
                self.outages[lasting] = self.outages[lasting]._replace(stop=at)

    def closes(self, *names: str | None) -> GameDisabled | ServiceStopped | None:
        """Return what keeps a game, or a table, from opening rounds now; None where nothing does.

        A game that is disabled opens no round; those that are open are played to their end
        (ASSUMED).
        """
        concerned = (e for e in self._closed.values() if e.scope is None or e.scope in names)
        return next(concerned, None)


def dealer_has_shown(events: Iterable[Recorded]) -> bool:
    """Tell whether more than the dealer's up card was seen: then no input is taken any more.

    That is so once the hole card lay open, the dealer drew, or the seed of the shoe was revealed.
    """
    faces = 0
    for recorded in events:
        data = recorded.event.data
        if isinstance(data, CardDealt) and data.receiver == "dealer":
            faces += isinstance(data.card, str)
        if isinstance(data, HoleCardShown | ShoeRevealed) or faces > 1:
            return True
    return False


def held_minor(
    policy: Policy | None, settled: Sequence[BetSettled], last_turn: int, currency: str
) -> int:
    """Return what of a round's net win waits for a person's verification, in minor units.

    `settled` are all of its settlements, of which those from `last_turn` on are not credited yet,
    in the round's `currency`. A net win up to the policy's bound is not held, nor are stakes that
    come back; what an earlier turn paid is paid. The bound binds rounds of its own currency.
    """
    binds = policy is not None and policy.currency == currency
    bound = policy.hold_net_win_above_minor if policy is not None and binds else None
    net = sum(bet.paid_minor - bet.stake_minor for bet in settled)
    if bound is None or net <= bound:
        return 0
    return min(net, sum(bet.paid_minor for bet in settled[last_turn:]))
