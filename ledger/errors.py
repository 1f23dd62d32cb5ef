"""The errors of this package: one tree, each message one line that says what to do.

An error means that input cannot be trusted or read, or that nothing was written. A readable
ledger that contradicts itself raises nothing: it yields findings (`ledger.findings`).
"""


class LedgerError(Exception):
    """What every error of this package is; its text is one line for a person to read."""


class NotALedger(LedgerError):
    """The path holds no ledger."""


class LedgerExists(LedgerError):
    """A new ledger was asked for where something already is."""


class UnsupportedFormat(LedgerError):
    """The ledger was written in a format this version does not know."""


class StoreUnavailable(LedgerError):
    """The store is sound as far as is known but cannot be used now: locked, read-only, full."""


class StoreDamaged(LedgerError):
    """The store's own file is truncated, malformed, or no database of ours."""


class KeyUnusable(LedgerError):
    """A key is missing, readable by others, locked by another passphrase, or not a sound key."""


class EventUnreadable(LedgerError):
    """Bytes that are not a leaf or not an event."""


class EventRefused(LedgerError):
    """An event that could not be read back or has no place in its stream; it was not written."""


class StreamConflict(LedgerError):
    """Another writer appended to the stream first; nothing was written, a retry may succeed."""


class StreamClosed(LedgerError):
    """The round's stream was closed, so that nothing may follow in it; nothing was written."""


class UnknownStream(LedgerError):
    """The ledger holds no event of that stream."""
