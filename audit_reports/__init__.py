"""How much: the ledger projected into columns, and the figures counted from them."""
