"""Numbers as people read them."""

from shoeproof.audit_reports.pages.numerals import (
    amount,
    number,
    percent,
    points,
    signed_amount,
    standard_errors,
)


def test_numbers_below_zero_have_a_minus_sign_and_currencies_keep_their_hyphens() -> None:
    assert percent(-0.0012) == "−0.12%"
    assert points(-0.0012) == standard_errors(-0.12) == "−0.12"
    assert amount(-125_050, "EUR") == "−1,250.50 EUR"
    assert amount(-5, "X-Y") == "−5 minor units of X-Y"
    assert number(-125_050, "EUR") == "−1,250.50"
    assert signed_amount(-7, "EUR") == "−0.07 EUR"


def test_differences_have_a_sign_where_there_is_one() -> None:
    assert points(0.0031) == standard_errors(0.31) == "+0.31"
    assert points(-0.00001) == "0.00"
    assert signed_amount(7, "EUR") == "+0.07 EUR"
    assert signed_amount(0, "EUR") == "0.00 EUR"


def test_an_unknown_amount_is_a_dash() -> None:
    assert amount(None) == "-"
