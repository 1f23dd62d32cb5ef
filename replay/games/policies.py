"""What happens when a round is interrupted, per game, as data with a digest of its own.

Policies stand beside the rules because they change no card, no legal act and no payment of an
uninterrupted round. Each is recorded in the ledger, so a round is judged by the one it was dealt
under.
"""

import hashlib
from typing import Annotated, Final, Literal

import msgspec

from shoeproof.replay.errors import RulesError


class Default(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the system does for a player who does not come back: the act, and when it is due.

    The period runs from the latest of offer, input, loss and restoration
    (`shoeproof.replay.interruptions.waiting`). Every open hand takes `act`, an open question about
    insurance or even money is answered by `insurance`. A default counts only where the player could
    know of it: `says` is what was disclosed, in our words, `disclosed_in` the document and
    `disclosed_on` its date.
    """

    act: Literal["stand"]
    insurance: Literal["decline"]
    after_seconds: Annotated[int, msgspec.Meta(ge=1, le=31_536_000)]
    says: str
    disclosed_in: str
    disclosed_on: str | None


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One game's policy: what the page, or where it is silent GLI-19 v3.0 4.16, provides.

    `stakes_before_deal` are chips laid without a deal: returned when the connection is restored, or
    when the default's time is up, or kept as they lie. `idling_counts_as_loss` lets the default's
    time run while the player is connected too. `service_stop_restarts_period` grants the whole
    period again after the service stood still, where it otherwise goes on. A round that waits for
    its player without a timer is overdue after `longest_wait_days`. A round's net win above
    `hold_net_win_above_minor` waits for a person; a decision above `two_keys_above_minor` needs two
    persons. Both amounts are in `currency`, and bind no round of another.
    """

    game: str
    stakes_before_deal: Literal["returned", "kept_open"]
    after_deal: Literal["resume"]
    default: Default | None
    idling_counts_as_loss: bool
    service_stop_restarts_period: bool
    longest_wait_days: Annotated[int, msgspec.Meta(ge=1, le=3650)]
    currency: str
    hold_net_win_above_minor: int | None
    two_keys_above_minor: int | None


LONGEST_WAIT_DAYS: Final = 90
"""How long a round without a timer may wait for its player (ASSUMED: no page says)."""

POLICIES: Final[dict[str, Policy]] = {
    policy.game: policy
    for policy in (
        Policy(
            game="zappit",
            stakes_before_deal="kept_open",
            after_deal="resume",
            default=None,
            idling_counts_as_loss=False,
            service_stop_restarts_period=False,
            longest_wait_days=LONGEST_WAIT_DAYS,
            currency="EUR",
            hold_net_win_above_minor=None,
            two_keys_above_minor=100_000,
        ),
        Policy(
            game="zero",
            stakes_before_deal="kept_open",
            after_deal="resume",
            default=None,
            idling_counts_as_loss=False,
            service_stop_restarts_period=False,
            longest_wait_days=LONGEST_WAIT_DAYS,
            currency="GBP",
            hold_net_win_above_minor=1_000_000,
            two_keys_above_minor=100_000,
        ),
        Policy(
            game="nba",
            stakes_before_deal="returned",
            after_deal="resume",
            default=Default(
                act="stand",
                insurance="decline",
                after_seconds=20 * 60,
                says="a player who is not back, or idle, for 20 minutes stands",
                disclosed_in="NBA Blackjack, help page, Disconnection Policy",
                disclosed_on="2024-12-18",
            ),
            idling_counts_as_loss=True,
            service_stop_restarts_period=True,
            longest_wait_days=LONGEST_WAIT_DAYS,
            currency="EUR",
            hold_net_win_above_minor=None,
            two_keys_above_minor=100_000,
        ),
    )
}
"""The policies of the published pages, by game."""


def policy_digest(policy: Policy) -> str:
    """Return the lower-hex SHA-256 of the policy's canonical JSON (RFC 8785)."""
    return hashlib.sha256(msgspec.json.encode(policy, order="sorted")).hexdigest()


def policy_from_data(data: object) -> Policy:
    """Build a policy from parsed JSON; raise RulesError naming the first field that is wrong."""
    try:
        return msgspec.convert(data, Policy)
    except msgspec.ValidationError as error:
        raise RulesError(f"this policy is not valid: {error}") from None
