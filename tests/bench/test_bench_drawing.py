"""Pictures of reports: well-formed, the same for the same figures, drawn again only if needed."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide_bench.reports.drawing import Bar, Bars, Lines, Series, Share, Shares, drawn, svg

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_bench.reports.drawing import Drawing

LINE = Series(name="search & co", points=((1, 10), (10, 40)), low=(8, 35), high=(12, 45))
LINES = Lines(title="T < t", x="k", y="%", series=(LINE,))
BAR = Bar(name="要約", value=20.4, low=19, high=22, published=20.48)
BARS = Bars(title="msc: F1", unit="F1, %", bars=(BAR, Bar(name="bm25", value=3, low=2, high=4)))
SHARES = Shares(title="wins", shares=(Share(name="bm25", wins=0.5, ties=0.47, losses=0.03),))


@pytest.mark.parametrize("drawing", [LINES, replace(LINES, log_x=False, log_y=True), BARS, SHARES])
def test_a_picture_is_well_formed_and_says_what_it_shows(drawing: Drawing) -> None:
    """Names stand in it as letters, and drawing it twice gives the same."""
    text = svg(drawing)
    root = ET.fromstring(text)  # noqa: S314 - our own text
    told = "".join(root.itertext())
    assert drawing.title in told
    assert any(name in told for name in ("search & co", "要約", "bm25"))
    assert svg(drawing) == text


def test_a_value_is_not_taken_for_the_papers() -> None:
    """Both stand there by name, with one decimal."""
    shown = "".join(ET.fromstring(svg(BARS)).itertext())  # noqa: S314 - our own text
    assert "20.4, paper 20.5" in shown
    assert "3.0" in shown


def test_a_logarithmic_axis_has_plain_numbers() -> None:
    """2,000 is read at once, 2 × 10³ is not."""
    tokens = replace(LINE, points=((1, 400), (50, 9000)), low=(), high=())
    text = svg(replace(LINES, log_y=True, series=(tokens,)))
    shown = "".join(ET.fromstring(text).itertext())  # noqa: S314 - our own text
    assert all(number in shown for number in ("500", "1,000", "2,000", "5,000"))
    assert "×" not in shown


def test_a_picture_is_drawn_again_only_if_its_figures_changed(tmp_path: Path) -> None:
    """What lies there is taken if it was drawn from the same, whatever it looks like."""
    path = tmp_path / "picture.svg"
    first = drawn(BARS, path)
    mark = first.splitlines()[0]
    path.write_text(f"{mark}\n<svg>as it lies there</svg>")
    assert drawn(BARS, path).endswith("as it lies there</svg>")
    changed = replace(BARS, bars=(replace(BAR, value=20.5), *BARS.bars[1:]))
    assert "20.5" in drawn(changed, path)
