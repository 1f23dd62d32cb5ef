"""Pages stand alone, show what a ledger says harmlessly, and draw the same bytes twice."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from shoeproof.audit_reports.errors import ReportError
from shoeproof.audit_reports.pages.cards import cards_svg
from shoeproof.audit_reports.pages.charts import (
    Chart,
    Funnel,
    Scale,
    funnel_chart,
    waterfall_chart,
)
from shoeproof.audit_reports.pages.pdf import pdf_of
from shoeproof.audit_reports.pages.render import render_page, visible

SVG = "{http://www.w3.org/2000/svg}"
FUNNEL = Funnel([10, 100, 1_000], [0.9, 1.02, 0.985], 0.98, [0.7, 0.22, 0.07], [1.2, 0.4, 0.12])
STEPS = [("theory", 0.98), ("luck", 0.004), ("skill", -0.01), ("error", 0.0)]


def charts() -> list[Markup]:
    return [
        funnel_chart("Zero, main bet", "realised return over rounds", FUNNEL),
        waterfall_chart("Zero, main bet", "parts of the return", STEPS),
        cards_svg(["Ac", "Td", "??", "7h"], "Seat 1", marked=1),
    ]


def test_a_page_fetches_nothing_and_runs_nothing() -> None:
    page = render_page("base.html", title="a report")
    assert "<script" not in page
    assert not re.search(r"(src|href)\s*=|url\(|@import", page)


def test_what_a_ledger_says_cannot_become_markup_or_turn_the_text() -> None:
    assert visible("<b>p</b>") == "&lt;b&gt;p&lt;/b&gt;"
    assert visible("p\u202e1\x1b[2J") == "p\\u202e1\\x1b[2J"


@pytest.mark.parametrize("drawing", charts())
def test_every_drawing_is_well_formed_and_read_aloud(drawing: Markup) -> None:
    root = ElementTree.fromstring(drawing)
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title")


def test_the_same_data_draws_the_same_bytes() -> None:
    assert charts() == charts()


def test_cards_are_told_in_words() -> None:
    root = ElementTree.fromstring(cards_svg(["Ac", "??", "zz"], "the dealer"))
    words = "the dealer: ace of clubs, a card face down, an unreadable card 'zz'"
    assert root.findtext(f"{SVG}title") == words


def test_bars_stand_where_the_parts_before_them_ended() -> None:
    # 0.98 + 0.004 - 0.01 + 0 = 0.974
    root = ElementTree.fromstring(waterfall_chart("t", "d", STEPS))
    labels = [each.text for each in root.iter(f"{SVG}text")]
    assert labels[-1] == "97.40%"
    bars = list(root.iter(f"{SVG}rect"))
    assert bars[1].get("fill") != bars[2].get("fill")
    begin = [float(bar.get("x") or 0) for bar in bars]
    end = [start + float(bar.get("width") or 0) for start, bar in zip(begin, bars, strict=True)]
    assert (end[0], end[1], end[4]) == pytest.approx((begin[1], end[2], begin[2]))


def test_no_word_of_a_chart_lies_on_another() -> None:
    kinds = ["initial deal", "check", "hit", "double", "split", "zap", "hole card", "dealer draw"]
    parts = ["theory", *kinds, "decisions", "wrong payments", "disputes"]
    root = ElementTree.fromstring(waterfall_chart("t", "d", [(part, 0.01) for part in parts]))
    lines: dict[str, list[tuple[float, float]]] = {}
    for each in root.iter(f"{SVG}text"):
        # No letter of a sans serif is wider than 0.75 of its size in the mean of a word.
        wide = 0.75 * float(each.get("font-size") or 0) * len(each.text or "")
        begins = (
            float(each.get("x") or 0)
            - {"start": 0, "middle": 0.5, "end": 1}[each.get("text-anchor") or "start"] * wide
        )
        lines.setdefault(each.get("y") or "", []).append((begins, begins + wide))
    rows = sorted(map(float, lines))
    assert all(after - before > 13 for before, after in pairwise(rows))
    for words in lines.values():
        assert all(one[1] < other[0] for one, other in pairwise(sorted(words)))


def test_a_scale_puts_its_ends_on_its_pixels_and_ticks_on_round_numbers() -> None:
    scale = Scale(10, 10_000, 0, 300, log=True)
    assert [scale.at(value) for value in (10, 100, 10_000)] == [0, 100, 300]
    assert scale.ticks() == [10, 100, 1_000, 10_000]
    assert Scale(0, 1, 0, 10).ticks(5) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])


def test_names_in_a_chart_are_escaped() -> None:
    chart = Chart("<t>", "<d>", Scale(0, 1, 0, 1), Scale(0, 1, 0, 1), (10, 10))
    chart.text(1, 1, "<script>")
    assert "<script>" not in chart.svg()


def test_a_page_becomes_a_pdf() -> None:
    try:
        made = pdf_of(render_page("base.html", title="a report"))
    except ReportError as missing:
        pytest.skip(str(missing))
    assert made.startswith(b"%PDF-")
