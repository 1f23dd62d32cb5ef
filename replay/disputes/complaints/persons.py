"""How many persons must sign a decision of a complaint, and what one of them may give."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from shoeproof.ledger import Recorded
from shoeproof.ledger.leaf.events import Awarded, ComplaintOpened, DisputeDecided
from shoeproof.ledger.leaf.recorded import readable
from shoeproof.ledger.leaf.streams import POLICIES_STREAM
from shoeproof.ledger.verify.beside import Leaves
from shoeproof.replay.games.policies import Policy
from shoeproof.replay.rounds.catalogue import policies_in


class Gift(NamedTuple):
    """Goodwill that was paid to a player for a complaint, and the leaf that paid it."""

    leaf_index: int
    player: str | None
    currency: str
    amount_minor: int


def gifts(complaints: Iterable[Sequence[Recorded]]) -> list[Gift]:
    """Return the goodwill paid for complaints, each given as the events of its stream."""
    found = []
    for events in complaints:
        player, remedy = None, ""
        for recorded in events:
            match recorded.event.data:
                case ComplaintOpened() as opened:
                    player = opened.player
                case DisputeDecided() as decided:
                    remedy = decided.remedy
                case Awarded(currency=currency, amount_minor=minor) if remedy == "goodwill":
                    found.append(Gift(recorded.leaf_index, player, currency, minor))
    return found


def given_minor(given: Iterable[Gift], player: str | None, currency: str, leaf_index: int) -> int:
    """Return what a player was given in a currency before a leaf, by all complaints together.

    A sum in parts, each for a complaint of its own, takes as many persons as the whole.
    """
    return sum(
        gift.amount_minor
        for gift in given
        if (gift.player, gift.currency) == (player, currency) and gift.leaf_index < leaf_index
    )


def persons_needed(
    remedy: str,
    amount_minor: int,
    reference: str | None,
    limit_minor: int | None,
    before_minor: int = 0,
) -> int:
    """Return how many persons must sign a decision of a complaint.

    `limit_minor` is what one person may give in goodwill, None for any amount; `before_minor` is
    what the player was given already.
    """
    if remedy == "refer":
        return 1
    if remedy == "award" or reference is not None:
        return 2
    return 2 if limit_minor is not None and before_minor + amount_minor > limit_minor else 1


def goodwill_limit(policies: Iterable[Policy], currency: str) -> int | None:
    """Return what one person may give in a currency: the least of what its policies allow.

    It is 0 where no policy speaks of the currency, None where all allow any amount.
    """
    limits = [each.two_keys_above_minor for each in policies if each.currency == currency]
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None if limits else 0


def policies_before(leaves: Leaves, leaf_index: int) -> Iterable[Policy]:
    """Return the valid policies that a ledger carried before a leaf."""
    added = (each for each in leaves.stream(POLICIES_STREAM) if each.leaf_index < leaf_index)
    return policies_in(readable(added)).values()
