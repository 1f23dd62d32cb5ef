"""What an assessment says: classes, verdict, and every remedy priced bet by bet.

These records are what the pure assessment returns and what commands, events and reports are made
from; nothing here decides anything. Amounts are minor units of the round's currency.
"""

from typing import Final, Literal, TypeAlias

import msgspec

from shoeproof.ledger import Finding
from shoeproof.replay.currency import amount_text

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
resettle what was paid short or debited beyond right, void with every stake back, refer to an
adjudicator.
"""

REMEDIES: Final[tuple[RemedyName, ...]] = (
    "honour",
    "resume",
    "apply_default",
    "resettle",
    "void",
    "refer",
)

GroundName: TypeAlias = Literal[
    "recorded_payment",
    "right_payment",
    "certain_outcome",
    "offer_taken",
    "default_due",
    "stake_back",
    "over_debit",
    "corrected",
    "play_decides",
]
"""Why a bet comes to what it comes to. `corrected` is a bet that an adjudicator's decision settled,
`play_decides` one that is still to be played.
"""


class Source(msgspec.Struct, frozen=True):
    """What a remedy or a ground rests on: the document, its section, and what it provides in our
    words; `assumed` where the sources are silent. `beside` is a second source that goes with it.
    """

    document: str
    section: str
    says: str
    assumed: bool = False
    beside: "Source | None" = None

    @property
    def cited(self) -> str:
        """Document and section in one line, with those of what goes beside it."""
        own = ", ".join(filter(None, (self.document, self.section)))
        return own if self.beside is None else f"{own}; {self.beside.cited}"

    @property
    def parts(self) -> "tuple[Source, ...]":
        """This source and those beside it, each by itself."""
        alone = msgspec.structs.replace(self, beside=None)
        return (alone, *(() if self.beside is None else self.beside.parts))

    @property
    def rests_on_reading(self) -> bool:
        """Whether it, or a source beside it, is a reading of ours where the sources are silent."""
        return any(each.assumed for each in self.parts)


class Range(msgspec.Struct, frozen=True):
    """What a hand could have come to by an act that was refused or withheld, at least and at most.

    `staked_minor` is what has to be staked on it in all for the most: a double or a split costs
    more than the first stake.
    """

    hand: str
    least_minor: int
    most_minor: int
    staked_minor: int

    def words(
        self, stake_minor: int, currency: str, between: str = "anything from {} to {}"
    ) -> str:
        """Return the range in words, with what its most costs where that is not the bet's stake."""
        least, most = (amount_text(each, currency) for each in (self.least_minor, self.most_minor))
        if self.most_minor and self.staked_minor != stake_minor:
            most += f" for {amount_text(self.staked_minor, currency)} staked"
        return most if self.least_minor == self.most_minor else between.format(least, most)


class BetPrice(msgspec.Struct, frozen=True):
    """One bet under one remedy.

    `paid_minor` is what reached the player so far, None while the bet is open; `due_minor` what the
    remedy makes it in the end, stake included, None where play decides it. What moves is the
    difference, never below nothing: an overpayment is not debited. `ground` and `source` say why,
    `could_have` what a withheld act could have brought.
    """

    seat: str
    hand: str
    bet: str
    stake_minor: int
    paid_minor: int | None
    due_minor: int | None
    line: str | None
    ground: GroundName | None = None
    source: Source | None = None
    could_have: Range | None = None

    @property
    def moves_minor(self) -> int:
        """Return what is still to be paid to the player."""
        return max(0, (self.due_minor or 0) - (self.paid_minor or 0))


class Remedy(msgspec.Struct, frozen=True):
    """One remedy: whether it is lawful here, whether it governs, and why, bet by bet.

    The one that governs is the plan of all bets together. Another is lawful where it can be carried
    out and gives no bet less than is due.
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

    `answer` says it to the player in plain words. `clause` is what the answer rests on. `classes`
    begins with the gravest. `size` is the tree size the evidence was read at. `money_may_move` is
    False where evidence is forged or missing: then nothing is paid on it. `corrected_by` names the
    case whose decision put right what was found. `touched` lists rounds with the same fault.
    `lacks` says in sentences what the ledger cannot show, first what leaves the claim
    unanswered. `shown_minor` is what the screen showed as paid, None where no screen was handed
    in or it counts in another currency, and `shown_bets` each bet of it: what it showed as paid
    is what is due by it.
    """

    round: str
    size: int
    claim: Claim | None
    classes: tuple[Class, ...]
    verdict: Verdict
    answer: str
    clause: Source
    reasons: tuple[str, ...]
    findings: tuple[Finding, ...]
    remedies: tuple[Remedy, ...]
    operator_at_fault: bool
    money_may_move: bool
    corrected_by: str | None
    shown_minor: int | None
    shown_bets: tuple[BetPrice, ...]
    touched: tuple[str, ...]
    lacks: tuple[str, ...]

    @property
    def governing(self) -> Remedy:
        """Return the remedy that governs; there always is one."""
        return next(remedy for remedy in self.remedies if remedy.governs)
