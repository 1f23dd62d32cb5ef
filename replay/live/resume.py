"""Resume an interrupted round where its recorded events left it (`recorded_play`)."""

from collections.abc import Sequence

from shoeproof.ledger import Ledger, Recorded
from shoeproof.ledger.leaf.clock import parse_time
from shoeproof.ledger.leaf.events import Limit, RoundOpened
from shoeproof.replay.live.journal import Journal
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.live.recorded_play import read_play
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.money_check import HIDDEN
from shoeproof.replay.wallet.intents import settle_open
from shoeproof.replay.wallet.wallet import AnyWallet


def resume_round(ledger: Ledger, round_id: str, *, wallet: AnyWallet | None = None) -> LiveRound:
    """Return a live round that goes on from the last recorded turn, with the right offer.

    Where the decision that is due was not offered as the rules and the recorded balance allow, it
    is offered again. With a `wallet` the round is taken over: what another process has asked for it
    and not yet recorded is cancelled, and that process's turn refused; what was won and is not
    recorded as paid is asked for, and what the wallet raises comes through. Raises what
    `take_up` raises, and SigningRefused for a restored copy, which goes on with nothing.
    """
    if wallet is None:
        ledger.growth.check()
    else:
        settle_open(ledger, wallet, round_id)
    live = take_up(ledger, ledger.events(round_id), wallet=wallet)
    live.offer_again()
    return live


def take_up(
    ledger: Ledger,
    events: Sequence[Recorded],
    *,
    wallet: AnyWallet | None = None,
    journal: Journal | None = None,
) -> LiveRound:
    """Return a live round that goes on from the last of its events.

    Its turns go to `journal`, by default to the ledger. When somebody else went on with the round
    since, the first input is refused as overtaken. Raises what `read_play` raises.
    """
    play = read_play(ledger, events)
    opened = play.replay.opened
    table = LiveTable(
        ledger, play.rules, _settings(opened), wallet=wallet, journal=journal, resumes=True
    )
    opened_at = parse_time(events[0].event.at)
    live = LiveRound(
        table, events[0].event.stream, opened.player, play.seed, play.policy, opened_at
    )
    live.go_on_from(play)
    if play.replay.offer is not None:
        barred = play.replay.offer.barred.items()
        live.hidden = frozenset(act for act, reason in barred if reason == HIDDEN)
    return live


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
