"""Libraries that only some functions need, and the one sentence that says which is missing."""

from importlib.util import find_spec


class NotInstalled(ImportError):
    """A library is missing; the text says which, what for, and how to install it."""


def is_installed(library: str) -> bool:
    """Tell whether a library can be imported here."""
    return find_spec(library) is not None


def need(what: str, *libraries: str, extra: str = "") -> None:
    """Do nothing where these libraries are installed, which `what` cannot do without.

    `extra` is the extra of this distribution that installs them, empty where none is asked for.
    Raises NotInstalled.
    """
    missing = [library for library in libraries if not is_installed(library)]
    if missing:
        source = f"'shoeproof[{extra}]'" if extra else "shoeproof"
        raise NotInstalled(
            f"{what} needs {' and '.join(missing)}, not installed here: pip install {source}"
        )
