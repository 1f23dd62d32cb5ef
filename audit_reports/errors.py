"""The errors of this package: one tree, each message one line that says what to do."""

from shoeproof.ledger import Finding


class AuditError(Exception):
    """The base of this package's errors; the text is one line for a person to read."""


class LeafRefused(AuditError):
    """Verification objects to a leaf, so that neither it nor what follows is counted.

    `finding` is the objection, the first of them in leaf order.
    """

    def __init__(self, finding: Finding) -> None:
        """Name the leaf in the message."""
        stream = "" if finding.stream is None else f" of {finding.stream}"
        super().__init__(
            f"leaf {finding.leaf_index}{stream} is refused: {finding.text} ({finding.code}); "
            "verify the ledger"
        )
        self.finding = finding


class ProjectionBusy(AuditError):
    """Another process has the projection open."""


class ProjectionUnavailable(AuditError):
    """The projection's file cannot be used: damaged, or on a disk that is full or failing."""


class SegmentsRefused(AuditError):
    """Published segments are missing, altered or of another format."""


class QueryRefused(AuditError):
    """A question cannot be answered: it is not one SELECT, names what is not there, or fails."""


class ParSheetRefused(AuditError):
    """A file of PAR sheets cannot be used."""


class ReportError(AuditError):
    """A report cannot be made or written."""
