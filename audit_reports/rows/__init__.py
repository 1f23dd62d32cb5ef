"""From verified leaves to rows: what each event says for the tables."""
