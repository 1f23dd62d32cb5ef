"""One of every event that a played round need not have, to be put in where it may stand or not."""

from shoeproof.ledger.leaf.events import (
    AlarmClosed,
    AlarmInvestigated,
    AlarmRaised,
    Attachment,
    Awarded,
    BetResettled,
    ComplaintOpened,
    ConnectionLost,
    ConnectionRestored,
    DisputeDecided,
    DisputeOpened,
    EventData,
    Funds,
    GameDisabled,
    GameEnabled,
    InputRefused,
    KeyAdded,
    KeyRevoked,
    PolicyAdded,
    Refunded,
    RoundVoided,
    RulesAdded,
    ServiceStarted,
    ServiceStopped,
    ViewAcknowledged,
    WinHeld,
    WinReleased,
)
from tests.bench.engine import ROUND_ID
from tests.ledger.helpers import digest_of

_CREDIT = Funds("credit", 100, 0, "t-9", "ok", None)

ASIDES: tuple[EventData, ...] = (
    InputRefused("s9 hit", "late"),
    InputRefused("s1 fly", "illegal"),
    ViewAcknowledged(3),
    ConnectionLost(2, "player", None),
    ConnectionRestored(1, None, "after 40 s"),
)
"""What stands between the events of a round and changes nothing in it."""

ELSEWHERE: tuple[EventData, ...] = (
    KeyAdded("engine", "00" * 32, ["engine"]),
    KeyRevoked("engine", "0" * 8, 7, None),
    RulesAdded(digest_of({}), {}),
    PolicyAdded(digest_of({}), {}),
    ServiceStopped(3, None, None),
    ServiceStarted(1, None, None),
    GameDisabled(6, "zero", None),
    GameEnabled(1, "zero", None),
    AlarmRaised(7, None, "odd"),
    AlarmInvestigated(1, "asked the studio"),
    AlarmClosed(1, "put right"),
    WinHeld(ROUND_ID, 500_000, "large win"),
    WinReleased(ROUND_ID, 500_000, _CREDIT),
    DisputeOpened(ROUND_ID, "the dealer drew on 17", None, [Attachment("a.png", "00" * 32)], None),
    DisputeDecided(ROUND_ID, [], "4.2", "upheld", "refund", None, 0, 1),
    BetResettled(ROUND_ID, "s1", "s1", "main", 100, 0, 200, "win", _CREDIT),
    Refunded(ROUND_ID, "s1", "main", 100, _CREDIT),
    Awarded(ROUND_ID, None, None, 100, "EUR", _CREDIT),
    ComplaintOpened(ROUND_ID, False, "p-1", None, None, None, [], "fairness", None, [], None, None),
)
"""What belongs to other streams: in a round's own the replayer passes it over."""

ENDINGS: tuple[EventData, ...] = (RoundVoided("idle", []),)
