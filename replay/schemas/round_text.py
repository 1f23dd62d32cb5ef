"""The JSON Schema of a `.round` file, as a TOML reader gives it."""

from shoeproof.replay.engine.cards import FACE_DOWN
from shoeproof.replay.engine.hand import CASH_OUT, INSURANCE_ACTS
from shoeproof.replay.engine.round import DEALER
from shoeproof.replay.schemas import DRAFT
from shoeproof.replay.schemas.events import (
    ACTS,
    BET,
    CARD,
    HAND,
    SEAT,
    Schema,
    by_bet,
    by_name,
    matching,
    one_of,
)
from shoeproof.replay.written.round_text import MAX_MINOR, RESULTS, V1, V2

_AMOUNT = "0|[1-9][0-9]{0,15}"
_UNKNOWN = FACE_DOWN.replace("?", r"\?")
_ANY_ACT = "|".join(ACTS)
_OFFERED = rf"({_ANY_ACT}|{CASH_OUT} ({_AMOUNT})|({_ANY_ACT})\([a-z_]+\))"

_MOVES_OF_V1 = (
    rf"deal ({HAND}) ({CARD}|{_UNKNOWN})",
    rf"deal {DEALER} ({CARD}|({CARD}|{_UNKNOWN}) down)",
    rf"({HAND}) ({'|'.join(act for act in ACTS if act not in INSURANCE_ACTS)})",
    rf"({HAND}) {CASH_OUT} ({_AMOUNT})",
    rf"({SEAT}) ({'|'.join(INSURANCE_ACTS)})",
)
_MOVES_OF_V2 = (
    *_MOVES_OF_V1,
    rf"deal {DEALER} {_UNKNOWN}",
    rf"({HAND}) offered( {_OFFERED})+",
    f"{DEALER} stops",
)


def round_schema() -> Schema:
    """Return the schema of round/v1 and round/v2."""
    text = {"type": "string"}
    amount = {"type": "integer", "minimum": 0, "maximum": MAX_MINOR}
    stake = amount | {"minimum": 1}
    bets = matching(f"({HAND}) {BET}")
    screen = {
        "type": "object",
        "properties": {
            "currency": text,
            "balance_before": amount,
            "balance_after": amount,
            "paid": by_name(bets, amount),
            "results": by_name(bets, one_of(RESULTS)),
        },
        "additionalProperties": False,
    }
    fields = {
        "format": one_of((V1, V2)),
        "game": text,
        "name": text,
        "source": text,
        "currency": text,
        "rules_digest": text,
        "moves": {"type": "array"},
        "stakes": by_name(matching(SEAT), {"anyOf": [stake, by_bet(1)]}) | {"minProperties": 1},
        "expect": by_name(bets, amount),
        "screen": screen,
    }
    return {
        "$schema": DRAFT,
        "title": "One round of blackjack as a .round file",
        "type": "object",
        "properties": fields,
        "required": ["format", "game", "moves", "stakes"],
        "additionalProperties": False,
        "oneOf": [
            {
                "properties": {
                    "format": {"const": V1},
                    "moves": _moves(_MOVES_OF_V1),
                    "screen": False,
                }
            },
            {"properties": {"format": {"const": V2}, "moves": _moves(_MOVES_OF_V2)}},
        ],
    }


def _moves(forms: tuple[str, ...]) -> Schema:
    return {"items": {"anyOf": [matching(form) for form in forms]}}
