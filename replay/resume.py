"""Take an interrupted round up again where its recorded events left it.

The sealed seed in the ledger opens with the table's key alone, so the same cards come whether the
player left, the terminal died or the server crashed: turns are recorded whole or not at all.
"""

from collections.abc import Sequence

import msgspec

from ledger import Ledger, Recorded
from ledger.clock import parse_time
from ledger.events import Limit, RoundOpened, ShoeCommitted, Stakes, StakesPlaced
from replay.catalogue import policies_by_digest, rules_by_digest
from replay.engine.rules import Rules
from replay.errors import InputRefusedError, RoundUnreadable, UnknownGame
from replay.live_round import LiveRound
from replay.policies import Policy
from replay.replayer import replay_round
from replay.table import Journal, LiveTable, TableSettings
from replay.waiting import dealer_has_shown, waiting_of
from replay.wallet import Wallet


def resume_round(ledger: Ledger, round_id: str, *, wallet: Wallet | None = None) -> LiveRound:
    """Return a live round that goes on from the last recorded turn; see `Resumption.resume`."""
    return Resumption(ledger, wallet=wallet).resume(ledger.events(round_id))


class Resumption:
    """Takes up rounds of one ledger; reads its rules and policies once."""

    def __init__(
        self, ledger: Ledger, *, wallet: Wallet | None = None, journal: Journal | None = None
    ) -> None:
        """Take up rounds whose turns go to `journal`, by default to the ledger."""
        self.rules = rules_by_digest(ledger)
        self.policies = policies_by_digest(ledger)
        self._ledger, self._wallet, self._journal = ledger, wallet, journal
        self._tables: dict[bytes, LiveTable] = {}

    def resume(self, events: Sequence[Recorded]) -> LiveRound:
        """Return a live round that goes on from the last of its events.

        When somebody else went on with the round since, the first decision raises the ledger's
        StreamConflict and changes nothing. Raises InputRefusedError for a round that has ended,
        whose events contradict the rules, or whose dealer has shown more than the up card, which a
        player might have seen (turns being whole, no live table leaves one so); UnknownGame when
        the ledger lacks its rules or policy, RoundUnreadable for a stream that is no round, and the
        ledger's KeyUnusable when the sealed seed does not open.
        """
        replay = replay_round(events, self.rules)
        round_id, opened = replay.round_id, replay.opened
        if replay.ending is not None:
            raise InputRefusedError(f"the round {round_id} has ended; replay it to see how")
        if replay.findings:
            first = replay.findings[0]
            raise InputRefusedError(
                f"the round {round_id} cannot go on: {first.code}, {first.text};"
                " replay it to see all"
            )
        if dealer_has_shown(events):
            raise InputRefusedError(
                f"the round {round_id} cannot be resumed: the dealer's cards have been shown"
            )
        if replay.rules is None:
            raise UnknownGame(f"the ledger lacks the rules {opened.rules_digest}")
        table = self._table(opened, replay.rules)
        seed = _unseal(self._ledger, events)
        opened_at = parse_time(events[0].event.at)
        live = LiveRound(table, round_id, opened.player, seed, self._policy(opened), opened_at)
        live.follow(events[-1].event.seq, waiting_of(events), _placed(events))
        if replay.state is not None and replay.requested is not None:
            live.restore_shoe(bytes.fromhex(replay.requested.client_seed))
            live.restore(
                replay.state,
                next_index=replay.next_index,
                hole_index=replay.hole_index,
                offered=replay.offered,
                settled=replay.settled.values(),
            )
        return live

    def _table(self, opened: RoundOpened, rules: Rules) -> LiveTable:
        # The player and the session are the round's, all else is its table's.
        key = msgspec.json.encode(msgspec.structs.replace(opened, player="", session=None))
        if key not in self._tables:
            self._tables[key] = LiveTable(
                self._ledger, rules, _settings(opened), wallet=self._wallet, journal=self._journal
            )
        return self._tables[key]

    def _policy(self, opened: RoundOpened) -> Policy | None:
        if opened.policy_digest is None:
            return None
        if opened.policy_digest not in self.policies:
            raise UnknownGame(f"the ledger lacks the policy {opened.policy_digest}")
        return self.policies[opened.policy_digest]


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


def _placed(events: Sequence[Recorded]) -> Stakes:
    laid = [each.event.data for each in events if isinstance(each.event.data, StakesPlaced)]
    return laid[-1].stakes if laid else {}


def _unseal(ledger: Ledger, events: Sequence[Recorded]) -> bytes:
    for each in events:
        data = each.event.data
        if isinstance(data, ShoeCommitted):
            return ledger.unseal(data.sealed_seed, bytes.fromhex(data.commitment))
    raise RoundUnreadable("the round has no sealed seed to go on from")
