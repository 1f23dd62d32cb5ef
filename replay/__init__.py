"""What the events mean: cards, rules, the live table, replay and judgement."""

from typing import TYPE_CHECKING

from shoeproof.public import names_of

if TYPE_CHECKING:
    from shoeproof.replay.disputes.assess import assess as assess
    from shoeproof.replay.disputes.decide import plan_decision as plan_decision
    from shoeproof.replay.disputes.evidence import gather as gather
    from shoeproof.replay.engine.round import Decide as Decide
    from shoeproof.replay.games.published import GAMES as GAMES
    from shoeproof.replay.live.live_round import LiveRound as LiveRound
    from shoeproof.replay.live.players import make_player as make_player
    from shoeproof.replay.live.resume import resume_round as resume_round
    from shoeproof.replay.live.simulation import simulate as simulate
    from shoeproof.replay.live.sweep import sweep as sweep
    from shoeproof.replay.live.table import LiveTable as LiveTable
    from shoeproof.replay.live.table import TableSettings as TableSettings
    from shoeproof.replay.rounds.catalogue import add_published_games as add_published_games
    from shoeproof.replay.rounds.catalogue import current_rules as current_rules
    from shoeproof.replay.rounds.replayed import Replay as Replay
    from shoeproof.replay.rounds.replayer import replay_round as replay_round
    from shoeproof.replay.wallet.http import HttpWallet as HttpWallet
    from shoeproof.replay.wallet.wallet import MemoryWallet as MemoryWallet
    from shoeproof.replay.wallet.wallet import Wallet as Wallet
    from shoeproof.replay.written.adjudicate import adjudicate as adjudicate

_PLACES = {
    "Decide": "engine.round",
    "GAMES": "games.published",
    "HttpWallet": "wallet.http",
    "LiveRound": "live.live_round",
    "LiveTable": "live.table",
    "MemoryWallet": "wallet.wallet",
    "Replay": "rounds.replayed",
    "TableSettings": "live.table",
    "Wallet": "wallet.wallet",
    "add_published_games": "rounds.catalogue",
    "adjudicate": "written.adjudicate",
    "assess": "disputes.assess",
    "current_rules": "rounds.catalogue",
    "gather": "disputes.evidence",
    "make_player": "live.players",
    "plan_decision": "disputes.decide",
    "replay_round": "rounds.replayer",
    "resume_round": "live.resume",
    "simulate": "live.simulation",
    "sweep": "live.sweep",
}
__all__ = list(_PLACES)
__getattr__ = names_of(__name__, _PLACES)
