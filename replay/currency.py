"""How amounts are written: minor units as people read them, in any currency.

A currency's *unit* says where the decimal point goes. It is text, so that tables, files and JSON
hold it as it is: the code of a currency whose decimal places ISO 4217 gives, `EUR`, or a code with
the exponent recorded beside it, `BTC:8`. Two exponents of one code are two units, and whatever
groups by the unit keeps them apart. Where nothing gives the places, none are invented.
"""

from decimal import Decimal
from functools import cache
from typing import Final

from shoeproof.ledger.leaf.events import RoundOpened

MOST_PLACES: Final = 18
"""The most decimal places useful for amounts below 2^53 minor units."""


def unit_of(opened: RoundOpened) -> str:
    """Return the unit of a round's amounts."""
    return currency_unit(opened.currency, opened.exponent)


def currency_unit(code: str, exponent: int | None) -> str:
    """Return the unit of a currency with its recorded exponent, None where none is recorded."""
    if exponent is None:
        # The last colon ends the code, whatever a ledger calls its currency.
        return f"{code}:" if ":" in code else code
    return code if exponent == iso_exponent(code) else f"{code}:{exponent}"


@cache
def iso_exponent(code: str) -> int | None:
    """Return the decimal places ISO 4217 gives a currency, None where it gives none, as for XXX."""
    # Loading it parses its table, which a command that writes no amount need not wait for.
    from iso4217 import Currency

    try:
        return Currency(code).exponent
    except ValueError:
        return None


def decimal_places(unit: str) -> int | None:
    """Return how many decimal places amounts of a unit have.

    It is None where nothing says, where the exponent recorded contradicts ISO 4217, and where it is
    not of 0 to 18.
    """
    code, exponent = _parts(unit)
    by_iso = iso_exponent(code)
    if exponent is None or exponent == by_iso:
        return by_iso
    return exponent if by_iso is None and 0 <= exponent <= MOST_PLACES else None


def amount_text(minor: int | None, unit: str = "") -> str:
    """Return minor units as people write them, `12.50 EUR`; a dash for None.

    Of a unit whose decimal places are not known, `1,250 minor units of XYZ`.
    """
    if minor is None:
        return "-"
    known = decimal_places(unit) is not None
    return f"{number_text(minor, unit)} {_parts(unit)[0] if known else unit_words(unit)}"


def number_text(minor: int | None, unit: str) -> str:
    """Return an amount as `amount_text` does, without the name of its currency."""
    if minor is None:
        return "-"
    places = decimal_places(unit) or 0
    whole, part = divmod(abs(minor), 10**places)
    fraction = f".{part:0{places}}" if places else ""
    return f"{'-' if minor < 0 else ''}{whole:,}{fraction}"


def unit_words(unit: str) -> str:
    """Return what a table of bare numbers is in: `EUR`, or `BTC with 8 decimal places`."""
    code, exponent = _parts(unit)
    places = decimal_places(unit)
    if places is None:
        return f"minor units of {code}" if code else "minor units"
    return code if exponent is None else f"{code} with {places} decimal places"


def minor_units(amount: Decimal, unit: str) -> int | None:
    """Return an amount as people write it in minor units, None where the currency has no such
    amount.

    Where the decimal places are not known, the amount is one of minor units.
    """
    minor = amount.scaleb(decimal_places(unit) or 0)
    return int(minor) if minor == minor.to_integral_value() else None


def exact_minor_units(amount: Decimal, unit: str) -> int | None:
    """Return an amount that a person wrote in minor units, None where it has other decimal places.

    An amount with more of them than its currency has may be a thousand, written `1.000`.
    """
    places = -int(amount.as_tuple().exponent)
    return None if places > (decimal_places(unit) or 0) else minor_units(amount, unit)


def code_and_exponent(unit: str) -> tuple[str, int | None]:
    """Return a unit's code, and its decimal places where they are known."""
    return _parts(unit)[0], decimal_places(unit)


def _parts(unit: str) -> tuple[str, int | None]:
    """Return the code and the exponent of a unit; -1 stands for an impossible exponent."""
    code, colon, exponent = unit.rpartition(":")
    if not colon:
        return unit, None
    can_be = exponent.isascii() and exponent.isdecimal() and len(exponent) <= len(str(MOST_PLACES))
    return code, int(exponent) if can_be else -1
