"""Rounds that were interrupted, held to their policy."""
