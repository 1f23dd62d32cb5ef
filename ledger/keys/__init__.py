"""Which key may sign what: keys, the ring of them, and where trust begins."""
