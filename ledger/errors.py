"""The errors of this package: one tree, each message one line that says what to do.

An error means that input cannot be trusted or read, or that nothing was written. A readable
ledger that contradicts itself raises nothing: it yields findings (`shoeproof.ledger.findings`).
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


class OutcomeUnknown(StoreUnavailable):
    """The store failed at a commit and does not say since what became of it: read again later."""


class ClockStepped(LedgerError):
    """A clock is further from the ledger's times, or jumped further, than is tolerated; nothing was
    written.
    """


class WorkersLost(LedgerError):
    """Worker processes died again and again on the same share, the one that begins at `start`."""

    def __init__(self, start: int, tries: int) -> None:
        super().__init__(
            f"workers died {tries} times on the share that begins at {start}: they may need more "
            "memory, or were started by a script that does not guard its entry with "
            '`if __name__ == "__main__":`'
        )


class KeyUnusable(LedgerError):
    """A key is missing, readable by others, locked by another passphrase, or not a sound key."""


class KeyNameTaken(KeyUnusable):
    """Another key's name differs from this one by capitals alone, and people read both as one."""


class RolesRefused(KeyUnusable):
    """A key would have roles that are there to check each other, or none."""


class KeyNotValid(KeyUnusable):
    """The key that signed is unknown, lacks the role, or may not sign at that leaf."""


class SignerFailed(LedgerError):
    """A signer did not answer, or not with a signature that holds; nothing was written."""


class EventUnreadable(LedgerError):
    """Bytes that are not a leaf or not an event."""


class EventRefused(LedgerError):
    """An event that could not be read back or has no place in its stream; it was not written."""


class StreamConflict(LedgerError):
    """Another writer appended to the stream first; nothing was written, a retry may succeed."""


class StreamClosed(LedgerError):
    """The round's stream was closed, so that nothing may follow in it; nothing was written."""


class IntentOpen(LedgerError):
    """Money was asked for the same step of a round before, and what became of it is not settled."""


class RoundStillOpen(LedgerError):
    """The player has another round open, `round_id`, where only one may be; nothing was written."""

    def __init__(self, round_id: str) -> None:
        super().__init__(f"the player's round {round_id} is still open: finish it first")
        self.round_id = round_id


class UnknownStream(LedgerError):
    """The ledger holds no event of that stream."""


class ProofRefused(LedgerError):
    """A Merkle proof does not prove what it is said to."""


class NoteRefused(LedgerError):
    """A signed note or checkpoint is malformed, unsigned by any known key, or forged."""


class SigningRefused(LedgerError):
    """The ledger does not extend the last checkpoint it signed, so none is signed."""


class BundleUnreadable(LedgerError):
    """A file is not a bundle of a round, or a round cannot be put into one."""


class PublishRefused(LedgerError):
    """What is published already is not of this ledger, or is of another history of it."""


class ImportRefused(LedgerError):
    """A leaf cannot be taken in: not this ledger's, not rightly signed, or out of its order."""


class PolicyUnreadable(LedgerError):
    """A file is not a policy for cosignatures."""


class PolicyUnmet(LedgerError):
    """A checkpoint lacks the cosignatures a policy asks for, or they are too old."""


class WitnessRefused(LedgerError):
    """A witness does not cosign a checkpoint."""


class UnknownLog(WitnessRefused):
    """The checkpoint is of a log this witness does not watch."""


class NotSignedByLog(WitnessRefused):
    """The checkpoint is not signed by a key this witness has for the log."""


class OldSizeDiffers(WitnessRefused):
    """The proof begins at another tree than the one last cosigned, which has `size` leaves."""

    def __init__(self, text: str, size: int) -> None:
        super().__init__(text)
        self.size = size


class NotConsistent(WitnessRefused):
    """The log did not prove that it only grew; the file named keeps what it signed."""


class ClockBehind(WitnessRefused):
    """This witness's clock shows a time before its own last cosignature."""


class WitnessUnreachable(LedgerError):
    """A witness does not answer, or its answer is not a cosignature of the checkpoint sent."""
