"""Whether a claim stands: from what was found, what is due, and what the ledger can answer.

UPHELD: something is due, or a fault of the house is shown, and it is what was complained of.
PARTLY UPHELD: the same, and something else was complained of. REJECTED needs that nothing was
found, nothing is due, and the ledger can answer the claim. Everything else is INCONCLUSIVE.
"""

from collections.abc import Sequence
from typing import Final

from shoeproof.replay.cases.assessment import Claim, Class, Remedy, Verdict
from shoeproof.replay.cases.faults import COVERS, FAULTS
from shoeproof.replay.disputes.facts import Facts
from shoeproof.replay.disputes.grounds import BetFacts

_NO_WALLET: Final = (
    "no wallet is recorded: the ledger cannot show that this payment reached the player"
)


def judge_claim(
    facts: Facts,
    bets: Sequence[BetFacts],
    classes: Sequence[Class],
    governing: Remedy,
    claim: Claim | None,
    *,
    is_differing: bool,
) -> Verdict:
    """Return the verdict on a claim, None for a round nobody complained about.

    `classes` is what the evidence shows; `is_differing` tells that a screen shows more or other
    than the ledger.
    """
    if not facts.is_trusted:
        return "inconclusive"
    if not COVERS[claim or "other"].isdisjoint(classes):
        return "upheld"
    if claim == "settlement" and (_waits_for_payment(facts) or _owes(governing)):
        return "upheld"
    if facts.findings or not FAULTS.isdisjoint(classes) or _owes(governing):
        return "partly_upheld"
    if is_differing or governing.name == "refer":
        return "inconclusive"
    return "rejected" if unanswered(facts, bets, claim) is None else "inconclusive"


def unanswered(facts: Facts, bets: Sequence[BetFacts], claim: Claim | None) -> str | None:
    """Return the sentence that names what the ledger lacks to answer a claim; None for nothing."""
    if facts.bars_unproven and "decision_error" in COVERS[claim or "other"]:
        return bars_unproven(facts)
    return no_wallet(facts, bets) if claim == "settlement" else None


def bars_unproven(facts: Facts) -> str | None:
    """Return the sentence that names the acts barred for a lack of money that nothing shows."""
    if not facts.bars_unproven:
        return None
    acts = " and ".join(facts.bars_unproven)
    return f"no recorded balance shows that the player lacked the money for {acts}"


def no_wallet(facts: Facts, bets: Sequence[BetFacts]) -> str | None:
    """Return the sentence that says no wallet shows where a payment went."""
    return None if facts.shows_payments or not any(bet.paid_minor for bet in bets) else _NO_WALLET


def _waits_for_payment(facts: Facts) -> bool:
    """Tell whether an open round has no input left to the player, and so is to be settled."""
    return facts.is_open and facts.is_dealt and not facts.input_may_follow


def _owes(governing: Remedy) -> bool:
    return governing.moves_minor > 0
