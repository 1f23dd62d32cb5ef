"""From a template and data to one self-contained page, the same bytes for the same data.

A page holds its style and its pictures and fetches nothing: no script, no font, no image from
elsewhere. Whatever comes from a ledger is escaped, and characters that would turn the writing
direction or hide are made visible, since names are whatever somebody chose.
"""

from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from shoeproof.audit_reports.pages.numerals import amount, number
from shoeproof.ledger.files.printable import printable
from shoeproof.replay.currency import unit_words


def render_page(template: str, **data: Any) -> str:
    """Return the page that a template of `pages/templates` makes of `data`.

    A name the template uses and the data lacks raises jinja2's UndefinedError.
    """
    return _environment().get_template(template).render(**data)


def visible(text: object) -> Markup:
    """Return text from a ledger escaped for HTML, what does not print, line feeds apart, written
    out.
    """
    return text if isinstance(text, Markup) else escape(printable(str(text), "\n"))


def whole_number(value: int) -> str:
    """Return a count with thousands apart, `1,234,567`."""
    return f"{value:,}"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("shoeproof.audit_reports.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=visible,
    )
    environment.filters["amount"] = amount
    environment.filters["number_of"] = number
    environment.filters["number"] = whole_number
    environment.filters["unit_words"] = unit_words
    return environment
