"""The event table: every fact a ledger can hold, as frozen past-tense records.

This module is the one definition of the events' names, of the fields of their `data` and of the
role whose key must sign them. It knows blackjack by name only: what a card or an act means is
`replay`'s business. Amounts are integers in minor units of the round's currency (`…_minor`),
times are RFC 3339 UTC with microseconds, and what is unknown is None, never invented.
"""

import re
from functools import lru_cache
from typing import Any, ClassVar, Literal, TypeAlias

import msgspec

Role: TypeAlias = Literal["engine", "settlement", "staff", "operator", "log"]
ROLES: tuple[Role, ...] = ("engine", "settlement", "staff", "operator", "log")

Actor: TypeAlias = Literal["player", "system", "staff"]
Mode: TypeAlias = Literal["real", "fun"]
Stakes: TypeAlias = dict[str, dict[str, int]]
"""Seat (`s1`) to bet (`main`, `perfect_pairs`, …) to minor units."""

Kind: TypeAlias = Literal["round", "keys", "rules", "policies", "operations", "disputes", "holds"]
"""The kinds of stream; each event belongs to one."""

KEYS_STREAM = "keys"
RULES_STREAM = "rules"
POLICIES_STREAM = "policies"
OPERATIONS_STREAM = "operations"
DISPUTES_PREFIX = "disputes/"
HOLDS_PREFIX = "holds/"


class EventData(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The `data` of one event; subclasses are named as the event is."""

    signer: ClassVar[Role] = "engine"
    kind: ClassVar[Kind] = "round"


class Funds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the operator's wallet said about one movement of money."""

    direction: Literal["debit", "credit"]
    cash_minor: int
    incentive_minor: int
    transaction: str | None
    answer: str | None
    balance_after_minor: int | None


class Limit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The smallest and largest stake one bet type takes, in minor units; None is no bound."""

    min_minor: int | None
    max_minor: int | None


class KeyAdded(EventData, frozen=True):
    """A key is valid from the leaf after this one; `public_key` is base64 of 32 raw bytes."""

    kind = "keys"
    signer = "operator"
    name: str
    public_key: str
    roles: list[Role]


class KeyRevoked(EventData, frozen=True):
    """A key's signatures count for nothing from `first_untrusted_leaf_index` on."""

    kind = "keys"
    signer = "operator"
    name: str
    key_id: str
    first_untrusted_leaf_index: int
    reason: str | None


class RulesAdded(EventData, frozen=True):
    """A rule set as canonical JSON, with its lower-hex SHA-256."""

    kind = "rules"
    signer = "operator"
    digest: str
    rules: dict[str, Any]


class PolicyAdded(EventData, frozen=True):
    """A policy for interruptions as canonical JSON, with its lower-hex SHA-256."""

    kind = "policies"
    signer = "operator"
    digest: str
    policy: dict[str, Any]


class RoundOpened(EventData, frozen=True):
    """A round began; `limits` maps bet types to their limits and is None when unknown."""

    rules_digest: str
    policy_digest: str | None
    operator: str | None
    table: str | None
    session: str | None
    channel: str | None
    mode: Mode
    player: str
    currency: str
    limits: dict[str, Limit] | None
    build: str | None


class ShoeCommitted(EventData, frozen=True):
    """The shoe was fixed: `commitment` is lower hex, the sealed seeds are base64."""

    commitment: str
    sealed_seed: str
    escrow_sealed_seed: str | None


class ShoeRevealed(EventData, frozen=True):
    """The server seed, lower hex."""

    signer = "settlement"
    seed: str


class StakesPlaced(EventData, frozen=True):
    """The chips laid so far; nothing has been dealt."""

    stakes: Stakes


class DealRequested(EventData, frozen=True):
    """The final stakes and the player's seed (lower hex, at most 64 bytes)."""

    stakes: Stakes
    client_seed: str
    funds: Funds | None


class CardDealt(EventData, frozen=True):
    """One card left the shoe; `card` is absent when it fell face down."""

    shoe_index: int
    receiver: str
    card: str | msgspec.UnsetType = msgspec.UNSET


class DecisionOffered(EventData, frozen=True):
    """What the player may do now; `barred` maps acts the rules allow to the reason they are not."""

    hand: str
    legal: list[str]
    barred: dict[str, str]
    cash_out_minor: int | None
    deadline: str | None


class DecisionMade(EventData, frozen=True):
    """What was decided, by whom, and the stake it added."""

    hand: str
    act: str
    actor: Actor | None
    reason: str | None
    added_stake_minor: int
    funds: Funds | None


class InputRefused(EventData, frozen=True):
    """An input that changed nothing."""

    input: str
    reason: Literal["late", "illegal", "closed"]


class DealerChecked(EventData, frozen=True):
    """The dealer looked at the hole card."""

    natural: bool


class HoleCardShown(EventData, frozen=True):
    """The hole card was turned over."""

    card: str


class ViewAcknowledged(EventData, frozen=True):
    """The last leaf the player's device says it showed."""

    leaf_index: int


class Incident(EventData, frozen=True):
    """An interruption: cause code 1 complete, 2 loss of communication, 3 platform restart,
    4 device restart, 5 client crash, 6 game disabled, 7 unknown.
    """

    cause: int
    scope: str | None
    note: str | None


class ConnectionLost(Incident, frozen=True):
    """The player's connection was lost."""


class ConnectionRestored(Incident, frozen=True):
    """The player's connection came back."""


class ServiceStopped(Incident, frozen=True):
    """The platform stopped serving."""

    kind = "operations"


class ServiceStarted(Incident, frozen=True):
    """The platform serves again."""

    kind = "operations"


class GameDisabled(Incident, frozen=True):
    """A game was taken out of service."""

    kind = "operations"


class GameEnabled(Incident, frozen=True):
    """A game was put back into service."""

    kind = "operations"


class AlarmRaised(Incident, frozen=True):
    """Monitoring raised an alarm."""

    kind = "operations"


class BetSettled(EventData, frozen=True):
    """One bet was decided; `paid_minor` includes the stake coming back."""

    signer = "settlement"
    seat: str
    hand: str
    bet: str
    stake_minor: int
    paid_minor: int
    line: str
    funds: Funds | None


class RoundClosed(EventData, frozen=True):
    """The round ended with these totals."""

    signer = "settlement"
    total_staked_minor: int
    total_paid_minor: int


class Refund(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One stake on its way back."""

    hand: str
    bet: str
    amount_minor: int


class RoundVoided(EventData, frozen=True):
    """The round counts for nothing and every stake goes back."""

    signer = "staff"
    reason: str
    refunds: list[Refund]


class WinHeld(EventData, frozen=True):
    """A large net win waits for a person's verification."""

    kind = "holds"
    signer = "settlement"
    round: str
    amount_minor: int
    reason: str


class WinReleased(EventData, frozen=True):
    """A held win was verified and paid."""

    kind = "holds"
    signer = "staff"
    round: str
    amount_minor: int
    funds: Funds | None


class Attachment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file shown with a claim, by name and lower-hex SHA-256."""

    name: str
    sha256: str


class DisputeOpened(EventData, frozen=True):
    """A claim about a round; `deadline` is the time by which the player was promised an answer."""

    kind = "disputes"
    signer = "staff"
    round: str
    claim: str
    note: str | None
    attachments: list[Attachment]
    deadline: str | None


class DisputeDecided(EventData, frozen=True):
    """The decision of a claim.

    It moves `amount_minor` to the player in all. It stands once `keys_needed` keys have signed it,
    each in an event of equal data. `reference` is that of the adjudicator who made it.
    """

    kind = "disputes"
    signer = "staff"
    round: str
    findings: list[str]
    clause: str
    verdict: str
    remedy: str
    reference: str | None
    amount_minor: int
    keys_needed: int


class BetResettled(EventData, frozen=True):
    """One bet's corrected total; the difference moves here."""

    kind = "disputes"
    signer = "staff"
    round: str
    seat: str
    hand: str
    bet: str
    stake_minor: int
    paid_before_minor: int
    paid_minor: int
    line: str
    funds: Funds | None


class Refunded(EventData, frozen=True):
    """One stake returned by a decision."""

    kind = "disputes"
    signer = "staff"
    round: str
    hand: str
    bet: str
    amount_minor: int
    funds: Funds | None


EVENTS: dict[str, type[EventData]] = {
    cls.__name__: cls
    for cls in (
        KeyAdded, KeyRevoked, RulesAdded, PolicyAdded,
        RoundOpened, ShoeCommitted, ShoeRevealed, StakesPlaced, DealRequested,
        CardDealt, DecisionOffered, DecisionMade, InputRefused, DealerChecked, HoleCardShown,
        ViewAcknowledged, ConnectionLost, ConnectionRestored, ServiceStopped, ServiceStarted,
        GameDisabled, GameEnabled, AlarmRaised, BetSettled, RoundClosed, RoundVoided,
        WinHeld, WinReleased, DisputeOpened, DisputeDecided, BetResettled, Refunded,
    )
}  # fmt: skip
"""Every event by its name on the wire."""

_ROUND = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


@lru_cache(maxsize=1024)
def stream_kind(stream: str) -> Kind | None:
    """Return what kind of stream a name is of, None for a name no stream has.

    A round's stream is its id, a lower-case dashed UUID version 7 (RFC 9562, 5.7).
    """
    match stream:
        case "keys" | "rules" | "policies" | "operations":
            return stream
    if stream.startswith(DISPUTES_PREFIX):
        return "disputes"
    if stream.startswith(HOLDS_PREFIX):
        return "holds"
    return "round" if _ROUND.fullmatch(stream) else None


def may_stand_in(name: str, stream: str) -> bool:
    """Tell whether events of that name belong into that stream."""
    return EVENTS[name].kind == stream_kind(stream)


CLOSING = ("RoundClosed", "RoundVoided")
"""After one of these nothing follows in a round's stream."""
