"""Ledgers to audit: rounds of several tables at once, and what no honest ledger has."""

from random import Random

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.envelope import Event, payload, seal_leaf
from shoeproof.ledger.leaf.events import (
    DisputeOpened,
    EventData,
    InputRefused,
    RoundVoided,
    ShoeRevealed,
)
from shoeproof.ledger.leaf.streams import DISPUTES_PREFIX, HOLDS_PREFIX, OPERATIONS_STREAM
from shoeproof.ledger.store.transaction import SealedEvent
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.live.batch import Batch
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import current_rules
from tests.bulk.other_events import ASIDES, ELSEWHERE
from tests.bulk.rounds import LIMITS, stakes_for


def _table(ledger: Ledger, game: str, batch: Batch | None = None) -> LiveTable:
    settings = TableSettings(limits=LIMITS, currency="EUR")
    return LiveTable(ledger, current_rules(ledger, game), settings, journal=batch)


def interleaved(ledger: Ledger, random: Random, rounds: int) -> None:
    """Rounds of several tables at once, a turn of one and a turn of another; some stay open."""
    batch = Batch(ledger)
    tables = [_table(ledger, game, batch) for game in GAMES]
    live: list[LiveRound] = []
    for number in range(rounds):
        table = random.choice(tables)
        round_ = table.open_round(f"p-{number % 7}")
        if number % 17 == 5:
            seed = ShoeRevealed(round_._seed.hex())
            batch.append((round_.round_id, seed), (round_.round_id, RoundVoided("idle", [])))
            continue
        round_.deal(stakes_for(table.rules.id, random))
        live.append(round_)
        if number % 11 == 3:
            claim = DisputeOpened(round_.round_id, "fairness", None, [], None)
            batch.append((DISPUTES_PREFIX + round_.round_id, claim))
        for each in random.sample(live, min(len(live), 4)):
            if isinstance(each.due, Decide):
                _interrupt(batch, each.round_id, random)
                each.decide(each.due.hand, random.choice(each.offered))
            if not isinstance(each.due, Decide):
                live.remove(each)
    batch.flush()


def _interrupt(batch: Batch, round_id: str, random: Random) -> None:
    """Write what comes between the events of a round."""
    batch.append(*[(round_id, each) for each in ASIDES if random.random() < 0.1])


def _append_raw(ledger: Ledger, stream: str, seq: int, data: EventData) -> None:
    event = Event(1, ledger.origin, stream, seq, type(data).__name__, "2026-01-02T03:04:05.000001Z",
                  None, data)  # fmt: skip
    leaf = seal_leaf(payload(event), ledger.signer(data.signer))
    ledger.store.append([SealedEvent(stream, seq + 1, event.type, leaf)])


def seed_of(ledger: Ledger, round_id: str) -> int:
    """The seed that a round revealed."""
    said = (each.event.data for each in ledger.events(round_id))
    return next(int(each.seed, 16) for each in said if isinstance(each, ShoeRevealed))


def _seeds_again(ledger: Ledger, round_id: str) -> None:
    begun, seed = ledger.events(round_id)[:2], seed_of(ledger, round_id)
    for stream, text in (("again", f"{seed:064x}"), ("following", f"{seed + 1:064X}")):
        for each in begun:
            _append_raw(ledger, stream, each.event.seq, each.event.data)
        _append_raw(ledger, stream, 2, ShoeRevealed(text))
        _append_raw(ledger, stream, 3, RoundVoided("idle", []))


def damage(ledger: Ledger) -> None:
    """What no honest ledger has: late events, a round opened twice, leaves that are no events.

    Beside two rounds, what is about others stands in the streams of their cases and holds. Two
    rounds reveal what one had revealed before, or the seed that follows it.
    """
    streams = [leaf.stream for leaf in ledger.leaves() if leaf.topic == "RoundOpened"]
    closed = [leaf.stream for leaf in ledger.leaves() if leaf.topic == "RoundClosed"]
    again = ledger.events(closed[0])[0].event.data
    still_open = [each for each in streams if each not in closed][-1]
    _append_raw(ledger, closed[1], 90, InputRefused("s1 hit", "closed"))
    _append_raw(ledger, closed[2], 91, again)
    _append_raw(ledger, still_open, 92, again)
    for number in range(3):
        for each in ledger.events(closed[3 + number])[:5]:
            _append_raw(ledger, closed[0], 93 + 9 * number + each.event.seq, each.event.data)
    for round_id in closed[5:7]:
        beside = {
            "holds": HOLDS_PREFIX + round_id,
            "disputes": DISPUTES_PREFIX + round_id,
            "operations": OPERATIONS_STREAM,
        }
        ledger.append(*[(beside[data.kind], data) for data in ELSEWHERE if data.kind in beside])
    _seeds_again(ledger, closed[7])
    ledger.store.append(
        [
            SealedEvent("odd", 1, "CardDealt", b"no leaf"),
            SealedEvent("keys", 50, "KeyAdded", b""),
            SealedEvent(closed[4], 99, "CardDealt", b'{"at":1}\n' + b"0" * 98),
        ]
    )
