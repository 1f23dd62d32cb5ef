"""How much memory there is, so that too large a query is refused before the system kills us."""

from pathlib import Path
from typing import Final

LEAST: Final = 1 << 27
"""Bytes that are used even if the system says that none are free."""

SHARE_OF_DATABASE: Final = 0.6
"""The share of free memory that a database may use, and the rest of the process does not."""

SHARE_OF_ANSWER: Final = 0.2
"""The share for the answer to a query, which no database counts as its own."""

_MEMINFO: Final = Path("/proc/meminfo")
_CGROUP: Final = Path("/sys/fs/cgroup")


def for_database() -> int | None:
    """Return how many bytes a database may use, None where the system does not say what is free."""
    return _share(SHARE_OF_DATABASE)


def for_answer() -> int | None:
    """Return how many bytes an answer may come to, None where the system does not say."""
    return _share(SHARE_OF_ANSWER)


def available() -> int | None:
    """Return how many bytes are free for this process, None where the system does not say.

    By MemAvailable of proc(5); in a container what its limit leaves, by memory.max, memory.current
    and memory.stat of the kernel's cgroup v2, where pages that only cache files count as free.
    """
    found = [each for each in (_of_system(), _of_container()) if each is not None]
    return min(found, default=None)


def _share(share: float) -> int | None:
    free = available()
    return None if free is None else max(LEAST, int(free * share))


def _of_system() -> int | None:
    free = _figures(_MEMINFO).get("MemAvailable:")
    return None if free is None else free * 1024


def _of_container() -> int | None:
    try:
        limit = int((_CGROUP / "memory.max").read_text())
        used = int((_CGROUP / "memory.current").read_text())
    except (OSError, ValueError):  # no container, or one without a limit
        return None
    pages = _figures(_CGROUP / "memory.stat")
    cached = pages.get("active_file", 0) + pages.get("inactive_file", 0)
    return max(0, limit - used + cached)


def _figures(file: Path) -> dict[str, int]:
    """Return the first number of each line by the first word."""
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return {}
    words = (line.split() for line in lines)
    return {each[0]: int(each[1]) for each in words if len(each) > 1 and each[1].isdigit()}
