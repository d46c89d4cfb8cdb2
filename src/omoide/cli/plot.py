"""`omoide plot`: charts of a memory."""

from __future__ import annotations

from math import floor
from pathlib import Path
from typing import TYPE_CHECKING

import click

from omoide import bootstrap
from omoide.cli.scope import options, scoped
from omoide.cli.show import emit, one_line
from omoide.cli.time_parsing import LOOKING
from omoide.domain.forgetting import THRESHOLD
from omoide.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from omoide.cli.scope import Scope
    from omoide.mechanisms.events.scoring import ForgettingCurve


@click.group()
@options
def plot() -> None:
    """Draw charts of what is remembered."""


@plot.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("forgetting.svg"),
    show_default=True,
    help="The file to write: .svg, or .png with the extra `plot`.",
)
@click.option(
    "--days",
    type=click.FloatRange(min=1),
    default=90,
    show_default=True,
    help="How many days ahead.",
)
@click.option("--most", type=click.IntRange(1, 6), default=6, help="At most this many events.")
@click.option("--at", type=LOOKING, help="As it was at that time.")
@scoped
def forgetting(scope: Scope, out: Path, days: float, most: int, at: datetime | None) -> None:
    """Draw how the user's events fade: since they were last recalled, over the coming days, and
    (dashed) if they were recalled now. Events that were recalled most are drawn first."""
    if out.suffix.lower() not in (".svg", ".png"):
        raise BadInput(f"the chart must be .svg or .png, not {out.name!r}")
    curves = scope.run(lambda memory: memory.curves(scope.user, at=at, days=days))
    if not curves:
        raise BadInput(f"{scope.user} has no events yet: talk, end a session, and try again")
    shown = sorted(curves, key=lambda c: (-c.event.recalls, -c.event.time.timestamp()))[:most]
    svg = forgetting_chart(shown, user=scope.user)
    if out.suffix.lower() == ".png":
        out.write_bytes(bootstrap.svg_to_png(svg))
    else:
        out.write_text(svg, encoding="utf-8")
    if scope.json:
        emit({"file": str(out), "events": len(curves), "drawn": [c.event.text for c in shown]})
    else:
        click.echo(f"{out}: {len(shown)} of {len(curves)} events")


def forgetting_chart(curves: Sequence[ForgettingCurve], *, user: str) -> str:
    """The chart as SVG."""
    from omoide.charts import COLOURS, Chart, Series

    series: list[Series] = []
    for curve, colour in zip(curves, COLOURS, strict=False):
        recalls = f" ({curve.event.recalls}×)" if curve.event.recalls else ""
        series += [
            Series(
                name=one_line(curve.event.text, max_chars=46) + recalls,
                points=(*curve.since, *curve.fading),
                colour=colour,
                marked=False,
            ),
            Series(name="", points=curve.recalled, colour=colour, dashed=True, marked=False),
        ]
    left = min(x for line in series for x, _ in line.points)
    right = max(x for line in series for x, _ in line.points)
    limit = Series(
        name=f"recalled above {THRESHOLD}",
        points=((left, THRESHOLD), (right, THRESHOLD)),
        colour="#999999",
        marked=False,
    )
    return Chart(
        title=f"How events of {one_line(user, max_chars=40)} fade; dashed: if recalled now",
        x="days from now",
        y="recall probability, for a perfect cue",
        series=[limit, *series],
        log_x=False,
        y_range=(floor(10 * min(y for line in series for _, y in line.points)) / 10, 1.0),
        wide=880,
    ).svg()
