"""The rules engine: pure functions over frozen values.

Nothing here reads a clock, draws a random number, touches a file or knows the ledger. What a
card or an act does is defined once, and live play, replay, theory and the bulk audit all call it.
"""
