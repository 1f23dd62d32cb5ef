"""Verification: leaves read once, in order, and everything found against them.

What is shown, counted or judged of rounds is the bytes that were verified here, or held to them
where they are read again. A command about one round, case or complaint looks it up, and verifies it
by itself.
"""
