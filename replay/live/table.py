"""The live table: commits to a shoe before any stake, and opens rounds over one ledger.

The seed is drawn and sealed before any stake, so a crash at any point leaves a round that
`resume.resume_round` continues from the same shoe. A player has one round of a game open at a time:
the ledger refuses a second in the transaction that would open it, whichever process asks.
"""

import secrets
from collections.abc import Callable

import msgspec

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import RoundStillOpen
from shoeproof.ledger.keys.sealing import seal_seed
from shoeproof.ledger.leaf.events import (
    GameDisabled,
    Limit,
    Mode,
    RoundOpened,
    ServiceStopped,
    ShoeCommitted,
)
from shoeproof.ledger.store.round_index import Alone
from shoeproof.replay.cases.case import read_decided, resumed_at
from shoeproof.replay.currency import MOST_PLACES, currency_unit, decimal_places, iso_exponent
from shoeproof.replay.engine.round import Stakes, check_stakes
from shoeproof.replay.engine.rules import Rules, rules_digest
from shoeproof.replay.engine.shoe import SEED_BYTES, commitment
from shoeproof.replay.errors import InputRefusedError, SettingsRefused, StakeRefused, UnknownGame
from shoeproof.replay.games.policies import Policy, policy_digest
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.interruptions.waiting import Outage, with_resumptions
from shoeproof.replay.live.journal import Journal
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.live.standing import standing_of
from shoeproof.replay.rounds.limits import outside_limits
from shoeproof.replay.rounds.round_id import new_round_id
from shoeproof.replay.wallet.wallet import AnyWallet, in_unit


class TableSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a table records with each round.

    `limits` maps bets to (least, most) in minor units; a bet it leaves out has none, and the round
    says so. `currency` is a code of ISO 4217, or of any other currency together with its
    `exponent`, how many decimal places it has. Raises SettingsRefused for limits that no stake lies
    within.
    """

    limits: dict[str, tuple[int | None, int | None]]
    currency: str
    exponent: int | None = None
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

    @property
    def unit(self) -> str:
        """The unit of the table's amounts (`shoeproof.replay.currency`)."""
        return currency_unit(self.currency, self.exponent)


def draw_seed() -> bytes:
    """Return 32 bytes from the operating system's generator."""
    return secrets.token_bytes(SEED_BYTES)


def _refuse_unknown_bets(settings: TableSettings, rules: Rules) -> None:
    # Tables of several games may share settings; a misspelt bet would go without its limits.
    known = {*rules.bets, *(bet for game in GAMES.values() for bet in game.rules.bets)}
    for bet in settings.limits:
        if bet not in known:
            raise SettingsRefused(f"no game has a bet {bet!r}; there is {', '.join(sorted(known))}")


def _refuse_unknown_places(settings: TableSettings) -> None:
    if decimal_places(settings.unit) is not None:
        return
    places, code = iso_exponent(settings.currency), settings.currency
    if places is not None:
        raise SettingsRefused(
            f"{code} has {places} decimal places by ISO 4217, not {settings.exponent}: leave the "
            "table's exponent out"
        )
    raise SettingsRefused(
        f"ISO 4217 does not say how many decimal places {code!r} has: give the table's exponent, "
        f"from 0 to {MOST_PLACES}"
    )


def _refuse_closed(closed: GameDisabled | ServiceStopped | None) -> None:
    if closed is not None:
        what = closed.scope or "the service"
        why = f" ({closed.note})" if closed.note else ""
        raise InputRefusedError(f"no round is opened: {what} is out of service{why}")


class LiveTable:
    """One game's table over one ledger; threads may share it, where they may its wallet."""

    def __init__(
        self,
        ledger: Ledger,
        rules: Rules,
        settings: TableSettings,
        *,
        wallet: AnyWallet | None = None,
        journal: Journal | None = None,
        seeds: Callable[[], bytes] = draw_seed,
        resumes: bool = False,
    ) -> None:
        """Open a table.

        Without a `wallet`, movements of money are recorded as unknown. `journal` is the ledger
        unless turns are to be collected first; `seeds` is replaced by tests alone. A table that
        only `resumes` recorded rounds takes their currency as it was recorded. Raises UnknownGame
        when the ledger does not carry these rules. Raises SettingsRefused for limits of a bet that
        neither they nor a published game have, and for a currency whose decimal places neither
        ISO 4217 nor the settings give, or about which the two disagree.
        """
        self.ledger = ledger
        self.rules = rules
        _refuse_unknown_bets(settings, rules)
        if not resumes:
            _refuse_unknown_places(settings)
        limits = {bet: settings.limits.get(bet, (None, None)) for bet in rules.bets}
        self.settings = msgspec.structs.replace(settings, limits=limits)
        self.wallet = in_unit(wallet, self.settings.unit, settings.mode)
        self.journal: Journal = ledger if journal is None else journal
        self._seeds = seeds
        self._standing = standing_of(ledger)
        digest = self._standing.digest(ledger, rules)
        if digest is None:
            unknown = rules_digest(rules)
            raise UnknownGame(f"the ledger does not carry the rules {unknown}; add them first")
        self.digest = digest
        self._seal_public_key = ledger.seal_public_key()

    @property
    def policy(self) -> Policy | None:
        """The policy a round opened now is played under: the game's last one, None without any."""
        return self._standing.policy(self.ledger, self.rules.id)

    def open_round(self, player: str, session: str | None = None) -> LiveRound:
        """Commit to a fresh shoe and return the round, ready for stakes.

        `player` is the operator's opaque name for the player. Raises InputRefusedError where that
        player has a round of this game open, or the game is out of service, whatever the journal.
        """
        opening = self._standing.opening(self.ledger, self.rules.id, self.settings.table)
        _refuse_closed(opening.closed)
        policy = opening.policy
        seed, round_id = self._seeds(), new_round_id()
        committed = commitment(round_id, self.digest, seed)
        escrow_key = self.ledger.escrow_public_key
        escrow = None if escrow_key is None else seal_seed(seed, escrow_key, committed)
        moment, settings = self.journal.now(), self.settings
        opened = RoundOpened(
            rules_digest=self.digest,
            policy_digest=None if policy is None else policy_digest(policy),
            operator=settings.operator,
            table=settings.table,
            session=session,
            channel=settings.channel,
            mode=settings.mode,
            player=player,
            currency=settings.currency,
            exponent=settings.exponent,
            limits={bet: Limit(*bounds) for bet, bounds in settings.limits.items()},
            build=settings.build,
        )
        sealed = seal_seed(seed, self._seal_public_key, committed)
        try:
            self.journal.append(
                (round_id, opened),
                (round_id, ShoeCommitted(committed.hex(), sealed, escrow)),
                at=moment,
                alone=Alone(player, opening.same_game),
            )
        except RoundStillOpen as error:
            raise InputRefusedError(
                f"player {player} has a round of {self.rules.id} open: "
                f"go on with {error.round_id} first"
            ) from error
        return LiveRound(self, round_id, player, seed, policy, moment)

    def check_in_service(self) -> None:
        """Raise InputRefusedError where the game or the service is recorded as out of service."""
        names = self.rules.id, self.settings.table
        _refuse_closed(self._standing.closed_by(self.ledger, *names))

    def outages(self, round_id: str) -> tuple[Outage, ...]:
        """Return what puts off the default of a round of this table; see `with_resumptions`."""
        names = self.rules.id, self.settings.table
        stood = [each for each in self._standing.outages(self.ledger) if each.covers(*names)]
        decided = read_decided(self.ledger, [round_id]).get(round_id, ())
        return with_resumptions(stood, resumed_at(decided))

    def check_stakes(self, stakes: Stakes) -> None:
        """Raise StakeRefused for stakes that the rules or the table's limits do not allow."""
        check_stakes(self.rules, stakes)
        outside = outside_limits(self.settings.limits, stakes, self.settings.unit)
        if outside:
            raise StakeRefused("; ".join(outside))
