"""What bounds a decision: how many persons must sign it, how much may have been staked. Pure."""

from collections.abc import Sequence

from shoeproof.ledger import Recorded
from shoeproof.ledger.leaf.events import (
    BetSettled,
    DealRequested,
    DecisionMade,
    Funds,
    StakesPlaced,
)
from shoeproof.replay.engine.round import stakes_minor
from shoeproof.replay.games.policies import Policy


def keys_needed(
    policy: Policy | None, currency: str, remedy: str, amount_minor: int, reference: str | None
) -> int:
    """Return how many persons must sign a decision that moves an amount in the round's `currency`.

    `policy` is the round's, None if the ledger lacks it. Without one, or where its
    limit is in another currency, nobody said how much one person may move. What moves
    nothing needs one; what an adjudicator decided needs two.
    """
    if remedy == "withdraw" or (remedy == "refer" and not amount_minor):
        return 1
    if reference is not None or remedy == "award":
        return 2
    binds = policy is not None and policy.currency == currency
    limit = policy.two_keys_above_minor if policy is not None and binds else 0
    return 2 if limit is not None and amount_minor > limit else 1


def staked_minor(events: Sequence[Recorded]) -> int:
    """Return all that was staked in a round by its events, or debited if that is more."""
    laid = debited = added = 0
    for recorded in events:
        match recorded.event.data:
            case StakesPlaced(stakes=stakes):
                laid = stakes_minor(stakes)
            case DealRequested(stakes=stakes, funds=funds):
                laid, debited = stakes_minor(stakes), debited + _taken(funds)
            case DecisionMade(added_stake_minor=stake, funds=funds):
                added += max(stake, _taken(funds))
            case BetSettled(funds=funds) if funds is not None and funds.direction == "debit":
                added += _taken(funds)
    return max(laid, debited) + added


def _taken(funds: Funds | None) -> int:
    return 0 if funds is None else -funds.change_minor
