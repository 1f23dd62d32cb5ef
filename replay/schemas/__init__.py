"""JSON Schemas of what a ledger records and of `.round` files, for programs that are not ours.

The files `events.schema.json` and `round.schema.json` are generated of the types that write and
read (`python -m shoeproof.replay.schemas`), in draft 2020-12. They say what is written by a signer
that keeps to the specification. A reader takes more, and finds what is wrong with it.
"""

from importlib.resources import files
from typing import Any

import msgspec

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema(name: str) -> dict[str, Any]:
    """Return a schema as it is shipped: `events` for a leaf's payload, or `round`."""
    content = files("shoeproof.replay.schemas").joinpath(f"{name}.schema.json").read_bytes()
    found: dict[str, Any] = msgspec.json.decode(content)
    return found
