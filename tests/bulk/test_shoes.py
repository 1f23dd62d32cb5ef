"""Shoes drawn together are the shoes drawn one by one, rejected words included."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoeproof.replay.engine import shoe as engine
from shoeproof.replay.engine.cards import PACK
from shoeproof.replay.engine.shoe import Shoe, commitment
from shoeproof.replay.errors import ShoeError
from shoeproof.replay.kernel import shoes
from shoeproof.replay.kernel.symbols import RoundColumns
from shoeproof.replay.kernel.tables import NUMBER
from tests.strategies import client_seeds, digests, server_seeds

ROUND = "01936f3c-7a10-7b3e-9c55-2f6d8a1b4c5d"


def _own(seed: bytes, client_seed: bytes, committed: bytes | None = None) -> RoundColumns:
    own = RoundColumns(ROUND)
    own.seed, own.client_seed, own.commitment = seed, client_seed, committed
    return own


def _assert_drawn_alike(rounds: list[RoundColumns], digest: str, decks: int, count: int) -> None:
    drawn = shoes.first_cards(rounds, digest, decks, count)
    whole = shoes.whole_shoes(rounds, digest, decks)
    for own, cards, places in zip(rounds, drawn, whole.tolist(), strict=True):
        shoe = Shoe(own.seed or b"", ROUND, digest, own.client_seed or b"", decks)
        assert [NUMBER[card] for card in islice(shoe, count)] == cards.tolist()
        assert [PACK[place % 52] for place in places] == list(shoe)
        assert sorted(places) == list(range(52 * decks))


@given(
    st.lists(st.tuples(server_seeds, client_seeds), min_size=1, max_size=5),
    digests,
    st.integers(1, 8),
    st.integers(1, 60),
)
def test_the_same_cards(
    seeds: list[tuple[bytes, bytes]], digest: str, decks: int, count: int
) -> None:
    count = min(count, 52 * decks)
    _assert_drawn_alike([_own(*each) for each in seeds], digest, decks, count)


def test_a_whole_shoe() -> None:
    _assert_drawn_alike([_own(bytes([n]) * 32, b"") for n in range(3)], "ab" * 32, 1, 52)


def test_words_are_rejected_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """A keystream of which every third word is one that is rejected for most numbers of cards."""
    real = engine.keystream_block

    def unlucky(seed: bytes, context: bytes, number: int) -> bytes:
        block = real(seed, context, number)
        return b"\xff" * 4 + block[4:12] + b"\xff" * 4 + block[16:] if number % 2 else block

    monkeypatch.setattr(engine, "keystream_block", unlucky)
    monkeypatch.setattr(shoes, "keystream_block", unlucky)
    _assert_drawn_alike([_own(bytes([n]) * 32, b"x") for n in range(20)], "cd" * 32, 8, 30)


def test_a_keystream_that_runs_dry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A word of all ones is rejected wherever the number of cards left is no power of two."""
    monkeypatch.setattr(shoes, "keystream_block", lambda *_: b"\xff" * 32)
    with pytest.raises(ShoeError, match="ran out of words with 416 cards"):
        shoes.whole_shoes([_own(bytes(32), b"")], "ab" * 32, 8)


def test_the_commitment() -> None:
    digest, seed = "ef" * 32, bytes(32)
    right = commitment(ROUND, digest, seed)
    rounds = [_own(seed, b"", right), _own(seed, b"", right[::-1]), _own(seed, b"")]
    assert shoes.committed(rounds, digest).tolist() == [True, False, False]


@pytest.mark.parametrize(("digest", "decks", "count"), [("ab" * 32, 1, 53), ("zz" * 32, 1, 5)])
def test_a_shoe_that_cannot_be(digest: str, decks: int, count: int) -> None:
    with pytest.raises(ShoeError):
        shoes.first_cards([_own(bytes(32), b"")], digest, decks, count)
