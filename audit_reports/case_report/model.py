"""What a case report says, as data: the JSON report is this, HTML and text are made from it.

Amounts are minor units of `currency`, times RFC 3339 UTC, leaf indices 0-based.
"""

from typing import Literal, TypeAlias

import msgspec

from replay.disputes.assessment import Remedy, Source, Verdict

Audience: TypeAlias = Literal["player", "adjudicator", "regulator"]
"""For whom a report is: a player gets no names of staff and nothing of other players."""


class TimelineRow(msgspec.Struct, frozen=True):
    """One event about the round; `signed_by` is the key's name, its role alone for a player."""

    leaf_index: int
    stream: str
    seq: int
    at: str
    actor: str
    says: str
    signed_by: str
    is_fault: bool


class HandView(msgspec.Struct, frozen=True):
    """One hand, or the dealer's, at a moment; `total` in words, `stake_minor` None for the dealer.

    A card that nobody had seen is `??`.
    """

    name: str
    cards: tuple[str, ...]
    total: str
    stake_minor: int | None


class TableView(msgspec.Struct, frozen=True):
    """The table as it stood after the event at a leaf."""

    label: str
    leaf_index: int
    dealer: HandView
    hands: tuple[HandView, ...]


class Offer(msgspec.Struct, frozen=True):
    """What the player could choose from, and what was chosen; None while nothing was."""

    at: str
    hand: str
    legal: tuple[str, ...]
    barred: dict[str, str]
    cash_out_minor: int | None
    deadline: str | None
    chosen: str | None
    chosen_by: str | None


class BetView(msgspec.Struct, frozen=True):
    """One bet: what the rules pay on the cards and acts recorded, and what was paid.

    `moved_minor` is what decisions have paid since. None is not decided, or not recorded.
    """

    seat: str
    hand: str
    bet: str
    stake_minor: int
    expected_minor: int | None
    expected_line: str | None
    paid_minor: int | None
    paid_line: str | None
    moved_minor: int


class Money(msgspec.Struct, frozen=True):
    """The player's funds (GLI-19 v3.0, 4.14.2); balances are None where the wallet told none."""

    balance_before_minor: int | None
    balance_after_minor: int | None
    wagered_minor: int
    won_minor: int
    paid_by_decision_minor: int


class RuleText(msgspec.Struct, frozen=True):
    """One clause in force, in this project's words, with the section it is from."""

    section: str
    says: str
    assumed: bool


class Authorised(msgspec.Struct, frozen=True):
    """One signature under a decision: when, what for, and by whom as far as the reader may know."""

    at: str
    what: str
    by: str


class CaseHistory(msgspec.Struct, frozen=True):
    """The case a report is about."""

    case: str
    opened_at: str
    claim: str
    note: str | None
    attachments: dict[str, str]
    deadline: str | None
    state: str
    reference: str | None


class Incident(msgspec.Struct, frozen=True):
    """What a regulator is told of a fault: what happened, how far it reached, what was done."""

    summary: str
    rounds_affected: int
    software_build: str | None
    table: str | None
    game_disabled: str
    operations: tuple[str, ...]


class Proof(msgspec.Struct, frozen=True):
    """How the report can be checked without trusting who sent it.

    `checkpoint` is the last signed one that covers leaves of the round, as text, None where none
    was signed. `uncovered` lists the round's leaves that it does not cover.
    """

    ledger: str
    tree_size: int
    leaf_indices: tuple[int, ...]
    checkpoint: str | None
    uncovered: tuple[int, ...]
    commands: tuple[str, ...]


class CaseReport(msgspec.Struct, frozen=True, kw_only=True):
    """A whole report; `as_of` is the time of the ledger's last leaf, so equal input makes it anew.

    `other_rounds` names rounds with the same fault, for a player only how many there are.
    """

    format: Literal["shoeproof/case-report/v1"]
    audience: Audience
    as_of: str
    round: str
    game: str
    case: CaseHistory | None
    verdict: Verdict
    headline: str
    amount_minor: int | None
    currency: str
    circumstances: dict[str, str]
    classes: tuple[str, ...]
    reasons: tuple[str, ...]
    governing: Remedy
    basis: tuple[str, ...]
    timeline: tuple[TimelineRow, ...]
    tables: tuple[TableView, ...]
    offers: tuple[Offer, ...]
    bets: tuple[BetView, ...]
    findings: tuple[str, ...]
    remedies: tuple[Remedy, ...]
    sources: tuple[Source, ...]
    other_rounds: tuple[str, ...]
    other_rounds_count: int
    money: Money
    platform_decisions: tuple[str, ...]
    rules_digest: str
    rules_text: tuple[RuleText, ...]
    lacks: tuple[str, ...]
    authorised: tuple[Authorised, ...]
    incident: Incident | None
    proof: Proof
