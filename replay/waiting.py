"""How long a round has waited for its player, and when the policy has the system act instead.

One definition for the live table, the sweep and the audit: a fold over a round's events, and a pure
function of it. Every time is one that an event was recorded at. The period runs from the latest of
opening, chips laid, deal, offer, input, loss and restoration; an input that was refused changed
nothing and starts no period. While the service stood still nobody could play: that time never
counts against the player.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from ledger import Recorded
from ledger.clock import parse_time
from ledger.events import (
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
    StakesPlaced,
)
from replay.policies import Policy


class Outage(NamedTuple):
    """The service stood still from `start` to `stop`, for a game's id, a table, or (None) all.

    `start` is None where a start was recorded and no stop: the service broke down, nobody knows
    when. `stop` is None while it lasts.
    """

    start: datetime | None
    stop: datetime | None
    scope: str | None

    def covers(self, *names: str | None) -> bool:
        """Tell whether it concerns any of these, a game's id and a table's name."""
        return self.scope is None or self.scope in names


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
    """Return how a round waits after all of its events, of which there is one at least."""
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
        due = max(due, whole if policy.service_stop_restarts_period else due + (stop - start))
    return due


def offer_deadline(waiting: Waiting, policy: Policy | None) -> datetime | None:
    """Return the deadline an offer names, made when the round waits so: what the policy gives while
    neither a loss nor an outage comes between.
    """
    return default_due(waiting, policy, (), waiting.since)


def outages_in(operations: Iterable[Recorded]) -> tuple[Outage, ...]:
    """Return when the service stood still, from the events of `operations`.

    A start ends the stop of its own scope. One without such a stop follows a breakdown that nobody
    recorded: whoever was playing then is given the benefit of it.
    """
    found: list[Outage] = []
    for recorded in operations:
        data, at = recorded.event.data, parse_time(recorded.event.at)
        if not isinstance(data, ServiceStopped | ServiceStarted):
            continue
        lasting = next(
            (n for n, each in enumerate(found) if each.stop is None and each.scope == data.scope),
            None,
        )
        if isinstance(data, ServiceStopped):
            if lasting is None:
                found.append(Outage(at, None, data.scope))
        elif lasting is None:
            found.append(Outage(None, at, data.scope))
        else:
            found[lasting] = found[lasting]._replace(stop=at)
    return tuple(found)


def closed_to_new_rounds(
    operations: Iterable[Recorded], *names: str | None
) -> GameDisabled | ServiceStopped | None:
    """Return what keeps a game, or a table, from opening rounds now; None where nothing does.

    A game that is disabled opens no round; those that are open are played to their end (ASSUMED).
    """
    standing: dict[tuple[bool, str | None], GameDisabled | ServiceStopped] = {}
    for recorded in operations:
        data = recorded.event.data
        if isinstance(data, GameDisabled | ServiceStopped):
            standing[isinstance(data, GameDisabled), data.scope] = data
        elif isinstance(data, GameEnabled | ServiceStarted):
            standing.pop((isinstance(data, GameEnabled), data.scope), None)
    concerned = (each for each in standing.values() if each.scope is None or each.scope in names)
    return next(concerned, None)


def dealer_has_shown(events: Iterable[Recorded]) -> bool:
    """Tell whether the hole card was shown or the dealer drew: then nothing is resumed any more."""
    dealt = 0
    for recorded in events:
        data = recorded.event.data
        dealt += isinstance(data, CardDealt) and data.receiver == "dealer"
        if isinstance(data, HoleCardShown) or dealt > 2:
            return True
    return False


def held_minor(policy: Policy | None, settled: Sequence[BetSettled], last_turn: int) -> int:
    """Return what of a round's net win waits for a person's verification, in minor units.

    `settled` are all of its settlements, of which those from `last_turn` on are not credited yet. A
    net win up to the policy's bound is not held, nor are stakes that come back; what an earlier
    turn paid is paid.
    """
    bound = None if policy is None else policy.hold_net_win_above_minor
    net = sum(bet.paid_minor - bet.stake_minor for bet in settled)
    if bound is None or net <= bound:
        return 0
    return min(net, sum(bet.paid_minor for bet in settled[last_turn:]))
