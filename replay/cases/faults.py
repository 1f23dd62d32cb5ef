"""What each finding shows and which bets it touches, as data.

Every code of the ledger and of the replay has its row: the class that a report calls it by, and its
reach. Nothing here decides a case: a fault only says of which bets the stake may come back
(`grounds`), and classes only say which claims it supports (`verdict`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from shoeproof.ledger import Finding, Recorded
from shoeproof.ledger import findings as of_ledger
from shoeproof.ledger.leaf.events import DecisionMade, DecisionOffered, EventData, InputRefused
from shoeproof.replay import findings as of_replay
from shoeproof.replay.cases.assessment import Claim, Class
from shoeproof.replay.engine.hand import INSURANCE
from shoeproof.replay.engine.outcomes import INSURANCE_BET

Reach: TypeAlias = Literal["evidence", "shoe", "table", "hand", "money", "nothing"]
"""Which bets a fault touches. `evidence`: nothing can be inferred. `shoe`: every bet, from before
the first card. `table`: every bet that was not decided before it. `hand`: those of the hand that
its event names, and every bet where it names none. `money`: none; what was moved speaks for itself.
`nothing`: it changed no card, no decision and no payment.
"""


class Kind(NamedTuple):
    """What a code shows, and its reach."""

    shows: Class
    reach: Reach


_FORGED: Final = Kind("evidence_missing", "evidence")
_SHOE: Final = Kind("shoe_error", "shoe")
_CARDS: Final = Kind("deal_error", "table")
_PLAY: Final = Kind("decision_error", "table")
_ACT: Final = Kind("decision_error", "hand")
_SYSTEM: Final = Kind("system_decision_error", "hand")
_MONEY: Final = Kind("settlement_error", "money")

_CLOCK: Final = Kind("sound", "nothing")

KINDS: Final[Mapping[str, Kind]] = {
    # What cannot be trusted. A clock set back is not a forgery: the chain fixes the order.
    of_ledger.SIGNATURE_INVALID: _FORGED,
    of_ledger.NOT_CANONICAL: _FORGED,
    of_ledger.SEQ_GAP: _FORGED,
    of_ledger.PREV_MISMATCH: _FORGED,
    of_ledger.STREAM_MISMATCH: _FORGED,
    of_ledger.KEY_NOT_VALID: _FORGED,
    of_ledger.EVENT_AFTER_CLOSE: _FORGED,
    of_ledger.EVENT_UNREADABLE: _FORGED,
    of_ledger.LEAF_INDEX_GAP: _FORGED,
    of_ledger.CHECKPOINT_MISMATCH: _FORGED,
    of_ledger.TILE_MISMATCH: _FORGED,
    of_ledger.LOOK_UP_MISMATCH: _FORGED,
    of_ledger.GUARD_DAMAGED: _FORGED,
    of_ledger.DATABASE_DAMAGED: _FORGED,
    of_ledger.ANCHOR_MISMATCH: _FORGED,
    of_ledger.INDEX_MISMATCH: _FORGED,
    of_ledger.DIGEST_MISMATCH: _FORGED,
    of_ledger.CLOCK_BACKWARDS: _CLOCK,
    of_ledger.CLOCK_IMPLAUSIBLE: _CLOCK,
    of_ledger.ID_OF_ANOTHER_TIME: _CLOCK,
    # A decision and what it pays are written together: one without the other was taken out.
    of_replay.PAYMENT_MISSING: _FORGED,
    of_replay.RULES_DIGEST_UNKNOWN: _FORGED,
    of_replay.POLICY_DIGEST_UNKNOWN: _FORGED,
    # The shoe.
    of_replay.COMMITMENT_MISMATCH: _SHOE,
    of_replay.SEED_NOT_REVEALED: _SHOE,
    of_replay.CLIENT_SEED_INVALID: _SHOE,
    of_replay.SEED_REPEATED: _SHOE,
    of_replay.SEED_PREDICTABLE: _SHOE,
    # The deal.
    of_replay.CARD_MISMATCH: _CARDS,
    of_replay.CARD_MISSING: _CARDS,
    of_replay.CARD_ORDER_WRONG: _CARDS,
    of_replay.CARD_IMPOSSIBLE: _CARDS,
    of_replay.SHOE_INDEX_WRONG: _CARDS,
    of_replay.HOLE_CARD_EXPOSED: _CARDS,
    of_replay.CHECK_WRONG: _CARDS,
    of_replay.EVENT_OUT_OF_PLACE: _CARDS,
    of_replay.SURPLUS_MOVE: _CARDS,
    # What was offered and decided. An act the rules forbid, or one that is lost, changes all play
    # after it; one that was withheld or refused, that of its hand.
    of_replay.ILLEGAL_DECISION: _PLAY,
    of_replay.MISSING_DECISION: _PLAY,
    of_replay.STAKE_NOT_ALLOWED: _PLAY,
    of_replay.STAKE_MISSING: _PLAY,
    of_replay.SIDE_BET_WITHOUT_MAIN: _PLAY,
    of_replay.ACTOR_MISSING: _ACT,
    of_replay.OFFER_WITHHELD: _ACT,
    of_replay.REFUSAL_WRONG: _ACT,
    of_replay.DECISION_REPEATED: Kind("decision_error", "money"),
    of_replay.VOID_UNFOUNDED: Kind("decision_error", "money"),
    # An act or a value offered against the rules that nobody took, and a stake beyond the table's
    # own limits that the table took, change no outcome. What was taken is an illegal decision, or
    # is paid as it was shown.
    of_replay.CASH_OUT_OFFER_WRONG: Kind("decision_error", "nothing"),
    of_replay.OFFER_NOT_ALLOWED: Kind("sound", "nothing"),
    of_replay.STAKE_OUTSIDE_LIMITS: Kind("sound", "nothing"),
    of_replay.LIMITS_UNKNOWN: Kind("sound", "nothing"),
    # What the platform did about an interruption. A wrong deadline that nobody was held to harms
    # nobody; who was held to it was stood too early or heard too late.
    of_replay.DECISION_LATE: _SYSTEM,
    of_replay.DEFAULT_EARLY: _SYSTEM,
    of_replay.DEFAULT_NOT_ALLOWED: _SYSTEM,
    of_replay.DEADLINE_WRONG: Kind("system_decision_error", "nothing"),
    of_replay.DEFAULT_OVERDUE: Kind("system_decision_error", "nothing"),
    of_replay.SETTLEMENT_OVERDUE: Kind("settlement_error", "nothing"),
    of_replay.WIN_NOT_HELD: Kind("held_win", "money"),
    of_replay.HOLD_MISMATCH: Kind("held_win", "money"),
    # The cases themselves, which an audit judges and an assessment does not.
    of_replay.CASE_OUT_OF_PLACE: _MONEY,
    of_replay.KEYS_MISSING: _MONEY,
    of_replay.PAYMENT_UNDECIDED: _MONEY,
    of_replay.DECISION_UNFOUNDED: _MONEY,
    # The money.
    of_replay.STAKE_MISMATCH: _MONEY,
    of_replay.DEBIT_MISMATCH: _MONEY,
    of_replay.CREDIT_MISMATCH: _MONEY,
    of_replay.SETTLEMENT_MISMATCH: _MONEY,
    of_replay.SETTLEMENT_EARLY: _MONEY,
    of_replay.SETTLEMENT_LATE: _MONEY,
    of_replay.PAYOUT_MISSING: _MONEY,
    of_replay.DUPLICATE_SETTLEMENT: _MONEY,
    of_replay.TOTALS_MISMATCH: _MONEY,
    of_replay.REFUND_MISMATCH: _MONEY,
    of_replay.WIN_VOIDED: _MONEY,
    of_replay.PAYMENT_UNANSWERED: _MONEY,
    of_replay.REFUND_UNANSWERED: _MONEY,
    of_replay.WALLET_DECLINED: _MONEY,
    of_replay.CASH_PAID_IN_INCENTIVES: _MONEY,
    of_replay.TRANSACTION_REPEATED: _MONEY,
    of_replay.BALANCE_MISMATCH: _MONEY,
    of_replay.MONEY_IN_FUN_ROUND: _MONEY,
    of_replay.EXPECT_MISMATCH: _MONEY,
}
"""Every code; one that shows `sound` changes neither cards, decisions nor money."""

_OF_THE_SYSTEM: Final = (of_replay.DEFAULT_EARLY, of_replay.DEFAULT_NOT_ALLOWED)

MALFUNCTIONS: Final[frozenset[Reach]] = frozenset({"shoe", "table", "hand"})
"""Reaches of faults by which a bet may be void."""

ORDER: Final[tuple[Class, ...]] = (
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
"""The order in which a report names classes, the gravest first; it decides nothing."""

FAULTS: Final[frozenset[Class]] = frozenset(ORDER[:6]) | {"interrupted_unrecoverable"}
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
"""The classes that support what a player claims; another fault supports it in part."""


class Fault(NamedTuple):
    """One finding as a fault: from which event on, of what reach, the hand it names, and the bet
    where it touches but one of that hand.
    """

    code: str
    seq: int
    reach: Reach
    hand: str | None
    bet: str | None = None

    def concerns(self, hand: str, bet: str) -> bool:
        """Tell whether the fault touches a bet of a hand, `s1` or a half of it after a split."""
        if self.reach != "hand" or self.hand is None:
            return self.reach in MALFUNCTIONS
        if self.bet not in (None, bet):
            return False
        longer, shorter = sorted((hand, self.hand), key=len, reverse=True)
        return longer == shorter or longer.startswith(f"{shorter}.")


def faults_of(findings: Iterable[Finding], events: Iterable[Recorded]) -> tuple[Fault, ...]:
    """Return what was found in a round as faults, in the order of the events they begin at."""
    by_seq = {each.event.seq: each for each in events}
    faults = []
    for finding in findings:
        reach = KINDS[finding.code].reach
        seq = 0 if reach == "shoe" or finding.seq is None else finding.seq
        named = by_seq.get(finding.seq) if finding.seq is not None else None
        data = None if named is None else named.event.data
        faults.append(Fault(finding.code, seq, reach, _hand(data), _bet(finding.code, data)))
    return tuple(sorted(faults, key=lambda fault: fault.seq))


def _hand(data: EventData | None) -> str | None:
    if isinstance(data, DecisionOffered | DecisionMade):
        return data.hand
    if isinstance(data, InputRefused):
        return data.input.split(" ")[0]
    return None


def _bet(code: str, data: EventData | None) -> str | None:
    """Return the one bet that a fault touches: insurance that the platform took for a player.

    The hand plays on as it would have without it. An answer that it withheld from the player by
    declining can have cost the hand.
    """
    took = isinstance(data, DecisionMade) and data.act == INSURANCE
    return INSURANCE_BET if took and code in _OF_THE_SYSTEM else None


def in_order(found: Iterable[Class]) -> tuple[Class, ...]:
    """Return classes once each, the gravest first; `sound` stands only alone."""
    classes = set(found) - {"sound"} or {"sound"}
    return tuple(each for each in ORDER if each in classes)


def classes_of(findings: Iterable[Finding]) -> Iterator[Class]:
    """Yield the class of each finding."""
    return (KINDS[finding.code].shows for finding in findings)
