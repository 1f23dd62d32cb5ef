"""What this package raises. A round that merely breaks its rules raises nothing."""

from shoeproof.ledger.errors import StreamConflict


class ReplayError(Exception):
    """Base of every error of this package; its text says what was wrong and what to do."""


class RulesError(ReplayError):
    """A rule set is not valid; the text names the field."""


class ShoeError(ReplayError):
    """A shoe cannot be built from these inputs, or has no such card."""


class IllegalMove(ReplayError):
    """The rules do not allow this move here; the state is as it was."""


class StakeRefused(ReplayError):
    """Stakes that cannot open a round: zero, over a limit, a side bet without a main stake."""


class SettingsRefused(ReplayError):
    """A table's settings contradict themselves, or limit a bet that no game has, or do not say how
    many decimal places the currency has.
    """


class RoundTextError(ReplayError):
    """A `.round` text is outside the format's grammar; the text names the place."""


class UnknownGame(ReplayError):
    """No rules are known by this id or digest."""


class RoundUnreadable(ReplayError):
    """A stream is not a round, or lacks the events without which none can be rebuilt."""


class InputRefusedError(ReplayError):
    """The live table cannot take this input now; nothing was recorded but the refusal."""


class InputOvertaken(InputRefusedError, StreamConflict):
    """Another input of the round came first: the round shows what became of it, and this one is
    recorded as refused.
    """


class WalletUnanswered(ReplayError):
    """The wallet gave no definite answer: whether it moved anything is not known, and is asked for
    again by the same reference, or cancelled.
    """


class DisputeRefused(ReplayError):
    """A case cannot be opened or decided so, or a held win not released; nothing was recorded."""


class AlarmRefused(ReplayError):
    """An alarm cannot be investigated or closed so; nothing was recorded."""


class ExportUnusable(ReplayError):
    """An export that cannot be audited; the text names the file and says what is wrong."""


class ProgressUnusable(ReplayError):
    """Notes of an audit that cannot be gone on with; the text says why."""


class ClusterUnusable(ReplayError):
    """A Dask cluster that cannot be reached or cannot do an audit's work; the text says why."""


class LocalTimeUnclear(ReplayError):
    """A time that clocks of its zone skipped or showed twice; the text names both moments."""
