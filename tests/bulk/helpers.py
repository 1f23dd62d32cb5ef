"""What the bulk tests share: rounds as columns, and what the replayer says of the same rounds."""

from collections.abc import Mapping, Sequence

import msgspec

from shoeproof.ledger import Finding, Recorded
from shoeproof.ledger.leaf.streams import DISPUTES_PREFIX
from shoeproof.replay import findings as codes
from shoeproof.replay.audit.one_by_one import AuditResult
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.kernel.batch import Columns, replay_batch, sound
from shoeproof.replay.kernel.reading import RoundsBuilder
from shoeproof.replay.kernel.symbols import RoundColumns, Vocabulary
from shoeproof.replay.rounds.replayer import replay_round
from tests.bulk.rounds import uncommitted

Rounds = Sequence[Sequence[Recorded]]

_OF_THE_SHOE = {
    codes.CLIENT_SEED_INVALID,
    codes.COMMITMENT_MISMATCH,
    codes.SHOE_INDEX_WRONG,
}


POLICY_CODES = {
    "policy_digest_unknown", "deadline_wrong", "decision_late", "default_early",
    "default_not_allowed", "default_overdue", "win_not_held", "hold_mismatch", "refusal_wrong",
    "settlement_overdue", "void_unfounded",
}  # fmt: skip


def of_the_play(result: AuditResult) -> AuditResult:
    """An audit's report without times, policies and cases, which an export lacks."""
    kept = tuple(
        each
        for each in result.findings
        if each.code not in POLICY_CODES and not (each.stream or "").startswith(DISPUTES_PREFIX)
    )
    return msgspec.structs.replace(result, findings=kept)


def columns_of(rounds: Rounds) -> Columns:
    """The columns of rounds, by the texts of their events."""
    builder = RoundsBuilder(Vocabulary())
    for events in rounds:
        own = RoundColumns(events[0].event.stream)
        read = builder.vocabulary.read
        builder.add(
            own,
            [read(each.event.type, msgspec.json.encode(each.event.data), own) for each in events],
        )
    return builder.columns()


def by_replayer(rounds: Rounds, rules: Mapping[str, Rules]) -> dict[int, tuple[Finding, ...]]:
    """The findings of each round that has any."""
    found = {place: replay_round(events, rules).findings for place, events in enumerate(rounds)}
    return {place: findings for place, findings in found.items() if findings}


def play_findings(rounds: Rounds, rules: Mapping[str, Rules]) -> dict[int, tuple[Finding, ...]]:
    """What the replayer finds in the play and the money of rounds with no shoe to hold cards to."""
    return {
        place: kept
        for place, findings in by_replayer(rounds, rules).items()
        if (kept := tuple(each for each in findings if each.code not in _OF_THE_SHOE))
    }


def assert_play_judged_alike(rounds: Rounds, rules: Mapping[str, Rules]) -> int:
    """Hold the engine alone to the replayer; return how many rounds had their play proved."""
    told = [uncommitted(events) for events in rounds]
    found, proved = play_findings(told, rules), sound(columns_of(told), rules, with_shoes=False)
    false = [place for place in found if proved[place]]
    assert not false, [finding.text for finding in found[false[0]]]
    return int(proved.sum())


def assert_judged_alike(rounds: Rounds, rules: Mapping[str, Rules]) -> int:
    """Hold the bulk findings to the replayer's; return how many rounds were proved sound."""
    columns = columns_of(rounds)
    expected = by_replayer(rounds, rules)
    proved = sound(columns, rules)
    false = [place for place in expected if proved[place]]
    assert not false, [finding.code for finding in expected[false[0]]]
    assert expected == replay_batch(columns, rules, lambda place: expected.get(place, ()))
    return int(proved.sum())
