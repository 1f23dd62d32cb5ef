"""Two faults of the house at once: what governs can be carried out, and no fault hides another.

Every pair of faults, and a sample of triples, is told of a round in the game and with the seats
that a seed picks. What a round comes to under several is held to what it comes to under each
alone, and every governing remedy is decided and carried out in the ledger.
"""

import random
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import NamedTuple

import pytest

from shoeproof.ledger import Ledger
from shoeproof.replay.cases.assessment import Assessment
from shoeproof.replay.cases.case import key_names, read_cases
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.decide import plan_decision
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.disputes.facts import establish
from shoeproof.replay.disputes.grounds import BetFacts, bets_of
from shoeproof.replay.disputes.record import carry_out, open_case
from shoeproof.replay.live.sweep import sweep
from shoeproof.replay.rounds.money_check import Bet
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.disputes.house_faults import HOUSE_FAULTS, told_together
from tests.disputes.money import Staff, hire
from tests.replay.helpers import prefer
from tests.replay.lying_table import Lie, tell

GAMES = ("nba", "zero", "zappit")
TRIPLES = 60

Names = tuple[str, ...]


class Judged(NamedTuple):
    """A round under some faults: where it stands, how it is assessed, and its bets' grounds."""

    ledger: Ledger
    wallet: MemoryWallet
    round_id: str
    assessment: Assessment
    bets: dict[Bet, BetFacts]

    @property
    def codes(self) -> set[str]:
        return {finding.code for finding in self.assessment.findings}

    def owed(self, bet: Bet) -> int | None:
        """What a bet comes to apart from what happened to be paid."""
        grounds = self.bets[bet].grounds if bet in self.bets else ()
        return max(
            (each.amount_minor for each in grounds if each.name != "recorded_payment"),
            default=None,
        )


class Occasion(NamedTuple):
    """The round that faults are told of."""

    game: str
    seats: int
    number: int


def occasions(seed: str, count: int) -> list[Occasion]:
    """Rounds picked by a seed, with no preference for a game, seats or an outcome."""
    chance = random.Random(seed)
    return [
        Occasion(chance.choice(GAMES), chance.choice((1, 2)), chance.randrange(6))
        for _ in range(count)
    ]


@pytest.fixture(scope="module")
def patch() -> Iterator[pytest.MonkeyPatch]:
    # Undone: the ids of its rounds are fixed, and the next module's are not to be.
    with pytest.MonkeyPatch.context() as context:
        yield context


def judge(occasion: Occasion, names: Names, patch: pytest.MonkeyPatch) -> Judged:
    game, seats, number = occasion
    wallet = MemoryWallet(1_000_000)
    lie = Lie(
        game=game,
        findings=[],
        choose=prefer("stand", "decline"),
        stakes={f"s{seat}": {"main": 100} for seat in range(1, seats + 1)},
        alter=told_together(names),
        wallet=lambda: wallet,
    )
    told = tell(lie, f"{game} {seats} {number}", patch)
    evidence = gather(told.ledger, told.round_id)
    bets = {(each.hand, each.bet): each for each in bets_of(establish(evidence))}
    return Judged(told.ledger, wallet, told.round_id, assess(evidence, "other"), bets)


@cache
def alone(occasion: Occasion, name: str, patch: pytest.MonkeyPatch) -> Judged:
    return judge(occasion, (name,), patch)


PAIRS = list(combinations(HOUSE_FAULTS, 2))
TOLD: list[tuple[Names, Occasion]] = [
    *zip(PAIRS, occasions("two faults", len(PAIRS)), strict=True),
    *zip(
        [
            tuple(random.Random(f"three faults {number}").sample(list(HOUSE_FAULTS), 3))
            for number in range(TRIPLES)
        ],
        occasions("three faults", TRIPLES),
        strict=True,
    ),
]


@pytest.mark.parametrize(
    ("names", "occasion"),
    TOLD,
    ids=[f"{' + '.join(names)}, {' '.join(map(str, where))}" for names, where in TOLD],
)
def test_faults_together(names: Names, occasion: Occasion, patch: pytest.MonkeyPatch) -> None:
    found = judge(occasion, names, patch)
    governing = found.assessment.governing
    assert governing.lawful
    assert sum(remedy.governs for remedy in found.assessment.remedies) == 1
    _takes_nothing_back(found)
    _gives_no_more_than_was_debited_and_won(found)
    for name in names:
        _hides_nothing(found, alone(occasion, name, patch))
    _can_be_carried_out(found)


def _takes_nothing_back(found: Judged) -> None:
    for bet in found.assessment.governing.bets:
        assert bet.due_minor is None or bet.due_minor >= (bet.paid_minor or 0)


def _gives_no_more_than_was_debited_and_won(found: Judged) -> None:
    for bet in found.bets.values():
        most = bet.debited_minor + (bet.by("right_payment", "certain_outcome") or 0)
        assert (bet.due_minor or 0) <= max(most, bet.paid_minor or 0)


def _hides_nothing(found: Judged, single: Judged) -> None:
    """A bet comes to no less than under either fault alone, as far as that fault still shows."""
    if single.assessment.governing.name == "refer" or not single.codes <= found.codes:
        return
    for key, bet in found.bets.items():
        owed = single.owed(key)
        if owed is not None and bet.due_minor is not None:
            assert bet.due_minor >= owed, (key, bet.best)


def _can_be_carried_out(found: Judged) -> None:
    """Decide what governs, let the table do its part, and find nothing more due."""
    ledger, round_id = found.ledger, found.round_id
    staff = hire(ledger)
    open_case(ledger, round_id, "other")
    name = found.assessment.governing.name
    _decide(found, staff)
    if name == "refer":
        return
    assert read_cases(ledger, round_id)[-1].state == "decided"
    sweep(ledger, wallet=found.wallet)
    again = assess(gather(ledger, round_id), "other")
    assert again.governing.moves_minor == 0, (name, again.governing.name, again.governing.bets)
    if not (name == "resume" or found.assessment.money_may_move is False):
        assert again.corrected_by == f"{round_id}.1"


def _decide(found: Judged, staff: Staff) -> None:
    ledger, round_id = found.ledger, found.round_id
    for signer in (staff.ann, staff.bob):
        evidence = gather(ledger, round_id)
        assessment = assess(evidence, "other")
        person = key_names(ledger)[signer.key_id_hex]
        cases = read_cases(ledger, round_id)
        remedy = assessment.governing.name
        plan = plan_decision(evidence, assessment, cases, remedy, key=person)
        carry_out(ledger, evidence, plan, signer, found.wallet)
        if plan.stands:
            return


def test_every_fault_of_the_house_is_found_alone(patch: pytest.MonkeyPatch) -> None:
    """A fault that nothing shows would hold the pairs to nothing."""
    silent = {
        name
        for name in HOUSE_FAULTS
        if not any(alone(Occasion("nba", 1, number), name, patch).codes for number in range(6))
    }
    # What breaks off is open: it is seen by its state, once a table finishes it.
    assert silent <= {"broken off before the settlement"}
