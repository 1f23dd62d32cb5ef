"""Exact theory: what the rules of a game say about its returns."""
