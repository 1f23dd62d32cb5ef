"""The live table: commits to a shoe before any stake, and opens rounds over one ledger.

The seed is drawn and sealed before any stake, so a crash at any point leaves a round that
`resume.resume_round` continues from the same shoe. A player has one round of a game open at a time:
the ledger refuses a second in the transaction that would open it, whichever process asks.
"""

import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Protocol

import msgspec

from ledger import Ledger
from ledger.errors import RoundStillOpen
from ledger.events import EventData, Limit, Mode, RoundOpened, ShoeCommitted
from ledger.rounds import Alone
from ledger.sealing import seal_seed
from replay.catalogue import current_policy, rules_by_digest
from replay.engine.round import Stakes, check_stakes
from replay.engine.rules import Rules, rules_digest
from replay.engine.shoe import SEED_BYTES, commitment
from replay.errors import InputRefusedError, SettingsRefused, StakeRefused, UnknownGame
from replay.games import GAMES
from replay.interruptions import operations_of
from replay.limits import outside_limits
from replay.live_round import LiveRound
from replay.policies import policy_digest
from replay.round_id import new_round_id
from replay.waiting import Outage, closed_to_new_rounds, outages_in
from replay.wallet import Wallet


class TableSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a table records with each round.

    `limits` maps bets to (least, most) in minor units; a bet it leaves out has none, and the round
    says so. Raises SettingsRefused for limits that no stake lies within.
    """

    limits: dict[str, tuple[int | None, int | None]]
    currency: str
    mode: Mode = "real"
    operator: str | None = None
    table: str | None = None
    channel: str | None = None
    build: str | None = None

    def __post_init__(self) -> None:
        """Refuse limits that no stake lies within."""
        for bet, (least, most) in self.limits.items():
            if most is not None and most < max(least or 0, 1):
                raise SettingsRefused(
                    f"no {bet} stake is within the limits {least} to {most}: give the least, then "
                    "the most, in minor units"
                )


class Journal(Protocol):
    """Where a turn is written: a ledger, or a batch that is written to one later."""

    def now(self) -> datetime:
        """Return the time of what is written next, by the ledger's clock."""

    def append(
        self,
        *drafts: tuple[str, EventData],
        at: datetime | None = None,
        after: Mapping[str, int] | None = None,
        alone: Alone | None = None,
    ) -> object:
        """Write the events of one turn, all or none, dated `at`.

        `after` maps the round to the last `seq` its player's view rests on; `alone` is what must
        hold of the player's open rounds.
        """


def draw_seed() -> bytes:
    """Return 32 bytes from the operating system's generator."""
    return secrets.token_bytes(SEED_BYTES)


def _refuse_unknown_bets(settings: TableSettings, rules: Rules) -> None:
    # Tables of several games may share settings; a misspelt bet would go without its limits.
    known = {*rules.bets, *(bet for game in GAMES.values() for bet in game.rules.bets)}
    for bet in settings.limits:
        if bet not in known:
            raise SettingsRefused(f"no game has a bet {bet!r}; there is {', '.join(sorted(known))}")


class LiveTable:
    """One game's table over one ledger."""

    def __init__(
        self,
        ledger: Ledger,
        rules: Rules,
        settings: TableSettings,
        *,
        wallet: Wallet | None = None,
        journal: Journal | None = None,
        seeds: Callable[[], bytes] = draw_seed,
    ) -> None:
        """Open a table.

        Without a `wallet`, movements of money are recorded as unknown. `journal` is the ledger
        unless turns are to be collected first; `seeds` is replaced by tests alone. Raises
        UnknownGame when the ledger does not carry these rules, and SettingsRefused for limits of a
        bet that neither they nor a published game have.
        """
        self.ledger = ledger
        self.rules = rules
        _refuse_unknown_bets(settings, rules)
        limits = {bet: settings.limits.get(bet, (None, None)) for bet in rules.bets}
        self.settings = msgspec.structs.replace(settings, limits=limits)
        self.wallet = wallet
        self.journal: Journal = ledger if journal is None else journal
        self.digest = rules_digest(rules)
        self._seeds = seeds
        carried = rules_by_digest(ledger)
        if self.digest not in carried:
            raise UnknownGame(f"the ledger does not carry the rules {self.digest}; add them first")
        self._same_game = tuple(each for each in carried if carried[each].id == rules.id)
        self.policy = current_policy(ledger, rules.id)
        self._policy_digest = None if self.policy is None else policy_digest(self.policy)
        self._seal_public_key = ledger.seal_public_key()

    def open_round(self, player: str, session: str | None = None) -> LiveRound:
        """Commit to a fresh shoe and return the round, ready for stakes.

        `player` is the operator's opaque name for the player. Raises InputRefusedError where that
        player has a round of this game open, or the game is out of service.
        """
        if self.journal is self.ledger:
            self.check_in_service()
        seed, round_id = self._seeds(), new_round_id()
        committed = commitment(round_id, self.digest, seed)
        escrow_key = self.ledger.escrow_public_key
        escrow = None if escrow_key is None else seal_seed(seed, escrow_key, committed)
        moment, settings = self.journal.now(), self.settings
        opened = RoundOpened(
            rules_digest=self.digest,
            policy_digest=self._policy_digest,
            operator=settings.operator,
            table=settings.table,
            session=session,
            channel=settings.channel,
            mode=settings.mode,
            player=player,
            currency=settings.currency,
            limits={bet: Limit(*bounds) for bet, bounds in settings.limits.items()},
            build=settings.build,
        )
        sealed = seal_seed(seed, self._seal_public_key, committed)
        try:
            self.journal.append(
                (round_id, opened),
                (round_id, ShoeCommitted(committed.hex(), sealed, escrow)),
                at=moment,
                alone=Alone(player, self._same_game),
            )
        except RoundStillOpen as error:
            raise InputRefusedError(
                f"{player} has a round of {self.rules.id} open: go on with {error.round_id} first"
            ) from error
        return LiveRound(self, round_id, player, seed, self.policy, moment)

    def check_in_service(self) -> None:
        """Raise InputRefusedError where the game or the service is recorded as out of service."""
        names = self.rules.id, self.settings.table
        closed = closed_to_new_rounds(operations_of(self.ledger), *names)
        if closed is not None:
            what = closed.scope or "the service"
            why = f" ({closed.note})" if closed.note else ""
            raise InputRefusedError(f"no round is opened: {what} is out of service{why}")

    def outages(self) -> list[Outage]:
        """Return when the service stood still, as far as it concerns this table."""
        names = self.rules.id, self.settings.table
        return [each for each in outages_in(operations_of(self.ledger)) if each.covers(*names)]

    def check_stakes(self, stakes: Stakes) -> None:
        """Raise StakeRefused for stakes that the rules or the table's limits do not allow."""
        check_stakes(self.rules, stakes)
        outside = outside_limits(self.settings.limits, stakes, self.settings.currency)
        if outside:
            raise StakeRefused("; ".join(outside))
