"""What a report on realised RTP says, as data: the JSON report is this, every other form is made
from it.

Amounts are minor units of the currency beside them (a unit of `shoeproof.replay.currency`), returns
are fractions of the initial stakes (0.9953 is 99.53%) rounded to a millionth, times RFC 3339 UTC,
leaf indices 0-based.
"""

from typing import Final

import msgspec

from shoeproof.audit_reports.statistics.verdict import Reading, Word
from shoeproof.ledger.leaf.events import Mode

UNKNOWN_RULES: Final = "unknown rules"
"""What a game is called where the ledger has no readable rules of its digest."""


class ReturnInterval(msgspec.Struct, frozen=True):
    """An interval of returns."""

    lower: float
    upper: float


class ExpectedReturn(msgspec.Struct, frozen=True):
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


class Component(msgspec.Struct, frozen=True):
    """What one kind of chance move, or of decision, added to a bet's return.

    `moved` counts the rounds in which it was not nil; `per_stake` is its share of the return, and
    `z` for luck how many standard errors that lies from zero, and `unit_z` the same of luck for a
    unit of stake, in which no large stake drowns others. `within` is the half-width of its
    confidence sequence per stake: where it is luck it stays that near to zero at all times. None of
    too few rounds.
    `word` and `says` judge luck in both; None for skill, which is the player's own.
    """

    term: str
    kind: str
    moved: int
    total_minor: float
    per_stake: float
    z: float | None
    unit_z: float | None
    within: float | None
    word: Word | None
    says: str | None


class ReturnStep(msgspec.Struct, frozen=True):
    """One part of a return: where it starts, or what is added; `label` in words."""

    label: str
    value: float


class ReturnOverTime(msgspec.Struct, frozen=True):
    """A bet's return as its rounds became many, with half-widths of both bands at each look."""

    rounds: tuple[int, ...]
    realised: tuple[float, ...]
    fixed: tuple[float, ...]
    anytime: tuple[float, ...]


class Rolling(msgspec.Struct, frozen=True, kw_only=True):
    """A bet's figures over the days from `first` to `last`, a rolling window, judged by themselves.

    Its level is such that all windows of all days together are never out of range, of an honest
    game, with more than the chance they share. The figures are as in a `Row`.
    """

    bet: str
    first: str
    last: str
    rounds: int
    initial_minor: int
    rtp_on_initial_stakes: float | None
    interval: ReturnInterval | None
    expected: float | None
    luck_z: float | None
    word: Word
    why: tuple[str, ...]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A bet's figures, over all of the report or in one slice of it.

    The returns are None where nothing was staked; `interval` is the 95% interval of the first for a
    single look, None of too few rounds, or none unlike another. `expected` is what such
    play returns in the mean, theory and decisions together; of it `skill` came from the decisions,
    and `luck` beside it, which lies `luck_z` standard errors from zero. All four are None where no
    round could be followed.
    A slice is judged by itself, at a level that all slices of the game share: `why` says what its
    `word` rests on where that is out of range or to be watched, `kinds` has the z of luck for a
    unit of stake, kind by kind (`unit_hit`) and together, and of events (`dealer_bust`). Of those
    with enough rounds `furthest` lies that far from zero. Of a slice that is a day, `rolling` are
    the 30 days to it.
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
    interval: ReturnInterval | None
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
    word: Word | None = None
    why: tuple[str, ...] = ()
    kinds: dict[str, float] = {}
    furthest: float | None = None
    rolling: Rolling | None = None


class BetReport(msgspec.Struct, frozen=True, kw_only=True):
    """One bet of a game, judged.

    `why` names what the word rests on, one or more of its `readings`. `band` is the row's
    `expected` ± VI / √effective_rounds, `anytime` the realised return's confidence sequence, both
    None of too few rounds. `steps` lead from the theory to what was returned, of the
    `followed_rounds`. Bets of `wrong_rounds`
    were not paid as the rules say, hands of them `underpaid_minor` too little and others
    `overpaid_minor` too much, which comes to `wrong_minor` too much. In `wallet_rounds` the
    wallet moved amounts other than those booked, `wallet_minor` more to the players in all, and
    `wallet_rtp` is the return by what it moved, None where that is the one counted. `last_leaf` is
    the last of the closed rounds' leaves, −1 of none.
    """

    row: Row
    word: Word
    why: tuple[str, ...]
    readings: tuple[Reading, ...]
    meaning: str
    theory: ExpectedReturn | None
    approved: Approved | None
    volatility_index: float | None
    effective_rounds: float
    band: ReturnInterval | None
    anytime: ReturnInterval | None
    followed_rounds: int
    steps: tuple[ReturnStep, ...]
    parts: tuple[Component, ...]
    wrong_rounds: int
    wrong_minor: int
    underpaid_minor: int
    overpaid_minor: int
    wallet_rounds: int
    wallet_minor: int
    wallet_rtp: float | None
    growth: ReturnOverTime | None
    last_leaf: int


class Idle(msgspec.Struct, frozen=True):
    """Days, weeks or months without activity, from the first to the last of them."""

    first: str
    last: str


class GameReport(msgspec.Struct, frozen=True, kw_only=True):
    """A game under one rule set in one currency, which are never summed with others.

    `title` is "unknown rules" where the ledger has no readable rules of the digest, and says so
    where they are a `variant`, others than the game's page has. `slices` has a list of rows for
    each of what the report was asked to show figures by, `idle` those days, weeks or months without
    any, for each of these that is a span of time alone. `rolling` are the 30 days to the last day,
    of each bet with a round in them, and `left` of each bet the first window that was out of range.
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
    rolling: tuple[Rolling, ...] = ()
    left: tuple[Rolling, ...] = ()


class Day(msgspec.Struct, frozen=True):
    """A day with the rows of the bets that were settled on it, none for no activity.

    It is one of the time zone that the provenance names.
    """

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


class VoidSums(msgspec.Struct, frozen=True):
    """What all voided bets of one kind would have come to, beside those that were played.

    Of `voided` bets the outcome of `known`, with `known_staked_minor` on them, is known: they would
    have been paid `known_paid_minor`. Of them `ended` are of rounds that wanted no more decisions,
    and `won` of these would have won; of the `played` bets until then `played_won` won.
    """

    game: str
    rules_digest: str
    currency: str
    bet: str
    voided: int
    known: int
    known_staked_minor: int
    known_paid_minor: int
    ended: int
    won: int
    played: int
    played_won: int


class Kept(msgspec.Struct, frozen=True):
    """An act that offers withheld from players, or showed at values that the rules' table lacks.

    It was `offered`, and kept back for reasons that are `believed` (the player hid it, or a balance
    confirms that money was lacking), for lack of money that no balance confirms (`unborne`), or
    otherwise (`withheld`). `low_offers` and `high_offers` were `low_minor` below and `high_minor`
    above the table in all. `leaf_index` is the first offer that is not believed, None without any.
    """

    game: str
    rules_digest: str
    currency: str
    act: str
    offered: int
    believed: int
    unborne: int
    withheld: int
    low_offers: int
    low_minor: int
    high_offers: int
    high_minor: int
    leaf_index: int | None


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
    """A bet not paid as the rules say, or put right after a dispute."""

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


class WalletDifference(msgspec.Struct, frozen=True):
    """A bet for which the wallet moved amounts other than those booked, in `movements` of them.

    `net_minor` is what the player was moved more than is counted; it `is_put_right` where what was
    booked later made up for it. `mode` is "fun" for money in a round for fun, where none is due.
    """

    leaf_index: int
    round: str
    game: str
    currency: str
    mode: Mode
    bet: str
    table: str | None
    at: str | None
    movements: int
    net_minor: int
    is_put_right: bool


class Award(msgspec.Struct, frozen=True):
    """Money paid beyond what is due, by an adjudicator's award or in goodwill; in no return.

    `round` is a complaint, and `game` None, where no single round was complained of; `hand` and
    `bet` are None of a sum. `moved_minor` is what the wallet moved where that is another amount.
    """

    leaf_index: int
    at: str
    round: str
    game: str | None
    currency: str
    hand: str | None
    bet: str | None
    amount_minor: int
    moved_minor: int | None
    remedy: str | None


class Accounted(msgspec.Struct, frozen=True):
    """What became of the rounds of a game that were opened: one sum.

    `counted` ended with a bet that was played, `void` with none; `open` have not ended, `fun` are
    no real money, `unstaked` ended without any stake.
    """

    game: str
    rules_digest: str
    currency: str
    opened: int
    counted: int
    void: int
    open: int
    fun: int
    unstaked: int


class Judged(msgspec.Struct, frozen=True):
    """What was counted, judged: all rounds accounted for, games, what was paid apart from them, and
    findings that no game's verdict tells of.
    """

    rounds: tuple[Accounted, ...]
    games: tuple[GameReport, ...]
    awards: tuple[Award, ...]
    findings: tuple[str, ...]


class Shuffle(msgspec.Struct, frozen=True):
    """What the shuffle tests say, together at one level; `failed` names those that failed.

    `beyond` are those of them that failed so far off that no number of looks explains it.
    """

    level: float
    shoes: int
    deals: int
    tested: int
    failed: tuple[str, ...]
    beyond: tuple[str, ...]
    untested: int
    commitment_ages: dict[str, int]


class CountedLedger(msgspec.Struct, frozen=True, kw_only=True):
    """A ledger that figures were counted from: its first `size` leaves.

    `operator_key` is the trust anchor as the ledger tells it, to be compared with the key that was
    handed over. A `checkpoint` covers the first `checkpoint_size` leaves; `manifest_digest` is the
    SHA-256 of the manifest of its tables.
    """

    ledger: str
    operator_key: str | None
    size: int
    checkpoint_size: int | None
    checkpoint: str | None
    manifest_digest: str


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where the figures come from and how to make them again.

    `operator` is as the maker of the report calls it, `operators` as the rounds name them.
    Days, weeks and months are those of `zone`, times are UTC whatever it is.
    `generated_at` is as it was given, None where it was not. Leaves are counted from `first_leaf`
    to `last_leaf`, of `size` that all `ledgers` have together: those of each are counted on from
    the ledgers before it.
    `queries` are the files of SQL that every figure was made by, each with its SHA-256.
    """

    operator: str | None
    operators: tuple[str, ...]
    begin: str | None
    end: str | None
    zone: str
    first_ended: str | None
    last_ended: str | None
    generated_at: str | None
    ledgers: tuple[CountedLedger, ...]
    size: int
    first_leaf: int | None
    last_leaf: int | None
    rules: dict[str, str]
    software: str
    queries: dict[str, str]


class RtpReport(msgspec.Struct, frozen=True, kw_only=True):
    """The whole report.

    `objection` is what verification says of the first leaf that was not counted, None for a ledger
    that is whole. The last `faults` of the `findings` are of money that moved for fun or by awards
    otherwise than booked, of approved returns that are not what the rules return, of checks that
    must find nothing, and of how shoes were committed to and used.
    `shuffle` is None where the tests were not asked for.
    """

    format: str
    title: str
    objection: str | None
    word: Word
    headline: str
    rounds: tuple[Accounted, ...]
    games: tuple[GameReport, ...]
    voids: tuple[Void, ...]
    void_sums: tuple[VoidSums, ...]
    offers: tuple[Kept, ...]
    held: tuple[Held, ...]
    wrong: tuple[Wrong, ...]
    wallet: tuple[WalletDifference, ...]
    awards: tuple[Award, ...]
    findings: tuple[str, ...]
    faults: int
    shuffle: Shuffle | None
    provenance: Provenance
