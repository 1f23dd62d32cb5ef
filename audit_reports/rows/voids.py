"""What the rules would have paid on the bets of a round that was voided, or is still open."""

from collections.abc import Iterable, Sequence

from shoeproof.audit_reports.rows.records import WouldHavePaidRow
from shoeproof.ledger import Recorded
from shoeproof.replay.engine.outcomes import Outcome, outcomes
from shoeproof.replay.engine.round import RoundState, Settle
from shoeproof.replay.rounds.play_on import true_state
from shoeproof.replay.rounds.replayer import Replay
from shoeproof.replay.rounds.shoe_check import ShoeCheck


def would_have_paid(events: Sequence[Recorded], replay: Replay) -> list[WouldHavePaidRow]:
    """Return what each hand's bets in a voided or open round would have been paid.

    Cards that were still to come are those of the shoe committed to, where its seed was revealed. A
    bet is left out where cards or decisions are missing that it depends on: nobody knows them.
    """
    if not replay.judged:
        return []
    expected: Iterable[Outcome] = replay.expected
    state = replay.state
    if state is not None and not isinstance(state.due, Settle):
        state = _played_on(events, replay) or state
        known = {(each.hand, each.bet): each for each in outcomes(state)}
        expected = [
            each if each.paid_minor is not None else known.get((each.hand, each.bet), each)
            for each in expected
        ]
    is_over = state is not None and isinstance(state.due, Settle)
    first = events[0].leaf_index
    return [
        WouldHavePaidRow(first, each.hand, each.bet, each.paid_minor, is_over)
        for each in expected
        if each.paid_minor is not None
    ]


def _played_on(events: Sequence[Recorded], replay: Replay) -> RoundState | None:
    """Return the round on the cards of its shoe, as far as its decisions go."""
    shoe = ShoeCheck(replay.round_id, replay.opened.rules_digest, replay.rules, events).shoe
    if shoe is None or replay.rules is None or replay.requested is None:
        return None
    return true_state(events, replay.rules, replay.requested.stakes, shoe)
