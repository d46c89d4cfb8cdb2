"""Line charts as SVG, small enough to be read in a diff."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 56, 150, 40, 48
COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"),
    *("#000000", "#888888", "#7b3294", "#8c510a"),
)
"""Colours that colour-blind people can tell apart (Okabe & Ito 2008)."""
FONTS = "DejaVu Sans, Noto Sans, Liberation Sans, Arial, Helvetica, sans-serif"
"""Named fonts, since an SVG-to-PNG converter may not know what `sans-serif` is."""


@dataclass(frozen=True, kw_only=True)
class Series:
    """One line of a chart: points ordered by x, optionally with an interval around each."""

    name: str
    points: tuple[tuple[float, float], ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    dashed: bool = False
    colour: str = ""
    """The line's colour; the next of `COLOURS` if empty."""
    marked: bool = True
    """Whether to draw a dot at each point."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A line chart; its x axis is logarithmic by default."""

    title: str
    x: str
    y: str
    series: Sequence[Series]
    log_y: bool = False
    log_x: bool = True
    y_range: tuple[float, float] | None = None
    """The range of the y axis; taken from the data if None."""
    wide: int = WIDTH
    """Width in pixels; what exceeds `WIDTH` is room for the line labels."""

    def svg(self) -> str:
        """The chart as SVG."""
        xs = self._x_ticks()
        ticks = self._ticks()
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.wide} {HEIGHT}" '
            f'font-family="{FONTS}" font-size="12" role="img">',
            f"<title>{escape(self.title)}</title>",
            f'<rect width="{self.wide}" height="{HEIGHT}" fill="white"/>',
            f'<text x="{LEFT}" y="22" font-size="14">{escape(self.title)}</text>',
        ]
        for tick in ticks:
            y = self._y(tick)
            parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
        parts += [
            f'<text x="{self._x(x):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
            f"{x:,g}</text>"
            for x in xs
        ]
        middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(
            f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">{escape(self.x)}</text>'
        )
        parts.append(
            f'<text transform="translate(14 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">'
            f"{escape(self.y)}</text>"
        )
        for line, colour in self._coloured():
            parts += self._line(line, colour)
        return "\n".join([*parts, *self._labels(), "</svg>", ""])

    def _line(self, line: Series, colour: str) -> list[str]:
        points = [(self._x(x), self._y(y)) for x, y in line.points]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        style = ' stroke-dasharray="5 4"' if line.dashed else ""
        parts = [f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"{style}/>']
        if line.marked:
            parts += [
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points
            ]
        for (x, _), low, high in zip(points, line.low, line.high, strict=False):
            parts.append(
                f'<path d="M{x:.1f} {self._y(low):.1f}V{self._y(high):.1f}" stroke="{colour}"/>'
            )
        return parts

    def _labels(self) -> list[str]:
        """A label at the end of each line, moved down where two would overlap."""
        ends = sorted(
            (self._y(line.points[-1][1]), line.name, colour)
            for line, colour in self._coloured()
            if line.name
        )
        parts, last = [], float("-inf")
        for y, name, colour in ends:
            last = max(y, last + 15)
            parts.append(
                f'<text x="{WIDTH - RIGHT + 8}" y="{last + 4:.1f}" fill="{colour}">'
                f"{escape(name)}</text>"
            )
        return parts

    def _range(self) -> tuple[float, float]:
        if self.y_range is not None:
            return self.y_range
        values = [y for line in self.series for _, y in line.points]
        if self.log_y:
            return 10 ** floor(log10(min(values))), 10 ** ceil(log10(max(values)))
        return 10 * floor(min(values) / 10), 10 * ceil(max(values) / 10)

    def _ticks(self) -> list[float]:
        low, high = self._range()
        if self.log_y:
            return [10.0**power for power in range(round(log10(low)), round(log10(high)) + 1)]
        if self.y_range is not None:
            step = 0.05 if high - low < 0.35 else 0.1 if high - low < 0.65 else 0.2
            return [round(high - step * i, 2) for i in range(floor((high - low) / step + 1.01))]
        return [float(tick) for tick in range(int(low), int(high) + 1, 10)]

    def _coloured(self) -> list[tuple[Series, str]]:
        colours = iter(COLOURS)
        return [
            (line, colour) for line in self.series if (colour := line.colour or next(colours, ""))
        ]

    def _x_ticks(self) -> list[float]:
        xs = sorted({x for line in self.series for x, _ in line.points})
        if self.log_x:
            return xs
        step = 10 ** floor(log10((xs[-1] - xs[0]) or 1))
        step = next(s for s in (step / 5, step / 2, step, 2 * step) if (xs[-1] - xs[0]) / s <= 10)
        return [step * i for i in range(ceil(xs[0] / step), floor(xs[-1] / step) + 1)]

    def _x(self, x: float) -> float:
        xs = [self._scaled(x) for line in self.series for x, _ in line.points]
        share = (self._scaled(x) - min(xs)) / ((max(xs) - min(xs)) or 1)
        return LEFT + 10 + share * (WIDTH - RIGHT - LEFT - 20)

    def _scaled(self, x: float) -> float:
        return log10(x) if self.log_x else x

    def _y(self, y: float) -> float:
        low, high = self._range()
        if self.log_y:
            share = (log10(y) - log10(low)) / ((log10(high) - log10(low)) or 1)
        else:
            share = (y - low) / ((high - low) or 1)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)
