"""Numbers as pages, verdicts and the terminal write them: with a minus sign, never a hyphen."""

from shoeproof.replay.currency import amount_text, number_text


def minus_sign(text: str) -> str:
    """Return a number's text with a minus sign for its hyphen; others, as of a currency, stay."""
    return text.replace("-", "−", 1) if text.startswith("-") else text


def percent(value: float, places: int = 2) -> str:
    """Return a fraction as a percentage, 0.9953 as `99.53%`."""
    return minus_sign(f"{100 * value:.{places}f}%")


def points(value: float) -> str:
    """Return a difference of fractions in percentage points with its sign, `+0.31`.

    A value that rounds to zero has no sign.
    """
    text = f"{100 * value:+.2f}"
    return minus_sign(text) if float(text) else "0.00"


def standard_errors(z: float) -> str:
    """Return how many standard errors something lies from zero, with its sign."""
    return minus_sign(f"{z:+.2f}")


def amount(minor: int | None, currency: str = "") -> str:
    """Return an amount of minor units as `amount_text` does, with the minus sign of percentages."""
    return "-" if minor is None else minus_sign(amount_text(minor, currency))


def number(minor: int | None, currency: str) -> str:
    """Return an amount without the name of its currency."""
    return minus_sign(number_text(minor, currency))


def wrong_amounts(underpaid_minor: int, overpaid_minor: int, currency: str) -> str:
    """Return what was paid too little and what too much: `0.14 EUR too little`, never netted."""
    told = [
        f"{amount(minor, currency)} too {which}"
        for minor, which in ((underpaid_minor, "little"), (overpaid_minor, "much"))
        if minor
    ]
    return " and ".join(told) or f"{amount(0, currency)} too much"


def signed_amount(minor: int, currency: str) -> str:
    """Return an amount with its sign, `+0.07 EUR`."""
    return f"{'+' if minor > 0 else ''}{amount(minor, currency)}"
