"""One round of a span, judged as a case about it would be, with what the span's sums need of it.

Pure: the ledger was read by `gather`.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from shoeproof.ledger import Finding
from shoeproof.ledger.leaf.events import (
    CLOSING,
    BetSettled,
    DealRequested,
    DecisionMade,
    RoundOpened,
    RoundVoided,
    ShoeRevealed,
    WinHeld,
    WinReleased,
)
from shoeproof.replay import findings as codes
from shoeproof.replay.cases.assessment import Assessment, Verdict
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.complaints.luck import RoundLuck, parts_of
from shoeproof.replay.disputes.complaints.runs import Chance, chance_of
from shoeproof.replay.disputes.complaints.wallet import PlayerMovement, movements
from shoeproof.replay.disputes.evidence import Evidence, currency_of
from shoeproof.replay.engine.outcomes import MAIN
from shoeproof.replay.engine.round import stakes_minor
from shoeproof.replay.errors import RoundUnreadable
from shoeproof.replay.luck.recorded import decompose_replay
from shoeproof.replay.rounds.replayer import Replay, replay_round

_OF_CARDS: Final = frozenset(
    {
        codes.COMMITMENT_MISMATCH, codes.SEED_NOT_REVEALED, codes.SEED_REPEATED,
        codes.CLIENT_SEED_INVALID, codes.CARD_MISMATCH, codes.CARD_MISSING, codes.CARD_ORDER_WRONG,
        codes.CARD_IMPOSSIBLE, codes.SHOE_INDEX_WRONG, codes.CHECK_WRONG,
        codes.RULES_DIGEST_UNKNOWN,
    }
)  # fmt: skip
"""Findings after which it is not shown that the cards were those of the committed shoe."""


class FaultyRound(NamedTuple):
    """A round with something wrong: its verdict, its findings, and what is due by it now."""

    round: str
    player: str
    opened_at: str
    currency: str
    verdict: Verdict
    due_minor: int
    findings: tuple[Finding, ...]


class PlayedRound(msgspec.Struct, frozen=True, kw_only=True):
    """A round as the span has it. Amounts are minor units of `currency`.

    `state` is open, closed or void; `won_minor` is what its main bets won. `is_proven` tells that
    every card is shown to be that of the shoe committed to, `cards` how many were dealt, `seeded`
    whether the player gave a seed. `held_minor` of a win waits for a person; `refunded_minor` went
    back by a void. `parts` is None where the round cannot be taken apart, `fault` where nothing is
    wrong with it.
    """

    round: str
    opened_at: str
    ended_at: str | None
    last_at: str
    game: str | None
    currency: str
    mode: str
    table: str | None
    session: str | None
    state: str
    staked_minor: int
    paid_minor: int
    won_minor: int
    refunded_minor: int
    held_minor: int
    void_reason: str | None
    cards: int
    is_proven: bool
    seeded: bool
    chance: Chance | None
    parts: RoundLuck | None
    movements: tuple[PlayerMovement, ...]
    fault: FaultyRound | None


def examine(evidence: Evidence) -> PlayedRound | None:
    """Return a round of a span; None where not even its opening verifies."""
    opened = evidence.events[0].event if evidence.events else None
    if opened is None or not isinstance(opened.data, RoundOpened):
        return None
    assessment = assess(evidence)
    replay = _replay(evidence)
    taken_apart = None if replay is None else decompose_replay(replay)
    data = [each.event.data for each in evidence.events]
    laid = next((each.stakes for each in data if isinstance(each, DealRequested)), {})
    added = sum(each.added_stake_minor for each in data if isinstance(each, DecisionMade))
    settled = [each for each in data if isinstance(each, BetSettled)]
    void = next((each for each in data if isinstance(each, RoundVoided)), None)
    last = evidence.events[-1].event
    is_over = last.type in CLOSING
    currency = currency_of(evidence)
    refunded = 0 if void is None else sum(each.amount_minor for each in void.refunds)
    main = [each for each in settled if each.bet == MAIN]
    return PlayedRound(
        round=evidence.round_id,
        opened_at=opened.at,
        ended_at=last.at if is_over else None,
        last_at=last.at,
        game=None if replay is None or replay.rules is None else replay.rules.id,
        currency=currency,
        mode=opened.data.mode,
        table=opened.data.table,
        session=opened.data.session,
        state="void" if void is not None else "closed" if is_over else "open",
        staked_minor=stakes_minor(laid) + added,
        paid_minor=sum(each.paid_minor for each in settled),
        won_minor=sum(each.paid_minor - each.stake_minor for each in main),
        refunded_minor=refunded,
        held_minor=_held(evidence),
        void_reason=None if void is None else void.reason,
        cards=0 if replay is None else replay.next_index,
        is_proven=_is_proven(data, assessment),
        seeded=any(isinstance(each, DealRequested) and each.client_seed for each in data),
        chance=None if replay is None else chance_of(replay.rules, len(laid)),
        parts=None if taken_apart is None else parts_of(taken_apart, currency),
        movements=tuple(movements(evidence)),
        fault=_fault(evidence, opened.data.player, opened.at, assessment),
    )


def fault_of(evidence: Evidence) -> FaultyRound | None:
    """Return what is wrong with a round by a case about it; None where nothing is."""
    opened = evidence.events[0].event if evidence.events else None
    player = opened.data.player if opened and isinstance(opened.data, RoundOpened) else ""
    return _fault(evidence, player, "" if opened is None else opened.at, assess(evidence))


def _fault(evidence: Evidence, player: str, at: str, assessment: Assessment) -> FaultyRound | None:
    due = assessment.governing.moves_minor if assessment.money_may_move else 0
    found = assessment.findings
    # A round that merely waits for its player has nothing wrong, whatever a case would do about it.
    if assessment.verdict == "rejected" or not (found or due or not assessment.money_may_move):
        return None
    currency = currency_of(evidence)
    return FaultyRound(evidence.round_id, player, at, currency, assessment.verdict, due, found)


def _is_proven(data: Sequence[object], assessment: Assessment) -> bool:
    """Tell whether the seed was revealed and nothing speaks against the cards it gives."""
    revealed = any(isinstance(each, ShoeRevealed) for each in data)
    against = any(finding.code in _OF_CARDS for finding in assessment.findings)
    return revealed and assessment.money_may_move and not against


def _held(evidence: Evidence) -> int:
    data = [each.event.data for each in evidence.holds]
    held = sum(each.amount_minor for each in data if isinstance(each, WinHeld))
    return held - sum(each.amount_minor for each in data if isinstance(each, WinReleased))


def _replay(evidence: Evidence) -> Replay | None:
    try:
        return replay_round(evidence.events, evidence.rules)
    except RoundUnreadable:
        return None
