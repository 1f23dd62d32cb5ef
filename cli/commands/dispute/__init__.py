"""The commands of `dispute`."""
