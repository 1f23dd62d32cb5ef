"""The rule sets and policies a ledger carries: what its rounds can be dealt under and judged by.

A digest is looked up in the ledger and nowhere else, so a round dealt years ago is replayed by the
very rules it names, whatever this software has learned since.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache

import msgspec

from shoeproof.ledger import Ledger, Recorded
from shoeproof.ledger.leaf.events import EventData, PolicyAdded, RulesAdded
from shoeproof.ledger.leaf.recorded import readable
from shoeproof.ledger.leaf.streams import POLICIES_STREAM, RULES_STREAM
from shoeproof.replay.engine.rules import Rules, canonical_rules, rules_digest, rules_from_data
from shoeproof.replay.errors import RulesError, UnknownGame
from shoeproof.replay.games.policies import POLICIES, Policy, policy_digest, policy_from_data
from shoeproof.replay.games.published import GAMES


def add_published_games(ledger: Ledger) -> None:
    """Record the rules and policies of every published game that the ledger lacks."""
    rules = {rules_digest(game.rules): game.rules for game in GAMES.values()}
    policies = {policy_digest(policy): policy for policy in POLICIES.values()}
    drafts: list[tuple[str, EventData]] = [
        (RULES_STREAM, _rules_added(digest, rules[digest]))
        for digest in rules
        if digest not in ledger.rules()
    ]
    drafts += [
        (POLICIES_STREAM, PolicyAdded(digest, msgspec.to_builtins(policies[digest])))
        for digest in policies
        if digest not in ledger.policies()
    ]
    if drafts:
        ledger.append(*drafts)


def add_rules(ledger: Ledger, rules: Rules) -> str:
    """Record a rule set and return its digest; raise RulesError when the ledger has it already."""
    digest = rules_digest(rules)
    if digest in ledger.rules():
        raise RulesError(f"the ledger already has these rules, digest {digest}")
    ledger.append((RULES_STREAM, _rules_added(digest, rules)))
    return digest


def rules_by_digest(ledger: Ledger) -> dict[str, Rules]:
    """Return every rule set of the ledger by the digest its content has.

    A recorded digest that its rules do not have, or whose rules are not valid, is not a key here:
    so rounds that name it are judged by nothing rather than by something else, and the rest as
    ever.
    """
    return rules_in(readable(ledger.store.stream(RULES_STREAM)))


def rules_in(events: Iterable[Recorded]) -> dict[str, Rules]:
    """Return every rule set that events add; see `rules_by_digest`."""
    data = (each.event.data for each in events)
    return rules_by_content(each.rules for each in data if isinstance(each, RulesAdded))


def rules_by_content(recorded: Iterable[Mapping[str, object]]) -> dict[str, Rules]:
    """Return rule sets by the digest each has, passing over invalid ones."""
    return dict(filter(None, (_read_rules(msgspec.json.encode(data)) for data in recorded)))


@lru_cache(maxsize=64)
def _read_rules(content: bytes) -> tuple[str, Rules] | None:
    """Return a rule set by its digest, None where it is not valid.

    A caller that gathers the evidence of many rounds meets the same few rules each time.
    """
    try:
        rules = rules_from_data(msgspec.json.decode(content))
    except RulesError:
        return None
    return rules_digest(rules), rules


def current_rules(ledger: Ledger, game: str) -> Rules:
    """Return the rules last recorded under a game's id; raise UnknownGame when there are none."""
    named = [rules for rules in rules_by_digest(ledger).values() if rules.id == game]
    if not named:
        known = sorted({rules.id for rules in rules_by_digest(ledger).values()})
        raise UnknownGame(f"unknown game {game!r}; the ledger has {', '.join(known) or 'none'}")
    return named[-1]


def policies_by_digest(ledger: Ledger) -> dict[str, Policy]:
    """Return every policy of the ledger by the digest its content has; see `rules_by_digest`."""
    return policies_in(readable(ledger.store.stream(POLICIES_STREAM)))


def policies_in(events: Iterable[Recorded]) -> dict[str, Policy]:
    """Return every policy that events add; see `rules_by_digest`."""
    found = {}
    for each in events:
        if isinstance(each.event.data, PolicyAdded):
            with suppress(RulesError):
                policy = policy_from_data(each.event.data.policy)
                found[policy_digest(policy)] = policy
    return found


def add_policy(ledger: Ledger, policy: Policy) -> str:
    """Record a policy as its game's from now on; raise RulesError if the ledger has it already."""
    digest = policy_digest(policy)
    if digest in ledger.policies():
        raise RulesError(f"the ledger already has this policy, digest {digest}")
    ledger.append((POLICIES_STREAM, PolicyAdded(digest, msgspec.to_builtins(policy))))
    return digest


def current_policy(ledger: Ledger, game: str) -> Policy | None:
    """Return the policy last recorded for a game, None when there is none."""
    named = [policy for policy in policies_by_digest(ledger).values() if policy.game == game]
    return named[-1] if named else None


def _rules_added(digest: str, rules: Rules) -> RulesAdded:
    return RulesAdded(digest, msgspec.json.decode(canonical_rules(rules)))
