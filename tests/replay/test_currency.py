"""How amounts are written, by the decimal places of ISO 4217 (list one) or of the round."""

from decimal import Decimal

import pytest

from shoeproof.ledger.leaf.events import RoundOpened
from shoeproof.replay.currency import (
    amount_text,
    currency_unit,
    decimal_places,
    minor_units,
    number_text,
    unit_of,
    unit_words,
)
from shoeproof.replay.errors import SettingsRefused
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.live.resume import resume_round
from shoeproof.replay.live.table import LiveTable, TableSettings
from tests.replay.helpers import new_ledger

RULES = GAMES["nba"].rules


@pytest.mark.parametrize(
    ("code", "exponent", "written"),
    [
        ("EUR", None, "1,234.56 EUR"),
        ("EUR", 2, "1,234.56 EUR"),
        ("JPY", None, "123,456 JPY"),
        ("JPY", 0, "123,456 JPY"),
        ("BHD", None, "123.456 BHD"),
        ("CLF", None, "12.3456 CLF"),
        ("UYW", None, "12.3456 UYW"),
        ("CLP", None, "123,456 CLP"),
        ("BTC", 8, "0.00123456 BTC"),
        ("ETH", 18, "0.000000000000123456 ETH"),
        ("POINTS", 0, "123,456 POINTS"),
        ("XXX", 2, "1,234.56 XXX"),
    ],
)
def test_an_amount_has_the_places_of_its_currency(
    code: str, exponent: int | None, written: str
) -> None:
    unit = currency_unit(code, exponent)
    assert amount_text(123_456, unit) == written
    assert amount_text(-123_456, unit) == f"-{written}"
    assert number_text(123_456, unit) == written.removesuffix(f" {code}")
    assert minor_units(Decimal(written.split()[0].replace(",", "")), unit) == 123_456


@pytest.mark.parametrize(
    ("code", "exponent"),
    [
        ("BTC", None),
        ("XXX", None),
        ("XAU", None),
        ("eur", None),
        ("EUR", 3),
        ("EUR", 100),
        ("JPY", 2),
        ("BTC", -1),
        ("BTC", 19),
        ("BTC", 10**15),
        ("BTC:8", None),
    ],
)
def test_where_nothing_gives_the_places_none_are_invented(code: str, exponent: int | None) -> None:
    unit = currency_unit(code, exponent)
    assert decimal_places(unit) is None
    assert amount_text(123_456, unit) == f"123,456 minor units of {code}"
    assert unit_words(unit) == f"minor units of {code}"
    assert number_text(123_456, unit) == "123,456"
    assert minor_units(Decimal("123456"), unit) == 123_456
    assert minor_units(Decimal("0.5"), unit) is None


def test_an_amount_of_no_known_currency_is_in_minor_units() -> None:
    assert amount_text(1250) == "1,250 minor units"
    assert amount_text(None) == "-"


def test_an_amount_finer_than_its_currency_is_none_of_it() -> None:
    assert minor_units(Decimal("12.5"), "JPY") is None
    assert minor_units(Decimal("0.001"), "BTC:8") == 100_000


def test_a_unit_tells_every_currency_and_exponent_apart() -> None:
    """An agreeing exponent says nothing more than ISO 4217 does; any other is another unit."""
    recorded = [
        ("EUR", None), ("EUR", 3), ("EUR", -2), ("BTC", None), ("BTC", 8), ("BTC", 6),
        ("BTC:8", None), ("BTC:8", 8), ("BTC:", None), ("", None), ("", 8), (":8", None),
    ]  # fmt: skip
    units = [currency_unit(*each) for each in recorded]
    assert len(set(units)) == len(recorded)
    assert currency_unit("EUR", 2) == currency_unit("EUR", None) == "EUR"


def test_a_heading_names_the_places_that_iso_4217_does_not() -> None:
    assert [unit_words(each) for each in ("EUR", "BTC:8", "BTC", "")] == [
        "EUR",
        "BTC with 8 decimal places",
        "minor units of BTC",
        "minor units",
    ]


@pytest.mark.parametrize(
    ("currency", "exponent", "says"),
    [
        ("BTC", None, "ISO 4217 does not say how many decimal places 'BTC' has"),
        ("XXX", None, "does not say how many decimal places 'XXX' has"),
        ("BTC", 19, "give the table's exponent, from 0 to 18"),
        ("BTC", -1, "give the table's exponent, from 0 to 18"),
        ("EUR", 3, "EUR has 2 decimal places by ISO 4217, not 3"),
        ("JPY", 2, "JPY has 0 decimal places by ISO 4217, not 2"),
    ],
)
def test_a_table_without_known_places_does_not_open(
    currency: str, exponent: int | None, says: str
) -> None:
    settings = TableSettings(limits={}, currency=currency, exponent=exponent)
    with pytest.raises(SettingsRefused, match=says) as refused:
        LiveTable(new_ledger(), RULES, settings)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("currency", "exponent", "unit"), [("JPY", None, "JPY"), ("EUR", 2, "EUR"), ("BTC", 8, "BTC:8")]
)
def test_a_round_records_the_exponent_of_its_table(
    currency: str, exponent: int | None, unit: str
) -> None:
    ledger = new_ledger()
    table = LiveTable(ledger, RULES, TableSettings(limits={}, currency=currency, exponent=exponent))
    round_id = table.open_round("p-1").round_id
    opened = ledger.events(round_id)[0].event.data
    assert isinstance(opened, RoundOpened)
    assert (opened.currency, opened.exponent, unit_of(opened)) == (currency, exponent, unit)


def test_a_recorded_round_without_known_places_can_still_be_played_on() -> None:
    """Its currency was taken when it was opened; its player must be able to finish it."""
    ledger = new_ledger()
    table = LiveTable(ledger, RULES, TableSettings(limits={}, currency="BTC"), resumes=True)
    live = resume_round(ledger, table.open_round("p-1").round_id)
    assert live.table.settings.unit == "BTC"
