"""A void is a claim of the house: it needs a fault on record, or the decision of a case.

The pages void a round for a malfunction and for nothing else, and GLI-19 v3.0 A.6.4(a) gives the
wagers back where one kept them from being carried through. Chips that were laid and never dealt on
may always go back.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from shoeproof.ledger import Finding, Recorded
from shoeproof.ledger.leaf.events import RoundVoided
from shoeproof.replay import findings as codes
from shoeproof.replay.cases.case import Decided
from shoeproof.replay.cases.faults import KINDS, MALFUNCTIONS
from shoeproof.replay.currency import amount_text, unit_of
from shoeproof.replay.rounds.play_on import fixed_outcomes, true_state
from shoeproof.replay.rounds.replayer import Replay
from shoeproof.replay.rounds.shoe_check import ShoeCheck

ENDING: Final = frozenset({"void", "honour", "resettle"})
"""The remedies by which a decision may end a round."""


def check_void(
    events: Sequence[Recorded],
    replay: Replay,
    found: Iterable[Finding],
    decisions: Iterable[Decided],
) -> Iterator[Finding]:
    """Yield `void_unfounded` where a dealt round was voided and nothing on record is a reason.

    `found` is what replay and policy find in the round, `decisions` are those that stand in the
    cases about it.
    """
    if not isinstance(replay.ending, RoundVoided) or replay.requested is None:
        return
    at = next(each for each in events if isinstance(each.event.data, RoundVoided))
    if any(each.remedy in ENDING and each.leaf_index < at.leaf_index for each in decisions):
        return
    for text in _wins(events, replay):
        yield Finding(codes.WIN_VOIDED, text, at.event.stream, at.leaf_index, at.event.seq)
    before = (each for each in found if each.seq is not None and each.seq < at.event.seq)
    if any(KINDS[each.code].reach in MALFUNCTIONS for each in before):
        return
    yield Finding(
        codes.VOID_UNFOUNDED,
        f"the round was voided ({replay.ending.reason}), and the record shows no malfunction",
        at.event.stream,
        at.leaf_index,
        at.event.seq,
    )


def _wins(events: Sequence[Recorded], replay: Replay) -> Iterator[str]:
    """Say which bets were certain to win by the shoe committed to, with no input left, when the
    round was voided; those that were decided by then are the replayer's to name.
    """
    shoe = ShoeCheck(replay.round_id, replay.opened.rules_digest, replay.rules, events).shoe
    requested, rules = replay.requested, replay.rules
    if shoe is None or rules is None or requested is None:
        return
    state = true_state(events, rules, requested.stakes, shoe)
    certain = {} if state is None else fixed_outcomes(state)
    decided = {(each.hand, each.bet) for each in replay.expected if each.paid_minor is not None}
    for bet, outcome in certain.items():
        won = outcome.paid_minor or 0
        if bet not in decided and bet not in replay.settled and won > outcome.stake_minor:
            amount = amount_text(won, unit_of(replay.opened))
            yield (
                f"{bet[1]} of {bet[0]} was certain to come to {amount} ({outcome.line}) by the "
                "shoe committed to when the round was voided"
            )
