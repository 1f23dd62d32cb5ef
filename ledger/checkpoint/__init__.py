"""Signed notes, checkpoints and proofs under them."""
