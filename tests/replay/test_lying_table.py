"""A table that lies, in every way a player or a regulator would name: what replay says of it.

Each lie is held to the whole list of its findings, the kind it is first and no unrelated one.
"""

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.envelope import Event, payload, seal_leaf
from shoeproof.ledger.leaf.events import BetSettled, DealRequested, EventData, InputRefused
from shoeproof.ledger.store.transaction import SealedEvent
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay import findings
from shoeproof.replay.rounds.catalogue import rules_by_digest
from shoeproof.replay.rounds.replayer import replay_round
from tests.replay.lies_of_money import MONEY
from tests.replay.lies_of_play import PLAY
from tests.replay.lies_of_time import TIME
from tests.replay.lying import STAND, changing, having
from tests.replay.lying_table import Lie, tell

LIES = PLAY | MONEY | TIME

NAMED = """
wrong card dealt; card dealt twice; seed not matching its commitment; natural paid 1:1;
natural paid 0; push scored as loss; doubled 21 against 21 paid as win; split push paid as win;
insurance underpaid; suited natural paid 3:2; 5-card 21 paid 1:1;
dealer standing on soft 17 in Zappit; split offered after a hit; split K-Q in Zappit;
second split; zap after a hit; cash out after a double; stake debited twice; insurance withheld;
zap withheld; split withheld; cash out withheld; cash out offered off the table;
cash out shown 1.20 and paid 1.02; settlement missing; two settlements; a decision by nobody;
a 417th card
"""


def test_every_lie_a_player_would_name_is_told() -> None:
    named = {name.strip() for name in NAMED.replace("\n", " ").split(";")}
    assert len(named) == 28
    assert named <= set(LIES)


@pytest.mark.parametrize("name", LIES)
def test_replay_finds_the_lie_and_nothing_else(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tell(LIES[name], name, monkeypatch)
    assert told.codes == LIES[name].findings
    assert not verify(told.ledger, workers=1).findings


@pytest.mark.parametrize("game", ["zappit", "zero", "nba"])
def test_a_table_that_does_not_lie(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tell(Lie(game=game, findings=[], choose=STAND), f"an honest {game}", monkeypatch)
    assert told.codes == []
    assert told.replay.judged


@pytest.mark.parametrize("name", ["wrong card dealt", "natural paid 1:1", "two settlements"])
def test_a_finding_names_its_event(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tell(LIES[name], name, monkeypatch)
    [finding] = told.replay.findings
    assert finding.stream == told.round_id
    assert finding.leaf_index is not None
    recorded = told.ledger.events(told.round_id)[finding.seq or 0]
    assert recorded.leaf_index == finding.leaf_index
    assert recorded.event.type == ("CardDealt" if "card" in name else "BetSettled")


def test_the_player_s_seed_replaced_after_the_deal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every card is then another's; which of them agree by chance hangs on the shoe."""
    lie = Lie(
        game="nba",
        findings=["card_mismatch"],
        choose=STAND,
        alter=changing(DealRequested, having(client_seed="ff")),
    )
    told = tell(lie, "client seed", monkeypatch)
    assert set(told.codes) == {"card_mismatch"}
    assert told.replay.judged


def test_where_the_commitment_fails_the_cards_are_not_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = LIES["seed not matching its commitment"]
    told = tell(honest, "no commitment", monkeypatch)
    assert told.codes == ["commitment_mismatch"]
    assert told.replay.judged
    assert {bet.hand for bet in told.replay.expected} == {"s1"}


def _append_raw(ledger: Ledger, round_id: str, data: EventData) -> None:
    """Append to a closed round, as a holder of the keys and the database could."""
    last = ledger.events(round_id)[-1]
    event = Event(
        last.event.v,
        ledger.origin,
        round_id,
        last.event.seq + 1,
        type(data).__name__,
        last.event.at,
        last.leaf_hash.hex(),
        data,
    )
    leaf = seal_leaf(payload(event), ledger.signer(data.signer))
    ledger.store.append([SealedEvent(round_id, event.seq + 1, event.type, leaf)])


@pytest.mark.parametrize(
    "late",
    [
        InputRefused("s1 hit", "closed"),
        BetSettled("s1", "s1", "main", 100, 1_000_000, "win", None),
    ],
    ids=lambda data: type(data).__name__,
)
def test_an_event_after_the_close(late: EventData, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tell(Lie(game="zero", findings=[], choose=STAND), "after the close", monkeypatch)
    _append_raw(told.ledger, told.round_id, late)
    replay = replay_round(told.ledger.events(told.round_id), rules_by_digest(told.ledger))
    assert [finding.code for finding in replay.findings] == ["event_after_close"]
    assert [finding.code for finding in verify(told.ledger, workers=1).findings] == [
        "event_after_close"
    ]


def test_every_code_of_replay_is_met_by_a_lie_or_belongs_to_written_rounds_or_cases() -> None:
    met = {code for lie in LIES.values() for code in lie.findings}
    named = {value for name, value in vars(findings).items() if name.isupper()}
    known = named - {findings.BREAKS_STATE}
    of_written_rounds = {
        "card_impossible", "stake_missing", "side_bet_without_main", "surplus_move",
        "expect_mismatch",
    }  # fmt: skip
    of_cases = {
        "case_out_of_place", "keys_missing", "payment_undecided", "payment_missing",
        "decision_unfounded",
    }  # fmt: skip
    of_several_rounds = {"seed_repeated", "seed_predictable"}
    assert known - met == of_written_rounds | of_cases | of_several_rounds
