"""Rounds that were written down, judged without a ledger."""
