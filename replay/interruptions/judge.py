"""One round of a ledger judged: replayed, and held to the policy it was opened under."""

from collections.abc import Iterable, Mapping, Sequence

from shoeproof.ledger import Finding, Ledger, Recorded
from shoeproof.ledger.findings import EVENT_AFTER_CLOSE
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.errors import RoundUnreadable
from shoeproof.replay.interruptions.check import Circumstances, circumstances_of, full_replay
from shoeproof.replay.rounds.catalogue import rules_by_digest
from shoeproof.replay.rounds.replayer import Replay


def judge(
    events: Sequence[Recorded], rules: Mapping[str, Rules], told: Circumstances | None
) -> Iterable[Finding]:
    """Return what is wrong with one round's events; they may also be no round at all.

    Without circumstances, as where times are unknown, the policy is not judged.
    """
    try:
        return full_replay(events, rules, told).findings
    except RoundUnreadable:
        first = events[0]
        sentence = f"{first.event.type} stands in a round that is not open"
        return [
            Finding(
                EVENT_AFTER_CLOSE, sentence, first.event.stream, first.leaf_index, first.event.seq
            )
        ]


def replay_in(ledger: Ledger, stream: str) -> Replay:
    """Replay a round of a ledger, with what it departs from its policy in.

    Raises what `Ledger.events` and `full_replay` raise.
    """
    return replay_of(ledger, ledger.events(stream))


def replay_of(ledger: Ledger, events: Sequence[Recorded]) -> Replay:
    """Replay a round of a ledger whose events were read, as `replay_in` does."""
    told = circumstances_of(ledger, round_id=events[0].event.stream)
    return full_replay(events, rules_by_digest(ledger), told)
