"""What a report on realised RTP says, as data: the JSON report is this, every other form is made
from it.

Amounts are minor units of the currency beside them, returns are fractions of the initial stakes
(0.9953 is 99.53%) rounded to a millionth, times RFC 3339 UTC, leaf indices 0-based.
"""

from typing import Final

import msgspec

from audit_reports.statistics.verdict import Word

UNKNOWN_RULES: Final = "unknown rules"
"""What a game is called where the ledger has no readable rules of its digest."""


class Bounds(msgspec.Struct, frozen=True):
    """An interval of returns."""

    lower: float
    upper: float


class Theory(msgspec.Struct, frozen=True):
    """What a bet should return: `published_percent` as its page prints it, `computed` exactly."""

    published_percent: str | None
    computed: float


class Approved(msgspec.Struct, frozen=True):
    """The return that was approved: of which PAR sheet, its date and its document's SHA-256.

    `note` says what the rules return where that, as printed, is another figure; else None.
    """

    id: str
    date: str
    sha256: str
    percent: str
    note: str | None = None


class Part(msgspec.Struct, frozen=True):
    """What one kind of chance move, or of decision, added to a bet's return.

    `moved` counts the rounds in which it was not nil; `per_stake` is its share of the return, and
    `z` for luck how many standard errors that lies from zero. `within` is the half-width of its
    confidence sequence per stake: where it is luck it stays that near to zero at all times. None of
    too few rounds.
    `word` and `says` judge luck; None for skill, which is the player's own.
    """

    term: str
    kind: str
    moved: int
    total_minor: float
    per_stake: float
    z: float | None
    within: float | None
    word: Word | None
    says: str | None


class Step(msgspec.Struct, frozen=True):
    """One part of a return: where it starts, or what is added; `label` in words."""

    label: str
    value: float


class Growth(msgspec.Struct, frozen=True):
    """A bet's return as its rounds became many, with half-widths of both bands at each look."""

    rounds: tuple[int, ...]
    realised: tuple[float, ...]
    fixed: tuple[float, ...]
    anytime: tuple[float, ...]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A bet's figures, over all of the report or in one slice of it.

    The returns are None where nothing was staked; `interval` is the 95% interval of the first for a
    single look, None with fewer than two rounds or none unlike another. `expected` is what such
    play returns in the mean, theory and decisions together; of it `skill` came from the decisions,
    and `luck` beside it, which lies `luck_z` standard errors from zero. All four are None where no
    round could be followed.
    """

    bet: str
    slice: dict[str, str | None]
    rounds: int
    hands: int
    players: int
    initial_minor: int
    staked_minor: int
    paid_minor: int
    win_minor: int
    rtp_on_initial_stakes: float | None
    rtp_on_total_staked: float | None
    interval: Bounds | None
    expected: float | None
    skill: float | None
    luck: float | None
    luck_z: float | None
    voided_rounds: int
    voided_minor: int
    open_rounds: int
    held_minor: int
    resettled_rounds: int
    resettled_minor: int
    cash_minor: int | None
    incentive_minor: int | None


class BetReport(msgspec.Struct, frozen=True, kw_only=True):
    """One bet of a game, judged.

    `why` names what the word rests on. `band` is the row's `expected` ± VI / √effective_rounds,
    `anytime` the realised return's confidence sequence. `steps` lead from the theory to what was
    returned, of the `followed_rounds`. Without being `judged` there were too few rounds for any of
    its luck, or return, to be held to anything, and the word says nothing.
    """

    row: Row
    word: Word
    judged: bool
    why: tuple[str, ...]
    meaning: str
    theory: Theory | None
    approved: Approved | None
    volatility_index: float | None
    effective_rounds: float
    band: Bounds | None
    anytime: Bounds | None
    followed_rounds: int
    steps: tuple[Step, ...]
    parts: tuple[Part, ...]
    wrong_rounds: int
    wrong_minor: int
    growth: Growth | None


class Idle(msgspec.Struct, frozen=True):
    """Days, weeks or months without activity, from the first to the last of them."""

    first: str
    last: str


class GameReport(msgspec.Struct, frozen=True, kw_only=True):
    """A game under one rule set in one currency, which are never summed with others.

    `title` is "unknown rules" where the ledger has no readable rules of the digest, and says so
    where they are a `variant`, others than the game's page has. `slices` has a list of rows for
    each of what the report was asked to show figures by, `idle` those days, weeks or months without
    any, for each of these that is a span of time alone.
    """

    game: str | None
    title: str
    variant: bool
    rules_digest: str
    currency: str
    word: Word
    why: tuple[str, ...]
    bets: tuple[BetReport, ...]
    slices: dict[str, tuple[Row, ...]]
    idle: dict[str, tuple[Idle, ...]]
    days: tuple["Day", ...]


class Day(msgspec.Struct, frozen=True):
    """A day in UTC with the rows of the bets that were settled on it, none for no activity."""

    day: str
    rows: tuple[Row, ...]


class Void(msgspec.Struct, frozen=True):
    """A voided bet; `would_have_paid_minor` is what the rules would have paid, None if unknown."""

    leaf_index: int
    round: str
    game: str
    currency: str
    bet: str
    table: str | None
    at: str | None
    staked_minor: int
    would_have_paid_minor: int | None


class Held(msgspec.Struct, frozen=True):
    """A round that has not ended, and what it holds."""

    leaf_index: int
    round: str
    game: str
    currency: str
    table: str | None
    since: str
    held_minor: int


class Wrong(msgspec.Struct, frozen=True):
    """A bet paid otherwise than the rules say, or put right after a dispute."""

    leaf_index: int
    round: str
    game: str
    currency: str
    bet: str
    table: str | None
    at: str
    recorded_paid_minor: int
    paid_minor: int
    error_minor: int | None
    resettled: bool


class Shuffle(msgspec.Struct, frozen=True):
    """What the shuffle tests say, together at one level; `failed` names those that failed."""

    level: float
    shoes: int
    deals: int
    tested: int
    failed: tuple[str, ...]
    untested: int
    commitment_ages: dict[str, int]


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where the figures come from and how to make them again.

    `operator` is as whoever made the report calls it, `operators` as the rounds name them.
    `generated_at` is as it was given, None where it was not. `operator_key` is the trust anchor as
    the ledger tells it, to be compared with the key that was handed over. Leaves are counted from
    `first_leaf` to `last_leaf`, of the first `size`; a `checkpoint` covers the first
    `checkpoint_size`.
    `queries` are the files of SQL that every figure was made by, each with its SHA-256.
    """

    operator: str | None
    operators: tuple[str, ...]
    begin: str | None
    end: str | None
    first_ended: str | None
    last_ended: str | None
    generated_at: str | None
    ledger: str
    operator_key: str | None
    size: int
    first_leaf: int | None
    last_leaf: int | None
    checkpoint_size: int | None
    checkpoint: str | None
    manifest_digest: str | None
    rules: dict[str, str]
    software: str
    queries: dict[str, str]


class RtpReport(msgspec.Struct, frozen=True, kw_only=True):
    """The whole report.

    `objection` is what verification says of the first leaf that was not counted, None for a ledger
    that is whole. The last `faults` of the `findings` are of approved returns that are not what the
    rules return, of checks that must find nothing, and of how shoes were committed to and used.
    `shuffle` is None where the tests were not asked for.
    """

    format: str
    title: str
    objection: str | None
    word: Word
    headline: str
    games: tuple[GameReport, ...]
    voids: tuple[Void, ...]
    held: tuple[Held, ...]
    wrong: tuple[Wrong, ...]
    findings: tuple[str, ...]
    faults: int
    shuffle: Shuffle | None
    provenance: Provenance
