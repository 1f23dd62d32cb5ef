"""The assessment of one round: pure, from evidence and claim to verdict and remedies."""

from replay.disputes.assessment import Assessment, Claim
from replay.disputes.evidence import Evidence
from replay.round_text import RoundText


def assess(
    evidence: Evidence, claim: Claim | None = None, shown: RoundText | None = None
) -> Assessment:
    """Return what the evidence comes to: classes, verdict, and every remedy priced bet by bet.

    `claim` is what the player says went wrong, None where nobody complained. `shown` is what the
    player's screen showed, as a `.round` text. `touched` is left empty: finding other rounds reads
    the ledger (`touched.with_touched`). Never raises for evidence that is forged, missing or
    contradicts itself: that is what it tells of.
    """
    raise NotImplementedError
