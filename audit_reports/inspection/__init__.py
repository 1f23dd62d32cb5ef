"""One inspection of whole ledgers: all parts compared with each other, one verdict."""
