"""`omoide recall`: what comes to mind for a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from omoide.cli.moments import LOOKING
from omoide.cli.scope import scoped
from omoide.cli.show import emit, warning
from omoide.cli.views import calibration_lines, explained_lines, recalled_lines
from omoide.domain import Speaker

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.cli.scope import Scope


@click.command()
@click.option("--at", type=LOOKING, help="As it was at that time.")
@scoped
def calibrate(scope: Scope, at: datetime | None) -> None:
    """Fit to the user's own words what a likeness is worth, so that `recall --explain` and replies
    judge by it. What was fitted is kept, and told by `recall --explain`."""
    made = scope.run(lambda memory: memory.calibrate(scope.user, at=at))
    if scope.json:
        emit(made)
    else:
        click.echo("\n".join(calibration_lines(made)))


@click.command()
@click.argument("text")
@click.option("-k", "k", type=click.IntRange(min=1), default=10, help="At most so many items.")
@click.option("--budget", type=click.IntRange(min=1), help="At most so many tokens in all.")
@click.option("--at", type=LOOKING, help="As it was at that time.")
@click.option(
    "--asker",
    type=click.Choice([speaker.value for speaker in Speaker]),
    default=Speaker.USER.value,
    show_default=True,
    help='Who "I" is in TEXT.',
)
@click.option("--support", is_flag=True, help="Say how probable it is that it is known at all.")
@click.option("--explain", is_flag=True, help="Show every event with r, t, g, p, and the reason.")
@scoped
def recall(
    scope: Scope,
    text: str,
    k: int,
    budget: int | None,
    at: datetime | None,
    asker: str,
    support: bool,
    explain: bool,
) -> None:
    """Show what comes to mind for TEXT, best first. No language model is asked.

    With --support, a last line says how probable it is that anything of it is known; --json has
    `support` beside the `items` always.
    """
    if explain:
        weighed = scope.run(lambda memory: memory.explain(scope.user, text, at=at))
        if scope.json:
            emit(weighed)
        else:
            click.echo("\n".join(explained_lines(weighed)))
        return
    found = scope.run(
        lambda memory: memory.recall(
            scope.user, text, at=at, k=k, budget=budget, asker=Speaker(asker)
        )
    )
    if scope.json:
        emit({"items": found, "support": found.support.figures(), "lacking": found.lacking})
        return
    if found.lacking:
        click.echo(warning(f"! by words alone: {found.lacking}"), err=True)
    click.echo("\n".join(recalled_lines(found, at or scope.outside.clock.now())))
    if support:
        it = found.support
        click.echo(f"known: {it.known:.0%} (best {it.best:.1f}, mismatch {it.mismatch:+.1f})")
