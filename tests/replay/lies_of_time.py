"""Lies about clocks, defaults and held wins: what policies forbid."""

from datetime import timedelta
from typing import Literal

from msgspec.structs import replace

from shoeproof.ledger.leaf.events import (
    BetSettled,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    InputRefused,
    RoundOpened,
    WinHeld,
)
from shoeproof.replay.games.policies import POLICIES, Policy
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.replay.helpers import prefer
from tests.replay.lying import STAND, both, broken_off, changing, does, dropped, ends, having
from tests.replay.lying_table import Lie

DUE = "2026-01-02T12:20:00.000000Z"
ALMOST = timedelta(minutes=20, microseconds=-1)
TWENTY = timedelta(minutes=20)
HIT = prefer("hit", "decline")
LARGE = {"s1": {"main": 1_000_001}}

_by_the_system = changing(DecisionMade, having(actor="system"))


def _patient(policy: Policy | None) -> Policy:
    """Keep the game's policy, but for a day."""
    assert policy is not None
    assert policy.default is not None
    return replace(policy, default=replace(policy.default, after_seconds=86_400))


def _none(policy: Policy | None) -> None:
    """Keep no policy at all."""


def _refusing(game: str, reason: Literal["late", "illegal", "closed"]) -> Lie:
    """Refuse a hit at the moment it is offered; the player stands instead."""
    refused = InputRefused("s1 hit", reason)
    return Lie(
        game=game,
        findings=["refusal_wrong"],
        choose=STAND,
        wanted=does("stand"),
        alter=changing(DecisionOffered, lambda offer: (offer, refused)),
    )


TIME: dict[str, Lie] = {
    "an automatic stand at 19 minutes": Lie(
        game="nba",
        findings=["default_early"],
        choose=STAND,
        wanted=does("stand"),
        waits={0: timedelta(minutes=19)},
        alter=_by_the_system,
    ),
    "an automatic stand at 19:59.999999": Lie(
        game="nba",
        findings=["default_early"],
        choose=STAND,
        wanted=does("stand"),
        waits={0: ALMOST},
        alter=_by_the_system,
    ),
    "a hit taken at 20:00.000000": Lie(
        game="nba",
        findings=["decision_late"],
        choose=HIT,
        wanted=does("hit"),
        keeps=_patient,
        waits={0: TWENTY},
        alter=changing(DecisionOffered, having(deadline=DUE)),
    ),
    "an automatic hit": Lie(
        game="nba",
        findings=["default_not_allowed"],
        choose=HIT,
        wanted=does("hit"),
        keeps=_patient,
        waits={0: TWENTY},
        alter=both(changing(DecisionOffered, having(deadline=DUE)), _by_the_system),
    ),
    "an automatic stand where no policy provides one": Lie(
        game="zero",
        findings=["default_not_allowed"],
        choose=STAND,
        wanted=does("stand"),
        waits={0: timedelta(days=2)},
        alter=_by_the_system,
    ),
    "a stand by the staff": Lie(
        game="nba",
        findings=["default_not_allowed"],
        choose=STAND,
        wanted=does("stand"),
        alter=changing(DecisionMade, having(actor="staff")),
    ),
    "ten minutes given for twenty": Lie(
        game="nba",
        findings=["deadline_wrong"],
        choose=STAND,
        wanted=does("stand"),
        alter=changing(DecisionOffered, having(deadline="2026-01-02T12:10:00.000000Z")),
    ),
    "a microsecond taken off the deadline": Lie(
        game="nba",
        findings=["deadline_wrong"],
        choose=STAND,
        wanted=does("stand"),
        alter=changing(DecisionOffered, having(deadline="2026-01-02T12:19:59.999999Z")),
    ),
    "a deadline never told": Lie(
        game="nba",
        findings=["deadline_wrong"],
        choose=STAND,
        wanted=does("stand"),
        keeps=_none,
    ),
    "a deadline where the policy has none": Lie(
        game="zappit",
        findings=["deadline_wrong"],
        choose=STAND,
        wanted=does("stand"),
        alter=changing(DecisionOffered, having(deadline=DUE)),
    ),
    "a round left open past its deadline": Lie(
        game="nba",
        findings=["default_overdue"],
        choose=STAND,
        wanted=does("stand"),
        left_open=True,
    ),
    "a hit on offer refused as late": _refusing("nba", "late"),
    "a hit on offer refused as late where there is no timer": _refusing("zappit", "late"),
    "a hit on offer refused as illegal": _refusing("nba", "illegal"),
    "a hit on offer refused as closed": _refusing("zero", "closed"),
    "a deal refused as closed": Lie(
        game="zero",
        findings=["refusal_wrong"],
        choose=STAND,
        alter=changing(DealRequested, lambda data: (InputRefused("deal", "closed"), data)),
    ),
    "a natural left unsettled for two hours": Lie(
        game="zappit",
        findings=["settlement_overdue"],
        choose=STAND,
        wanted=ends("natural"),
        left_open=True,
        alter=broken_off(lambda data: isinstance(data, BetSettled)),
    ),
    "a policy the ledger does not carry": Lie(
        game="zero",
        findings=["policy_digest_unknown"],
        choose=STAND,
        wanted=does("stand"),
        alter=changing(RoundOpened, having(policy_digest="00" * 32)),
    ),
    "a deadline under no policy": Lie(
        game="nba",
        findings=["deadline_wrong"],
        choose=STAND,
        wanted=does("stand"),
        alter=changing(RoundOpened, having(policy_digest=None)),
    ),
    "a win of 10,000.01 paid out at once": Lie(
        game="zero",
        findings=["win_not_held"],
        choose=STAND,
        wanted=ends("dealer_bust"),
        stakes=LARGE,
        limits={"main": (1, None)},
        wallet=lambda: MemoryWallet(10_000_000),
        keeps=_none,
    ),
    "a held win that no event holds": Lie(
        game="zero",
        findings=["win_not_held"],
        choose=STAND,
        wanted=ends("dealer_bust"),
        stakes=LARGE,
        limits={"main": (1, None)},
        wallet=lambda: MemoryWallet(10_000_000),
        alter=changing(WinHeld, dropped),
    ),
    "a win held by a penny less": Lie(
        game="zero",
        findings=["hold_mismatch", "hold_mismatch"],
        choose=STAND,
        wanted=ends("dealer_bust"),
        stakes=LARGE,
        limits={"main": (1, None)},
        wallet=lambda: MemoryWallet(10_000_000),
        alter=changing(WinHeld, having(amount_minor=1_000_000)),
    ),
    "a win of 10,000.00 held": Lie(
        game="zero",
        findings=["hold_mismatch"],
        choose=STAND,
        wanted=ends("dealer_bust"),
        stakes={"s1": {"main": 1_000_000}},
        limits={"main": (1, None)},
        wallet=lambda: MemoryWallet(10_000_000),
        keeps=lambda policy: replace(POLICIES["zero"], hold_net_win_above_minor=999_999),
    ),
}
"""Every lie about time, by what a player would call it."""
