"""What no verification of the record can detect: it passes, and these tests say that it does."""

from shoeproof.ledger.leaf.events import BetSettled, RoundClosed, RoundVoided
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from tests.attacks.conftest import Scene
from tests.attacks.helpers import found
from tests.ledger.helpers import play, round_id, short_round


def test_rounds_never_logged_are_not_missed(scene: Scene) -> None:
    with Ledger.open(scene.path) as ledger:
        play(ledger, round_id(3))
        sign_checkpoint(ledger)
    assert found(scene) == []


def test_selective_voiding_is_in_the_record_and_no_contradiction(scene: Scene) -> None:
    with Ledger.open(scene.path) as ledger:
        ledger.append(*((round_id(1), data) for data in short_round()[:4]))
        ledger.append((round_id(1), RoundVoided("the player would have won", [])))
        sign_checkpoint(ledger)
    assert found(scene) == []


def test_a_lie_at_the_time_of_writing_is_signed_like_the_truth(scene: Scene) -> None:
    """The wallet was never credited what the settlement key says was paid."""
    with Ledger.open(scene.path) as ledger:
        ledger.append(*((round_id(1), data) for data in short_round()[:5]))
        paid = BetSettled("s1", "s1", "main", 100, 1_000_000, "win", None)
        ledger.append((round_id(1), paid), (round_id(1), short_round()[6]))
        ledger.append((round_id(1), RoundClosed(100, 1_000_000)))
    assert found(scene) == []
