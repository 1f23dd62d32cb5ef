"""The facts of one round, worked out once from its evidence: what grounds and prices rest on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from shoeproof.ledger import Finding, Recorded
from shoeproof.ledger.leaf.clock import parse_time
from shoeproof.ledger.leaf.events import (
    BetSettled,
    DecisionMade,
    DecisionOffered,
    Funds,
    RoundOpened,
    RoundVoided,
    ShoeCommitted,
)
from shoeproof.replay import findings as of_replay
from shoeproof.replay.cases.assessment import Class
from shoeproof.replay.cases.case import UNSETTLED, decided_in
from shoeproof.replay.cases.check import CaseWalk
from shoeproof.replay.cases.faults import MALFUNCTIONS, Fault, classes_of, faults_of, in_order
from shoeproof.replay.currency import unit_of
from shoeproof.replay.disputes.evidence import Evidence
from shoeproof.replay.disputes.money import Debits, HoldBalance, debits_of, hold_of, paid_of
from shoeproof.replay.engine.round import Decide, RoundState, Settle
from shoeproof.replay.engine.rules import with_every_act
from shoeproof.replay.engine.shoe import Shoe
from shoeproof.replay.errors import RoundUnreadable
from shoeproof.replay.games.policies import Policy
from shoeproof.replay.interruptions.check import (
    Circumstances,
    HeldAndReleased,
    full_replay,
    held_in,
)
from shoeproof.replay.interruptions.waiting import dealer_has_shown, held_minor, outages_in
from shoeproof.replay.rounds.money_check import FUNDS, Bet, as_the_rules_pay
from shoeproof.replay.rounds.play_on import (
    Outcomes,
    by_bet,
    default_outcomes,
    fixed_outcomes,
    is_certain,
    is_dealing,
    state_of,
    steps_before,
    true_state,
)
from shoeproof.replay.rounds.replayer import Replay, replay_round
from shoeproof.replay.rounds.seeds import repeated_seed
from shoeproof.replay.rounds.shoe_check import ShoeCheck
from shoeproof.replay.rounds.wallet_check import has_wallet


class Facts(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What the evidence shows.

    `replay` is None where the stream is not a readable round. `shoe` is the one committed to, None
    where it cannot be known. `faults` are the findings as faults, in order.
    """

    evidence: Evidence
    replay: Replay | None
    policy: Policy | None
    findings: tuple[Finding, ...]
    faults: tuple[Fault, ...]
    shoe: Shoe | None
    debits: Debits
    paid: Mapping[Bet, int]
    hold: HoldBalance

    @property
    def opened(self) -> RoundOpened | None:
        """How the round was opened."""
        return None if self.replay is None else self.replay.opened

    @property
    def currency(self) -> str:
        """The unit of the round's amounts, empty where that is unknown."""
        return "" if self.opened is None else unit_of(self.opened)

    @property
    def game(self) -> str | None:
        """The id of the game, None where the rules are unknown."""
        return None if self.replay is None or self.replay.rules is None else self.replay.rules.id

    @property
    def is_trusted(self) -> bool:
        """Whether none of the evidence is forged or missing."""
        return self.replay is not None and all(each.reach != "evidence" for each in self.faults)

    @property
    def is_open(self) -> bool:
        """Whether the round has not ended."""
        return self.replay is None or self.replay.ending is None

    @property
    def is_void(self) -> bool:
        """Whether the round was voided."""
        return self.replay is not None and isinstance(self.replay.ending, RoundVoided)

    @property
    def is_fun(self) -> bool:
        """Whether the round was played for fun: nothing was staked in it, so nothing is due."""
        return self.opened is not None and self.opened.mode == "fun"

    @property
    def is_decided(self) -> bool:
        """Whether a decision about the round stands that settles what is due."""
        decided = decided_in(self.evidence.disputes, self.evidence.persons)
        return any(each.remedy not in UNSETTLED for each in decided)

    @property
    def bars_unproven(self) -> tuple[str, ...]:
        """The acts that were barred for lack of money where no balance says how much there was."""
        barred: list[str] = []
        for recorded in self.evidence.events:
            data = recorded.event.data
            funds = getattr(data, "funds", None)
            if isinstance(funds, Funds) and funds.balance_after_minor is not None:
                break
            if isinstance(data, DecisionOffered):
                barred += (act for act, reason in data.barred.items() if reason == FUNDS)
        return tuple(dict.fromkeys(barred))

    @property
    def is_dealt(self) -> bool:
        """Whether the deal was requested."""
        return self.replay is not None and self.replay.requested is not None

    @property
    def is_committed(self) -> bool:
        """Whether exactly one shoe was committed to, so that its cards can be dealt on."""
        events = self.evidence.events
        return sum(isinstance(each.event.data, ShoeCommitted) for each in events) == 1

    @cached_property
    def goes_on(self) -> bool:
        """Whether the round is open and the table can take it up where it stopped."""
        if self.replay is None or not self.is_open or self.replay.rules is None:
            return False
        too_late = self.waits_for is not None and self.shows_dealer
        return self.replay.broken_by is None and self.is_committed and not too_late

    @cached_property
    def waits_for(self) -> Decide | None:
        """The decision that an open round waits for."""
        state = None if self.replay is None or not self.replay.judged else self.replay.state
        due = None if state is None or not self.is_open else state.due
        return due if isinstance(due, Decide) else None

    @property
    def offer_stands(self) -> DecisionOffered | None:
        """The offer that an open round waits to be answered."""
        last: DecisionOffered | None = None
        for recorded in self.evidence.events:
            data = recorded.event.data
            if isinstance(data, DecisionOffered):
                last = data
            elif isinstance(data, DecisionMade):
                last = None
        return last if self.is_open else None

    @property
    def default_is_due(self) -> bool:
        """Whether the time of a disclosed default has run out and it was not applied."""
        return self.is_open and self.has(of_replay.DEFAULT_OVERDUE)

    @property
    def returns_chips(self) -> bool:
        """Whether the page gives chips back that were laid and not dealt on."""
        return self.policy is not None and self.policy.stakes_before_deal == "returned"

    @property
    def shows_dealer(self) -> bool:
        """Whether the hole card, or a card the dealer drew after it, was shown."""
        return dealer_has_shown(self.evidence.events)

    @property
    def shows_payments(self) -> bool:
        """Whether a wallet's answers show what reached the player."""
        return has_wallet(self.evidence.events)

    @property
    def decided_for_player(self) -> tuple[Recorded, ...]:
        """Every decision the platform or its staff made for the player."""
        return tuple(
            each
            for each in self.evidence.events
            if isinstance(each.event.data, DecisionMade)
            and each.event.data.actor in ("system", "staff")
        )

    @cached_property
    def true_state(self) -> RoundState | None:
        """The round on the cards of the shoe committed to for the decisions as they were made, as
        far as that can be said; None where the shoe is not known.
        """
        replay = self.replay
        if replay is None or replay.rules is None or replay.requested is None or self.shoe is None:
            return None
        stakes = replay.requested.stakes
        return true_state(self.evidence.events, replay.rules, stakes, self.shoe)

    @cached_property
    def true(self) -> Outcomes:
        """What the rules pay on those cards, bet by bet."""
        return {} if self.true_state is None else fixed_outcomes(self.true_state)

    @cached_property
    def as_shown(self) -> Outcomes:
        """What the settlement lines pay on the play as it was shown, where an act was taken that
        these rules forbid and another blackjack allows; nothing where that cannot be said.
        """
        replay = self.replay
        if replay is None or replay.judged or replay.rules is None:
            return {}
        digest = replay.opened.rules_digest
        shown = replay_round(self.evidence.events, {digest: with_every_act(replay.rules)})
        return by_bet(shown.expected) if shown.judged else {}

    @cached_property
    def input_may_follow(self) -> bool:
        """Whether an open round may still ask the player for a decision."""
        state = None if self.replay is None else self.replay.state
        return self.is_open and (
            is_dealing(state)
            or any(not held.hand.over for held in (() if state is None else state.hands))
        )

    @cached_property
    def is_played(self) -> bool:
        """Whether the record ends, closed, void or broken off, with no input left to the player."""
        if self.replay is None or not self.is_dealt:
            return False
        last = len(self.evidence.events)
        if self.is_void:
            last = next(
                each.event.seq
                for each in self.evidence.events
                if isinstance(each.event.data, RoundVoided)
            )
        steps = steps_before(self.replay, last)
        truly = self.true_state is not None and isinstance(self.true_state.due, Settle)
        return truly or is_certain(steps, self.shoe)

    @cached_property
    def default(self) -> Outcomes | None:
        """What each bet comes to under the default where an input was taken after it was due."""
        late = [each.seq for each in self.faults if each.code == of_replay.DECISION_LATE]
        if self.replay is None or self.policy is None or self.policy.default is None or not late:
            return None
        return default_outcomes(steps_before(self.replay, late[0]), self.shoe, self.policy.default)

    @cached_property
    def malfunctions(self) -> tuple[Fault, ...]:
        """The faults by which a bet may be void.

        A round that was dealt from no shoe, or one of several, that it was committed to has one,
        whether or not it came so far that its reveal shows it.
        """
        found = tuple(fault for fault in self.faults if fault.reach in MALFUNCTIONS)
        if self.is_dealt and not self.is_committed:
            return (Fault(of_replay.COMMITMENT_MISMATCH, 0, "shoe", None), *found)
        return found

    def has(self, *codes: str) -> bool:
        """Tell whether there is a finding of one of these codes."""
        return any(finding.code in codes for finding in self.findings)


def establish(evidence: Evidence) -> Facts:
    """Work out the facts of a round; never raises for what is forged, missing or contradictory."""
    replay = _replay(evidence)
    policy = _policy(evidence, replay)
    settled = [e for each in evidence.events if isinstance(e := each.event.data, BetSettled)]
    currency = "" if replay is None else replay.opened.currency
    expected = () if replay is None else replay.expected
    rightly = as_the_rules_pay(settled, expected)
    lawful = held_minor(policy, rightly, _last_turn(evidence.events), currency)
    hold = hold_of(evidence.holds, settled, lawful)
    lost = _payments_lost(evidence)
    of_seed = repeated_seed(evidence.round_id, evidence.events, evidence.same_seed)
    in_round = () if replay is None else replay.findings
    findings = (*evidence.integrity, *lost, *in_round, *of_seed)
    return Facts(
        evidence=evidence,
        replay=replay,
        policy=policy,
        findings=findings,
        faults=tuple(_without_harmless(faults_of(findings, evidence.events), replay)),
        shoe=None if replay is None else _shoe(evidence, replay),
        debits=debits_of(evidence.events, replay),
        paid=paid_of(evidence.events, evidence.disputes, hold),
        hold=hold,
    )


def classes_shown(facts: Facts, *, owes: bool) -> tuple[Class, ...]:
    """Return what the evidence shows, the gravest first.

    `owes` tells that a bet of an ended round was paid less than it comes to: what was paid may be
    right by the record, and part of it have reached nobody. In evidence with holes what replay
    finds may be the holes: nothing is named beside them.
    """
    if not facts.is_trusted:
        return ("evidence_missing",)
    found = list(classes_of(facts.findings))
    if facts.hold.waits_minor:
        found.append("held_win")
    if facts.is_open:
        recoverable = facts.goes_on or not facts.is_dealt
        found.append("interrupted_recoverable" if recoverable else "interrupted_unrecoverable")
    elif owes and not facts.hold.waits_minor and not facts.malfunctions:
        found.append("settlement_error")
    return in_order(found)


def _replay(evidence: Evidence) -> Replay | None:
    """Replay the round, with what the audit of the whole ledger finds in it."""
    if not evidence.events:
        return None
    told = circumstances(evidence, held_in(each.event.data for each in evidence.holds))
    try:
        return full_replay(evidence.events, evidence.rules, told, evidence.sealed_seed)
    except RoundUnreadable:
        return None


def _shoe(evidence: Evidence, replay: Replay) -> Shoe | None:
    """Return the shoe by its revealed seed, or by the sealed one where it could be opened."""
    digest, rules = replay.opened.rules_digest, replay.rules
    seed = evidence.sealed_seed
    return ShoeCheck(replay.round_id, digest, rules, evidence.events, seed).shoe


def circumstances(evidence: Evidence, holds: Mapping[str, HeldAndReleased]) -> Circumstances:
    """Return what the evidence says besides the round, by which its policy is judged."""
    return Circumstances(
        policies=evidence.policies,
        outages=outages_in(evidence.operations),
        holds=holds,
        now=parse_time(evidence.as_of),
        decisions={evidence.round_id: decided_in(evidence.disputes, evidence.persons)},
    )


def _policy(evidence: Evidence, replay: Replay | None) -> Policy | None:
    digest = None if replay is None else replay.opened.policy_digest
    return None if digest is None else evidence.policies.get(digest)


def _payments_lost(evidence: Evidence) -> Iterator[Finding]:
    """Yield where a decision stands and what it pays is not there, though both are one write."""
    walk = CaseWalk(evidence.round_id, evidence.events, evidence.policies, evidence.persons)
    for finding in walk.findings(evidence.disputes):
        if finding.code == of_replay.PAYMENT_MISSING:
            yield finding


def _without_harmless(faults: Iterable[Fault], replay: Replay | None) -> Iterator[Fault]:
    """Yield the faults; a value below the table's, taken or not, withheld the right one.

    One that is too high, or a minor unit off, harms nobody; a player who took it is paid what was
    shown.
    """
    events = () if replay is None else [step.recorded.event for step in replay.steps]
    for fault in faults:
        if fault.code == of_replay.CASH_OUT_OFFER_WRONG and replay is not None:
            offer = next(each.data for each in events if each.seq == fault.seq)
            state = state_of(steps_before(replay, fault.seq))
            due = None if state is None else state.due
            right = due.cash_out_minor if isinstance(due, Decide) else None
            shown = offer.cash_out_minor if isinstance(offer, DecisionOffered) else None
            if right is not None and shown is not None and right - shown > 1:
                yield fault._replace(reach="hand")
                continue
        yield fault


def _last_turn(events: Sequence[Recorded]) -> int:
    """Return how many bets were settled before the last turn."""
    count = settled = 0
    for each in events:
        count += isinstance(each.event.data, BetSettled)
        if isinstance(each.event.data, DecisionOffered):
            settled = count
    return settled
