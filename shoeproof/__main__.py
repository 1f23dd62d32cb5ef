"""The program as `python -m shoeproof`."""

from shoeproof.cli.__main__ import run

run()
