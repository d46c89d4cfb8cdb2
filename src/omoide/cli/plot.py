"""`omoide plot`: charts of a memory."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import click

from omoide import bootstrap
from omoide.cli.groups import CommandGroup
from omoide.cli.scope import options, scoped
from omoide.cli.show import emit, one_line, plural
from omoide.cli.time_parsing import LOOKING
from omoide.domain.forgetting import THRESHOLD
from omoide.errors import BadInput
from omoide.mechanisms.events.scoring import curve, days_to_threshold, event_of
from omoide.mechanisms.parts import recall_settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from omoide.cli.scope import Scope
    from omoide.domain import Event
    from omoide.engine.memory import Memory
    from omoide.mechanisms.events.scoring import ForgettingCurve


@click.group(cls=CommandGroup)
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
    type=click.FloatRange(min=1, max=36_500),
    help="How many days ahead.  [default: until most of them are out of reach]",
)
@click.option("--most", type=click.IntRange(1, 6), default=6, help="At most this many events.")
@click.option("--at", type=LOOKING, help="As it was at that time.")
@scoped
def forgetting(scope: Scope, out: Path, days: float | None, most: int, at: datetime | None) -> None:
    """Draw how the user's events fade: since they were last recalled, over the coming days, and
    (dashed) if they were recalled now. Events that were recalled most are drawn first. Without
    events (OMOIDE_LAYERS says whether they are written), facts are drawn as if they were events."""
    if out.suffix.lower() not in (".svg", ".png"):
        raise BadInput(f"the chart must be .svg or .png, not {out.name!r}")
    now = at or scope.outside.clock.now()
    knobs = recall_settings(scope.settings)

    async def remembered(memory: Memory) -> tuple[str, list[Event]]:
        events = [curve.event for curve in await memory.curves(scope.user, at=at)]
        if events:
            return "event", events
        facts = await memory.facts(scope.user, at=now)
        return "fact", [event_of(fact, spacing=knobs.spacing) for fact in facts]

    thing, events = scope.run(remembered)
    if not events:
        raise BadInput(f"{scope.user} has no events yet: talk, end a session, and try again")
    shown = sorted(events, key=lambda e: (-e.recalls, -e.time.timestamp()))[:most]
    ahead = days or _horizon([days_to_threshold(e, now=now, knobs=knobs) for e in shown])
    curves = [curve(event, now=now, days=ahead, knobs=knobs) for event in shown]
    svg = forgetting_chart(curves, user=scope.user, thing=thing)
    if out.suffix.lower() == ".png":
        out.write_bytes(bootstrap.svg_to_png(svg))
    else:
        out.write_text(svg, encoding="utf-8")
    if scope.json:
        emit({"file": str(out), "events": len(events), "drawn": [e.text for e in shown]})
    else:
        click.echo(f"{out}: {len(shown)} of {plural(len(events), thing)}")


def _horizon(lasts: Sequence[float]) -> float:
    """Days ahead in which most of them fall below the threshold and on to about a third."""
    return min(max(6 * median(lasts), 90.0), 3_650.0)


def forgetting_chart(curves: Sequence[ForgettingCurve], *, user: str, thing: str) -> str:
    """The chart as SVG. `thing` is what is drawn: events or facts."""
    from omoide.charts import COLOURS, Chart, Series

    series: list[Series] = []
    for drawn, colour in zip(curves, COLOURS, strict=False):
        recalls = f" ({drawn.event.recalls}×)" if drawn.event.recalls else ""
        series += [
            Series(
                name=one_line(drawn.event.text, max_chars=46) + recalls,
                points=(*drawn.since, *drawn.fading),
                colour=colour,
                marked=False,
            ),
            Series(name="", points=drawn.recalled, colour=colour, dashed=True, marked=False),
        ]
    left = min(x for line in series for x, _ in line.points)
    right = max(x for line in series for x, _ in line.points)
    limit = Series(
        name=f"recalled above {THRESHOLD}",
        points=((left, THRESHOLD), (right, THRESHOLD)),
        colour="#999999",
        marked=False,
    )
    subject = "How events" if thing == "event" else "How facts"
    fade = "fade" if thing == "event" else "would fade as events"
    return Chart(
        title=f"{subject} of {one_line(user, max_chars=40)} {fade}; dashed: if recalled now",
        x="days from now",
        y="recall probability, for a perfect cue",
        series=[limit, *series],
        log_x=False,
        y_range=(0.0, 1.0),
        wide=880,
    ).svg()
