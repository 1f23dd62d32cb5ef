"""Canonical JSON (RFC 8785), for the subset of JSON a ledger is written in.

The subset: strings, booleans, null, integers of at most 2^53 - 1 in size, arrays, and objects with
ASCII keys. Inside it, sorted keys and compact separators are all that RFC 8785 asks, so that
msgspec's encoder produces it. Outside it nothing is encoded and nothing counts as canonical:
floats have no place in a record of money, and larger integers are not read alike by all readers.
"""

from typing import Any

import msgspec

LARGEST_INTEGER = 2**53 - 1
"""The largest integer every JSON reader reads exactly (RFC 8785, section 3.2.2.3; RFC 7493)."""

_SIXTEEN_DIGITS = b"0" * 16
_DIGITS_AS_ZERO = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))


def _refuse_float(text: str) -> float:
    raise ValueError(f"{text} is not an integer: a ledger holds no floats")


_encoder = msgspec.json.Encoder(order="sorted")
_decoder = msgspec.json.Decoder(float_hook=_refuse_float)


def _needs_a_look(payload: bytes) -> bool:
    # Without sixteen digits in a row no integer is too large, and ASCII text has ASCII keys: that
    # is seen many times faster than by walking the data.
    return _SIXTEEN_DIGITS in payload.translate(_DIGITS_AS_ZERO) or not payload.isascii()


def check(value: object) -> None:
    """Refuse what is outside the subset, anywhere inside plain JSON data.

    Raises ValueError for a float, an integer beyond 2^53 - 1, a key that is not ASCII text, or a
    type that JSON does not have.
    """
    if value is None or isinstance(value, str | bool):
        return
    if isinstance(value, int):
        if abs(value) > LARGEST_INTEGER:
            raise ValueError(f"the integer {value} is beyond 2^53 - 1")
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str) or not key.isascii():
                raise ValueError(f"the key {key!r} is not ASCII text")
            check(item)
    elif isinstance(value, list | tuple):
        for item in value:
            check(item)
    else:
        raise ValueError(f"{type(value).__name__} has no canonical form here")


def encode(value: object) -> bytes:
    """Return the canonical JSON of plain JSON data or of an event's Struct, as UTF-8.

    Raises ValueError for what is outside the subset (see the module). RFC 8785, section 3.2.
    """
    if isinstance(value, msgspec.Struct):
        # Its types leave only the size of integers, stray floats and keys open, seen in the text.
        try:
            payload = _encoder.encode(value)
        except (TypeError, UnicodeEncodeError) as error:
            raise ValueError(f"no canonical form: {error}") from error
        value = decode(payload)
        if _needs_a_look(payload):
            check(value)
        return payload
    check(value)
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError as error:
        raise ValueError(f"no canonical form: {error}") from error


def decode(payload: bytes) -> Any:
    """Return the plain data of a JSON text, canonical or not.

    Raises ValueError when it is not JSON in UTF-8, or holds a float.
    """
    try:
        return _decoder.decode(payload)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def is_canonical(payload: bytes) -> bool:
    """Say whether these bytes are the canonical form of what they say.

    False as well for whatever is outside the subset: floats, large integers, duplicate or
    non-ASCII keys, bad UTF-8, anything that is not JSON.
    """
    try:
        value = decode(payload)
        if _encoder.encode(value) != payload:
            return False
        if _needs_a_look(payload):
            check(value)
    except (ValueError, RecursionError):
        return False
    return True
