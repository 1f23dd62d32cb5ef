"""`project` and `rtp` on decisions and wallets: lawful ones are no finding, lying ones are."""

import json
from pathlib import Path

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    Awarded,
    BetSettled,
    CardDealt,
    DealRequested,
    DecisionOffered,
    EventData,
    HoleCardShown,
    Limit,
    RoundOpened,
    ShoeCommitted,
    Stakes,
    StakesPlaced,
)
from shoeproof.ledger.rotation import new_key
from shoeproof.replay.engine.hand import CASH_OUT
from shoeproof.replay.games.policies import POLICIES, policy_digest
from shoeproof.replay.rounds.catalogue import add_published_games
from shoeproof.replay.rounds.money_check import HIDDEN
from tests.audit_reports.helpers import NBA, closed, made, play, settled
from tests.audit_reports.test_wallet_money import (
    HONEST,
    LIES,
    LOST,
    a_round,
    credit,
    debit,
    decided,
)
from tests.cli.conftest import Shoeproof
from tests.disputes import live

BOTH: Stakes = {"s1": {"main": 1000, "perfect_pairs": 100}}
MAIN: Stakes = {"s1": {"main": 1000}}
COMMITTED = ShoeCommitted("cc" * 32, "c2VhbGVk", None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A new ledger with the published games and a key of ann's, who decides cases."""
    place = tmp_path / "ledger"
    with Ledger.init(place, "ledger.example/bj") as ledger:
        add_published_games(ledger)
        new_key(ledger, "ann", ["staff"])
    return place


def recorded(path: Path, events: list[EventData]) -> str:
    with Ledger.open(path) as ledger:
        return play(ledger, events)


def opening() -> RoundOpened:
    limits = {bet: Limit(1, 100_000) for bet in ("main", "perfect_pairs")}
    policy = policy_digest(POLICIES["nba"])
    return RoundOpened(
        NBA, policy, None, "t-1", None, "web", "real", "p-1", "EUR", limits, "build-1"
    )  # fmt: skip


def dealt(stakes: Stakes, *cards: str) -> list[EventData]:
    """The deal of one seat: its card, the dealer's, its second, and the dealer's face down."""
    receivers = ("s1", "dealer", "s1")
    up = [CardDealt(place, *each) for place, each in enumerate(zip(receivers, cards, strict=True))]
    return [DealRequested(stakes, "", None), *up, CardDealt(3, "dealer")]


def offer(*legal: str) -> DecisionOffered:
    # The player chose not to be shown cash out: what is missing would count as withheld.
    return DecisionOffered("s1", [*legal], {CASH_OUT: HIDDEN}, None, None)


CHIPS_LAID: list[EventData] = [opening(), COMMITTED, StakesPlaced(BOTH)]

# Nobody committed to a shoe, so that the round cannot go on; its mixed pair (6 to 1) is paid.
PAIR_SETTLED: list[EventData] = [
    opening(),
    *dealt(BOTH, "8c", "Ks", "8d"),
    BetSettled("s1", "s1", "perfect_pairs", 100, 700, "mixed_pair", None),
    offer("hit", "stand", "double", "split"),
]

# The seed revealed is not the one committed to: no card of it can be held to the player.
ENDED = closed(
    [
        opening(),
        COMMITTED,
        *dealt(MAIN, "Tc", "Ks", "8d"),
        offer("hit", "stand", "double"),
        made("s1", "stand"),
        HoleCardShown("Th"),
        settled("s1", 1000, 0, line="loss"),
    ]
)

# Of each bet the rounds that count, what was staked and paid, and the void stakes.
VOIDS = {
    "before the deal": (CHIPS_LAID, {"main": (0, 0, 0, 1000), "perfect_pairs": (0, 0, 0, 100)}),
    "after a settled pair": (
        PAIR_SETTLED,
        {"main": (0, 0, 0, 1000), "perfect_pairs": (1, 100, 700, 0)},
    ),
    "after the end": (ENDED, {"main": (0, 0, 0, 1000)}),
}


def decide(shoeproof: Shoeproof, path: Path, round_id: str, remedy: str) -> None:
    at = ("--ledger", path)
    assert shoeproof("dispute", "open", round_id, "--claim", "settlement", *at).code == 0
    words = ("--remedy", remedy, "--key", "ann", "--yes")
    done = shoeproof("dispute", "decide", round_id, *words, *at)
    assert done.code == 0, done.err


def counted(shoeproof: Shoeproof, path: Path) -> dict[str, tuple[int, int, int, int]]:
    """By bet what `rtp` counts, which must find nothing, as `project` must."""
    shown = shoeproof("project", "--ledger", path)
    assert (shown.code, "every check finds nothing" in shown.out) == (0, True), shown.out
    shown = shoeproof("rtp", "--json", "--ledger", path)
    assert shown.code == 0
    (game,) = json.loads(shown.out)["games"]
    assert game["word"] == "inconclusive"
    names = ("rounds", "staked_minor", "paid_minor", "voided_minor")
    return {
        bet["row"]["bet"]: tuple(bet["row"][name] for name in names) for bet in game["bets"]
    }  # fmt: skip


@pytest.mark.parametrize("stage", VOIDS)
def test_a_lawful_void_is_no_finding(path: Path, shoeproof: Shoeproof, stage: str) -> None:
    events, expected = VOIDS[stage]
    decide(shoeproof, path, recorded(path, events), "void")
    assert counted(shoeproof, path) == expected


def test_a_lawful_resettlement_is_no_finding(path: Path, shoeproof: Shoeproof) -> None:
    with Ledger.open(path) as ledger:
        # Half of the win of a bet of 10.00 at 1:1 or 3:2 was withheld.
        round_id = live.play(ledger, live.won, change=live.underpay)
    before = shoeproof("rtp", "--json", "--ledger", path)
    assert before.code == 1
    decide(shoeproof, path, round_id, "resettle")
    paid = json.loads(before.out)["games"][0]["bets"][0]["row"]["paid_minor"]
    assert counted(shoeproof, path)["main"][2] - paid in (500, 750)


def test_rtp_and_project_say_so_and_exit_with_1(path: Path, shoeproof: Shoeproof) -> None:
    recorded(path, LOST)
    recorded(path, LIES["a credit ten times too large"].events)
    shown = shoeproof("rtp", "--ledger", path)
    assert shown.code == 1
    assert "100.00% counted, 1000.00% by what the wallet moved" in " ".join(shown.out.split())
    assert "out of range" in shown.out
    assert shoeproof("project", "--ledger", path).code == 1
    data = json.loads(shoeproof("rtp", "--json", "--ledger", path).out)
    assert data["games"][0]["bets"][0]["wallet_rtp"] == 10.0


def test_rtp_names_money_moved_for_fun_where_no_game_was_counted(
    path: Path, shoeproof: Shoeproof
) -> None:
    recorded(path, a_round(debit(1000), 2000, credit(2000), mode="fun"))
    shown = shoeproof("rtp", "--ledger", path)
    assert shown.code == 1
    assert "Real money moved in 1 round played for fun" in shown.out


def test_rtp_shows_awards_apart(path: Path, shoeproof: Shoeproof) -> None:
    round_id = recorded(path, HONEST)
    with Ledger.open(path) as ledger:
        ledger.append(*decided(round_id, Awarded(round_id, None, None, 2000, "EUR", None)))
    shown = shoeproof("rtp", "--ledger", path)
    assert "apart: 1 payment by award or goodwill, 20.00 EUR, in no return" in shown.out
    assert "200.00%" in shown.out
