"""A ledger's directory, and the database its leaves are in: SQLite or PostgreSQL."""
