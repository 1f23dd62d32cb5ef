"""What a case report says, as data: the JSON report is this, HTML and text are made from it.

Amounts are minor units of `currency` (a unit of `shoeproof.replay.currency`), times RFC 3339 UTC,
leaf indices 0-based. Sentences name times as clocks of `zone` show them, and say so.
"""

from typing import Literal, NamedTuple, TypeAlias

import msgspec

from shoeproof.replay.cases.assessment import GroundName, Range, Remedy, Source, Verdict
from shoeproof.replay.currency import amount_text

Audience: TypeAlias = Literal["player", "adjudicator", "regulator"]
"""For whom a report is: a player gets a letter, without the annex and without names of staff."""


class Sums(NamedTuple):
    """What the round comes to for the player, as the headline says it.

    `paid_minor` is what was paid in all, of which `held_minor` waits until a person has verified
    the win; `moved_minor` is what the case's decision paid of it, `corrected_minor` what that of an
    earlier case did, which put right what was found. `due_minor` is what is still to be paid,
    `in_play_minor` what of the stakes play has yet to decide where the round `is_open`. `is_shown`
    tells whether a wallet's answers show that money moved.
    """

    paid_minor: int
    due_minor: int
    moved_minor: int
    corrected_minor: int
    held_minor: int
    in_play_minor: int
    currency: str
    is_open: bool
    is_void: bool
    is_dealt: bool
    is_shown: bool

    def text(self, minor: int) -> str:
        """Return an amount of these as people write it."""
        return amount_text(minor, self.currency)


class ReportedBet(msgspec.Struct, frozen=True):
    """One bet by the remedy that governs: its stake, what was paid, what is due and why.

    `paid_minor` is None while the bet is open, `due_minor` where play or an adjudicator has yet to
    decide it. `moved_minor` is what the case's decision paid for it, `to_pay_minor` what is still
    to be paid. `why` is the ground in words.
    """

    seat: str
    hand: str
    bet: str
    stake_minor: int
    paid_minor: int | None
    due_minor: int | None
    moved_minor: int
    to_pay_minor: int
    line: str | None
    ground: GroundName | None
    why: str
    source: Source | None
    could_have: Range | None


class ReportedHand(msgspec.Struct, frozen=True):
    """One hand, or the dealer's, at a moment; `total` in words, `stake_minor` None for the dealer.

    A card that nobody had seen is `??`. `marked` is the 0-based place of the card in dispute.
    """

    name: str
    cards: tuple[str, ...]
    total: str
    stake_minor: int | None
    marked: int | None = None


class TableView(msgspec.Struct, frozen=True):
    """The table as it stood after the event at a leaf."""

    label: str
    leaf_index: int
    dealer: ReportedHand
    hands: tuple[ReportedHand, ...]


class DisputedCard(msgspec.Struct, frozen=True):
    """The card at the first fault of the deal, and what the committed shoe has at its place.

    `card` is the one dealt or shown, `??` where nobody saw it; `shoe_card` is None where the shoe
    is not known. `shoe_index` counts the shoe's cards from 0.
    """

    leaf_index: int
    receiver: str
    shoe_index: int | None
    card: str
    shoe_card: str | None
    says: str


class CaseHistory(msgspec.Struct, frozen=True):
    """The case a report is about; `late` says in a sentence what came too late, None for nothing.

    `decided_at` is None until a decision stands.
    """

    case: str
    claim: str
    note: str | None
    attachments: dict[str, str]
    received_at: str
    opened_at: str
    deadline: str | None
    decided_at: str | None
    late: str | None
    state: str
    remedy: str | None
    reference: str | None


class Receipt(msgspec.Struct, frozen=True):
    """The bundle that goes with a report: the name of its file, its SHA-256 and its bytes."""

    name: str
    sha256: str
    content: bytes


class FindingView(msgspec.Struct, frozen=True):
    """One finding: its code, what it says, and where."""

    code: str
    says: str
    leaf_index: int | None


class TimelineRow(msgspec.Struct, frozen=True):
    """One event about the round; `signed_by` is the key's name."""

    leaf_index: int
    stream: str
    seq: int
    at: str
    actor: str
    says: str
    signed_by: str
    is_fault: bool


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


class Money(msgspec.Struct, frozen=True):
    """The player's funds (GLI-19 v3.0, 4.14.2); balances are None where the wallet told none.

    `returned_minor` is what a void sent back.
    """

    balance_before_minor: int | None
    balance_after_minor: int | None
    wagered_minor: int
    won_minor: int
    returned_minor: int
    paid_by_decision_minor: int


class RuleText(msgspec.Struct, frozen=True):
    """One clause in force, in this project's words, with the section it is from."""

    section: str
    says: str
    assumed: bool


class Authorised(msgspec.Struct, frozen=True):
    """One signature under a case: when, what for, and whose."""

    at: str
    what: str
    by: str


class IncidentReport(msgspec.Struct, frozen=True):
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


class Annex(msgspec.Struct, frozen=True, kw_only=True):
    """What an adjudicator and a regulator are told besides: everything the verdict rests on.

    `other_rounds` names rounds with the same fault. Sources and clauses that are assumed come last.
    """

    circumstances: dict[str, str]
    classes: tuple[str, ...]
    findings: tuple[FindingView, ...]
    basis: tuple[str, ...]
    remedies: tuple[Remedy, ...]
    sources: tuple[Source, ...]
    timeline: tuple[TimelineRow, ...]
    offers: tuple[Offer, ...]
    platform_decisions: tuple[str, ...]
    money: Money
    other_rounds: tuple[str, ...]
    incident: IncidentReport | None
    rules_digest: str
    rules_text: tuple[RuleText, ...]
    lacks: tuple[str, ...]
    authorised: tuple[Authorised, ...]
    proof: Proof


class CaseReport(msgspec.Struct, frozen=True, kw_only=True):
    """A whole report; `as_of` is the time of the last leaf it rests on, so equal input makes
    the same report.

    `headline` says what the round comes to for the player, `answer` answers what was asked, and
    `clause` is what the answer rests on. `verdict` is None where nobody complained. `found` says in
    plain words what was found, `next_steps` what happens now, `since` what came after the decision
    this report is frozen to. `paid_minor` and those beside it are the headline's (`Sums`);
    `beside_bets_minor` is what the decision paid as a sum. A player gets no `annex`. `commands` are
    those by which the receipt is checked.
    """

    format: Literal["shoeproof/case-report/v2"]
    audience: Audience
    as_of: str
    zone: str
    round: str
    played_at: str | None
    game: str
    currency: str
    headline: str
    answer: str
    clause: Source
    verdict: Verdict | None
    case: CaseHistory | None
    paid_minor: int
    due_minor: int
    moved_minor: int
    held_minor: int
    beside_bets_minor: int
    bets: tuple[ReportedBet, ...]
    tables: tuple[TableView, ...]
    disputed_card: DisputedCard | None
    found: tuple[str, ...]
    next_steps: tuple[str, ...]
    since: tuple[str, ...]
    receipt: Receipt | None
    commands: tuple[str, ...]
    annex: Annex | None
