"""A round as it was rebuilt: what the replayer hands to code that judges, prices or prints it."""

from collections.abc import Mapping

import msgspec

from shoeproof.ledger import Finding, Recorded
from shoeproof.ledger.leaf.events import (
    BetSettled,
    DealRequested,
    DecisionOffered,
    RoundClosed,
    RoundOpened,
    RoundVoided,
)
from shoeproof.replay.engine.hand import Act
from shoeproof.replay.engine.outcomes import Outcome
from shoeproof.replay.engine.round import RoundState
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.rounds.money_check import Bet


class Step(msgspec.Struct, frozen=True):
    """One event and the round as it stood after it; None before the deal or once unjudgeable."""

    recorded: Recorded
    state: RoundState | None


class Replay(msgspec.Struct, frozen=True):
    """A round rebuilt.

    `state` is the last state the play could be followed to. `expected` holds what the rules pay,
    `settled` what was recorded. `judged` is False once the play could no longer be followed.
    `placed` are the chips last laid.
    `costs` says by `seq` what stake each decision that the rules allowed costs, in minor units.
    `next_index` and `hole_index` are places in the shoe; `offer` is the offer that stands open, and
    `offer_is_right` whether it is what the rules and the balance allow. `broken_by` is the first
    finding after which the state is not known to be what shoe, rules and player brought about,
    None where play can go on from it.
    """

    round_id: str
    opened: RoundOpened
    rules: Rules | None
    steps: tuple[Step, ...]
    state: RoundState | None
    judged: bool
    expected: tuple[Outcome, ...]
    settled: dict[Bet, BetSettled]
    costs: dict[int, int]
    placed: Mapping[str, Mapping[str, int]]
    requested: DealRequested | None
    offer: DecisionOffered | None
    offer_is_right: bool
    next_index: int
    hole_index: int | None
    hole: str | None
    ending: RoundClosed | RoundVoided | None
    findings: tuple[Finding, ...]
    broken_by: Finding | None

    @property
    def offered(self) -> tuple[Act, ...]:
        """Return the acts of the offer that stands open."""
        return () if self.offer is None else tuple(self.offer.legal)
