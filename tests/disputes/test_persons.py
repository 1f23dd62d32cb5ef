"""Two persons are two names: a key and its successor are one person's."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger import Ledger
from shoeproof.ledger.keys.key import FileSigner, PublicKey, Signer
from shoeproof.ledger.rotation import add_key, rotate_key
from shoeproof.replay.cases.assessment import Assessment
from shoeproof.replay.cases.bounds import keys_needed
from shoeproof.replay.errors import DisputeRefused
from shoeproof.replay.games.policies import POLICIES
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.audit_reports.helpers import simple
from tests.disputes.money import (
    assessed,
    cases_of,
    decide,
    disputed,
    moved,
    new_ledger,
    planned,
    price,
    remedy,
    sign,
)

LARGE = 150_000
"""Above the 100,000 that one person may move by the published policies."""


def large(round_id: str) -> Assessment:
    return assessed(round_id, remedy("void", price(LARGE, 0, LARGE), governs=True))


def with_key(ledger: Ledger, name: str, private_key: Ed25519PrivateKey) -> Signer:
    signer = FileSigner(name, private_key)
    add_key(ledger, PublicKey(name, signer.public_key), ["staff"])
    return signer


def refused_second(ledger: Ledger, first: Signer, second: Signer) -> str:
    """Sign a large decision by both, see that the second is refused, and return what was said."""
    round_id = disputed(ledger, simple(0, LARGE))
    decide(ledger, large(round_id), "void", first)
    with pytest.raises(DisputeRefused, match="needs the key of another person") as error:
        decide(ledger, large(round_id), "void", second)
    assert moved(ledger, round_id) == []
    assert cases_of(ledger, round_id)[0].state == "awaiting_second_key"
    return str(error.value)


def test_a_key_and_the_one_it_was_rotated_to_are_one_person(tmp_path: Path) -> None:
    with Ledger.init(tmp_path / "ledger", "tests.example/persons") as ledger:
        add_published_games(ledger)
        before = ledger.signer("staff")
        rotate_key(ledger, "staff")
        after = ledger.signer("staff")
        assert before.public_key != after.public_key
        refused_second(ledger, before, after)


def test_a_plan_made_for_another_person_is_not_signed_twice_by_one() -> None:
    ledger = new_ledger()
    ann, bob = (with_key(ledger, name, Ed25519PrivateKey.generate()) for name in ("ann", "bob"))
    round_id = disputed(ledger, simple(0, LARGE))
    decide(ledger, large(round_id), "void", ann)
    plan = planned(ledger, large(round_id), "void", bob)
    with pytest.raises(DisputeRefused, match="ann has signed this decision already"):
        sign(ledger, plan, ann)
    sign(ledger, plan, bob)
    assert cases_of(ledger, round_id)[0].state == "decided"


# The limit of one person is in the policy's currency


@pytest.mark.parametrize(
    ("game", "currency", "amount", "needed"),
    [
        ("nba", "EUR", 100_000, 1),
        ("nba", "EUR", 100_001, 2),
        # 1,000.00 EUR are no 1,000 JPY, nor 100.000 KWD: nobody said how much one may move.
        ("nba", "JPY", 1, 2),
        ("nba", "KWD", 100_000, 2),
        ("nba", "JPY", 0, 1),
        ("zero", "GBP", 100_000, 1),
        ("zero", "EUR", 1, 2),
        (None, "EUR", 1, 2),
        (None, "EUR", 0, 1),
    ],
)
def test_the_limit_binds_rounds_of_the_policy_s_currency(
    game: str | None, currency: str, amount: int, needed: int
) -> None:
    policy = None if game is None else POLICIES[game]
    assert keys_needed(policy, currency, "resettle", amount, None) == needed
