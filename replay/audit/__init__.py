"""The audit of a whole ledger, round by round and case by case."""
