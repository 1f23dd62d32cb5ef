"""The operator's wallet: what it is asked, and what it answers."""
