"""The audit of a whole ledger in ranges, on all processors or machines."""

from shoeproof.needs import need

need("the bulk audit", "numpy", "pyarrow")
