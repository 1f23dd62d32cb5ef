"""Luck, skill and error: what each move of a round added to what its bets were paid."""

from shoeproof.needs import need

need("luck", "numpy")
