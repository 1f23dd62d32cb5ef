"""Take an interrupted round up again where its recorded events left it.

The sealed seed in the ledger opens with the table's key alone, so the same cards come whether the
player left, the terminal died or the server crashed: turns are recorded whole or not at all.
"""

from collections.abc import Sequence

from ledger import Ledger, Recorded
from ledger.events import Limit, RoundOpened, ShoeCommitted
from replay.catalogue import rules_by_digest
from replay.engine.outcomes import Outcome
from replay.errors import InputRefusedError, RoundUnreadable, UnknownGame
from replay.replayer import Replay, replay_round
from replay.table import LiveRound, LiveTable, TableSettings
from replay.wallet import Wallet


def resume_round(ledger: Ledger, round_id: str, *, wallet: Wallet | None = None) -> LiveRound:
    """Return a live round that goes on from the last recorded turn.

    When somebody else went on with the round since, the first decision raises the ledger's
    StreamConflict and changes nothing. Raises InputRefusedError for a round that has ended or
    whose events contradict the rules, UnknownGame when the ledger lacks its rules, RoundUnreadable
    for a stream that is no round, and the ledger's KeyUnusable when the sealed seed does not open.
    """
    events = ledger.events(round_id)
    replay = replay_round(events, rules_by_digest(ledger))
    if replay.ending is not None:
        raise InputRefusedError(f"the round {round_id} has ended; replay it to see how")
    if replay.findings:
        first = replay.findings[0]
        raise InputRefusedError(
            f"the round {round_id} cannot go on: {first.code}, {first.text}; replay it to see all"
        )
    if replay.rules is None:
        raise UnknownGame(f"the ledger lacks the rules {replay.opened.rules_digest}")
    settings = _settings(replay.opened)
    table = LiveTable(ledger, replay.rules, settings, wallet=wallet)
    seed = _unseal(ledger, events)
    live = LiveRound(table, round_id, replay.opened.player, seed)
    live.follow(events[-1].event.seq)
    if replay.state is not None and replay.requested is not None:
        live.restore_shoe(bytes.fromhex(replay.requested.client_seed))
        live.restore(
            replay.state,
            next_index=replay.next_index,
            hole_index=replay.hole_index,
            offered=replay.offered,
            settled=_settled(replay),
        )
    return live


def _settings(opened: RoundOpened) -> TableSettings:
    limits: dict[str, Limit] = opened.limits or {}
    return TableSettings(
        limits={bet: (limit.min_minor, limit.max_minor) for bet, limit in limits.items()},
        currency=opened.currency,
        mode=opened.mode,
        operator=opened.operator,
        table=opened.table,
        channel=opened.channel,
        build=opened.build,
    )


def _unseal(ledger: Ledger, events: Sequence[Recorded]) -> bytes:
    for each in events:
        data = each.event.data
        if isinstance(data, ShoeCommitted):
            return ledger.unseal(data.sealed_seed, bytes.fromhex(data.commitment))
    raise RoundUnreadable("the round has no sealed seed to go on from")


def _settled(replay: Replay) -> list[Outcome]:
    return [bet for bet in replay.expected if (bet.hand, bet.bet) in replay.settled]
