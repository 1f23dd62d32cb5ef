"""The map that each package's README begins with is of the files as they are."""

import pytest

from tests.maps import MAP, index_of, map_of, says
from tests.rooms import LAYERS, ROOT, name_of, sources


@pytest.mark.parametrize("package", LAYERS)
def test_map_is_of_the_files_as_they_are(package: str) -> None:
    """`python -m tests.maps` writes it."""
    text = (ROOT / package / "README.md").read_text(encoding="utf-8")
    assert map_of(package) in text
    assert index_of(package) in text
    assert text.index(MAP) == text.index("\n## ") + 1, "the map comes first"


@pytest.mark.parametrize("package", LAYERS)
def test_map_has_every_file_once(package: str) -> None:
    listed = [line.split("`")[1] for line in map_of(package).splitlines() if line[:3] == "- `"]
    files = [name_of(path) for path in sources(package) if path.stem != "__init__"]
    assert sorted(f"{package}/{each}" for each in listed) == sorted(files)


def test_every_file_says_what_it_holds() -> None:
    assert [name_of(path) for path in sources(*LAYERS) if not says(path)] == []
