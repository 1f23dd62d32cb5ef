"""The audit of a whole ledger in ranges, on all processors or machines."""
