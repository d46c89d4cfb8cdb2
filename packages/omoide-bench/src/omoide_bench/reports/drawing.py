"""Charts as SVG, drawn by matplotlib: lines, bars with intervals, shares of wins and losses.

Each file contains a hash of its data, so that a report redraws only what has changed: matplotlib
takes longer than all the rest of a report.
"""

from __future__ import annotations

import hashlib
import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"),
    *("#000000", "#888888", "#7b3294", "#8c510a"),
)
"""Safe for colour-blind readers (Okabe & Ito 2008)."""
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: small, searchable files
    "svg.hashsalt": "omoide",  # the same chart gives the same file
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_WIDE, _PLOT, _ROW, _LETTER = 7.0, 3.5, 0.26, 0.085
"""Inches: least width of a chart and of its plot, height of a bar, width of a letter in a name."""


@dataclass(frozen=True, kw_only=True)
class Series:
    """A line: points by x, with optional intervals."""

    name: str
    points: tuple[tuple[float, float], ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    marked: bool = True
    """Whether each point has a dot."""


@dataclass(frozen=True, kw_only=True)
class Lines:
    """A line chart, by default with a logarithmic x axis."""

    title: str
    x: str
    y: str
    series: tuple[Series, ...]
    log_x: bool = True
    log_y: bool = False

    left = 0.85
    height = 4.0

    @property
    def right(self) -> float:
        """Inches for the names of the lines."""
        return 0.6 + _LETTER * max(len(line.name) for line in self.series)

    def draw(self, axes: Axes) -> None:
        """Onto these axes."""
        for line, colour in zip(self.series, COLOURS, strict=False):
            xs, ys = zip(*line.points, strict=True)
            axes.plot(xs, ys, color=colour, label=line.name, marker="o" if line.marked else None)
            if line.low:
                axes.vlines(xs, line.low, line.high, color=colour, linewidth=1)
        if self.log_x:
            axes.set_xscale("log")
            ticks = sorted({x for line in self.series for x, _ in line.points})
            axes.set_xticks(ticks, [f"{tick:,g}" for tick in ticks], minor=False)
            axes.minorticks_off()
        if self.log_y:
            from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
            axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set(xlabel=self.x, ylabel=self.y)
        axes.grid(axis="y", color="#ddd")
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A value with its interval, and the paper's value if there is one."""

    name: str
    value: float
    low: float
    high: float
    published: float | None = None

    @property
    def label(self) -> str:
        """The value, and the paper's, so that neither is taken for the other."""
        return _shown(self.value) + (f", paper {_shown(self.published)}" if self.published else "")


def _shown(value: float) -> str:
    return f"{value:.1f}" if value >= 1 else f"{value:.3g}"


@dataclass(frozen=True, kw_only=True)
class Bars:
    """Horizontal bars, in the given order. A diamond marks the paper's value."""

    title: str
    unit: str
    bars: tuple[Bar, ...]

    @property
    def right(self) -> float:
        """Inches for the values."""
        return 0.1 + _LETTER * max(len(bar.label) for bar in self.bars)

    @property
    def height(self) -> float:
        """Inches."""
        return 1.0 + _ROW * len(self.bars)

    @property
    def left(self) -> float:
        """Inches for the names of the bars."""
        return 0.2 + _LETTER * max(len(bar.name) for bar in self.bars)

    def draw(self, axes: Axes) -> None:
        """Onto these axes."""
        rows = range(len(self.bars))
        axes.barh(rows, [bar.value for bar in self.bars], color=COLOURS[4])
        axes.hlines(rows, [b.low for b in self.bars], [b.high for b in self.bars], color="#222")
        for row, bar in enumerate(self.bars):
            end = max(bar.value, bar.high, bar.published or 0.0)
            axes.annotate(
                bar.label,
                (end, row),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
            )
        papers = [(b.published, row) for row, b in enumerate(self.bars) if b.published is not None]
        if papers:
            axes.scatter(*zip(*papers, strict=True), marker="D", color=COLOURS[1], zorder=3)
        axes.set_yticks(rows, [bar.name for bar in self.bars])
        axes.invert_yaxis()
        legend = ", diamonds the paper's values" if papers else ""
        axes.set_xlabel(f"{self.unit}; lines are 95 % intervals{legend}")


@dataclass(frozen=True, kw_only=True)
class Share:
    """Wins, ties and losses of one method against another, as shares that sum to 1."""

    name: str
    wins: float
    ties: float
    losses: float


@dataclass(frozen=True, kw_only=True)
class Shares:
    """Stacked bars of wins, ties and losses, one row per comparison."""

    title: str
    shares: tuple[Share, ...]

    right = 0.2

    @property
    def height(self) -> float:
        """Inches."""
        return 1.0 + _ROW * len(self.shares)

    @property
    def left(self) -> float:
        """Inches for the names of the rows."""
        return 0.2 + _LETTER * max(len(share.name) for share in self.shares)

    def draw(self, axes: Axes) -> None:
        """Onto these axes."""
        rows = range(len(self.shares))
        reached = [0.0] * len(self.shares)
        for part, colour in (("wins", COLOURS[2]), ("ties", "#cccccc"), ("losses", COLOURS[1])):
            widths = [100 * float(getattr(share, part)) for share in self.shares]
            drawn = axes.barh(rows, widths, left=reached, color=colour)
            labels = [f"{w:.0f}" if w >= 6 else "" for w in widths]
            axes.bar_label(drawn, labels, label_type="center")
            reached = [x + w for x, w in zip(reached, widths, strict=True)]
        axes.set_yticks(rows, [share.name for share in self.shares])
        axes.invert_yaxis()
        axes.set_xlabel("% of items on which it is better, equal, worse")


Drawing = Lines | Bars | Shares


def svg(drawing: Drawing) -> str:
    """The chart as SVG text."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # Text stays text, so the reader's fonts are used, not matplotlib's.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        wide = max(_WIDE, drawing.left + _PLOT + drawing.right)
        figure = Figure(figsize=(wide, drawing.height))
        axes = figure.subplots()
        figure.subplots_adjust(
            left=drawing.left / wide,
            right=1 - drawing.right / wide,
            bottom=0.55 / drawing.height,
            top=1 - 0.35 / drawing.height,
        )
        axes.set_title(drawing.title, loc="left", fontsize=10)
        drawing.draw(axes)
        written = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(written, format="svg", metadata=nothing)
    text = written.getvalue()
    return f"{_origin(drawing)}\n{text[text.index('<svg') :]}"


def drawn(drawing: Drawing, path: Path) -> str:
    """The SVG from the file if it was drawn from the same data, else drawn anew."""
    if path.is_file():
        known = path.read_text(encoding="utf-8")
        if known.startswith(_origin(drawing)):
            return known
    return svg(drawing)


def _origin(drawing: Drawing) -> str:
    return f"<!-- drawn from {hashlib.sha256(repr(drawing).encode()).hexdigest()[:16]} -->"
