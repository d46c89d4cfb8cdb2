"""`omoide recall`: what memory finds for a text. `omoide calibrate`: tune it to the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from omoide.cli.scope import scoped
from omoide.cli.show import emit, warning
from omoide.cli.time_parsing import LOOKING, SINCE
from omoide.cli.views import calibration_lines, explained_lines, recalled_lines
from omoide.cli.wrapping import show_lines
from omoide.domain import MemoryKind, Speaker

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.cli.scope import Scope


@click.command()
@click.option("--at", type=LOOKING, help="As it was at that time.")
@scoped
def calibrate(scope: Scope, at: datetime | None) -> None:
    """Fit the map from similarity to relevance to the user's own words. Replies and `recall` use it
    from then on; `recall --explain` shows it."""
    calibration = scope.run(lambda memory: memory.calibrate(scope.user, at=at))
    if scope.json:
        emit(calibration)
    else:
        click.echo("\n".join(calibration_lines(calibration)))


@click.command()
@click.argument("text")
@click.option("-k", "k", type=click.IntRange(min=1), default=10, help="At most this many items.")
@click.option("--budget", type=click.IntRange(min=1), help="At most this many tokens in all.")
@click.option("--at", type=LOOKING, help="As it was at that time.")
@click.option(
    "--asker",
    type=click.Choice([speaker.value for speaker in Speaker]),
    default=Speaker.USER.value,
    show_default=True,
    help='Who "I" is in TEXT.',
)
@click.option(
    "--kind",
    "kinds",
    type=click.Choice([kind.value for kind in MemoryKind]),
    multiple=True,
    help="Only items of this kind; may be repeated.",
)
@click.option("--since", type=SINCE, help="Only what was said or learnt from then on.")
@click.option("--until", type=LOOKING, help="Only what was said or learnt until then.")
@click.option(
    "--speaker",
    type=click.Choice([speaker.value for speaker in Speaker]),
    help="Only turns of this speaker.",
)
@click.option("--about", metavar="NAME", help="Only facts about: user, assistant or a name.")
@click.option("--tag", "tags", multiple=True, help="Only facts with this tag; may be repeated.")
@click.option("--support", is_flag=True, help="Say how likely it is that anything is known.")
@click.option(
    "--explain",
    is_flag=True,
    help="Show what counted for each item, and every event with r, t, g, p, and the reason.",
)
@scoped
def recall(
    scope: Scope,
    text: str,
    k: int,
    budget: int | None,
    at: datetime | None,
    asker: str,
    kinds: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    speaker: str | None,
    about: str | None,
    tags: tuple[str, ...],
    support: bool,
    explain: bool,
) -> None:
    """Show what memory recalls for TEXT, best first. No language model is called.

    With --support, a last line says how likely it is that anything about TEXT is known. With
    --json, `support` is always given beside the `items`.
    """
    if explain:
        explained = scope.run(lambda memory: memory.explain(scope.user, text, at=at))
        if scope.json:
            emit(explained)
            return
    result = scope.run(
        lambda memory: memory.recall(
            scope.user,
            text,
            at=at,
            k=k,
            budget=budget,
            asker=Speaker(asker),
            kinds=kinds,
            since=since,
            until=until,
            speaker=speaker,
            about=about,
            tags=tags,
        )
    )
    if scope.json:
        emit({"items": result, "support": result.support.as_dict(), "degraded": result.degraded})
        return
    if result.degraded:
        click.echo(warning(f"! searched by words only: {result.degraded}"), err=True)
    now = at or scope.outside.clock.now()
    show_lines(recalled_lines(result, now, counted=explain))
    if explain and explained.candidates:
        show_lines(explained_lines(explained))
    if support:
        s = result.support
        click.echo(f"known: {s.known:.0%} (best {s.best:.1f}, mismatch {s.mismatch:+.1f})")
