"""Files put in place: whole or not at all, and never in place of what is no file."""

import os
import stat
import threading
from pathlib import Path

import pytest

from shoeproof.ledger.files.durable import write_durably


def test_pipe_is_written_into_and_stays_one(tmp_path: Path) -> None:
    """As root, a file moved over a device would have taken the device from everybody."""
    pipe, read = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    # A pipe replaced by a file would leave a reader waiting for ever: it must not hold up the test.
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_durably(pipe, b"content")
    reader.join(10)
    assert (read, stat.S_ISFIFO(pipe.lstat().st_mode)) == ([b"content"], True)


def test_symbolic_link_stays_one(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to("target")
    for content in (b"new", b"newer"):
        write_durably(link, content)
        assert (link.is_symlink(), target.read_bytes()) == (True, content)


def test_folder_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_durably(tmp_path / "folder", b"content")
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]


def test_umask_is_respected_and_a_mode_kept(tmp_path: Path) -> None:
    path = tmp_path / "file"
    before = os.umask(0o077)
    try:
        write_durably(path, b"content")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)
    write_durably(path, b"other")
    assert (stat.S_IMODE(path.stat().st_mode), path.read_bytes()) == (0o640, b"other")
