"""A ledger that was lost, made anew of an export or of what was published, keys and all."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from shoeproof.ledger.errors import (
    ImportRefused,
    KeyUnusable,
    LedgerError,
    NoteRefused,
    SigningRefused,
)
from shoeproof.ledger.exchange.publish import publish
from shoeproof.ledger.exchange.rebuild import published_leaves, rebuild
from shoeproof.ledger.keys.key import parse_vkey
from shoeproof.ledger.leaf.events import KeyRevoked
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.rotation import rotate_key
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.verify.fsck import fsck
from shoeproof.ledger.verify.whole import verify
from tests.ledger.helpers import ORIGIN, OTHER_ROUND, ROUND, TickingClock, play, round_id


class Lost:
    """What is left of a lost ledger: its leaves, published files, newest checkpoint, key files."""

    def __init__(self, path: Path) -> None:
        self.keys, self.tiles = path.with_name("vault"), path.with_name("published")
        with Ledger.init(path, ORIGIN, clock=TickingClock()) as ledger:
            play(ledger)
            # The keys' stream is more than what every ledger begins with.
            rotate_key(ledger, "engine")
            publish(ledger, self.tiles)
            play(ledger, OTHER_ROUND)
            self.newest = sign_checkpoint(ledger)
            play(ledger, round_id(1), length=4)
            self.leaves = [leaf.state for leaf in ledger.leaves()]
            self.public_key = ledger.public_keys()["operator"]
            self.ring = ledger.public_keys()
        shutil.copytree(path / "keys", self.keys)
        shutil.rmtree(path)


@pytest.fixture
def lost(path: Path) -> Lost:
    return Lost(path)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str | None:
    return None if request.param == "sqlite" else request.getfixturevalue("postgres_url")


def test_from_an_export_and_written_on(lost: Lost, path: Path, url: str | None) -> None:
    made = rebuild(
        path,
        lost.leaves,
        lost.public_key,
        checkpoint=lost.newest,
        is_newest=True,
        private_keys=lost.keys,
        database_url=url,
    )
    assert made == (ORIGIN, len(lost.leaves), True)
    with Ledger.open(path, clock=TickingClock()) as ledger:
        assert [leaf.state for leaf in ledger.leaves()] == lost.leaves
        assert ledger.public_keys() == lost.ring
        assert [row.round for row in ledger.rounds(state="open")] == [round_id(1)]
        play(ledger, round_id(2))
        sign_checkpoint(ledger)
        result = verify(ledger, public_key=lost.public_key, checkpoint=lost.newest)
        assert result.findings == []
        assert fsck(ledger).findings == []


def test_from_published_files(lost: Lost, path: Path) -> None:
    leaves, note = published_leaves(lost.tiles)
    made = rebuild(path, leaves, lost.public_key, checkpoint=note, private_keys=lost.keys)
    with Ledger.open(path) as ledger:
        count = ledger.size()
        assert [leaf.state for leaf in ledger.leaves()] == lost.leaves[:count]
        assert (made.size, made.is_writable, len(ledger.events(ROUND))) == (count, False, 8)
        # More was signed than was published: nobody has said that this was the newest.
        with pytest.raises(SigningRefused, match="is missing"):
            play(ledger, round_id(2))


def test_published_files_behind_the_newest_checkpoint_are_refused(lost: Lost, path: Path) -> None:
    leaves, _ = published_leaves(lost.tiles)
    with pytest.raises(ImportRefused, match="its tail is gone"):
        rebuild(path, leaves, lost.public_key, checkpoint=lost.newest, is_newest=True)
    assert not path.exists()


def test_an_entry_bundle_that_is_missing(lost: Lost, path: Path) -> None:
    shutil.rmtree(lost.tiles / "tile" / "entries")
    leaves, note = published_leaves(lost.tiles)
    with pytest.raises(ImportRefused, match="no leaves"):
        rebuild(path, leaves, lost.public_key, checkpoint=note)


def test_without_private_keys_it_is_read(lost: Lost, path: Path) -> None:
    rebuild(path, lost.leaves, lost.public_key, checkpoint=lost.newest, is_newest=True)
    with Ledger.open(path) as ledger:
        assert verify(ledger, public_key=lost.public_key).findings == []
        with pytest.raises(KeyUnusable):
            play(ledger, round_id(2))


def _swap(leaves: list[bytes]) -> list[bytes]:
    return [*leaves[:6], leaves[7], leaves[6], *leaves[8:]]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda leaves: [*leaves[:8], leaves[8].replace(b'"Td"', b'"Ad"'), *leaves[9:]],
        lambda leaves: leaves[1:],
        lambda leaves: [*leaves[:7], *leaves[8:]],
        lambda leaves: [*leaves, leaves[-1]],
        lambda leaves: [*leaves, b"no leaf"],
        lambda leaves: leaves[:12],
        _swap,
        lambda leaves: [],
    ],
    ids=["altered", "no anchor", "left out", "twice", "no leaf", "cut", "swapped", "nothing"],
)
def test_leaves_that_are_not_sound_make_no_ledger(
    spoil: Callable[[list[bytes]], list[bytes]], lost: Lost, path: Path
) -> None:
    with pytest.raises(LedgerError):
        rebuild(path, spoil(lost.leaves), lost.public_key, checkpoint=lost.newest)
    assert not path.exists()


def test_another_operators_key(lost: Lost, path: Path, tmp_path: Path) -> None:
    with Ledger.init(tmp_path / "other", ORIGIN) as other:
        foreign, note = other.public_keys()["operator"], sign_checkpoint(other)
    with pytest.raises(ImportRefused, match="key_not_valid"):
        rebuild(path, lost.leaves, foreign)
    with pytest.raises(NoteRefused):
        rebuild(path, lost.leaves, lost.public_key, checkpoint=note)
    assert not path.exists()


def test_a_revocation_binds_in_the_ledger_made_anew(lost: Lost, path: Path) -> None:
    rebuild(
        path, lost.leaves, lost.public_key, checkpoint=lost.newest, is_newest=True,
        private_keys=lost.keys,
    )  # fmt: skip
    with Ledger.open(path, clock=TickingClock()) as ledger:
        staff = parse_vkey(lost.ring["staff"])
        ledger.append(("keys", KeyRevoked(staff.name, staff.key_id_hex, ledger.size(), "lost")))
        assert "staff" not in ledger.public_keys()
