"""`shoe/v1`: from a committed seed to the order of the cards, byte for byte.

The keystream is NIST SP 800-108r1 KBKDF in counter mode (4.1) with HMAC-SHA-256, a 32-bit counter
before the fixed input, label `shoeproof/shoe/v1`, separator 0x00, context
`round_id ‖ 0x00 ‖ rules_digest ‖ SHA-256(client_seed)` and `[L]` = 32,768 bits. Each block can be
computed alone, so cards are drawn lazily: a round uses a dozen of several hundred.
The shuffle is Fisher-Yates (Durstenfeld 1964) with rejection sampling, so every order is equally
likely given a uniform keystream. `replay/README.md` holds the full specification.
"""

import hashlib
import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from shoeproof.replay.engine.cards import PACK, Card
from shoeproof.replay.errors import ShoeError

SEED_BYTES: Final = 32
MAX_CLIENT_SEED_BYTES: Final = 64
LABEL: Final = b"shoeproof/shoe/v1"
KEYSTREAM_BITS: Final = 32_768
BLOCK_BYTES: Final = 32
BLOCKS: Final = KEYSTREAM_BITS // 8 // BLOCK_BYTES
_START: Final = [n.to_bytes(4, "big") + LABEL + b"\x00" for n in range(1, BLOCKS + 1)]
_INNER: Final = bytes(byte ^ 0x36 for byte in range(256))
_OUTER: Final = bytes(byte ^ 0x5C for byte in range(256))
_PADDING: Final = bytes(64 - SEED_BYTES)
_LENGTH: Final = KEYSTREAM_BITS.to_bytes(4, "big")
_WORDS_IN_BLOCK: Final = struct.Struct(">8I")


def commitment(round_id: str, rules_digest: str, server_seed: bytes) -> bytes:
    """Return the 32 bytes that fix the shoe before any stake is laid.

    `rules_digest` is lower hex. Raises ShoeError when the seed is not 32 bytes long.
    """
    _check_seed(server_seed)
    prefix = f"shoeproof/commit/v1\n{round_id}\n{rules_digest}\n".encode()
    return hashlib.sha256(prefix + server_seed).digest()


def context(round_id: str, rules_digest: str, client_seed: bytes) -> bytes:
    """Return the KBKDF context that binds a keystream to one round, its rules and its player."""
    return round_id.encode() + _bound(rules_digest, client_seed)


@lru_cache(maxsize=1024)
def _bound(rules_digest: str, client_seed: bytes) -> bytes:
    """Return the part of a context that rounds share; most players give no seed of their own."""
    if len(client_seed) > MAX_CLIENT_SEED_BYTES:
        raise ShoeError(f"a client seed has at most 64 bytes, this one has {len(client_seed)}")
    try:
        digest = bytes.fromhex(rules_digest)
    except ValueError:
        raise ShoeError(f"the rules digest {rules_digest!r} is not hexadecimal") from None
    if len(digest) != BLOCK_BYTES:
        raise ShoeError(f"a rules digest has 32 bytes, this one has {len(digest)}")
    return b"\x00" + digest + hashlib.sha256(client_seed).digest()


def keystream_block(server_seed: bytes, kbkdf_context: bytes, number: int) -> bytes:
    """Return one block of the keystream, 32 bytes, by its 0-based number below 128.

    It is HMAC-SHA-256 (RFC 2104, 2) under a seed of 32 bytes, by two plain hashes: `hmac.digest`
    takes two thirds longer for inputs this short.
    """
    key = server_seed + _PADDING
    fixed = _START[number] + kbkdf_context + _LENGTH
    inner = hashlib.sha256(key.translate(_INNER) + fixed).digest()
    return hashlib.sha256(key.translate(_OUTER) + inner).digest()


def keystream_blocks(server_seed: bytes, kbkdf_context: bytes) -> Iterator[bytes]:
    """Yield the 128 blocks of the keystream, 32 bytes each, in order."""
    _check_seed(server_seed)
    for number in range(BLOCKS):
        yield keystream_block(server_seed, kbkdf_context, number)


class Shoe:
    """The cards of one round in the order they will be dealt, worked out as they are asked for.

    `decks` is 1 to 8. Indexing and iteration give card codes; ShoeError is raised for an index
    past the last card, and should the keystream ever run dry.
    """

    def __init__(
        self,
        server_seed: bytes,
        round_id: str,
        rules_digest: str,
        client_seed: bytes,
        decks: int,
    ) -> None:
        """Bind the shoe to its seeds; no card is computed yet."""
        if not 1 <= decks <= 8:
            raise ShoeError(f"a shoe has 1 to 8 decks, not {decks}")
        self._size = decks * len(PACK)
        self._cards: list[Card] = []
        self._moved: dict[int, int] = {}
        kbkdf_context = context(round_id, rules_digest, client_seed)
        self._words = self._read_words(keystream_blocks(server_seed, kbkdf_context))

    def __len__(self) -> int:
        """Return the number of cards in the full shoe."""
        return self._size

    def __getitem__(self, index: int) -> Card:
        """Return the card at a 0-based index."""
        if not 0 <= index < self._size:
            raise ShoeError(f"the shoe has {self._size} cards, there is none at index {index}")
        while len(self._cards) <= index:
            self._draw_next()
        return self._cards[index]

    def __iter__(self) -> Iterator[Card]:
        """Yield every card in dealing order."""
        return (self[index] for index in range(self._size))

    @staticmethod
    def _read_words(blocks: Iterator[bytes]) -> Iterator[int]:
        for block in blocks:
            yield from _WORDS_IN_BLOCK.unpack(block)

    def _draw_next(self) -> None:
        # Only displaced places are remembered: place p holds ordered card p unless moved.
        place = len(self._cards)
        remaining = self._size - place
        limit = (1 << 32) // remaining * remaining
        for word in self._words:
            if word < limit:
                break
        else:
            raise ShoeError(f"the keystream ran out of words at card {place}")
        chosen = place + word % remaining
        card = self._moved.pop(chosen, chosen)
        if chosen != place:
            self._moved[chosen] = self._moved.pop(place, place)
        self._cards.append(PACK[card % len(PACK)])


def shoe_digest(shoe: Shoe) -> str:
    """Return the lower-hex SHA-256 of all card codes joined by single spaces."""
    return hashlib.sha256(" ".join(shoe).encode()).hexdigest()


def _check_seed(server_seed: bytes) -> None:
    if len(server_seed) != SEED_BYTES:
        raise ShoeError(f"a server seed has 32 bytes, this one has {len(server_seed)}")
