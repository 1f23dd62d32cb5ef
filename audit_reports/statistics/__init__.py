"""What realised figures say: intervals that may be looked at once or daily, and a verdict in words.

Pure: numbers in, numbers out. The formulas and their sources are in `audit_reports/README.md`.
"""
