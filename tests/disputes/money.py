"""Rounds with known amounts, what was assessed of them, and whose keys decide."""

from collections.abc import Iterable
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import UnknownStream
from shoeproof.ledger.keys.key import FileSigner, PublicKey, Signer
from shoeproof.ledger.leaf.events import (
    Awarded,
    BetResettled,
    EventData,
    Refunded,
    Role,
    RoundOpened,
)
from shoeproof.ledger.leaf.recorded import Recorded
from shoeproof.ledger.rotation import add_key
from shoeproof.replay.cases.assessment import (
    REMEDIES,
    Assessment,
    BetPrice,
    Remedy,
    RemedyName,
    Source,
)
from shoeproof.replay.cases.case import Case, dispute_stream, fold_cases, key_names
from shoeproof.replay.disputes.decide import Plan, plan_award, plan_decision, plan_goodwill
from shoeproof.replay.disputes.evidence import Evidence
from shoeproof.replay.disputes.record import carry_out, open_case
from shoeproof.replay.engine.rules import rules_digest
from shoeproof.replay.games.policies import POLICIES, policy_digest, policy_from_data
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.rounds.catalogue import add_published_games, rules_by_digest
from shoeproof.replay.rounds.money_check import Bet
from shoeproof.replay.wallet.wallet import Wallet
from tests.audit_reports import helpers as rounds
from tests.ledger.helpers import TickingClock, said

SOURCE = Source("GLI-19 v3.0", "A.6.4", "wagers go back")
MAIN = ("s1", "main")


class Staff(NamedTuple):
    """Two people who may decide, and one who may not."""

    ann: Signer
    bob: Signer
    dealer: Signer


def new_ledger() -> Ledger:
    ledger = Ledger.in_memory("tests.example/disputes", clock=TickingClock())
    add_published_games(ledger)
    return ledger


def hire(ledger: Ledger) -> Staff:
    return Staff(
        new_signer(ledger, "ann"), new_signer(ledger, "bob"), new_signer(ledger, "d", "engine")
    )


def new_signer(ledger: Ledger, name: str, role: Role = "staff") -> Signer:
    signer = FileSigner(name, Ed25519PrivateKey.generate())
    add_key(ledger, PublicKey(name, signer.public_key), [role])
    return signer


def opening(policy: str | None = "nba") -> RoundOpened:
    digest = None if policy is None else policy_digest(POLICIES[policy])
    return RoundOpened(
        rules_digest(GAMES["nba"].rules), digest, None, "t-1", None, "web", "real", "p-7f", "EUR",
        None, "build-1",
    )  # fmt: skip


def play(ledger: Ledger, events: Iterable[EventData], policy: str | None = "nba") -> str:
    """Append a round opened under a policy, and return its id."""
    _, *rest = events
    return rounds.play(ledger, [opening(policy), *rest])


def evidence_of(ledger: Ledger, round_id: str) -> Evidence:
    """The evidence of a round whose leaves are beyond doubt, at a size that no check is about."""

    def events(stream: str) -> tuple[Recorded, ...]:
        try:
            return tuple(ledger.events(stream))
        except UnknownStream:
            return ()

    return Evidence(
        round_id=round_id,
        events=events(round_id),
        holds=events(f"holds/{round_id}"),
        disputes=events(dispute_stream(round_id)),
        operations=(),
        rules=rules_by_digest(ledger),
        policies={digest: policy_from_data(data) for digest, data in ledger.policies().items()},
        integrity=(),
        size=0,
        as_of="2026-01-02T03:04:05.000000Z",
        covered=0,
    )


def price(stake: int, paid: int | None, due: int | None, bet: tuple[str, str] = MAIN) -> BetPrice:
    return BetPrice(bet[0].split(".")[0], *bet, stake, paid, due, "line")


def remedy(name: RemedyName, *bets: BetPrice, lawful: bool = True, governs: bool = False) -> Remedy:
    return Remedy(name, lawful, governs, f"why {name}", SOURCE, bets)


def assessed(round_id: str, *remedies: Remedy, money_may_move: bool = True) -> Assessment:
    """An assessment with these remedies, and with a referral where there is none."""
    names = [each.name for each in remedies]
    if "refer" not in names:
        remedies = (*remedies, remedy("refer", governs=not any(each.governs for each in remedies)))
    return Assessment(
        round=round_id,
        size=0,
        claim="settlement",
        classes=("settlement_error",),
        verdict="upheld",
        answer="",
        clause=SOURCE,
        reasons=(),
        findings=(),
        remedies=tuple(sorted(remedies, key=lambda each: REMEDIES.index(each.name))),
        operator_at_fault=True,
        money_may_move=money_may_move,
        corrected_by=None,
        shown_minor=None,
        shown_bets=(),
        touched=(),
        lacks=(),
    )


def cases_of(ledger: Ledger, round_id: str) -> tuple[Case, ...]:
    return fold_cases(evidence_of(ledger, round_id).disputes, key_names(ledger))


def planned(
    ledger: Ledger,
    assessment: Assessment,
    name: RemedyName,
    signer: Signer,
    reference: str | None = None,
) -> Plan:
    evidence = evidence_of(ledger, assessment.round)
    cases = fold_cases(evidence.disputes, key_names(ledger))
    person = key_names(ledger)[signer.key_id_hex]
    return plan_decision(evidence, assessment, cases, name, key=person, reference=reference)


def decide(
    ledger: Ledger,
    assessment: Assessment,
    name: RemedyName,
    signer: Signer,
    reference: str | None = None,
) -> list[EventData]:
    """Plan and sign a decision, and return the events it recorded."""
    return sign(ledger, planned(ledger, assessment, name, signer, reference), signer)


def award(
    ledger: Ledger,
    assessment: Assessment,
    minor: int,
    signer: Signer,
    bet: Bet | None = None,
    reference: str = "ADJ-1",
) -> list[EventData]:
    """Plan and sign an adjudicator's award, and return the events it recorded."""
    evidence, person = evidence_of(ledger, assessment.round), key_names(ledger)[signer.key_id_hex]
    cases = cases_of(ledger, assessment.round)
    plan = plan_award(evidence, assessment, cases, minor, key=person, reference=reference, bet=bet)
    return sign(ledger, plan, signer)


def give(ledger: Ledger, assessment: Assessment, minor: int, signer: Signer) -> list[EventData]:
    """Plan and sign goodwill, and return the events it recorded."""
    evidence, person = evidence_of(ledger, assessment.round), key_names(ledger)[signer.key_id_hex]
    cases = cases_of(ledger, assessment.round)
    plan = plan_goodwill(evidence, assessment, cases, minor, key=person, note="a long wait")
    return sign(ledger, plan, signer)


def sign(
    ledger: Ledger, plan: Plan, signer: Signer, wallet: Wallet | None = None
) -> list[EventData]:
    """Sign a plan, and return the events it recorded, without the tree their signer had seen."""
    evidence = evidence_of(ledger, plan.case.round)
    return [said(each.event.data) for each in carry_out(ledger, evidence, plan, signer, wallet)]


def moved(ledger: Ledger, round_id: str) -> list[EventData]:
    """The events that moved money in the round's cases."""
    found = [each.event.data for each in evidence_of(ledger, round_id).disputes]
    return [data for data in found if isinstance(data, BetResettled | Refunded | Awarded)]


def disputed(ledger: Ledger, events: Iterable[EventData], policy: str | None = "nba") -> str:
    """A round with one open case about it."""
    round_id = play(ledger, events, policy)
    open_case(ledger, round_id, "settlement")
    return round_id
