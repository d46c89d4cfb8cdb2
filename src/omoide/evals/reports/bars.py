"""Bars with intervals as SVG, one a method; and stacked bars of wins, ties and losses."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from omoide.evals.plot import COLOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, LEFT, RIGHT, TOP, ROW = 640, 170, 96, 40, 22


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A figure with its interval, and the paper's where it has one."""

    name: str
    value: float
    low: float
    high: float
    published: float | None = None


@dataclass(frozen=True, kw_only=True)
class Bars:
    """Lying bars, in the order given. A diamond is what the paper reports."""

    title: str
    unit: str
    bars: Sequence[Bar]

    def svg(self) -> str:
        """The whole picture."""
        height = TOP + ROW * len(self.bars) + 34
        top = max([b.high for b in self.bars] + [b.published or 0.0 for b in self.bars] + [1e-9])
        scale = (WIDTH - LEFT - RIGHT) / top
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="sans-serif" font-size="12" role="img">',
            f"<title>{escape(self.title)}</title>",
            f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
            f'<text x="8" y="22" font-size="14">{escape(self.title)}</text>',
        ]
        for place, bar in enumerate(self.bars):
            parts += self._bar(bar, TOP + ROW * place, scale)
        parts.append(
            f'<text x="{LEFT}" y="{height - 10}" fill="#555">{escape(self.unit)}; lines are 95 % '
            "intervals" + (", diamonds the paper's</text>" if self._papers else "</text>")
        )
        return "\n".join([*parts, "</svg>", ""])

    @property
    def _papers(self) -> bool:
        return any(bar.published is not None for bar in self.bars)

    def _bar(self, bar: Bar, y: int, scale: float) -> list[str]:
        middle = y + ROW / 2
        end = LEFT + max(bar.value, 0) * scale
        parts = [
            f'<text x="{LEFT - 8}" y="{middle + 4}" text-anchor="end">{escape(bar.name)}</text>',
            f'<rect x="{LEFT}" y="{y + 4}" width="{max(bar.value, 0) * scale:.1f}" '
            f'height="{ROW - 8}" fill="{COLOURS[4]}"/>',
            f'<path d="M{LEFT + max(bar.low, 0) * scale:.1f} {middle}H'
            f'{LEFT + bar.high * scale:.1f}" stroke="#222" stroke-width="1.5"/>',
        ]
        if bar.published is not None:
            x = LEFT + bar.published * scale
            parts.append(f'<path d="M{x:.1f} {middle - 5}l5 5l-5 5l-5 -5z" fill="{COLOURS[1]}"/>')
            end = max(end, x + 5)
        end = max(end, LEFT + bar.high * scale)
        return [*parts, f'<text x="{end + 6:.1f}" y="{middle + 4}">{bar.value:.3g}</text>']


@dataclass(frozen=True, kw_only=True)
class Share:
    """How one method did against another: shares of 1."""

    name: str
    wins: float
    ties: float
    losses: float


def shares_svg(title: str, shares: Sequence[Share]) -> str:
    """Wins, ties and losses side by side, one row a comparison."""
    height = TOP + ROW * len(shares) + 34
    room = WIDTH - LEFT - 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="8" y="22" font-size="14">{escape(title)}</text>',
    ]
    for place, share in enumerate(shares):
        y, x = TOP + ROW * place, float(LEFT)
        parts.append(
            f'<text x="{LEFT - 8}" y="{y + ROW / 2 + 4}" text-anchor="end">'
            f"{escape(share.name)}</text>"
        )
        for part, colour in (
            (share.wins, COLOURS[2]),
            (share.ties, "#ccc"),
            (share.losses, COLOURS[1]),
        ):
            wide = part * room
            parts.append(
                f'<rect x="{x:.1f}" y="{y + 3}" width="{wide:.1f}" height="{ROW - 6}" '
                f'fill="{colour}"/>'
            )
            if part >= 0.06:
                parts.append(
                    f'<text x="{x + wide / 2:.1f}" y="{y + ROW / 2 + 4}" text-anchor="middle">'
                    f"{100 * part:.0f}</text>"
                )
            x += wide
    parts.append(
        f'<text x="{LEFT}" y="{height - 10}" fill="#555">% of items on which it is better, equal, '
        "worse</text>"
    )
    return "\n".join([*parts, "</svg>", ""])
