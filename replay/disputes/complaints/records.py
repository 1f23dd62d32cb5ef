"""What an assessment of a complaint says: verdict, answer, remedies, and all that was looked at.

These records are what commands print and events are made from; nothing here decides anything.
"""

import msgspec

from shoeproof.ledger import Finding
from shoeproof.replay.cases.assessment import Source, Verdict
from shoeproof.replay.disputes.complaints.cases import Complaint, ComplaintRemedy
from shoeproof.replay.disputes.complaints.luck import SpanLuck
from shoeproof.replay.disputes.complaints.played import FaultyRound, PlayedRound
from shoeproof.replay.disputes.complaints.runs import Streak
from shoeproof.replay.disputes.complaints.statement import Compared
from shoeproof.replay.disputes.complaints.wallet import Jump, WalletSums


class ComplaintEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the ledger can show about a complaint, as read at tree size `size`.

    `rounds` are the player's in the order they were opened, `unreadable` those of them whose
    opening does not verify. `others` are faulty rounds of the same tables by other players, of
    `others_read` that were read; `others_left` tells that there are more. The first `covered`
    leaves stand under the checkpoint signed last; `is_whole` tells that no leaf is missing by
    count. `integrity` says what does not verify of the complaint itself.
    """

    complaint: Complaint
    rounds: tuple[PlayedRound, ...]
    unreadable: tuple[str, ...]
    others: tuple[FaultyRound, ...]
    others_read: int
    others_left: bool
    integrity: tuple[Finding, ...]
    size: int
    covered: int
    is_whole: bool


class Option(msgspec.Struct, frozen=True):
    """One way to decide a complaint: whether it is lawful here, whether it governs, and why.

    None moves money by itself but what an adjudicator awards or the operator gives.
    """

    name: ComplaintRemedy
    lawful: bool
    governs: bool
    why: str
    source: Source


class Totals(msgspec.Struct, frozen=True):
    """The rounds of one currency and mode, `real` or `fun`: amounts in minor units."""

    currency: str
    mode: str
    rounds: int
    staked_minor: int
    paid_minor: int
    refunded_minor: int
    won: int
    pushed: int
    lost: int


class Session(msgspec.Struct, frozen=True):
    """A session: its name as the game recorded it, None where it did not, and its rounds."""

    name: str | None
    begin: str
    end: str
    rounds: int


class ComplaintAssessment(msgspec.Struct, frozen=True, kw_only=True):
    """What the evidence about a complaint comes to, as read at tree size `size`.

    `answer` is what the player is told first; `reasons` are the sentences behind it, `lacks` what
    the ledger cannot show. `faults` are the player's rounds with something wrong, `others` those of
    other players at the same tables. `due_minor` is what cases about `faults` have still to pay, by
    currency: a complaint moves no money by itself. `compared` is a wallet's statement held to the
    ledger, None where none was handed in.
    """

    complaint: Complaint
    size: int
    verdict: Verdict
    answer: str
    reasons: tuple[str, ...]
    options: tuple[Option, ...]
    rounds: tuple[PlayedRound, ...]
    totals: tuple[Totals, ...]
    luck: tuple[SpanLuck, ...]
    runs: tuple[Streak, ...]
    wallet: tuple[WalletSums, ...]
    jumps: tuple[Jump, ...]
    sessions: tuple[Session, ...]
    faults: tuple[FaultyRound, ...]
    others: tuple[FaultyRound, ...]
    due_minor: dict[str, int]
    compared: Compared | None
    findings: tuple[Finding, ...]
    lacks: tuple[str, ...]

    @property
    def governing(self) -> Option:
        """The remedy that governs; there always is one."""
        return next(option for option in self.options if option.governs)
