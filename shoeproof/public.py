"""How a package names what programs of others may use, without loading it before it is used."""

from collections.abc import Callable, Mapping
from importlib import import_module


def names_of(package: str, places: Mapping[str, str]) -> Callable[[str], object]:
    """Return a package's `__getattr__` (PEP 562) that finds a public name where it is defined.

    `places` maps each name to its module within the package. What is not in it is an
    AttributeError, as for every module.
    """

    def find(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{places[name]}"), name)

    return find
