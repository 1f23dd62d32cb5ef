"""A small kit for charts as inline SVG, readable in black and white and read aloud.

Every chart carries a title and a description; lines differ by their dashes and marks by their
shape, never by colour alone. Numbers are written with two decimals, so that the same data makes
the same bytes.
"""

from collections.abc import Callable, Sequence
from math import ceil, floor, log10
from typing import Final, Literal, NamedTuple, TypeAlias

from markupsafe import Markup

from shoeproof.audit_reports.pages.numerals import minus_sign, percent, points
from shoeproof.audit_reports.pages.render import visible

Point: TypeAlias = tuple[float, float]
Style: TypeAlias = Literal["solid", "dashed", "dotted"]

INK: Final = "#1b1b1f"
SOFT: Final = "#5a5a66"
RULE: Final = "#d8d8de"
ACCENT: Final = "#1f4e8c"
WASH: Final = "#dde7f3"

_WIDTH: Final = 520
"""Pixels of a chart: few, so that its words can still be read on a telephone."""

_ROW: Final = 26

_DASHES: Final[dict[Style, str]] = {"solid": "", "dashed": "7 4", "dotted": "1.5 4"}


class Scale(NamedTuple):
    """One axis: values from `low` to `high` onto pixels, in powers of ten where `log`."""

    low: float
    high: float
    first_pixel: float
    last_pixel: float
    log: bool = False

    def at(self, value: float) -> float:
        """Return the pixel of a value, at the edge for one beyond it."""
        low, high = (log10(self.low), log10(self.high)) if self.log else (self.low, self.high)
        value = min(max(value, self.low), self.high)
        share = ((log10(value) if self.log else value) - low) / ((high - low) or 1.0)
        return self.first_pixel + share * (self.last_pixel - self.first_pixel)

    def ticks(self, most: int = 6) -> list[float]:
        """Return round values along the axis."""
        if self.log:
            decades = range(floor(log10(self.low)), floor(log10(self.high) + 1e-9) + 1)
            # A decade alone is too far to be read between.
            steps = (1, 2, 5) if len(decades) < 4 else (1,)
            values = [step * 10.0**power for power in decades for step in steps]
            return [each for each in values if self.low <= each <= self.high * (1 + 1e-9)]
        step = _round_step((self.high - self.low) / most)
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [index * step for index in range(first, last + 1)]


class Chart:
    """A drawing with a plot area, its axes and what is put on them."""

    def __init__(self, title: str, description: str, x: Scale, y: Scale, size: Point) -> None:
        """Begin a chart of `size` (width, height) in pixels."""
        self.title, self.description = title, description
        self.x, self.y = x, y
        self.width, self.height = size
        self._parts: list[Markup] = []

    def axes(
        self, x_text: Callable[[float], str], y_text: Callable[[float], str], x_name: str
    ) -> None:
        """Draw both axes with their ticks and name the lower one."""
        left, right = self.x.first_pixel, self.x.last_pixel
        bottom, top = self.y.first_pixel, self.y.last_pixel
        for value in self.y.ticks():
            at = self.y.at(value)
            self.rule(left, at, right, at, RULE, 1)
            self.text(left - 8, at + 4, y_text(value), anchor="end", ink=SOFT)
        for value in self.x.ticks():
            at = self.x.at(value)
            self.rule(at, bottom, at, bottom + 5, SOFT, 1)
            self.text(at, bottom + 19, x_text(value), anchor="middle", ink=SOFT)
        self.rule(left, bottom, right, bottom, INK, 1.2)
        self.rule(left, top, left, bottom, INK, 1.2)
        self.text(right, bottom + 37, x_name, anchor="end", ink=SOFT)

    def line(
        self, points: Sequence[Point], *, style: Style = "solid", ink: str = INK, width: float = 1.6
    ) -> None:
        """Draw a line through points in the data's units."""
        self._polyline(points, style, ink, width, "none")

    def area(self, upper: Sequence[Point], lower: Sequence[Point]) -> None:
        """Fill what lies between two lines."""
        self._polyline([*upper, *reversed(lower)], "solid", "none", 0, WASH)

    def mark(self, x: float, y: float, *, ink: str = INK) -> None:
        """Put a filled dot at a point."""
        self._parts.append(
            Markup('<circle cx="{}" cy="{}" r="4" fill="{}"/>').format(
                _number(self.x.at(x)), _number(self.y.at(y)), ink
            )
        )

    def block(self, x_from: float, x_to: float, y: float, height: float, *, fill: str) -> None:
        """Draw a block from one value to another, `height` pixels high about the pixel `y`."""
        left, right = sorted((self.x.at(x_from), self.x.at(x_to)))
        self._parts.append(
            Markup(
                '<rect x="{}" y="{}" width="{}" height="{}" fill="{}" stroke="{}"'
                ' stroke-width="1"/>'
            ).format(
                _number(left),
                _number(y - height / 2),
                _number(max(right - left, 1)),
                _number(height),
                fill,
                INK,
            )
        )

    def text(self, x: float, y: float, text: str, *, anchor: str = "start", ink: str = INK) -> None:
        """Write at a pixel."""
        self._parts.append(
            Markup(
                '<text x="{}" y="{}" font-size="13" text-anchor="{}" fill="{}">{}</text>'
            ).format(_number(x), _number(y), anchor, ink, visible(text))
        )

    def svg(self) -> Markup:
        """Return the drawing."""
        return Markup(
            '<svg role="img" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}"'
            ' width="{w}" height="{h}"><title>{title}</title><desc>{description}</desc>'
            "{parts}</svg>"
        ).format(
            w=_number(self.width),
            h=_number(self.height),
            title=self.title,
            description=self.description,
            parts=Markup("").join(self._parts),
        )

    def rule(self, x1: float, y1: float, x2: float, y2: float, ink: str, width: float) -> None:
        """Draw a straight line between two pixels."""
        self._parts.append(
            Markup('<path d="M{} {}L{} {}" stroke="{}" stroke-width="{}" fill="none"/>').format(
                _number(x1), _number(y1), _number(x2), _number(y2), ink, _number(width)
            )
        )

    def _polyline(
        self, points: Sequence[Point], style: Style, ink: str, width: float, fill: str
    ) -> None:
        path = "L".join(f"{_number(self.x.at(x))} {_number(self.y.at(y))}" for x, y in points)
        dashes = _DASHES[style]
        dashed = Markup(' stroke-dasharray="{}"').format(dashes) if dashes else Markup("")
        self._parts.append(
            Markup('<path d="M{}" stroke="{}" stroke-width="{}" fill="{}"{}/>').format(
                path, ink, _number(width), fill, dashed
            )
        )


class Funnel(NamedTuple):
    """A return over time against its two bands; all lists have one entry a look.

    `rounds` are cumulative counts, the returns and half-widths fractions (0.964 is 96.4%).
    """

    rounds: Sequence[int]
    realised: Sequence[float]
    centre: float
    fixed: Sequence[float]
    anytime: Sequence[float]


def funnel_chart(title: str, description: str, funnel: Funnel) -> Markup:
    """Draw realised returns over rounds, inside the fixed-sample and the anytime-valid band."""
    last = max(10, *funnel.rounds)
    # Ticks are at most a factor of 2.5 apart: in three there is one to read the axis by.
    first = max(1, min(funnel.rounds[0], last / 3))
    widest = max(funnel.anytime[len(funnel.anytime) // 8 :])
    furthest = max(abs(value - funnel.centre) for value in funnel.realised[-1:])
    reach = 1.15 * max(widest, furthest, 1e-4)
    chart = Chart(
        title,
        description,
        Scale(first, last, 58, _WIDTH - 12, log=True),
        Scale(funnel.centre - reach, funnel.centre + reach, 258, 12),
        (_WIDTH, 302),
    )
    upper, lower = _band(funnel, funnel.fixed)
    chart.area(upper, lower)
    chart.axes(lambda value: f"{value:,.0f}", _tick, "rounds, cumulative (logarithmic)")
    chart.line([(first, funnel.centre), (last, funnel.centre)], style="dotted")
    for edge in _band(funnel, funnel.anytime):
        inside = [point for point in edge if chart.y.low <= point[1] <= chart.y.high]
        chart.line(inside, style="dashed", ink=SOFT)
    chart.line(list(zip(funnel.rounds, funnel.realised, strict=True)), ink=ACCENT, width=2.4)
    chart.mark(funnel.rounds[-1], funnel.realised[-1], ink=ACCENT)
    return chart.svg()


def waterfall_chart(title: str, description: str, steps: Sequence[tuple[str, float]]) -> Markup:
    """Draw how the parts add up, one below the other: each begins where the last one ended.

    A part's value is a fraction; the last block is their sum. The axis begins near the smallest
    level reached, so blocks show differences, and the numbers beside them the amounts. What adds is
    shaded, what takes away is hollow, theory and sum are black.
    """
    levels = [0.0]
    for _, value in steps:
        levels.append(levels[-1] + value)
    low, high = min(levels[1:]), max(levels[1:])
    margin = 0.1 * (high - low) or 0.01
    bottom = _ROW * (len(steps) + 1) + 6
    chart = Chart(
        title,
        description,
        Scale(low - margin, high + margin, 108, _WIDTH - 66),
        Scale(0, 1, bottom, 0),
        (_WIDTH, bottom + 24),
    )
    for value in chart.x.ticks(5):
        at = chart.x.at(value)
        chart.rule(at, 0, at, bottom, RULE, 1)
        chart.text(at, bottom + 18, _tick(value), anchor="middle", ink=SOFT)
    rows = [
        (label, low - margin if place == 0 else levels[place], levels[place + 1])
        for place, (label, _) in enumerate(steps)
    ]
    for place, (label, begins, ends) in enumerate([*rows, ("realised", low - margin, levels[-1])]):
        is_level = place in (0, len(rows))
        at = _ROW * (place + 0.5) + 4
        chart.text(0, at + 4.5, label)
        fill = INK if is_level else ("#fff" if ends < begins else WASH)
        chart.block(begins, ends, at, _ROW - 9, fill=fill)
        amount = percent(ends) if is_level else points(ends - begins)
        chart.text(_WIDTH, at + 4.5, amount, anchor="end")
        if place < len(rows):
            edge = chart.x.at(ends)
            chart.rule(edge, at + _ROW / 2 - 4.5, edge, at + _ROW / 2 + 4.5, SOFT, 1)
    return chart.svg()


def _band(funnel: Funnel, half_widths: Sequence[float]) -> tuple[list[Point], list[Point]]:
    return (
        [(n, funnel.centre + half) for n, half in zip(funnel.rounds, half_widths, strict=True)],
        [(n, funnel.centre - half) for n, half in zip(funnel.rounds, half_widths, strict=True)],
    )


def _tick(value: float) -> str:
    """Return a round percentage without the decimals it does not need."""
    return minus_sign(f"{round(100 * value, 4) + 0.0:g}%")


def _number(value: float) -> str:
    """Return a coordinate with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _round_step(rough: float) -> float:
    """Return the next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** floor(log10(rough))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= rough - 1e-12)
