"""The exit codes of every command; `docs/command-line.md` tells users what they mean."""

from typing import Final

SOUND: Final = 0
FINDINGS: Final = 1
USAGE: Final = 2
UNREADABLE: Final = 3

INCONCLUSIVE: Final = 4
"""Of `inspect`: nothing is shown to be wrong, and not everything could be judged."""

CRASHED: Final = 70
"""A fault of this program (EX_SOFTWARE of sysexits.h); it says nothing about the ledger."""

INTERRUPTED: Final = 130
"""Ctrl-C ended the program."""

READER_GONE: Final = 141
"""SIGPIPE ended the program: what it printed was not read to its end."""
