"""What a report on a fault says. Amounts are minor units; currencies and rules are never summed."""

from typing import Literal, TypeAlias

import msgspec

from shoeproof.audit_reports.fault_report.judged import JudgedRound

By: TypeAlias = Literal["all", "build", "table"]
"""What a row of returns is of: every round of the span, those of one build, those of one table."""


class MoneyRow(msgspec.Struct, frozen=True, kw_only=True):
    """What the fault moved wrongly in one currency: two sums, never netted.

    `underpaid_minor` is `put_right_minor`, paid by decided cases, and `owed_minor` together.
    """

    currency: str
    rounds: int
    wrong_rounds: int
    players: int
    wrong_players: int
    staked_minor: int
    paid_minor: int
    underpaid_minor: int
    overpaid_minor: int
    put_right_minor: int
    owed_minor: int


class ReturnRow(msgspec.Struct, frozen=True, kw_only=True):
    """The return of one bet on initial stakes, over closed rounds for real money as they booked it.

    `rtp` is with the touched rounds, `rtp_touched` that of them alone, `rtp_without` without them,
    `rtp_right` with all of them paid as the judge has it; None where nothing was staked.
    """

    by: By
    name: str | None
    game: str | None
    rules_digest: str
    currency: str
    bet: str
    rounds: int
    touched_rounds: int
    initial_minor: int
    staked_minor: int
    paid_minor: int
    touched_initial_minor: int
    touched_staked_minor: int
    touched_paid_minor: int
    right_paid_minor: int
    rtp: float | None
    rtp_touched: float | None
    rtp_without: float | None
    rtp_right: float | None


class PlayerRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one player is owed in one currency, over the rounds with something wrong."""

    player: str
    currency: str
    rounds: int
    underpaid_minor: int
    overpaid_minor: int
    put_right_minor: int
    owed_minor: int
    waiting_rounds: int


class FindingRow(msgspec.Struct, frozen=True):
    """In how many of the touched rounds something was found."""

    code: str
    rounds: int


class Basis(msgspec.Struct, frozen=True, kw_only=True):
    """What the figures are of, and how to repeat them.

    `root` is lower hex of the root of the tree of the first `size` leaves; `is_held` tells that a
    checkpoint which was kept says so too, `is_anchored` that the operator's key was given.
    """

    ledger: str
    operator_key: str | None
    size: int
    root: str
    is_held: bool
    is_anchored: bool
    begin: str | None
    end: str | None
    command: str
    software: str


class FaultReport(msgspec.Struct, frozen=True, kw_only=True):
    """The blast radius of one fault.

    `all_rounds` are those of the span, `rounds` those the fault touched, `wrong_rounds` those of
    them with something wrong. `first_at` and `last_at` are when the first and the last touched
    round was opened. `judged` are the touched rounds that were judged one by one; of the others an
    audit shows that they were paid rightly. `fun_rounds`, `open_rounds` and `void_rounds` are among
    those touched.
    """

    title: str
    fault: str
    words: str
    headline: str
    basis: Basis
    all_rounds: int
    rounds: int
    wrong_rounds: int
    players: int
    wrong_players: int
    fun_rounds: int
    open_rounds: int
    void_rounds: int
    first_at: str | None
    last_at: str | None
    money: tuple[MoneyRow, ...]
    findings: tuple[FindingRow, ...]
    returns: tuple[ReturnRow, ...]
    players_owed: tuple[PlayerRow, ...]
    judged: tuple[JudgedRound, ...]
    waiting_rounds: int
    lacks: tuple[str, ...]

    @property
    def wrong(self) -> tuple[JudgedRound, ...]:
        """The rounds with something wrong, in the order they were opened."""
        return tuple(each for each in self.judged if each.is_wrong)

    @property
    def is_due(self) -> bool:
        """Whether anything is still to be paid, or waits for an adjudicator."""
        return bool(self.waiting_rounds) or any(each.owed_minor for each in self.money)
