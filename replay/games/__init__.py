"""The games, each a table of its clauses. A new game is one more constant."""
