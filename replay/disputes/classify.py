"""What each finding shows, as data: every code of the ledger and of the replay has its class.

A class says what kind of fault it is and so which remedies are lawful; how much is due is for
`remedies`. Where several classes are found, the one that stands first in `SEVERITY` decides:
what cannot be trusted before what was dealt, what was dealt before what was decided, and what
was decided before what was paid.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from ledger import findings as of_ledger
from replay import findings as of_replay
from replay.disputes.assessment import Claim, Class

SEVERITY: Final[tuple[Class, ...]] = (
    "evidence_missing",
    "shoe_error",
    "deal_error",
    "decision_error",
    "system_decision_error",
    "settlement_error",
    "held_win",
    "interrupted_unrecoverable",
    "interrupted_recoverable",
    "screen_differs",
    "sound",
)
"""Every class; the first of those found decides."""

CLASS_OF: Final[Mapping[str, Class]] = {
    # What cannot be trusted. A clock set back is no forgery: the chain fixes the order.
    of_ledger.SIGNATURE_INVALID: "evidence_missing",
    of_ledger.NOT_CANONICAL: "evidence_missing",
    of_ledger.SEQ_GAP: "evidence_missing",
    of_ledger.PREV_MISMATCH: "evidence_missing",
    of_ledger.STREAM_MISMATCH: "evidence_missing",
    of_ledger.KEY_NOT_VALID: "evidence_missing",
    of_ledger.EVENT_AFTER_CLOSE: "evidence_missing",
    of_ledger.EVENT_UNREADABLE: "evidence_missing",
    of_ledger.LEAF_INDEX_GAP: "evidence_missing",
    of_ledger.CHECKPOINT_MISMATCH: "evidence_missing",
    of_ledger.TILE_MISMATCH: "evidence_missing",
    of_ledger.LOOK_UP_MISMATCH: "evidence_missing",
    of_ledger.GUARD_DAMAGED: "evidence_missing",
    of_ledger.DATABASE_DAMAGED: "evidence_missing",
    of_ledger.CLOCK_BACKWARDS: "sound",
    # A decision and what it pays are written together: one without the other was taken out.
    of_replay.PAYMENT_MISSING: "evidence_missing",
    of_replay.RULES_DIGEST_UNKNOWN: "evidence_missing",
    of_replay.POLICY_DIGEST_UNKNOWN: "evidence_missing",
    # The shoe.
    of_replay.COMMITMENT_MISMATCH: "shoe_error",
    of_replay.SEED_NOT_REVEALED: "shoe_error",
    of_replay.CLIENT_SEED_INVALID: "shoe_error",
    # The deal.
    of_replay.CARD_MISMATCH: "deal_error",
    of_replay.CARD_MISSING: "deal_error",
    of_replay.CARD_ORDER_WRONG: "deal_error",
    of_replay.CARD_IMPOSSIBLE: "deal_error",
    of_replay.SHOE_INDEX_WRONG: "deal_error",
    of_replay.HOLE_CARD_EXPOSED: "deal_error",
    of_replay.CHECK_WRONG: "deal_error",
    of_replay.EVENT_OUT_OF_PLACE: "deal_error",
    of_replay.SURPLUS_MOVE: "deal_error",
    # What was decided and offered. An act offered against the rules that nobody took, and a stake
    # beyond the table's own limits that the table took, change no outcome.
    of_replay.ILLEGAL_DECISION: "decision_error",
    of_replay.MISSING_DECISION: "decision_error",
    of_replay.ACTOR_MISSING: "decision_error",
    of_replay.OFFER_WITHHELD: "decision_error",
    of_replay.CASH_OUT_OFFER_WRONG: "decision_error",
    of_replay.STAKE_NOT_ALLOWED: "decision_error",
    of_replay.STAKE_MISSING: "decision_error",
    of_replay.SIDE_BET_WITHOUT_MAIN: "decision_error",
    of_replay.OFFER_NOT_ALLOWED: "sound",
    of_replay.STAKE_OUTSIDE_LIMITS: "sound",
    of_replay.LIMITS_UNKNOWN: "sound",
    # What the platform did about an interruption.
    of_replay.DEADLINE_WRONG: "system_decision_error",
    of_replay.DECISION_LATE: "system_decision_error",
    of_replay.DEFAULT_EARLY: "system_decision_error",
    of_replay.DEFAULT_NOT_ALLOWED: "system_decision_error",
    of_replay.DEFAULT_OVERDUE: "system_decision_error",
    of_replay.WIN_NOT_HELD: "held_win",
    of_replay.HOLD_MISMATCH: "held_win",
    # The cases themselves, which an audit judges and an assessment does not.
    of_replay.CASE_OUT_OF_PLACE: "settlement_error",
    of_replay.KEYS_MISSING: "settlement_error",
    of_replay.PAYMENT_UNDECIDED: "settlement_error",
    # The money.
    of_replay.STAKE_MISMATCH: "settlement_error",
    of_replay.DEBIT_MISMATCH: "settlement_error",
    of_replay.CREDIT_MISMATCH: "settlement_error",
    of_replay.SETTLEMENT_MISMATCH: "settlement_error",
    of_replay.SETTLEMENT_EARLY: "settlement_error",
    of_replay.SETTLEMENT_LATE: "settlement_error",
    of_replay.PAYOUT_MISSING: "settlement_error",
    of_replay.DUPLICATE_SETTLEMENT: "settlement_error",
    of_replay.TOTALS_MISMATCH: "settlement_error",
    of_replay.REFUND_MISMATCH: "settlement_error",
    of_replay.WIN_VOIDED: "settlement_error",
    of_replay.EXPECT_MISMATCH: "settlement_error",
}
"""The class of every finding; `sound` is one that changes neither cards, decisions nor money."""

FAULTS: Final[frozenset[Class]] = frozenset(
    {
        "evidence_missing",
        "shoe_error",
        "deal_error",
        "decision_error",
        "system_decision_error",
        "settlement_error",
        "interrupted_unrecoverable",
    }
)
"""The classes in which the operator's side failed."""

COVERS: Final[Mapping[Claim, frozenset[Class]]] = {
    "disconnection": frozenset(
        {
            "decision_error",
            "system_decision_error",
            "interrupted_recoverable",
            "interrupted_unrecoverable",
        }
    ),
    "malfunction": FAULTS | {"interrupted_recoverable"},
    "settlement": frozenset({"settlement_error"}),
    "fairness": frozenset({"shoe_error", "deal_error", "decision_error"}),
    "other": FAULTS | {"interrupted_recoverable"},
}
"""The classes that bear out what a player claims; another fault than the claimed one bears it out
in part.
"""


def by_severity(found: Iterable[Class]) -> tuple[Class, ...]:
    """Return classes once each, the one that decides first; `sound` stands only alone."""
    classes = set(found) - {"sound"} or {"sound"}
    return tuple(each for each in SEVERITY if each in classes)
