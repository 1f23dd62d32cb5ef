"""Whether shoes and deals look shuffled: statistical tests of randomness, and repeats that must
not be.

The tests, their null distributions and sources are listed in `audit_reports/README.md`.
"""
