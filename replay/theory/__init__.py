"""Exact theory: what the rules of a game say about its returns."""

from shoeproof.needs import need

need("theory", "numpy")
