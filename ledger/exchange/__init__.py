"""Leaves and proofs handed on: bundles, streams, static files."""
