"""The basic strategy as one HTML page that needs nothing else: print it, keep it, send it."""

from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby
from typing import Final

from shoeproof.replay.engine.hand import DOUBLE, HIT, SPLIT, STAND, ZAP
from shoeproof.replay.theory.chart import SECTIONS, UP_ORDER, ChartRow
from shoeproof.replay.theory.values import VALUE_NAMES

LETTERS: Final = {HIT: "H", STAND: "S", DOUBLE: "D", SPLIT: "P", ZAP: "Z"}
"""How a cell shows an act; a substitute follows in lower case, `Dh`."""

UP_NAMES: Final = tuple(VALUE_NAMES[up] for up in UP_ORDER)

_STYLE: Final = """
body{font:16px/1.4 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;margin:0 0 1.5rem;width:100%;table-layout:fixed}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{border:1px solid #fff;padding:.25rem .4rem;text-align:center}
tr>th:first-child{text-align:left;width:22%}
.hit{background:#f4d6a0}.stand{background:#f2b8b5}.double{background:#b9e0b4}
.split{background:#b7d3f2}.zap{background:#d9c2ee}
@media(max-width:34rem){body{font-size:13px;margin:1rem auto;padding:0 .5rem}th,td{padding:.2rem 0}}
@media print{td{border-color:#888}*{print-color-adjust:exact}}
"""


def letters(act: str) -> str:
    """Return a cell's letters: `D` for double, `Dh` where its substitute is to hit."""
    first, _, substitute = act.partition("/")
    return LETTERS[first] + LETTERS.get(substitute, "").lower()


def row_label(row: ChartRow) -> str:
    """Return how a row is called."""
    if not row.cards:
        return row.hand
    return f"{row.hand}, {row.cards}{' or more' if row.or_more else ''} cards"


def legend(rows: Iterable[ChartRow]) -> str:
    """Return what the letters of a chart mean."""
    used = {part for row in rows for act in row.acts for part in act.split("/")}
    words = [f"{letter} {act}" for act, letter in LETTERS.items() if act in used]
    return ", ".join(words) + "; a small letter says what to do where doubling is barred"


def chart_page(title: str, rows: list[ChartRow]) -> str:
    """Return the page of a chart."""
    name = escape(f"{title}: basic strategy")
    return "\n".join(
        [
            '<!doctype html><html lang="en"><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{name}</title>",
            f"<style>{_STYLE}</style><h1>{name}</h1>",
            f"<p>Against the dealer's up card. {escape(legend(rows))}. Never take insurance.</p>",
            *_tables(rows),
            "</html>\n",
        ]
    )


def _tables(rows: list[ChartRow]) -> Iterator[str]:
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("hand", *UP_NAMES))
    for section, members in groupby(rows, key=lambda row: row.section):
        yield f"<table><caption>{SECTIONS[section]}</caption><tr>{heads}</tr>"
        for row in members:
            cells = "".join(
                f'<td class="{act.partition("/")[0]}" title="{act}">{letters(act)}</td>'
                for act in row.acts
            )
            yield f'<tr><th scope="row">{row_label(row)}</th>{cells}</tr>'
        yield "</table>"
