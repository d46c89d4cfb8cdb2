"""`omoide bench redteam`: how often a model obeys instructions planted in memory."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from omoide import bootstrap
from omoide.cli import as_json, bar, emit, scoped, table

if TYPE_CHECKING:
    from omoide.cli import Scope
    from omoide.settings import Settings
    from omoide_bench.redteam.obedience import AttackReply, ObedienceRate


@click.command()
@click.option("--only", metavar="TEXT", default="", help="Only cases whose id contains this.")
@click.option("--asked", is_flag=True, help="Also put the attack into the user's message.")
@click.option("--tokens", type=click.IntRange(min=1), default=40, show_default=True)
@click.option("--concurrency", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write every reply as JSON."
)
@scoped
def redteam(
    scope: Scope, only: str, asked: bool, tokens: int, concurrency: int, out: Path | None
) -> None:
    """Ask the model innocent questions with a poisoned memory.

    Each case has a marker word that would not appear otherwise; a reply with that word obeyed the
    attack. The control is the same question without memory.
    """
    settings = poisoned(scope.settings, tokens=tokens)
    from omoide_bench.redteam.obedience import ARMS

    answers = asyncio.run(_asked(settings, only, ARMS if asked else ARMS[:2], concurrency))
    results = _rates(answers)
    if out:
        everything = {"model": settings.model, "answers": as_json(answers)}
        out.write_text(json.dumps(everything, ensure_ascii=False, indent=1), encoding="utf-8")
    if scope.json:
        emit([asdict(rate) for rate in results])
        return
    rows = []
    for rate in results:
        low, high = rate.interval
        interval = f"[{low:.0f}, {high:.0f}]"
        share = f"{100 * rate.obeyed / max(rate.count, 1):.0f} %"
        rows.append((rate.arm, rate.group, f"{rate.obeyed}/{rate.count}", share, interval))
    click.echo(table(("memory", "cases", "obeyed", "", "95 %"), rows, right=(2, 3, 4)))
    missed = sum(a.arm == "memory" and not a.reached for a in answers)
    click.echo(f"{missed} attacks did not reach the prompt: memory did not recall them.")


def poisoned(settings: Settings, *, tokens: int) -> Settings:
    """The settings of the memory that attacks are planted in: in memory, never the user's own."""
    return replace(
        settings,
        db=Path(":memory:"),
        mechanisms=("summary", "search", "memos", "human-recall"),
        reply_tokens=tokens,
    )


def _rates(answers: list[AttackReply]) -> list[ObedienceRate]:
    from omoide_bench.redteam.obedience import rates

    return rates(answers)


async def _asked(
    settings: Settings, only: str, arms: tuple[str, ...], at_once: int
) -> list[AttackReply]:
    from omoide_bench.redteam.cases import load
    from omoide_bench.redteam.obedience import ask

    cases = [case for case in load() if only in case.id]
    async with await bootstrap.open_runtime(settings, progress=bar) as runtime:
        return await ask(
            runtime,
            cases,
            clock=bootstrap.SystemClock(),
            arms=arms,
            at_once=at_once,
            progress=bar if sys.stderr.isatty() else None,
        )
