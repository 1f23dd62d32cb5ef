"""How events are signed, chained and appended."""
