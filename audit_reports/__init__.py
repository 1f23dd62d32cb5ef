"""How much: the ledger projected into columns, and the figures counted from them."""

from shoeproof.needs import need

need("counting and reporting", "numpy", "pyarrow", "duckdb", "jinja2")
