"""Plays a scenario: by the live table into a real ledger in memory, with the lies it tells."""

import sqlite3
from contextlib import closing

import msgspec
import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    AlarmRaised,
    DisputeDecided,
    DisputeOpened,
    EventData,
    GameDisabled,
    GameEnabled,
    InputRefused,
    Refund,
    RoundVoided,
    ServiceStarted,
    ServiceStopped,
    ShoeRevealed,
    WinReleased,
)
from shoeproof.ledger.leaf.streams import HOLDS_PREFIX, OPERATIONS_STREAM
from shoeproof.replay.cases.assessment import Assessment, Claim
from shoeproof.replay.cases.case import dispute_stream
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.disputes.similar_rounds import with_touched
from shoeproof.replay.errors import InputRefusedError
from shoeproof.replay.games.policies import POLICIES, Policy, policy_from_data
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import add_policy, add_published_games
from shoeproof.replay.written.round_text import RoundText
from tests.disputes.lies import AFTERWARDS, WAITS, lie_of
from tests.disputes.scenario import DAY, Scenario, Step, bets_of, minor, stakes_of, steps_of
from tests.disputes.shoes import ROUND, SEED, shoe_of
from tests.replay.helpers import ORIGIN
from tests.replay.lying import credited
from tests.replay.lying_table import AlteringJournal, LyingRound

_SERVICE: dict[str, EventData] = {
    "service stopped": ServiceStopped(3, None, None),
    "service started": ServiceStarted(3, None, None),
    "game disabled": GameDisabled(6, None, None),
    "game enabled": GameEnabled(6, None, None),
    "time passes": AlarmRaised(1, None, "nothing is wrong"),
}


class Stage:
    """One scenario on its way; `ledger` holds what came of it."""

    def __init__(self, scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
        self.scenario = scenario
        self.moment = DAY
        self.ledger = Ledger.in_memory(ORIGIN, clock=lambda: self.moment)
        add_published_games(self.ledger)
        if scenario.policy:
            add_policy(self.ledger, _policy(scenario))
        self._monkeypatch = monkeypatch
        monkeypatch.setattr("shoeproof.replay.live.table.new_round_id", lambda: ROUND)
        self.live = self._open()

    def _open(self) -> LyingRound:
        scenario = self.scenario
        client_seed = bytes.fromhex(scenario.client_seed)
        shoe = shoe_of(scenario.game, client_seed)
        cards = scenario.shoe.split()
        assert [shoe[place] for place in range(len(cards))] == cards, "see tests.disputes.shoes"
        game, lie = GAMES[scenario.game], lie_of(scenario.game, scenario.lie)
        table = LiveTable(
            self.ledger,
            game.rules,
            TableSettings(
                limits=dict.fromkeys(game.rules.bets, (1, 10000000)),
                currency=game.currency,
                table="t-1",
                build="1.4.2",
            ),
            wallet=lie.wallet(),
            journal=AlteringJournal(self.ledger, lie),
            seeds=lambda: SEED,
        )
        table.rules = lie.plays(game.rules)
        self.moment = steps_of(scenario)[0].at
        opened = table.open_round("p-1")
        live = LyingRound(table, ROUND, opened.player, SEED, table.policy, self.moment)
        live.lie = lie
        for words in map(str.split, scenario.lie):
            if words[0] == WAITS:
                live.policy = _waiting(table.policy, minutes=int(words[1]))
        return live

    def play(self) -> None:
        """Take every step, and then what is done to the database."""
        for step in steps_of(self.scenario):
            with self._monkeypatch.context() as other:
                if step.at < self.moment:
                    # A table that dates events by its clock alone, as other software may.
                    for module in (
                        "shoeproof.ledger.writing.heads",
                        "shoeproof.replay.live.in_play",
                    ):
                        other.setattr(f"{module}.not_before", lambda moment, _: moment)
                self.moment = step.at
                self._take(step)
        for sentence in self.scenario.lie:
            if sentence.split(" ")[0] in AFTERWARDS:
                self._tamper(sentence.split(" "))

    def _take(self, step: Step) -> None:
        match step.words.split(" ", 1):
            case ["lay", bets]:
                self.live.place(stakes_of(bets))
            case ["deal", bets]:
                client_seed = bytes.fromhex(self.scenario.client_seed)
                self.live.deal(stakes_of(bets), client_seed)
            case ["connection", "lost"]:
                self.live.lose_connection()
            case ["connection", "restored"]:
                self.live.restore_connection()
            case ["sweep"]:
                assert self.live.apply_due()
            case ["sweep", "finds nothing"]:
                assert not self.live.apply_due()
            case ["system", "decides"]:
                self._decide_for_the_player(step)
            case ["staff", words]:
                self._staff(words)
            case ["refuses", words]:
                came, reason = words.split(" as ")
                refused = msgspec.convert({"input": came, "reason": reason}, InputRefused)
                self.live._write([refused], step.at)
            case _ if step.words in _SERVICE:
                self.ledger.append((OPERATIONS_STREAM, _SERVICE[step.words]))
            case [hand, act] if act.endswith(" refused"):
                with pytest.raises(InputRefusedError):
                    self.live.decide(hand, act.removesuffix(" refused"))
            case [hand, act]:
                self.live.decide(hand, act)

    def _decide_for_the_player(self, step: Step) -> None:
        policy = self.live.policy
        assert policy is not None
        if policy.default is None:
            default = POLICIES["nba"].default
            self.live.policy = msgspec.structs.replace(policy, default=default)
        self.live._apply_default([], step.at)

    def _staff(self, words: str) -> None:
        what, rest = words.split(" ", 1)
        if what == "releases":
            released = WinReleased(ROUND, minor(rest), None)
            self.ledger.append((HOLDS_PREFIX + ROUND, released))
            return
        if what == "decides":
            opened = DisputeOpened(ROUND, "other", None, [], None)
            decided = DisputeDecided(ROUND, [], "a clause", "upheld", rest, None, 0, 1)
            self.ledger.append((dispute_stream(ROUND), opened), (dispute_stream(ROUND), decided))
            return
        assert what == "voids"
        refunds = [
            Refund(hand, bet, back or 0, credited(back or 0))
            for (hand, bet), back in bets_of(rest).items()
        ]
        seed = ShoeRevealed(SEED.hex())
        self.ledger.append((ROUND, seed), (ROUND, RoundVoided("by staff", refunds)))

    def _tamper(self, words: list[str]) -> None:
        """Do what only the holder of the database can."""
        match words:
            case ["forges", "the", "decision", hand, act]:
                said, place = f'"act":"{act}"'.encode(), "DecisionMade"
                wanted = [said, f'"hand":"{hand}"'.encode()]
            case ["removes", place]:
                said, wanted = b"", []
            case _:
                raise AssertionError(f"no lie: {' '.join(words)!r}")
        leaf = next(
            each
            for each in self.ledger.store.stream(ROUND)
            if each.topic == place and all(part in each.state for part in wanted)
        )
        row = "event_rowid = (SELECT event_rowid FROM leaves WHERE leaf_index = ?)"
        database = sqlite3.connect(self.ledger.store.database, uri=True)
        with closing(database) as connection, connection:
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            ).fetchall():
                connection.execute(f"DROP TRIGGER {name}")
            if said:
                forged = leaf.state.replace(said, b'"act":"zap"')
                connection.execute(
                    f"UPDATE stored_events SET state = ? WHERE {row}", (forged, leaf.leaf_index)
                )
            else:
                connection.execute(f"DELETE FROM stored_events WHERE {row}", (leaf.leaf_index,))


def _waiting(policy: Policy | None, minutes: int) -> Policy:
    assert policy is not None
    assert policy.default is not None
    default = msgspec.structs.replace(policy.default, after_seconds=60 * minutes)
    return msgspec.structs.replace(policy, default=default)


def _policy(scenario: Scenario) -> Policy:
    values = msgspec.to_builtins(POLICIES[scenario.game])
    other = {name: None if value == "none" else value for name, value in scenario.policy.items()}
    return policy_from_data({**values, **other})


def staged(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """Play a scenario and return its ledger."""
    stage = Stage(scenario, monkeypatch)
    stage.play()
    return stage.ledger


def investigate(
    ledger: Ledger, round_id: str, claim: Claim | None = None, shown: RoundText | None = None
) -> Assessment:
    """Gather, assess and look for other rounds, as a command does."""
    evidence = gather(ledger, round_id)
    return with_touched(ledger, evidence, assess(evidence, claim, shown))
