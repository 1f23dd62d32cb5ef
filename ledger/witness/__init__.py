"""Witnesses: cosigning checkpoints, and asking others to."""
