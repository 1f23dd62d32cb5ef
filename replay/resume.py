"""Take an interrupted round up again where its recorded events left it.

The sealed seed in the ledger opens with the table's key alone, so the same cards come whether the
player left, the terminal died or the server crashed: turns are recorded whole or not at all.
"""

from collections.abc import Mapping, Sequence

from ledger import Ledger, Recorded
from ledger.clock import parse_time
from ledger.events import (
    Limit,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    ShoeCommitted,
    ShoeRevealed,
    Stakes,
    StakesPlaced,
)
from replay.engine.round import Decide
from replay.engine.rules import Rules
from replay.errors import InputRefusedError, RoundUnreadable, UnknownGame
from replay.in_play import RoundInPlay
from replay.intents import settle_open
from replay.live_round import LiveRound
from replay.money_check import HIDDEN
from replay.policies import Policy
from replay.replayer import Replay, replay_round
from replay.shoe_check import ShoeCheck
from replay.standing import standing_of
from replay.table import Journal, LiveTable, TableSettings
from replay.waiting import dealer_has_shown, waiting_of
from replay.wallet import AnyWallet


def resume_round(ledger: Ledger, round_id: str, *, wallet: AnyWallet | None = None) -> LiveRound:
    """Return a live round that goes on from the last recorded turn, with the right offer.

    Where the decision that is due was not offered as the rules and the recorded balance allow, it
    is offered anew. With a `wallet` the round is taken over: what another process has asked for it
    and not yet recorded is cancelled, and that process's turn refused; what was won and is not
    recorded as paid is asked for, and what the wallet raises comes through. Raises what
    `take_up` raises, and SigningRefused for a restored copy, which goes on with nothing.
    """
    if wallet is None:
        ledger.growth.check()
    else:
        settle_open(ledger, wallet, round_id)
    live = take_up(ledger, ledger.events(round_id), wallet=wallet)
    live.offer_anew()
    return live


def reread(live: RoundInPlay) -> None:
    """Have a live round show what its events say by now, also where somebody else wrote them."""
    ledger = live.table.ledger
    events = ledger.events(live.round_id)
    if any(isinstance(each.event.data, RoundClosed | RoundVoided) for each in events):
        replay = replay_round(events, _rules(ledger, events))
        live.end(replay.state, replay.settled.values())
        _follow(live, events)
    else:
        live.adopt(take_up(ledger, events, wallet=live.table.wallet))


def _follow(live: RoundInPlay, events: Sequence[Recorded]) -> None:
    last = events[-1].event
    live.follow(last.seq, waiting_of(events), _placed(events), parse_time(last.at))


def take_up(
    ledger: Ledger,
    events: Sequence[Recorded],
    *,
    wallet: AnyWallet | None = None,
    journal: Journal | None = None,
) -> LiveRound:
    """Return a live round that goes on from the last of its events.

    Its turns go to `journal`, by default to the ledger. The recorded cards are held to the sealed
    seed. What was found that leaves the state whole, about offers, clocks and money, does not
    hinder going on; nor does it that the dealer's cards were shown where no input is left: the same
    cards follow from the seed.

    When somebody else went on with the round since, the first input is refused as overtaken.
    Raises InputRefusedError for a round that has ended, whose state is broken, or that waits for an
    input though the dealer has shown more than the up card, which a player might have seen (turns
    being whole, no live table leaves one so); UnknownGame when the ledger lacks its rules or
    policy, RoundUnreadable for a stream that is no round, and the ledger's KeyUnusable when the
    sealed seed does not open.
    """
    round_id = events[0].event.stream
    if any(isinstance(each.event.data, RoundClosed | RoundVoided) for each in events):
        raise InputRefusedError(f"the round {round_id} has ended; replay it to see how")
    seed = _unseal(ledger, events)
    is_revealed = any(isinstance(each.event.data, ShoeRevealed) for each in events)
    replay = replay_round(events, _rules(ledger, events), seed)
    _refuse_broken(replay, events)
    opened, rules = replay.opened, replay.rules
    if seed is None:
        raise RoundUnreadable("the round has no sealed seed to go on from")
    if not ShoeCheck(round_id, opened.rules_digest, None, events).fits(seed):
        raise InputRefusedError(
            f"the round {round_id} cannot go on: its sealed seed is not the one committed to"
        )
    if rules is None:
        raise UnknownGame(f"the ledger lacks the rules {opened.rules_digest}")
    table = LiveTable(
        ledger, rules, _settings(opened), wallet=wallet, journal=journal, resumes=True
    )
    opened_at = parse_time(events[0].event.at)
    live = LiveRound(table, round_id, opened.player, seed, _policy(ledger, opened), opened_at)
    _follow(live, events)
    if replay.state is not None and replay.requested is not None:
        live.restore_shoe(bytes.fromhex(replay.requested.client_seed))
        live.restore(
            replay.state,
            next_index=replay.next_index,
            hole_index=replay.hole_index,
            offered=replay.offered if replay.offer_is_right else (),
            settled=replay.settled.values(),
            is_revealed=is_revealed,
        )
    if replay.offer is not None:
        barred = replay.offer.barred.items()
        live.hidden = frozenset(act for act, reason in barred if reason == HIDDEN)
    return live


def _rules(ledger: Ledger, events: Sequence[Recorded]) -> Mapping[str, Rules]:
    opened = events[0].event.data
    named = opened.rules_digest if isinstance(opened, RoundOpened) else None
    return standing_of(ledger).rules(ledger, named)


def _policy(ledger: Ledger, opened: RoundOpened) -> Policy | None:
    named = opened.policy_digest
    if named is None:
        return None
    policy = standing_of(ledger).policies(ledger, named).get(named)
    if policy is None:
        raise UnknownGame(f"the ledger lacks the policy {named}")
    return policy


def _settings(opened: RoundOpened) -> TableSettings:
    limits: dict[str, Limit] = opened.limits or {}
    return TableSettings(
        limits={bet: (limit.min_minor, limit.max_minor) for bet, limit in limits.items()},
        currency=opened.currency,
        exponent=opened.exponent,
        mode=opened.mode,
        operator=opened.operator,
        table=opened.table,
        channel=opened.channel,
        build=opened.build,
    )


def _refuse_broken(replay: Replay, events: Sequence[Recorded]) -> None:
    """Raise InputRefusedError for a round that cannot go on."""
    broken, state = replay.broken_by, replay.state
    if broken is not None or not replay.judged:
        why = "its play cannot be followed"
        why = why if broken is None else f"{broken.code}, {broken.text}"
        raise InputRefusedError(
            f"the round {replay.round_id} cannot go on: {why}; replay it to see all"
        )
    waits = state is None or isinstance(state.due, Decide)
    if waits and dealer_has_shown(events):
        raise InputRefusedError(
            f"the round {replay.round_id} cannot be resumed: the dealer's cards have been shown"
        )


def _placed(events: Sequence[Recorded]) -> Stakes:
    laid = [each.event.data for each in events if isinstance(each.event.data, StakesPlaced)]
    return laid[-1].stakes if laid else {}


def _unseal(ledger: Ledger, events: Sequence[Recorded]) -> bytes | None:
    for each in events:
        data = each.event.data
        if isinstance(data, ShoeCommitted):
            return ledger.unseal(data.sealed_seed, bytes.fromhex(data.commitment))
    return None
