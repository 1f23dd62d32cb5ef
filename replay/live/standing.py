"""A ledger's service, rules and policies as they are now, kept up to date as it grows.

Each is a fold over a stream that only grows. A caller pays for what came since the state was last
asked of this open ledger, by an index of the store, and not for all there ever was.
"""

from threading import Lock
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import GameDisabled, ServiceStopped
from shoeproof.ledger.leaf.streams import OPERATIONS_STREAM, POLICIES_STREAM, RULES_STREAM
from shoeproof.replay.engine.rules import Rules, rules_digest
from shoeproof.replay.games.policies import Policy
from shoeproof.replay.interruptions.waiting import Outage, Service
from shoeproof.replay.rounds.catalogue import policies_by_digest, rules_by_digest

_STREAMS: Final = (OPERATIONS_STREAM, RULES_STREAM, POLICIES_STREAM)


class RoundTerms(NamedTuple):
    """What a round that is opened hangs on.

    `closed` is what keeps it from being opened, `policy` the game's last one, `same_game` are the
    digests of all of the game's rules.
    """

    closed: GameDisabled | ServiceStopped | None
    policy: Policy | None
    same_game: tuple[str, ...]


class Standing:
    """How things stand in one open ledger; threads may share it. Use `standing_of`."""

    def __init__(self) -> None:
        """Begin empty."""
        self._seqs = dict.fromkeys(_STREAMS, -1)
        self._service = Service()
        self._rules: dict[str, Rules] = {}
        self._policies: dict[str, Policy] = {}
        self._lock = Lock()

    def opening(self, ledger: Ledger, game: str, table: str | None) -> RoundTerms:
        """Return what the opening of a round of a game at a table depends on."""
        with self._lock:
            self._follow(ledger)
            same = tuple(digest for digest, each in self._rules.items() if each.id == game)
            return RoundTerms(self._service.closes(game, table), self._policy(game), same)

    def closed_by(self, ledger: Ledger, *names: str | None) -> GameDisabled | ServiceStopped | None:
        """Return why a game's id, or a table's name, cannot open rounds now."""
        with self._lock:
            self._follow(ledger)
            return self._service.closes(*names)

    def outages(self, ledger: Ledger) -> tuple[Outage, ...]:
        """Return when the service was stopped, as `waiting.outages_in` does."""
        with self._lock:
            self._follow(ledger)
            return tuple(self._service.outages)

    # What a digest names never changes and never goes: what is known of it is looked up by nobody.
    # What was handed out is never changed either, so that threads go on with it.

    def rules(self, ledger: Ledger, named: str | None = None) -> dict[str, Rules]:
        """Return every rule set by its digest; with `named`, at least the one of that digest."""
        with self._lock:
            if named not in self._rules:
                self._follow(ledger)
            return self._rules

    def digest(self, ledger: Ledger, rules: Rules) -> str | None:
        """Return the digest that rules have in the ledger, None where it does not carry them."""
        for known, each in self._rules.items():
            if each is rules:
                return known
        digest = rules_digest(rules)
        return digest if digest in self.rules(ledger, digest) else None

    def policies(self, ledger: Ledger, named: str | None = None) -> dict[str, Policy]:
        """Return every policy by its digest, the last recorded last; `named` is as in `rules`."""
        with self._lock:
            if named not in self._policies:
                self._follow(ledger)
            return self._policies

    def policy(self, ledger: Ledger, game: str) -> Policy | None:
        """Return the policy last recorded for a game, None when there is none."""
        with self._lock:
            self._follow(ledger)
            return self._policy(game)

    def _policy(self, game: str) -> Policy | None:
        named = [each for each in self._policies.values() if each.game == game]
        return named[-1] if named else None

    def _follow(self, ledger: Ledger) -> None:
        """Take in what came since, by one query."""
        new = ledger.events_beyond(self._seqs)
        grown = {recorded.event.stream for recorded in new}
        if RULES_STREAM in grown:
            self._rules = rules_by_digest(ledger)
        if POLICIES_STREAM in grown:
            self._policies = policies_by_digest(ledger)
        for recorded in new:
            if recorded.event.stream == OPERATIONS_STREAM:
                self._service.follow(recorded)
            self._seqs[recorded.event.stream] = recorded.event.seq


_KNOWN: WeakKeyDictionary[Ledger, Standing] = WeakKeyDictionary()
_KNOWN_LOCK = Lock()


def standing_of(ledger: Ledger) -> Standing:
    """Return the one of an open ledger, which all of its tables share."""
    with _KNOWN_LOCK:
        return _KNOWN.setdefault(ledger, Standing())
