"""A ledger in memory, and two persons of the staff who may sign there."""

import pytest

from shoeproof.ledger import Ledger
from tests.disputes.money import Staff, hire, new_ledger


@pytest.fixture
def ledger() -> Ledger:
    return new_ledger()


@pytest.fixture
def staff(ledger: Ledger) -> Staff:
    return hire(ledger)
