"""Rounds of a ledger as Parquet files, and the audit of those."""
