"""The one place where a fraction of a stake becomes minor units."""

from fractions import Fraction

from shoeproof.replay.engine.rules import Rounding


def round_minor(amount: Fraction, rounding: Rounding) -> int:
    """Round an exact amount of minor units, zero or more, as the rules say.

    `half_up` rounds to the nearest unit, a half upwards; `down` drops the fraction.
    """
    if rounding == "down":
        return amount.numerator // amount.denominator
    return (2 * amount.numerator + amount.denominator) // (2 * amount.denominator)
