"""What an inspection says, as data: the JSON form is this, every other form is made from it.

Amounts are minor units of the currency beside them, returns fractions of the initial stakes, times
RFC 3339 UTC, leaf indices 0-based.
"""

from typing import Final, Literal, TypeAlias

import msgspec

FORMAT: Final = "shoeproof/inspection/v1"

Word: TypeAlias = Literal["sound", "findings", "inconclusive", "untrusted"]
"""What an inspection ends in.

`untrusted`: bytes, keys or history are not what they claim to be, so that nothing they say is
counted. `findings`: something is wrong in what was recorded. `inconclusive`: nothing was found, and
something that matters could not be judged. `sound`: none of these.
"""

Weight: TypeAlias = Literal["forged", "wrong", "watch"]
"""How serious a finding is: the ledger cannot be trusted, it is wrong, or it may be chance."""

BY_WEIGHT: Final[tuple[Weight, ...]] = ("forged", "wrong", "watch")


class FindingPlace(msgspec.Struct, frozen=True):
    """Where one case of a finding stands: its ledger, stream and leaf, as far as they are known."""

    ledger: str
    stream: str | None
    leaf_index: int | None
    text: str


class FindingGroup(msgspec.Struct, frozen=True):
    """One kind of finding: how many cases, in how many rounds, what it is, and the first places."""

    weight: Weight
    kind: str
    cases: int
    rounds: int
    says: str
    places: tuple[FindingPlace, ...] = ()


class InspectedLedger(msgspec.Struct, frozen=True, kw_only=True):
    """One ledger and how far it was looked at.

    `anchor` is the operator's key it was trusted by, None where that is not the one given. A
    checkpoint covers the first `covered` leaves; `kept` tells that it is one the inspector kept,
    `cosigned_by` which witnesses of the policy signed it, and when. `rules` are names by digest,
    `keys` how many there are by role.
    """

    ledger: str
    size: int
    anchor: str | None
    covered: int
    kept: bool
    cosigned_by: dict[str, str]
    signatures: int
    rounds: int
    void: int
    open: int
    fun: int
    first_opened: str | None
    last_ended: str | None
    keys: dict[str, int]
    rules: dict[str, str]
    builds: tuple[str, ...]
    operators: tuple[str, ...]


class InspectedReturn(msgspec.Struct, frozen=True, kw_only=True):
    """One bet of one game: what it returned, what this play should return, and what could have been
    seen.

    `detectable` is the smallest bias of its return, as a fraction of the stakes, that this sample
    would have shown with a chance of 19 in 20; None of too few rounds.
    """

    title: str
    rules_digest: str
    currency: str
    bet: str
    word: str
    why: tuple[str, ...]
    rounds: int
    initial_minor: int
    realised: float | None
    expected: float | None
    detectable: float | None


class Stated(msgspec.Struct, frozen=True):
    """A wallet's statement compared with the ledgers' movements: how many lines, and how many
    agree.

    It reaches from `begin` to `end`; `outside` counts the ledgers' movements before and after it.
    """

    file: str
    sha256: str
    begin: str
    end: str
    lines: int
    agreeing: int
    outside: int


class Repeat(msgspec.Struct, frozen=True):
    """How to repeat it: the command, what it ran, and the SHA-256 of what it read and ran by."""

    command: str
    software: str
    digests: dict[str, str]


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    """The whole of it; `found` by weight, `unjudged` what keeps the word from being "sound",
    `left_open` what no inspection of this kind shows.
    """

    format: str
    word: Word
    headline: str
    examined: tuple[InspectedLedger, ...]
    found: tuple[FindingGroup, ...]
    unjudged: tuple[str, ...]
    left_open: tuple[str, ...]
    returns: tuple[InspectedReturn, ...]
    shuffle: tuple[str, ...]
    statement: Stated | None
    repeat: Repeat
