"""What a decision of a case would record and pay: pure, and refused unless everything allows it.

A remedy is paid as it was assessed and never by an amount somebody names. The one that governs
needs one key, two above the policy's limit. Another lawful one is an adjudicator's to choose: it
needs the reference of that decision and two keys. What a bet was paid includes what earlier cases
moved for it, and nothing is ever taken back from a player.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from ledger import Recorded
from ledger.events import (
    CLOSING,
    BetResettled,
    BetSettled,
    DealRequested,
    DecisionMade,
    DisputeDecided,
    EventData,
    Funds,
    Refund,
    Refunded,
    RoundOpened,
    RoundVoided,
    ShoeRevealed,
    Stakes,
    StakesPlaced,
)
from replay.currency import amount_text
from replay.disputes.assessment import Assessment, BetPrice, Remedy, RemedyName
from replay.disputes.bets import SURPLUS
from replay.disputes.cases import Case
from replay.disputes.evidence import Evidence, currency_of
from replay.errors import DisputeRefused
from replay.money_check import Bet
from replay.policies import Policy
from replay.replayer import replay_round

_PLAYED: Final[frozenset[RemedyName]] = frozenset({"honour", "resume", "apply_default"})
"""Remedies that the table carries out where the round is open, by playing and settling it."""


class Move(msgspec.Struct, frozen=True):
    """What one bet was paid so far, and what it comes to by a decision."""

    price: BetPrice
    before_minor: int
    after_minor: int

    @property
    def amount_minor(self) -> int:
        """Return what moves to the player."""
        return self.after_minor - self.before_minor

    @property
    def is_win(self) -> bool:
        """Tell whether what moves exceeds the stake, and so is no refund."""
        return self.amount_minor > 0 and self.after_minor > self.price.stake_minor


class Plan(msgspec.Struct, frozen=True):
    """A decision that may be signed: what it says, and what it moves once it stands.

    `confirms` are the names of the keys that signed the same before; `stands` is whether the next
    signature is the last one needed, with which the money moves. `voids_open_round` is whether it
    ends a round that is still open. The two `last_seq` are those of the last events it rests on.
    """

    case: Case
    decided: DisputeDecided
    moves: tuple[Move, ...]
    confirms: tuple[str, ...]
    stands: bool
    voids_open_round: bool
    round_last_seq: int
    dispute_last_seq: int


def plan_decision(
    evidence: Evidence,
    assessment: Assessment,
    cases: Sequence[Case],
    remedy: RemedyName,
    *,
    key: str,
    reference: str | None = None,
) -> Plan:
    """Return what deciding the last of `cases` by `remedy` would record and pay.

    `key` is the name of the key that would sign, `reference` that of an adjudicator's decision: who
    then honours a round assessed against a screen pays what the screen showed.
    Raises DisputeRefused when the case is decided already, the remedy is not on the list or not
    lawful, the evidence lets no money move, a remedy that does not govern comes without a
    reference, a refund would exceed its stake, or the same key would sign twice.
    """
    if assessment.size != evidence.size:
        raise DisputeRefused("the ledger went on since the round was assessed: assess it again")
    case = _undecided(cases, assessment)
    chosen = _choose(assessment, remedy, reference)
    if remedy == "refer" and case.state == "referred":
        raise DisputeRefused(f"the case {case.id} is referred already: it waits for the reference")
    if remedy != "refer" and not assessment.money_may_move:
        raise DisputeRefused(
            "evidence of this round is forged or missing: no money moves on it; refer the case"
        )
    moves = _moves(evidence, chosen)
    amount = sum(move.amount_minor for move in moves)
    decided = DisputeDecided(
        round=case.round,
        findings=sorted({finding.code for finding in assessment.findings}),
        clause=f"{chosen.source.document}, {chosen.source.section}".rstrip(", "),
        verdict=assessment.verdict,
        remedy=remedy,
        reference=reference,
        amount_minor=amount,
        keys_needed=keys_needed(_policy(evidence), remedy, amount, reference),
    )
    confirms = _same_before(case, decided)
    if key in confirms:
        raise DisputeRefused(
            f"{key} has signed this decision already: it needs the key of another person"
        )
    return Plan(
        case=case,
        decided=decided,
        moves=moves,
        confirms=confirms,
        stands=len(confirms) + 1 >= decided.keys_needed,
        voids_open_round=remedy == "void" and not has_ended(evidence),
        round_last_seq=evidence.events[-1].event.seq if evidence.events else -1,
        dispute_last_seq=evidence.disputes[-1].event.seq,
    )


def payments(plan: Plan, funds: Mapping[Bet, Funds]) -> list[EventData]:
    """Return the events in the case's stream that move a plan's money.

    A void names every bet, also one for which nothing more goes back: it counts for nothing. Where
    it ends an open round, only what the wallet took beyond the stakes goes back here.
    """
    events: list[EventData] = []
    for move in plan.moves:
        if plan.voids_open_round and move.price.bet != SURPLUS:
            continue
        bet = move.price
        moved = funds.get((bet.hand, bet.bet))
        if plan.decided.remedy == "void" and not move.is_win:
            amount = move.amount_minor
            events.append(Refunded(plan.case.round, bet.hand, bet.bet, amount, moved))
        elif move.amount_minor:
            events.append(
                BetResettled(
                    round=plan.case.round,
                    seat=bet.seat,
                    hand=bet.hand,
                    bet=bet.bet,
                    stake_minor=bet.stake_minor,
                    paid_before_minor=move.before_minor,
                    paid_minor=move.after_minor,
                    line=bet.line or "",
                    funds=moved,
                )
            )
    return events


def voiding(plan: Plan, seed: str | None, funds: Mapping[Bet, Funds]) -> list[EventData]:
    """Return the events that end an open round by voiding it.

    A bet decided before the fault is settled first. `seed` is the round's server seed in lower hex,
    None where it does not open any more.
    """
    events: list[EventData] = []
    for bet, after in [(move.price, move.after_minor) for move in plan.moves if move.is_win]:
        moved = funds.get((bet.hand, bet.bet))
        line = bet.line or ""
        stake = bet.stake_minor
        events.append(BetSettled(bet.seat, bet.hand, bet.bet, stake, after, line, moved))
    if seed is not None:
        events.append(ShoeRevealed(seed))
    refunds = [
        Refund(move.price.hand, move.price.bet, move.amount_minor)
        for move in plan.moves
        if move.amount_minor and not move.is_win and move.price.bet != SURPLUS
    ]
    basis = (f"case {plan.case.id}", plan.decided.clause, plan.decided.reference)
    return [*events, RoundVoided(", ".join(filter(None, basis)), refunds)]


def keys_needed(
    policy: Policy | None, remedy: str, amount_minor: int, reference: str | None
) -> int:
    """Return how many persons must sign a decision.

    `policy` is the round's, None where the ledger does not carry it: nobody said then how much one
    person may move. A referral moves nothing and needs one.
    """
    if remedy == "refer":
        return 1
    if reference is not None:
        return 2
    limit = 0 if policy is None else policy.two_keys_above_minor
    return 2 if limit is not None and amount_minor > limit else 1


def staked_minor(events: Sequence[Recorded]) -> int:
    """Return all that a round was staked by its events, or debited where that is more."""
    laid = added = 0
    for recorded in events:
        match recorded.event.data:
            case StakesPlaced(stakes=stakes):
                laid = _total(stakes)
            case DealRequested(stakes=stakes, funds=funds):
                laid = max(_total(stakes), _taken(funds))
            case DecisionMade(added_stake_minor=stake, funds=funds):
                added += max(stake, _taken(funds))
    return laid + added


def _total(stakes: Stakes) -> int:
    return sum(sum(bets.values()) for bets in stakes.values())


def _taken(funds: Funds | None) -> int:
    return 0 if funds is None else funds.cash_minor + funds.incentive_minor


def _undecided(cases: Sequence[Case], assessment: Assessment) -> Case:
    if not cases:
        raise DisputeRefused(f"there is no case about {assessment.round}: open one first")
    case = cases[-1]
    if case.round != assessment.round:
        raise DisputeRefused(f"the case {case.id} is about another round than was assessed")
    if case.state == "decided":
        remedy = case.decisions[-1].data.remedy
        raise DisputeRefused(
            f"the case {case.id} was decided ({remedy}, {case.decided_at}): a case is decided once"
        )
    return case


def _choose(assessment: Assessment, name: RemedyName, reference: str | None) -> Remedy:
    found = [remedy for remedy in assessment.remedies if remedy.name == name]
    lawful = [remedy.name for remedy in assessment.remedies if remedy.lawful]
    if not found:
        listed = ", ".join(lawful) or "none"
        raise DisputeRefused(f"{name} is no remedy of this round; lawful here: {listed}")
    chosen = found[0]
    if name == "honour" and reference and assessment.shown_bets:
        return _as_shown(assessment, chosen)
    if not chosen.lawful:
        raise DisputeRefused(f"{name} is not lawful here: {chosen.why}")
    if name != "refer" and not chosen.governs and not reference:
        raise DisputeRefused(
            f"{assessment.governing.name} governs here, not {name}: only an adjudicator may choose "
            "another remedy; give the reference of that decision"
        )
    return chosen


def _as_shown(assessment: Assessment, honour: Remedy) -> Remedy:
    """Return what honouring the screen comes to; what the ledger's outcome allows binds it not."""
    known = {(bet.hand, bet.bet) for bet in honour.bets}
    for bet in assessment.shown_bets:
        if (bet.hand, bet.bet) not in known:
            raise DisputeRefused(
                f"the screen shows {bet.bet} of {bet.hand}, a bet that this round does not have"
            )
    return msgspec.structs.replace(honour, bets=assessment.shown_bets)


def _moves(evidence: Evidence, chosen: Remedy) -> tuple[Move, ...]:
    if chosen.name == "refer" or (chosen.name in _PLAYED and not has_ended(evidence)):
        return ()
    moves = []
    for price in chosen.bets:
        before = price.paid_minor or 0
        # What play has yet to decide moves nothing here.
        due = before if price.due_minor is None else price.due_minor
        moves.append(Move(price, before, max(before, due)))
    if chosen.name == "void":
        _check_refunds(evidence, moves)
    elif not has_ended(evidence):
        # The table settles what is not settled yet.
        moves = [
            move for move in moves if move.price.paid_minor is not None or move.price.bet == SURPLUS
        ]
    return tuple(moves)


def _check_refunds(evidence: Evidence, moves: Sequence[Move]) -> None:
    """Refuse refunds above the stakes; a bet decided before the fault may come to what it won."""
    currency = currency_of(evidence)
    won: dict[Bet, int | None] = {}
    if any(move.is_win for move in moves):
        expected = replay_round(evidence.events, evidence.rules).expected
        won = {(each.hand, each.bet): each.paid_minor for each in expected}
    for move in moves:
        price = move.price
        if move.is_win and won.get((price.hand, price.bet)) != move.after_minor:
            raise DisputeRefused(
                f"a refund of {amount_text(move.after_minor, currency)} for {price.bet} of "
                f"{price.hand} is above the stake of {amount_text(price.stake_minor, currency)}: "
                "nothing was recorded"
            )
    staked = staked_minor(evidence.events)
    refunded = sum(move.amount_minor for move in moves if not move.is_win)
    if refunded > staked:
        back, laid = amount_text(refunded, currency), amount_text(staked, currency)
        raise DisputeRefused(f"refunds of {back} are above the {laid} that was staked")


def _policy(evidence: Evidence) -> Policy | None:
    opened = evidence.events[0].event.data if evidence.events else None
    digest = opened.policy_digest if isinstance(opened, RoundOpened) else None
    return None if digest is None else evidence.policies.get(digest)


def _same_before(case: Case, decided: DisputeDecided) -> tuple[str, ...]:
    if case.state != "awaiting_second_key" or case.decisions[-1].data != decided:
        return ()
    return case.decisions[-1].keys


def round_opened(evidence: Evidence) -> RoundOpened:
    """Return how the round was opened; raises DisputeRefused where no such event verifies."""
    opened = evidence.events[0].event.data if evidence.events else None
    if not isinstance(opened, RoundOpened):
        raise DisputeRefused("what opened this round is missing or forged: nobody can be paid")
    return opened


def has_ended(evidence: Evidence) -> bool:
    """Tell whether the round was closed or voided, so that nothing may follow in its stream."""
    return any(recorded.event.type in CLOSING for recorded in evidence.events)
