"""What cannot be asked for: files that are not there, amounts that are none, mistakes together."""

import errno
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.cli.conftest import Shoeproof
from tests.cli.test_bad_input import told
from tests.cli.test_dispute import Place, call, made, opened, place, size

__all__ = ["call", "made", "place"]


@pytest.mark.parametrize("verb", [("award", "--reference", "R"), ("goodwill", "--note", "sorry")])
def test_an_amount_is_not_negative(call: Shoeproof, place: Place, verb: tuple[str, ...]) -> None:
    case = opened(call, place.lost)
    before = size(place)
    word, *more = verb
    said = "amounts are not negative"
    told(call(word, case, "-5", *more, "--key", "ann", "--yes"), 2, "'-5'", said)
    told(call(word, case, *more, "--key", "ann", "--yes", "-5.00"), 2, "'-5.00'", said)
    assert size(place) == before


def test_a_note_may_begin_with_a_minus(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.lost)
    words = ("goodwill", case, "5", "--note", "-5", "--key", "ann", "--yes")
    assert "goodwill, 5.00 EUR paid" in call(*words).out


def test_an_option_that_is_none_is_still_told(call: Shoeproof, place: Place) -> None:
    result = call("award", place.lost, "5", "--refrence", "R", "--key", "ann", "--yes")
    assert (result.code, "--refrence" in result.err) == (2, True)


def test_a_complaint_takes_no_amount_that_no_event_can_hold(call: Shoeproof) -> None:
    words = ("--player", "p-2", "--from", "2020-01-01", "--to", "2099-01-01", "--zone", "UTC")
    complaint = call("open", *words, "--claim", "rigged").out.split()[2]
    more = ("--reference", "R", "--key", "ann", "--yes")
    said = "more than a ledger can record, which is 90,071,992,547,409.91 EUR"
    told(call("award", complaint, "999999999999999", *more), 2, said)
    told(call("award", complaint, "5.001", *more), 2, "too many decimal places")


def test_every_mistake_is_told_at_once(call: Shoeproof, place: Place) -> None:
    before = size(place)
    words = ("--claim", "rigged", "--zone", "Malta/Europe", "--key", "carol")
    told(
        call("open", place.lost, *words),
        2,
        "'Malta/Europe' is not a valid time zone",
        "no key 'carol'",
        "'rigged' is not a claim",
    )
    assert size(place) == before


def test_the_zone_names_the_day_of_the_answer(call: Shoeproof, place: Place) -> None:
    result = call("open", place.lost, "--claim", "other", "--zone", "Pacific/Kiritimati")
    assert "(Pacific/Kiritimati)" in result.out, result


def test_a_file_that_is_not_there_is_wrong_usage(
    call: Shoeproof, shoeproof: Shoeproof, place: Place, tmp_path: Path
) -> None:
    nowhere = tmp_path / "nowhere"
    attached = call("open", place.lost, "--claim", "other", "--attach", nowhere)
    told(attached, 2, f"{nowhere}: No such file")
    told(call("assess", place.lost, "--shown", nowhere), 2, f"{nowhere}: No such file")
    told(call("assess", place.lost, "--shown", tmp_path), 2, "Is a directory")
    keyless = ("bundle", "verify", nowhere, "--public-key", "x=")
    told(shoeproof(*keyless), 2, f"{nowhere}: No such file")


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_nothing_half_written(
    shoeproof: Shoeproof, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "to"
    folder.mkdir()
    kept = folder / "kept.checkpoint"
    kept.write_bytes(b"old")
    monkeypatch.setattr("os.fsync", full)
    said = "No space left on device: make room and try again"
    where = ("--ledger", place.path)
    told(shoeproof("bundle", place.lost, "-o", folder / "a.json", *where), 3, said)
    told(shoeproof("export", "-o", folder / "a.leaves", *where), 3, "a.leaves", said)
    assert {each.name: each.read_bytes() for each in folder.iterdir()} == {kept.name: b"old"}


def test_leaves_stop_midway_on_a_full_disk(
    shoeproof: Shoeproof, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def some(ledger: object) -> Iterable[bytes]:
        yield b"a leaf\n"
        full()

    monkeypatch.setattr("shoeproof.cli.commands.export.export_leaves", some)
    file = tmp_path / "to" / "all.leaves"
    file.parent.mkdir()
    words = ("export", "-o", file, "--ledger", place.path)
    told(shoeproof(*words), 3, f"{file}: No space left on device")
    assert list(file.parent.iterdir()) == []


def test_an_export_replaces_no_file(shoeproof: Shoeproof, place: Place, tmp_path: Path) -> None:
    file = tmp_path / "all.leaves"
    words = ("export", "-o", file, "--ledger", place.path)
    assert shoeproof(*words).code == 0
    content = file.read_bytes()
    told(shoeproof(*words), 2, "is there already")
    assert file.read_bytes() == content


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_device_is_told(shoeproof: Shoeproof, place: Place) -> None:
    words = ("checkpoint", "-o", "/dev/full", "--ledger", place.path)
    told(shoeproof(*words), 3, "/dev/full: No space left on device: make room")
