"""The JSON Schema of an event: its envelope, and by its type the stream and the data it has.

Fields and shapes are those of the records in `shoeproof.ledger.leaf.events`. What the records leave
to whoever reads, the words for acts, cards, seats, reasons and remedies, is added by the field's
name.
"""

from fractions import Fraction
from typing import Any, Final, TypeAlias, get_args

import msgspec

from shoeproof.ledger.leaf.canonical import LARGEST_INTEGER
from shoeproof.ledger.leaf.envelope import VERSION
from shoeproof.ledger.leaf.events import EVENTS, EventData
from shoeproof.ledger.leaf.streams import DISPUTES_PREFIX, HOLDS_PREFIX, ROUND, Kind
from shoeproof.replay.cases.assessment import Claim, Verdict
from shoeproof.replay.cases.case import DecisionName
from shoeproof.replay.disputes.complaints.cases import ComplaintRemedy
from shoeproof.replay.engine.cards import RANKS, SUITS
from shoeproof.replay.engine.hand import INSURANCE_ACTS, PLAY_ACTS
from shoeproof.replay.engine.round import DEALER
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.games.policies import Policy
from shoeproof.replay.rounds.money_check import FUNDS, HIDDEN
from shoeproof.replay.schemas import DRAFT

CARD: Final = f"[{RANKS}][{SUITS}]"
SEAT: Final = "s[1-9]"
HAND: Final = rf"{SEAT}(\.[12])?"
BET: Final = "[a-z][a-z0-9_]*"
ACTS: Final = (*PLAY_ACTS, *INSURANCE_ACTS)

Schema: TypeAlias = dict[str, Any]

COUNT: Final = {"minimum": 0, "maximum": LARGEST_INTEGER}
MINOR: Final = COUNT
"""An amount: what is paid, taken or owed has no sign."""


def matching(pattern: str) -> Schema:
    """Return the schema of text that matches a pattern from its begin to its end."""
    return {"type": "string", "pattern": f"^({pattern})$"}


def one_of(allowed: tuple[str, ...]) -> Schema:
    """Return the schema of text that is one of these words."""
    return {"type": "string", "enum": list(dict.fromkeys(allowed))}


def words(kind: object) -> tuple[str, ...]:
    """Return the words of a Literal, or of a union of them."""
    return tuple(each for part in get_args(kind) for each in (words(part) or (part,)))


def by_bet(least: int) -> Schema:
    """Return the schema of bets with an amount each, in minor units."""
    amount = {"type": "integer", **MINOR, "minimum": least}
    return by_name(matching(BET), amount) | {"minProperties": 1}


def by_name(names: Schema, values: Schema) -> Schema:
    """Return the schema of an object with any of these names, and these values."""
    return {"type": "object", "propertyNames": names, "additionalProperties": values}


_TIME: Final = matching(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T([0-9]{2}:){2}[0-9]{2}\.[0-9]{6}Z")
_DIGEST: Final = matching("[0-9a-f]{64}")
_BASE64: Final = matching(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_ACT: Final = one_of(ACTS)

FIELDS: Final[dict[str, Schema]] = {
    "act": _ACT,
    "alarm": {"minimum": 1},
    "at": _TIME,
    "balance_after_minor": {"maximum": LARGEST_INTEGER},
    "barred": by_name(_ACT, one_of((FUNDS, HIDDEN))),
    "begin": _TIME,
    "bet": matching(BET),
    "card": matching(CARD),
    "case": {"minimum": 1},
    "cause": {"minimum": 1, "maximum": 7},
    "DisputeOpened.claim": one_of(words(Claim)),
    "client_seed": matching("([0-9a-f]{2}){0,64}"),
    "commitment": _DIGEST,
    "complaint": matching(ROUND),
    "deadline": _TIME,
    "digest": _DIGEST,
    "end": _TIME,
    "escrow_sealed_seed": _BASE64,
    "exponent": {"minimum": 0, "maximum": 18},
    "first_untrusted_leaf_index": COUNT,
    "hand": matching(HAND),
    "key_id": matching("[0-9a-f]{8}"),
    "keys_needed": {"minimum": 1},
    "leaf_index": COUNT,
    "legal": {"items": _ACT, "uniqueItems": True},
    "limits": {"propertyNames": matching(BET)},
    "line": matching(BET),
    "policy_digest": _DIGEST,
    "prev": _DIGEST,
    "public_key": _BASE64,
    "received": _TIME,
    "receiver": matching(f"{DEALER}|{HAND}"),
    "remedy": one_of(words(DecisionName | ComplaintRemedy)),
    "round": matching(ROUND),
    "rules_digest": _DIGEST,
    "sealed_seed": _BASE64,
    "seat": matching(SEAT),
    "seed": _DIGEST,
    "seq": COUNT,
    "sha256": _DIGEST,
    "shoe_index": COUNT,
    "stakes": by_name(matching(SEAT), by_bet(1)) | {"minProperties": 1},
    "verdict": one_of(words(Verdict)),
    "view_seq": COUNT,
}
"""What a field holds beyond its type, by its name, or by its record's and its own."""

_STREAMS: Final[dict[Kind, Schema]] = {
    "round": matching(ROUND),
    "keys": {"const": "keys"},
    "rules": {"const": "rules"},
    "policies": {"const": "policies"},
    "operations": {"const": "operations"},
    "disputes": matching(f"{DISPUTES_PREFIX}{ROUND}"),
    "holds": matching(f"{HOLDS_PREFIX}{ROUND}"),
}


def events_schema() -> Schema:
    """Return the schema of what a leaf signs, its payload."""
    records = _records(*EVENTS.values())
    for name, record in records.items():
        record["properties"] = {
            field: _narrowed(name, field, shape) for field, shape in record["properties"].items()
        }
    records["RulesAdded"]["properties"]["rules"] = {"$ref": "#/$defs/Rules"}
    records["PolicyAdded"]["properties"]["policy"] = {"$ref": "#/$defs/Policy"}
    envelope = {
        "v": {"const": VERSION},
        "ledger": {"type": "string"},
        "stream": {"type": "string"},
        "seq": {"type": "integer", **COUNT},
        "type": {"enum": [*EVENTS]},
        "at": _TIME,
        "prev": {"anyOf": [_DIGEST, {"type": "null"}]},
        "data": {"type": "object"},
    }
    return {
        "$schema": DRAFT,
        "title": "The payload of a leaf of a shoeproof ledger",
        "type": "object",
        "properties": envelope,
        "required": [*envelope],
        "additionalProperties": False,
        "oneOf": [_of_type(name, record) for name, record in EVENTS.items()],
        "$defs": records | _records(Rules, Policy),
    }


def _records(*types: type[msgspec.Struct]) -> dict[str, Schema]:
    """Return the schema of each record, and of those they hold, by its name."""
    _, records = msgspec.json.schema_components(
        types, schema_hook=_odds, ref_template="#/$defs/{name}"
    )
    for record in records.values():
        # A canonical leaf leaves out what is unset, and writes what is null.
        record["required"] = [
            field
            for field, shape in record["properties"].items()
            if field in record["required"] or "default" in shape
        ]
    return records


def _odds(kind: type) -> Schema:
    if kind is not Fraction:
        # By this msgspec tells that a hook does not know a type, and says which.
        raise NotImplementedError
    return matching("[0-9]+/[1-9][0-9]*")


def _narrowed(record: str, field: str, shape: Schema) -> Schema:
    """Return a field's shape with what its name adds, also where it may be null."""
    if "anyOf" in shape:
        return {"anyOf": [_narrowed(record, field, each) for each in shape["anyOf"]]}
    if shape == {"type": "null"}:
        return shape
    amount = MINOR if field.endswith("_minor") else {}
    return shape | FIELDS.get(f"{record}.{field}", FIELDS.get(field, amount))


def _of_type(name: str, record: type[EventData]) -> Schema:
    return {
        "properties": {
            "type": {"const": name},
            "stream": _STREAMS[record.kind],
            "data": {"$ref": f"#/$defs/{name}"},
        }
    }
