"""Complaints that are not about one round: about a span of play, or a round the ledger lacks."""
