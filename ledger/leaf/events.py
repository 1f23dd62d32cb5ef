"""The event table: every fact a ledger can hold, as frozen past-tense records.

This module is the one definition of the events' names, of the fields of their `data` and of the
role whose key must sign them. It knows blackjack by name only: what a card or an act means is
`replay`'s business. Amounts are integers in minor units of the round's currency (`…_minor`),
times are RFC 3339 UTC with microseconds, and what is unknown is None, never invented.
"""

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import msgspec

from shoeproof.ledger.leaf.streams import Kind, stream_kind

Role: TypeAlias = Literal["engine", "settlement", "staff", "operator", "log"]
ROLES: tuple[Role, ...] = ("engine", "settlement", "staff", "operator", "log")

Actor: TypeAlias = Literal["player", "system", "staff"]
Mode: TypeAlias = Literal["real", "fun"]
Stakes: TypeAlias = dict[str, dict[str, int]]
"""Seat (`s1`) to bet (`main`, `perfect_pairs`, …) to minor units."""


class EventData(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The `data` of one event; subclasses are named as the event is."""

    signer: ClassVar[Role] = "engine"
    kind: ClassVar[Kind] = "round"


class Funds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the operator's wallet said about one movement of money.

    `reference` is what the wallet was asked by, `transaction` what it calls the movement itself.
    """

    direction: Literal["debit", "credit"]
    cash_minor: int
    incentive_minor: int
    transaction: str | None
    answer: str | None
    balance_after_minor: int | None
    reference: str | None = None

    @property
    def total_minor(self) -> int:
        """Return what was moved of both kinds of money, in minor units."""
        return self.cash_minor + self.incentive_minor

    @property
    def change_minor(self) -> int:
        """Return the change of the player's balance, in minor units: a debit is below zero."""
        return self.total_minor if self.direction == "credit" else -self.total_minor


class Limit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The smallest and largest stake one bet type takes, in minor units; None means unbounded."""

    min_minor: int | None
    max_minor: int | None


class Seen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tree that the signer of an event had last seen: its root, in lower hex, and its size."""

    root: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    size: Annotated[int, msgspec.Meta(ge=0, lt=10**15)]


class KeyAdded(EventData, frozen=True):
    """A key is valid from the leaf after this one; `public_key` is base64 of 32 raw bytes."""

    kind = "keys"
    signer = "operator"
    name: str
    public_key: str
    roles: list[Role]
    seen: Seen | None = None


class KeyRevoked(EventData, frozen=True):
    """A key's signatures count for nothing from `first_untrusted_leaf_index` on."""

    kind = "keys"
    signer = "operator"
    name: str
    key_id: str
    first_untrusted_leaf_index: int
    reason: str | None
    seen: Seen | None = None


class RulesAdded(EventData, frozen=True):
    """A rule set as canonical JSON, with its lower-hex SHA-256."""

    kind = "rules"
    signer = "operator"
    digest: str
    rules: dict[str, Any]
    seen: Seen | None = None


class PolicyAdded(EventData, frozen=True):
    """A policy for interruptions as canonical JSON, with its lower-hex SHA-256."""

    kind = "policies"
    signer = "operator"
    digest: str
    policy: dict[str, Any]


class RoundOpened(EventData, frozen=True):
    """A round began; `limits` maps bet types to their limits and is None when unknown.

    `exponent` is how many decimal places a currency outside ISO 4217 has; None where ISO 4217 says.
    """

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
    exponent: int | None = None
    seen: Seen | None = None


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


RefusalReason: TypeAlias = Literal["late", "illegal", "closed", "overtaken"]
"""Why an input changed nothing."""


class InputRefused(EventData, frozen=True):
    """An input that changed nothing.

    One that was overtaken rested on the events up to `view_seq`, and another input came first.
    """

    input: str
    reason: RefusalReason
    view_seq: int | None = None


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


class AlarmNote(EventData, frozen=True):
    """What staff noted of an alarm by its number, which the AlarmRaised of a stream have from 1."""

    kind = "operations"
    signer = "staff"
    alarm: int
    note: str


class AlarmInvestigated(AlarmNote, frozen=True):
    """An alarm is being looked into."""


class AlarmClosed(AlarmNote, frozen=True):
    """An alarm was looked into and closed, for the reasons that the note gives."""


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
    seen: Seen | None = None


class Refund(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One stake on its way back, and what the wallet answered."""

    hand: str
    bet: str
    amount_minor: int
    funds: Funds | None = None


class RoundVoided(EventData, frozen=True):
    """The round counts for nothing and every stake goes back."""

    signer = "staff"
    reason: str
    refunds: list[Refund]
    seen: Seen | None = None


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
    """A claim about a round.

    `received` is when the player's complaint came in, None where that is when the case was opened;
    `deadline` is the time by which the player was promised an answer.
    """

    kind = "disputes"
    signer = "staff"
    round: str
    claim: str
    note: str | None
    attachments: list[Attachment]
    deadline: str | None
    received: str | None = None


class ComplaintOpened(EventData, frozen=True):
    """A claim that is not about one round of this ledger.

    It is about the rounds of `player` from `begin` to `end` (the latter exclusive, in the player's
    time zone `zone`), or, where `missing_round` is True, about a round that the ledger does not
    hold; `searched` then says in words what was looked for. `complaint` is the complaint's own id,
    by which its stream is called. `received` and `deadline` are as for DisputeOpened.
    """

    kind = "disputes"
    signer = "staff"
    complaint: str
    missing_round: bool
    player: str | None
    begin: str | None
    end: str | None
    zone: str | None
    searched: list[str]
    claim: str
    note: str | None
    attachments: list[Attachment]
    received: str | None
    deadline: str | None


class DisputeDecided(EventData, frozen=True):
    """The decision of a claim.

    It moves `amount_minor` to the player in all. It stands once `keys_needed` persons have signed
    it, each in an event of equal data. `reference` is that of the adjudicator who made it. `round`
    is the round, or the complaint, that the case is about, `case` the number of the case about it.
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
    case: int | None = None
    seen: Seen | None = None


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


class Awarded(EventData, frozen=True):
    """Money that an adjudicator awarded, or the operator gave in goodwill, beyond what is due.

    `round` is the round or the complaint; `hand` and `bet` name a bet it is for, None for a sum.
    """

    kind = "disputes"
    signer = "staff"
    round: str
    hand: str | None
    bet: str | None
    amount_minor: int
    currency: str
    funds: Funds | None


EVENTS: dict[str, type[EventData]] = {
    cls.__name__: cls
    for cls in (
        KeyAdded, KeyRevoked, RulesAdded, PolicyAdded,
        RoundOpened, ShoeCommitted, ShoeRevealed, StakesPlaced, DealRequested,
        CardDealt, DecisionOffered, DecisionMade, InputRefused, DealerChecked, HoleCardShown,
        ViewAcknowledged, ConnectionLost, ConnectionRestored, ServiceStopped, ServiceStarted,
        GameDisabled, GameEnabled, AlarmRaised, AlarmInvestigated, AlarmClosed,
        BetSettled, RoundClosed, RoundVoided, WinHeld, WinReleased,
        DisputeOpened, ComplaintOpened, DisputeDecided, BetResettled, Refunded, Awarded,
    )
}  # fmt: skip
"""Every event by its name on the wire."""


def may_stand_in(name: str, stream: str) -> bool:
    """Tell whether events of that name belong into that stream."""
    return EVENTS[name].kind == stream_kind(stream)


CLOSING = ("RoundClosed", "RoundVoided")
"""After one of these nothing follows in a round's stream."""

ANCHORED = tuple(name for name, cls in EVENTS.items() if "seen" in cls.__struct_fields__)
"""These carry what their signer had last seen of the ledger's tree (`Seen`)."""
