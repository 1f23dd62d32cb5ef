"""What a decision of a case would record and pay: pure, and refused unless everything allows it.

A remedy is paid as it was assessed and never by an amount somebody names. The one that governs
needs one person, two above the policy's limit or where the planner asks for two. All else is
an adjudicator's, and needs the reference of that decision and two persons: another lawful remedy,
or an award of any amount. What the operator gives in goodwill is named as such. What a bet was paid
includes what earlier cases moved for it, and nothing is ever taken back from a player.
"""

from collections.abc import Sequence

import msgspec

from shoeproof.ledger.leaf.events import CLOSING, DisputeDecided, RoundOpened
from shoeproof.replay.cases.assessment import Assessment, BetPrice, Remedy, RemedyName
from shoeproof.replay.cases.bounds import keys_needed, staked_minor
from shoeproof.replay.cases.case import Case, DecisionName, goodwill_minor
from shoeproof.replay.currency import amount_text
from shoeproof.replay.disputes.evidence import Evidence, currency_of
from shoeproof.replay.disputes.facts import establish
from shoeproof.replay.disputes.money import SURPLUS
from shoeproof.replay.errors import DisputeRefused
from shoeproof.replay.games.policies import Policy
from shoeproof.replay.rounds.money_check import Bet
from shoeproof.replay.rounds.narrative import decision_word


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
        """Tell whether what moves exceeds the stake, and so is not a refund."""
        return self.amount_minor > 0 and self.after_minor > self.price.stake_minor


class Plan(msgspec.Struct, frozen=True):
    """A decision that may be signed: what it says, and what it moves once it stands.

    `moves` is what it moves bet by bet, `sum_minor` what it moves beside as one sum; `currency` is
    the unit of both. `confirms` are the persons who signed the same before; `stands` is whether the
    next signature is the last one needed, with which the money moves. `ends_round` is whether it
    ends a round that is still open. The two `last_seq` are those of the last events it rests on.
    """

    case: Case
    decided: DisputeDecided
    moves: tuple[Move, ...]
    sum_minor: int
    currency: str
    confirms: tuple[str, ...]
    stands: bool
    ends_round: bool
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
    number: int | None = None,
    least_keys: int = 1,
) -> Plan:
    """Return what deciding a case by a remedy of its assessment would record and pay.

    Of all `cases` about the round, the one of that `number` is decided, by default the last that is
    not yet. `key` is the person whose key would sign (`cases.key_names`), `reference` that of an
    adjudicator's decision: a person who then honours a round assessed against a screen pays what
    the screen showed. At least `least_keys` persons must sign it, more where the policy says so.
    Raises DisputeRefused when the case is decided already, the remedy is not on the list or not
    lawful, the evidence lets no money move, a remedy that does not govern comes without a
    reference, refunds would exceed what was staked, or the same person would sign twice.
    """
    case = _undecided(cases, evidence, assessment, number)
    chosen = _choose(assessment, remedy, reference)
    if remedy == "refer" and case.state == "referred":
        raise DisputeRefused(
            f"the case {case.id} has already been referred: it waits for the "
            "adjudicator's reference"
        )
    if remedy != "refer":
        _must_be_sound(assessment)
    ends_round = _ends_round(evidence, chosen)
    moves = priced_moves(evidence, chosen)
    if remedy == "void":
        _check_refunds(evidence, moves)
    clause = chosen.source.cited
    terms = _Terms(
        case, remedy, clause, reference, moves, ends_round=ends_round, least_keys=least_keys
    )
    return _plan(evidence, assessment, cases, terms, key)


def plan_rejection(
    evidence: Evidence,
    assessment: Assessment,
    cases: Sequence[Case],
    *,
    key: str,
    number: int | None = None,
) -> Plan:
    """Return what rejecting a complaint would record: the outcome stands, nothing moves.

    Raises DisputeRefused where anything is due or still to be decided by play, where something was
    found, where the ledger cannot answer the claim, and what `plan_decision` does.
    """
    governing = assessment.governing
    if governing.moves_minor or (governing.name != "refer" and governing.due_minor is None):
        name, due = governing.name, amount_text(governing.moves_minor, currency_of(evidence))
        what = f"{due} is due under {name}" if governing.moves_minor else f"{name} governs"
        raise DisputeRefused(f"this complaint cannot be rejected: {what}")
    _must_be_sound(assessment)
    if assessment.verdict != "rejected":
        raise DisputeRefused(f"this complaint cannot be rejected: {_why_not(assessment)}")
    return plan_decision(evidence, assessment, cases, "honour", key=key, number=number)


def plan_payment(
    evidence: Evidence,
    assessment: Assessment,
    cases: Sequence[Case],
    *,
    key: str,
    number: int | None = None,
    least_keys: int = 1,
) -> Plan:
    """Return what paying what is due by the governing remedy would record.

    Raises DisputeRefused where it moves nothing, and what `plan_decision` does.
    """
    name = assessment.governing.name
    plan = plan_decision(
        evidence, assessment, cases, name, key=key, number=number, least_keys=least_keys
    )
    if not plan.decided.amount_minor:
        raise DisputeRefused(
            f"nothing is to be paid here: the governing remedy is {name}, which moves no money"
        )
    return plan


def plan_award(
    evidence: Evidence,
    assessment: Assessment,
    cases: Sequence[Case],
    amount_minor: int,
    *,
    key: str,
    reference: str,
    bet: Bet | None = None,
    number: int | None = None,
) -> Plan:
    """Return what an adjudicator's award would record and pay, whatever the assessment says.

    Without a `bet` the amount is a sum, paid beside all that was recorded; with one the bet comes
    to that amount in all, and the difference is paid. The rest is as for `plan_decision`. Raises
    DisputeRefused without a reference, where nothing would move, for a bet that the round does not
    have, that is not settled, or that was paid as much, and where what opened the round does not
    verify.
    """
    case = _undecided(cases, evidence, assessment, number)
    if not reference.strip():
        raise DisputeRefused("an award is an adjudicator's: give the reference of that decision")
    _must_move("an award", amount_minor)
    round_opened(evidence)
    clause = "adjudicator's award"
    if bet is None:
        terms = _Terms(case, "award", clause, reference, sum_minor=amount_minor)
    else:
        # The clause names the bet, so that the second person signs for the same one.
        comes_to = amount_text(amount_minor, currency_of(evidence))
        clause = f"{clause}: {bet[1]} of {bet[0]} comes to {comes_to}"
        moves = (_awarded(evidence, assessment, bet, amount_minor),)
        terms = _Terms(case, "award", clause, reference, moves)
    return _plan(evidence, assessment, cases, terms, key)


def plan_goodwill(
    evidence: Evidence,
    assessment: Assessment,
    cases: Sequence[Case],
    amount_minor: int,
    *,
    key: str,
    note: str,
    number: int | None = None,
) -> Plan:
    """Return what a sum that the operator gives of its own accord would record and pay.

    `note` says why, and is recorded as the clause. All goodwill about a round counts together
    against the policy's limit for one person. The rest is as for `plan_decision`.
    """
    case = _undecided(cases, evidence, assessment, number)
    _must_move("goodwill", amount_minor)
    _must_be_sound(assessment)
    terms = _Terms(case, "goodwill", f"goodwill: {note}", None, sum_minor=amount_minor)
    return _plan(evidence, assessment, cases, terms, key)


def plan_withdrawal(
    evidence: Evidence,
    assessment: Assessment,
    cases: Sequence[Case],
    *,
    key: str,
    note: str | None = None,
    number: int | None = None,
) -> Plan:
    """Return what closing a case that the player withdrew would record; it moves nothing."""
    case = _undecided(cases, evidence, assessment, number)
    clause = ": ".join(filter(None, ("withdrawn by the player", note)))
    return _plan(evidence, assessment, cases, _Terms(case, "withdraw", clause), key)


class _Terms(msgspec.Struct, frozen=True):
    """What distinguishes one decision of a case from another."""

    case: Case
    remedy: DecisionName
    clause: str
    reference: str | None = None
    moves: tuple[Move, ...] = ()
    sum_minor: int = 0
    ends_round: bool = False
    least_keys: int = 1


def _plan(
    evidence: Evidence, assessment: Assessment, cases: Sequence[Case], terms: _Terms, key: str
) -> Plan:
    case, remedy, currency = terms.case, terms.remedy, currency_of(evidence)
    amount = terms.sum_minor + sum(move.amount_minor for move in terms.moves)
    counted = amount + (goodwill_minor(cases) if remedy == "goodwill" else 0)
    needed = keys_needed(_policy(evidence), currency, remedy, counted, terms.reference)
    decided = DisputeDecided(
        round=case.round,
        findings=sorted({finding.code for finding in assessment.findings}),
        clause=terms.clause,
        verdict=assessment.verdict,
        remedy=remedy,
        reference=terms.reference,
        amount_minor=amount,
        keys_needed=max(needed, terms.least_keys),
        case=case.number,
    )
    decided = _with_keys_asked_before(case, decided)
    confirms = _same_before(case, decided)
    if key in confirms:
        raise already_signed(key)
    return Plan(
        case=case,
        decided=decided,
        moves=terms.moves,
        sum_minor=terms.sum_minor,
        currency=currency,
        confirms=confirms,
        stands=len(confirms) + 1 >= decided.keys_needed,
        ends_round=terms.ends_round,
        round_last_seq=evidence.events[-1].event.seq if evidence.events else -1,
        dispute_last_seq=evidence.disputes[-1].event.seq,
    )


def priced_moves(evidence: Evidence, chosen: Remedy) -> tuple[Move, ...]:
    """Return what a remedy moves now, bet by bet.

    Of a round that goes on, a bet that is not settled yet is left to the table.
    """
    moves = []
    for price in chosen.bets:
        before = price.paid_minor or 0
        # What play has yet to decide moves nothing here.
        due = before if price.due_minor is None else price.due_minor
        moves.append(Move(price, before, max(before, due)))
    if not has_ended(evidence) and not _ends_round(evidence, chosen):
        moves = [
            move for move in moves if move.price.paid_minor is not None or move.price.bet == SURPLUS
        ]
    return tuple(moves)


def already_signed(person: str) -> DisputeRefused:
    """Return the error for a person who would sign a decision twice."""
    return DisputeRefused(
        f"{person} has signed this decision already: it needs the key of another person"
    )


def round_opened(evidence: Evidence) -> RoundOpened:
    """Return how the round was opened; raises DisputeRefused where no such event verifies."""
    opened = evidence.events[0].event.data if evidence.events else None
    if not isinstance(opened, RoundOpened):
        raise DisputeRefused("the opening of this round is missing or forged: nobody can be paid")
    return opened


def has_ended(evidence: Evidence) -> bool:
    """Tell whether the round was closed or voided, so that nothing may follow in its stream."""
    return any(recorded.event.type in CLOSING for recorded in evidence.events)


def _ends_round(evidence: Evidence, chosen: Remedy) -> bool:
    """Tell whether a remedy ends a round that is open: by a void, or an outcome that is certain
    where the table cannot take its record up.
    """
    if has_ended(evidence):
        return False
    if chosen.name == "honour":
        return chosen.due_minor is not None and not establish(evidence).goes_on
    return chosen.name == "void"


def _undecided(
    cases: Sequence[Case], evidence: Evidence, assessment: Assessment, number: int | None
) -> Case:
    """Return the case to decide: that of a number, or the last that is not decided."""
    if assessment.size != evidence.size:
        raise DisputeRefused("the ledger has grown since the round was assessed: assess it again")
    if not cases:
        raise DisputeRefused(f"there is no case about {assessment.round}: open one first")
    waiting = [case for case in cases if case.state != "decided"] or [*cases]
    asked = waiting if number is None else [case for case in cases if case.number == number]
    if not asked:
        raise DisputeRefused(f"there is no case {number} about {assessment.round}")
    case = asked[-1]
    if case.round != assessment.round:
        raise DisputeRefused(f"the case {case.id} is not about the round that was assessed")
    if case.state == "decided":
        word = decision_word(case.decisions[-1].data)
        raise DisputeRefused(
            f"the case {case.id} was decided ({word}, {case.decided_at}): a case is decided "
            "only once"
        )
    return case


def _must_be_sound(assessment: Assessment) -> None:
    if not assessment.money_may_move:
        raise DisputeRefused(
            "evidence of this round is forged or missing: no money moves on it; refer the case, "
            "or record an adjudicator's award"
        )


def _why_not(assessment: Assessment) -> str:
    """Return why a sound round's complaint is not to be rejected, and what may be done instead."""
    governing = assessment.governing
    if assessment.verdict == "inconclusive":
        is_told = governing.name == "refer" or "screen_differs" in assessment.classes
        cause = governing.why if is_told else assessment.lacks[0]
        why = f"the assessment is inconclusive, because {cause}"
    else:
        found = assessment.findings[0].text if assessment.findings else governing.why
        why = f"it is {assessment.verdict.replace('_', ' ')}, because {found}"
    if governing.name == "refer":
        return f"{why}; refer the case"
    return f"{why}; refer the case, or let the result stand by `dispute decide --remedy honour`"


def _must_move(what: str, amount_minor: int) -> None:
    if amount_minor <= 0:
        raise DisputeRefused(f"{what} needs an amount above zero")


def _choose(assessment: Assessment, name: RemedyName, reference: str | None) -> Remedy:
    found = [remedy for remedy in assessment.remedies if remedy.name == name]
    lawful = [remedy.name for remedy in assessment.remedies if remedy.lawful]
    if not found:
        listed = ", ".join(lawful) or "none"
        raise DisputeRefused(f"{name} is not a remedy for this round; lawful here: {listed}")
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


def _awarded(evidence: Evidence, assessment: Assessment, bet: Bet, amount_minor: int) -> Move:
    """Return what moves so that a bet comes to an amount."""
    prices = {(price.hand, price.bet): price for price in assessment.governing.bets}
    price = prices.get(bet)
    if price is None:
        listed = ", ".join(":".join(each) for each in prices) or "none"
        raise DisputeRefused(f"this round has no bet {':'.join(bet)}; its bets are {listed}")
    if price.paid_minor is None and not has_ended(evidence):
        raise DisputeRefused(f"{':'.join(bet)} is not settled yet: award a sum instead")
    before = price.paid_minor or 0
    if amount_minor <= before:
        paid = amount_text(before, currency_of(evidence))
        raise DisputeRefused(
            f"{':'.join(bet)} was paid {paid} already: an award takes nothing back; give what the "
            "bet is to come to in all"
        )
    return Move(price, before, amount_minor)


def _check_refunds(evidence: Evidence, moves: Sequence[Move]) -> None:
    staked = staked_minor(evidence.events)
    refunded = sum(move.amount_minor for move in moves if not move.is_win)
    if refunded > staked:
        currency = currency_of(evidence)
        back, laid = amount_text(refunded, currency), amount_text(staked, currency)
        raise DisputeRefused(f"refunds of {back} are above the {laid} that was staked")


def _policy(evidence: Evidence) -> Policy | None:
    opened = evidence.events[0].event.data if evidence.events else None
    digest = opened.policy_digest if isinstance(opened, RoundOpened) else None
    return None if digest is None else evidence.policies.get(digest)


def _with_keys_asked_before(case: Case, decided: DisputeDecided) -> DisputeDecided:
    """Return a decision with as many keys as the first signer of the same asked for."""
    if case.state != "awaiting_second_key":
        return decided
    before = case.decisions[-1].data
    asked = max(before.keys_needed, decided.keys_needed)
    raised = msgspec.structs.replace(decided, keys_needed=asked)
    return before if before == raised else decided


def _same_before(case: Case, decided: DisputeDecided) -> tuple[str, ...]:
    if case.state != "awaiting_second_key" or case.decisions[-1].data != decided:
        return ()
    return case.decisions[-1].keys
