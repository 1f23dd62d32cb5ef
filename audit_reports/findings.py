"""The codes of findings about the shuffles of a ledger: one name each."""

from typing import Final

SEED_REPEATED: Final = "seed_repeated"
SHOE_REPEATED: Final = "shoe_repeated"
COMMITMENT_REPEATED: Final = "commitment_repeated"
COMMITMENT_LATE: Final = "commitment_late"
COMMITMENT_BROKEN: Final = "commitment_broken"
SHOE_INDEX_SKIPPED: Final = "shoe_index_skipped"
