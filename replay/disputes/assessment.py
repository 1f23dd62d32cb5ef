"""What an assessment says: classes, verdict, and every remedy priced bet by bet.

These records are what the pure assessment returns and what commands, events and reports are made
from; nothing here decides anything. Amounts are minor units of the round's currency.
"""

from typing import Literal, TypeAlias

import msgspec

from ledger import Finding

Claim: TypeAlias = Literal["disconnection", "malfunction", "settlement", "fairness", "other"]
"""What the player says went wrong."""

Class: TypeAlias = Literal[
    "sound",
    "settlement_error",
    "deal_error",
    "shoe_error",
    "decision_error",
    "system_decision_error",
    "interrupted_recoverable",
    "interrupted_unrecoverable",
    "held_win",
    "evidence_missing",
    "screen_differs",
]
"""What the evidence shows: `decision_error` is one illegal or not recorded, `system_decision_error`
one of the platform's that came too early, too late or was not allowed, `evidence_missing` evidence
that is forged or missing, `screen_differs` a screen that showed what the ledger does not say.
"""

Verdict: TypeAlias = Literal["upheld", "partly_upheld", "rejected", "inconclusive"]
"""Whether the claim stands: `inconclusive` is one the evidence cannot decide."""

RemedyName: TypeAlias = Literal["honour", "resume", "apply_default", "resettle", "void", "refer"]
"""In their lawful order: honour the outcome, restore and resume, apply the disclosed default,
resettle one bet, void with every stake back, refer to an adjudicator.
"""

REMEDIES: tuple[RemedyName, ...] = (
    "honour",
    "resume",
    "apply_default",
    "resettle",
    "void",
    "refer",
)


class Source(msgspec.Struct, frozen=True):
    """What a remedy or a class rests on: the document, its section, and what it provides in our
    words; `assumed` where the sources are silent.
    """

    document: str
    section: str
    says: str
    assumed: bool = False


class BetPrice(msgspec.Struct, frozen=True):
    """One bet under one remedy.

    `paid_minor` is what was recorded as paid so far, None while the bet is open; `due_minor` what
    the remedy makes it in the end, stake included, None where play decides it. What moves is the
    difference, never below nothing: an overpayment is not debited.
    """

    seat: str
    hand: str
    bet: str
    stake_minor: int
    paid_minor: int | None
    due_minor: int | None
    line: str | None

    @property
    def moves_minor(self) -> int:
        """Return what is still to be paid to the player."""
        return max(0, (self.due_minor or 0) - (self.paid_minor or 0))


class Remedy(msgspec.Struct, frozen=True):
    """One remedy: whether the sources allow it here, whether it governs, and why, bet by bet.

    A remedy that is lawful and priced may still not govern: one that leaves the player below what
    was shown or recorded, where the operator's side failed, is referred.
    """

    name: RemedyName
    lawful: bool
    governs: bool
    why: str
    source: Source
    bets: tuple[BetPrice, ...]

    @property
    def due_minor(self) -> int | None:
        """Return what all bets come to, None where play decides it."""
        each = [bet.due_minor for bet in self.bets]
        return None if None in each else sum(due or 0 for due in each)

    @property
    def moves_minor(self) -> int:
        """Return what is still to be paid to the player."""
        return sum(bet.moves_minor for bet in self.bets)


class Assessment(msgspec.Struct, frozen=True):
    """What the evidence of one round comes to.

    `classes` begins with the one that decides. `size` is the tree size the evidence was read at.
    `money_may_move` is False where evidence is forged or missing: then nothing is paid on it.
    `touched` lists rounds with the same fault. `lacks` says in sentences what the ledger cannot
    show. `shown_minor` is what the screen showed as paid, None where no screen was handed in.
    """

    round: str
    size: int
    claim: Claim | None
    classes: tuple[Class, ...]
    verdict: Verdict
    reasons: tuple[str, ...]
    findings: tuple[Finding, ...]
    remedies: tuple[Remedy, ...]
    operator_at_fault: bool
    money_may_move: bool
    shown_minor: int | None
    touched: tuple[str, ...]
    lacks: tuple[str, ...]

    @property
    def governing(self) -> Remedy:
        """Return the remedy that governs; there always is one."""
        return next(remedy for remedy in self.remedies if remedy.governs)
