"""One of a thing is told in the singular, and two times of one second as one time."""

import pytest

from shoeproof.replay.disputes.complaints.words import span_text
from shoeproof.replay.rounds.narrative import counted
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.disputes.spans import Evening


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 rounds"), (1, "1 round"), (2, "2 rounds"), (1_100, "1,100 rounds")]
)
def test_things_are_counted(number: int, words: str) -> None:
    assert counted(number, "round") == words


def test_a_plural_may_be_another_word() -> None:
    assert [counted(number, "leaf", "leaves") for number in (1, 2)] == ["1 leaf", "2 leaves"]


def test_two_times_that_clocks_show_alike_are_one() -> None:
    first, second = "2026-01-31T19:00:00.000001Z", "2026-01-31T19:00:00.999999Z"
    assert span_text(first, second, None) == "at 2026-01-31 19:00:00 UTC"
    later = "2026-01-31T19:00:01.000000Z"
    assert span_text(first, later, "Europe/Malta") == (
        "from 2026-01-31 20:00:00 CET to 2026-01-31 20:00:01 CET"
    )


def test_a_complaint_about_one_round_speaks_of_one() -> None:
    evening = Evening(wallet=MemoryWallet(100_000))
    evening.play(1)
    found = evening.assess(evening.complain())
    text = " ".join((found.answer, *found.reasons, *found.lacks))
    assert "1 round" in text
    assert "1 rounds" not in text
    assert "1 movements" not in text
    assert "all 1" not in text
