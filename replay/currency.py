"""How amounts of a currency are written: minor units as people read them."""

from decimal import Decimal
from typing import Final

_WHOLE = ("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF", 0)
_THOUSANDTHS = ("BHD IQD JOD KWD LYD OMR TND", 3)
DECIMAL_PLACES: Final = {
    currency: places
    for currencies, places in (_WHOLE, _THOUSANDTHS)
    for currency in currencies.split()
}
"""Currencies whose minor unit is not a hundredth (ISO 4217)."""


def amount_text(minor: int | None, currency: str = "") -> str:
    """Return minor units as people write them, `12.50 EUR`; a dash for None.

    `currency` is an ISO 4217 code, or whatever a ledger calls one.
    """
    if minor is None:
        return "-"
    places = DECIMAL_PLACES.get(currency, 2)
    whole, part = divmod(abs(minor), 10**places)
    fraction = f".{part:0{places}}" if places else ""
    return f"{'-' if minor < 0 else ''}{whole:,}{fraction} {currency}".rstrip()


def number_text(minor: int | None, currency: str) -> str:
    """Return an amount as `amount_text` does, without the name of its currency."""
    return amount_text(minor, currency).removesuffix(f" {currency}")


def minor_units(amount: Decimal, currency: str) -> int | None:
    """Return an amount as people write it in minor units, None where the currency has no such."""
    minor = amount.scaleb(DECIMAL_PLACES.get(currency, 2))
    return int(minor) if minor == minor.to_integral_value() else None
