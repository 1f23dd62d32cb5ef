"""The codes of what can be wrong with a round: one name each, used by replay and adjudication."""

from typing import Final

COMMITMENT_MISMATCH: Final = "commitment_mismatch"
SEED_NOT_REVEALED: Final = "seed_not_revealed"
CLIENT_SEED_INVALID: Final = "client_seed_invalid"
CARD_MISMATCH: Final = "card_mismatch"
CARD_MISSING: Final = "card_missing"
CARD_ORDER_WRONG: Final = "card_order_wrong"
CARD_IMPOSSIBLE: Final = "card_impossible"
SHOE_INDEX_WRONG: Final = "shoe_index_wrong"
HOLE_CARD_EXPOSED: Final = "hole_card_exposed"
CHECK_WRONG: Final = "check_wrong"
ILLEGAL_DECISION: Final = "illegal_decision"
MISSING_DECISION: Final = "missing_decision"
OFFER_WITHHELD: Final = "offer_withheld"
OFFER_NOT_ALLOWED: Final = "offer_not_allowed"
CASH_OUT_OFFER_WRONG: Final = "cash_out_offer_wrong"
STAKE_OUTSIDE_LIMITS: Final = "stake_outside_limits"
LIMITS_UNKNOWN: Final = "limits_unknown"
STAKE_MISMATCH: Final = "stake_mismatch"
STAKE_NOT_ALLOWED: Final = "stake_not_allowed"
STAKE_MISSING: Final = "stake_missing"
SIDE_BET_WITHOUT_MAIN: Final = "side_bet_without_main"
DEBIT_MISMATCH: Final = "debit_mismatch"
CREDIT_MISMATCH: Final = "credit_mismatch"
ACTOR_MISSING: Final = "actor_missing"
SETTLEMENT_MISMATCH: Final = "settlement_mismatch"
SETTLEMENT_EARLY: Final = "settlement_early"
SETTLEMENT_LATE: Final = "settlement_late"
PAYOUT_MISSING: Final = "payout_missing"
DUPLICATE_SETTLEMENT: Final = "duplicate_settlement"
TOTALS_MISMATCH: Final = "totals_mismatch"
REFUND_MISMATCH: Final = "refund_mismatch"
DECISION_REPEATED: Final = "decision_repeated"
WIN_VOIDED: Final = "win_voided"
VOID_UNFOUNDED: Final = "void_unfounded"
REFUSAL_WRONG: Final = "refusal_wrong"
SETTLEMENT_OVERDUE: Final = "settlement_overdue"
SEED_REPEATED: Final = "seed_repeated"
SEED_PREDICTABLE: Final = "seed_predictable"
PAYMENT_UNANSWERED: Final = "payment_unanswered"
REFUND_UNANSWERED: Final = "refund_unanswered"
WALLET_DECLINED: Final = "wallet_declined"
CASH_PAID_IN_INCENTIVES: Final = "cash_paid_in_incentives"
TRANSACTION_REPEATED: Final = "transaction_repeated"
BALANCE_MISMATCH: Final = "balance_mismatch"
MONEY_IN_FUN_ROUND: Final = "money_in_fun_round"
DECISION_UNFOUNDED: Final = "decision_unfounded"
POLICY_DIGEST_UNKNOWN: Final = "policy_digest_unknown"
DEADLINE_WRONG: Final = "deadline_wrong"
DECISION_LATE: Final = "decision_late"
DEFAULT_EARLY: Final = "default_early"
DEFAULT_NOT_ALLOWED: Final = "default_not_allowed"
DEFAULT_OVERDUE: Final = "default_overdue"
WIN_NOT_HELD: Final = "win_not_held"
HOLD_MISMATCH: Final = "hold_mismatch"
CASE_OUT_OF_PLACE: Final = "case_out_of_place"
KEYS_MISSING: Final = "keys_missing"
PAYMENT_UNDECIDED: Final = "payment_undecided"
PAYMENT_MISSING: Final = "payment_missing"
RULES_DIGEST_UNKNOWN: Final = "rules_digest_unknown"
EVENT_OUT_OF_PLACE: Final = "event_out_of_place"
SURPLUS_MOVE: Final = "surplus_move"
EXPECT_MISMATCH: Final = "expect_mismatch"

BREAKS_STATE: Final = frozenset(
    {
        COMMITMENT_MISMATCH,
        CLIENT_SEED_INVALID,
        CARD_MISMATCH,
        SHOE_INDEX_WRONG,
        CHECK_WRONG,
        EVENT_OUT_OF_PLACE,
        ILLEGAL_DECISION,
        ACTOR_MISSING,
    }
)
"""What leaves an open round in a state that its shoe, its rules and its player did not bring about.

Every other finding about offers, clocks and money leaves the state whole, so that play can go on.
"""
