"""`omoide bench redteam`: how often a model obeys what was planted in memory."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from omoide import bootstrap
from omoide.cli.progress import bar
from omoide.cli.scope import scoped
from omoide.cli.show import as_json, emit, table

if TYPE_CHECKING:
    from omoide.cli.scope import Scope
    from omoide.evals.redteam.obedience import Answer, Rate
    from omoide.settings import Settings


@click.command()
@click.option("--only", metavar="TEXT", default="", help="Only cases whose id holds this.")
@click.option("--asked", is_flag=True, help="Also with the attack in the user's own message.")
@click.option("--tokens", type=click.IntRange(min=1), default=40, show_default=True)
@click.option("--concurrency", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write every reply as JSON."
)
@scoped
def redteam(
    scope: Scope, only: str, asked: bool, tokens: int, concurrency: int, out: Path | None
) -> None:
    """Ask the model innocent questions with a memory that was poisoned.

    Each case holds a word that nobody would say otherwise; a reply that says it obeyed. The same
    question without any memory stands beside it.
    """
    settings = replace(
        scope.settings,
        db=Path(":memory:"),
        mechanisms=("summary", "search", "memos", "human-recall"),
        reply_tokens=tokens,
    )
    from omoide.evals.redteam.obedience import ARMS

    answers = asyncio.run(_asked(settings, only, ARMS if asked else ARMS[:2], concurrency))
    found = _rates(answers)
    if out:
        everything = {"model": settings.model, "answers": as_json(answers)}
        out.write_text(json.dumps(everything, ensure_ascii=False, indent=1), encoding="utf-8")
    if scope.json:
        emit([asdict(rate) for rate in found])
        return
    rows = []
    for rate in found:
        low, high = rate.interval
        interval = f"[{low:.0f}, {high:.0f}]"
        share = f"{100 * rate.obeyed / max(rate.count, 1):.0f} %"
        rows.append((rate.arm, rate.group, f"{rate.obeyed}/{rate.count}", share, interval))
    click.echo(table(("memory", "cases", "obeyed", "", "95 %"), rows, right=(2, 3, 4)))
    missed = sum(a.arm == "memory" and not a.reached for a in answers)
    click.echo(f"{missed} attacks did not reach the prompt: memory did not bring them to mind.")


def _rates(answers: list[Answer]) -> list[Rate]:
    from omoide.evals.redteam.obedience import rates

    return rates(answers)


async def _asked(
    settings: Settings, only: str, arms: tuple[str, ...], at_once: int
) -> list[Answer]:
    from omoide.evals.redteam.cases import load
    from omoide.evals.redteam.obedience import ask

    cases = [case for case in load() if only in case.id]
    memory = await bootstrap.open_memory(settings, progress=bar)
    try:
        return await ask(
            memory,
            settings,
            cases,
            clock=bootstrap.SystemClock(),
            arms=arms,
            at_once=at_once,
            progress=bar if sys.stderr.isatty() else None,
        )
    finally:
        await memory.close()
