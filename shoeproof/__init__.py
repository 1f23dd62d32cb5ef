"""Event-sourced audit and replay of RNG blackjack.

The packages are folders of the project's top level: in a checkout they stand here as links, and the
wheel has them here as folders.
"""
