"""One recorded round, rebuilt and held to its rules."""
