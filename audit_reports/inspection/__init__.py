"""One inspection of whole ledgers: everything held to everything, one verdict."""
