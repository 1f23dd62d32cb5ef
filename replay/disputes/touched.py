"""Other rounds that the same fault touches, found by index within a stated bound."""

from ledger import Ledger
from replay.disputes.assess import assess
from replay.disputes.assessment import Assessment, Claim
from replay.disputes.evidence import Evidence, gather
from replay.round_text import RoundText


def with_touched(ledger: Ledger, evidence: Evidence, assessment: Assessment) -> Assessment:
    """Return the assessment with the rounds in which the same fault is found."""
    raise NotImplementedError


def investigate(
    ledger: Ledger, round_id: str, claim: Claim | None = None, shown: RoundText | None = None
) -> Assessment:
    """Gather, assess and look for other rounds: what every command and report begins with.

    Raises what `evidence.gather` raises.
    """
    evidence = gather(ledger, round_id)
    return with_touched(ledger, evidence, assess(evidence, claim, shown))
