"""The facts of one round, worked out once from its evidence: what classes and prices rest on."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ledger import Finding, Recorded
from ledger.clock import parse_time
from ledger.events import (
    DecisionMade,
    RoundOpened,
    RoundVoided,
    ShoeCommitted,
    WinHeld,
    WinReleased,
)
from replay import findings as of_replay
from replay.disputes.assessment import Class
from replay.disputes.bets import BetFacts, bets_of
from replay.disputes.case_check import CaseWalk
from replay.disputes.classify import CLASS_OF, by_severity
from replay.disputes.evidence import Evidence
from replay.disputes.play_on import default_outcomes
from replay.engine.outcomes import Outcome
from replay.engine.round import Decide
from replay.errors import RoundUnreadable
from replay.interruptions import Circumstances, Hold, check_policy
from replay.money_check import Bet
from replay.policies import Policy
from replay.replayer import Replay, replay_round
from replay.waiting import dealer_has_shown, outages_in


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What the evidence shows. `replay` is None where the stream is no readable round.

    `classes` are what it shows, the one that decides first; `faults` are the findings of that
    class. `default` holds what each bet comes to under the disclosed default, where that can be
    known. `held_minor` is the part of a win that waits for a person.
    """

    evidence: Evidence
    replay: Replay | None
    policy: Policy | None
    findings: tuple[Finding, ...]
    classes: tuple[Class, ...]
    faults: tuple[Finding, ...]
    bets: tuple[BetFacts, ...]
    held_minor: int
    released_minor: int
    default: Mapping[Bet, Outcome] | None

    @property
    def decides(self) -> Class:
        """The class that decides."""
        return self.classes[0]

    @property
    def opened(self) -> RoundOpened | None:
        """How the round was opened."""
        return None if self.replay is None else self.replay.opened

    @property
    def currency(self) -> str:
        """The currency of the round, empty where that is unknown."""
        return "" if self.opened is None else self.opened.currency

    @property
    def game(self) -> str | None:
        """The id of the game, None where the rules are unknown."""
        return None if self.replay is None or self.replay.rules is None else self.replay.rules.id

    @property
    def is_open(self) -> bool:
        """Whether the round has not ended."""
        return self.replay is None or self.replay.ending is None

    @property
    def is_void(self) -> bool:
        """Whether the round was voided."""
        return self.replay is not None and isinstance(self.replay.ending, RoundVoided)

    @property
    def is_dealt(self) -> bool:
        """Whether the deal was requested."""
        return self.replay is not None and self.replay.requested is not None

    @property
    def waits_for(self) -> Decide | None:
        """The decision that an open round waits for."""
        state = None if self.replay is None or not self.replay.judged else self.replay.state
        due = None if state is None or not self.is_open else state.due
        return due if isinstance(due, Decide) else None

    @property
    def is_fixed(self) -> bool:
        """Whether every bet is decided or settled: nothing is left to play."""
        return bool(self.bets) and all(
            bet.right_minor is not None or bet.paid_minor is not None for bet in self.bets
        )

    @property
    def default_is_due(self) -> bool:
        """Whether the time of a disclosed default has run out and it was not applied."""
        return self.is_open and self.has(of_replay.DEFAULT_OVERDUE)

    @property
    def shows_dealer(self) -> bool:
        """Whether the hole card, or a card the dealer drew after it, was shown."""
        return dealer_has_shown(self.evidence.events)

    @property
    def decided_for_player(self) -> tuple[Recorded, ...]:
        """Every decision the platform or its staff made for the player."""
        return tuple(
            each
            for each in self.evidence.events
            if isinstance(each.event.data, DecisionMade)
            and each.event.data.actor in ("system", "staff")
        )

    def has(self, *codes: str) -> bool:
        """Tell whether there is a finding of one of these codes."""
        return any(finding.code in codes for finding in self.findings)


def establish(evidence: Evidence) -> Facts:
    """Work out the facts of a round; never raises for what is forged, missing or contradictory."""
    replay = _replay(evidence)
    policy = _policy(evidence, replay)
    held, released = _held(evidence)
    lost = _payments_lost(evidence)
    findings = (*evidence.integrity, *lost, *_findings(evidence, replay, Hold(held, released)))
    found = [CLASS_OF[finding.code] for finding in findings]
    found += _by_state(evidence, replay, waits=held > released)
    classes = by_severity(found)
    if classes[0] == "evidence_missing":
        # What replay finds in evidence with holes may be the holes: nothing is inferred from it.
        classes = classes[:1]
    faults = tuple(each for each in findings if CLASS_OF[each.code] == classes[0])
    facts = Facts(
        evidence=evidence,
        replay=replay,
        policy=policy,
        findings=findings,
        classes=classes,
        faults=faults,
        bets=(),
        held_minor=max(0, held - released),
        released_minor=released,
        default=_default(evidence, replay, policy, findings),
    )
    bets = bets_of(evidence, replay, classes[0], faults)
    facts = msgspec.structs.replace(facts, bets=bets)
    if not facts.is_open and not facts.held_minor and any(bet.is_underpaid for bet in bets):
        # What was paid may be right by the record, and part of it have reached nobody.
        classes = by_severity((*classes, "settlement_error"))
        facts = msgspec.structs.replace(facts, classes=classes)
    return facts


def _replay(evidence: Evidence) -> Replay | None:
    try:
        return replay_round(evidence.events, evidence.rules)
    except RoundUnreadable:
        return None


def circumstances(evidence: Evidence, holds: Mapping[str, Hold]) -> Circumstances:
    """Return what the evidence says besides the round, by which its policy is judged."""
    return Circumstances(
        policies=evidence.policies,
        outages=outages_in(evidence.operations),
        holds=holds,
        now=parse_time(evidence.as_of),
    )


def _findings(evidence: Evidence, replay: Replay | None, hold: Hold) -> Iterator[Finding]:
    """Yield what replay and policy find, as the audit of the whole ledger does."""
    if replay is None:
        return
    yield from replay.findings
    game = None if replay.rules is None else replay.rules.id
    holds = {evidence.round_id: hold} if evidence.holds else {}
    yield from check_policy(evidence.events, circumstances(evidence, holds), game)


def _policy(evidence: Evidence, replay: Replay | None) -> Policy | None:
    digest = None if replay is None else replay.opened.policy_digest
    return None if digest is None else evidence.policies.get(digest)


def _payments_lost(evidence: Evidence) -> Iterator[Finding]:
    """Yield where a decision stands and what it pays is not there, though both are one write."""
    walk = CaseWalk(evidence.round_id, evidence.events, evidence.policies, {})
    for finding in walk.findings(evidence.disputes):
        if finding.code == of_replay.PAYMENT_MISSING:
            yield finding


def _default(
    evidence: Evidence, replay: Replay | None, policy: Policy | None, findings: Sequence[Finding]
) -> Mapping[Bet, Outcome] | None:
    """Return what the default would have come to where an input was taken after it was due."""
    late = [each.seq for each in findings if each.code == of_replay.DECISION_LATE]
    if replay is None or policy is None or policy.default is None or not late:
        return None
    first = min(seq or 0 for seq in late)
    return default_outcomes(evidence.events, replay, policy.default, first)


def _held(evidence: Evidence) -> tuple[int, int]:
    data = [each.event.data for each in evidence.holds]
    held = sum(each.amount_minor for each in data if isinstance(each, WinHeld))
    return held, sum(each.amount_minor for each in data if isinstance(each, WinReleased))


def _by_state(evidence: Evidence, replay: Replay | None, *, waits: bool) -> Iterator[Class]:
    """Yield what the state of the round shows, whatever was found wrong in it."""
    if replay is None:
        yield "evidence_missing"
        return
    if waits:
        yield "held_win"
    if replay.ending is None:
        sealed = [e for e in evidence.events if isinstance(e.event.data, ShoeCommitted)]
        goes_on = replay.judged and replay.rules is not None and len(sealed) == 1
        yield "interrupted_recoverable" if goes_on else "interrupted_unrecoverable"
