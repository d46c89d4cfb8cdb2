"""`omoide memory facts`, `timeline`, `memos`, and the commands that mark and correct a fact."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from omoide.cli.fact_views import fact_lines, memo_lines, timeline_lines
from omoide.cli.scope import scoped
from omoide.cli.show import emit, one_line
from omoide.cli.time_parsing import LOOKING, SINCE
from omoide.cli.wrapping import show_lines
from omoide.domain import FactKind
from omoide.errors import NoSuchFact

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from omoide.cli.addressing import Reader
    from omoide.cli.scope import Scope
    from omoide.domain import Fact, Memo, TimelineEntry, Turn
    from omoide.engine.memory import Memory

P = ParamSpec("P")
T = TypeVar("T")


def filtered(command: Callable[P, T]) -> Callable[P, T]:
    """Add the options that limit which facts are shown."""
    for option in (
        click.option("--until", type=LOOKING, help="Only until then."),
        click.option("--since", type=SINCE, help="Only from then on."),
        click.option("--tag", "tags", multiple=True, help="Only with this tag; may be repeated."),
        click.option(
            "--kind",
            "kinds",
            type=click.Choice([kind.value for kind in FactKind]),
            multiple=True,
            help="Only of this kind; may be repeated.",
        ),
        click.option("--about", metavar="NAME", help="Only about: user, assistant or a name."),
    ):
        command = option(command)
    return command


@click.command()
@click.option("--at", type=LOOKING, help="What held at that time.")
@click.option("--ended", is_flag=True, help="Also what had ended or expired.")
@filtered
@scoped
def facts(
    scope: Scope,
    at: datetime | None,
    ended: bool,
    about: str | None,
    kinds: tuple[str, ...],
    tags: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
) -> None:
    """List what memory takes for true, or took for true at a time."""

    async def work(memory: Memory) -> tuple[tuple[Fact, ...], Reader]:
        found = await memory.facts(
            scope.user,
            at=at,
            about=about,
            kinds=kinds,
            tags=tags,
            since=since,
            until=until,
            ended=ended,
        )
        return found, await scope.reader(memory)

    found, reader = scope.run(work)
    if scope.json:
        emit(found)
        return
    now = at or scope.outside.clock.now()
    show_lines(fact_lines(found, user=scope.user, now=now, reader=reader))


@click.command()
@filtered
@scoped
def timeline(
    scope: Scope,
    about: str | None,
    kinds: tuple[str, ...],
    tags: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
) -> None:
    """Show what memory learned, and when and why it changed its mind."""

    async def work(memory: Memory) -> tuple[tuple[TimelineEntry, ...], tuple[Turn, ...], Reader]:
        entries = await memory.timeline(
            scope.user, about=about, kinds=kinds, tags=tags, since=since, until=until
        )
        cited = dict.fromkeys(source for entry in entries for source in entry.sources)
        turns = await memory.turns(scope.user, ids=list(cited))
        return entries, turns, await scope.reader(memory)

    entries, turns, reader = scope.run(work)
    if scope.json:
        emit(entries)
        return
    by_id = {turn.id: turn for turn in turns}
    show_lines(timeline_lines(entries, by_id, reader=reader))


@click.command()
@scoped
def memos(scope: Scope) -> None:
    """List the memos: what was talked about, by topic, newest last."""

    async def work(memory: Memory) -> tuple[tuple[Memo, ...], Reader]:
        return await memory.memos(scope.user), await scope.reader(memory)

    found, reader = scope.run(work)
    if scope.json:
        emit(found)
        return
    now = scope.outside.clock.now()
    show_lines(memo_lines(found, user=scope.user, now=now, reader=reader))


@click.command()
@click.argument("fact")
@scoped
def pin(scope: Scope, fact: str) -> None:
    """Keep FACT in every version of the memory from the next one on. It does not expire."""
    _change(scope, fact, lambda memory, id_: memory.pin(scope.user, id_))


@click.command()
@click.argument("fact")
@scoped
def unpin(scope: Scope, fact: str) -> None:
    """Let FACT be chosen for the memory like any other."""
    _change(scope, fact, lambda memory, id_: memory.unpin(scope.user, id_))


@click.command()
@click.argument("fact")
@click.argument("time", type=LOOKING, required=False)
@click.option("--never", is_flag=True, help="Let it never expire.")
@scoped
def expire(scope: Scope, fact: str, time: datetime | None, never: bool) -> None:
    """Stop remembering FACT at TIME (2026-01-05, 'in 30 days', now), or --never.

    It stays in the timeline; `omoide erase` removes it for good.
    """
    if (time is None) is not never:
        raise click.UsageError("when? Give a time, or --never")
    _change(scope, fact, lambda memory, id_: memory.expire(scope.user, id_, time))


@click.command()
@click.argument("fact")
@click.argument("tags", nargs=-1)
@scoped
def tag(scope: Scope, fact: str, tags: tuple[str, ...]) -> None:
    """Set the tags of FACT; without TAGS, remove them."""
    _change(scope, fact, lambda memory, id_: memory.tag(scope.user, id_, tags))


@click.command()
@click.argument("fact")
@click.argument("text")
@scoped
def correct(scope: Scope, fact: str, text: str) -> None:
    """Replace FACT by TEXT, such as "I live in Porto". Your correction counts as your own word;
    what was before stays in the timeline."""

    async def change(memory: Memory, id_: str) -> Fact:
        (old,) = await memory.facts(scope.user, ids=[id_])
        reader = await scope.reader(memory)
        noted = reader.noted(text, old)
        return await memory.correct(scope.user, id_, noted, said=text)

    _change(scope, fact, change)


def _change(scope: Scope, name: str, change: Callable[[Memory, str], Awaitable[Fact]]) -> None:
    """Find the fact that is named by the beginning of its id, change it, and show it."""

    async def work(memory: Memory) -> tuple[Fact, Reader]:
        changed = await change(memory, await _named(memory, scope.user, name))
        return changed, await scope.reader(memory)

    fact, reader = scope.run(work)
    if scope.json:
        emit(fact)
    else:
        now = scope.outside.clock.now()
        show_lines(fact_lines([fact], user=scope.user, now=now, reader=reader))


async def _named(memory: Memory, user: str, name: str) -> str:
    found = [f.id for f in await memory.facts(user, ended=True) if f.id.startswith(name)]
    if name in found:
        return name
    if len(found) == 1:
        return found[0]
    shown = one_line(name, max_chars=40)
    if not found:
        raise NoSuchFact(f"no fact's id begins with {shown!r}; `omoide memory facts` lists them")
    raise NoSuchFact(f"{len(found)} facts' ids begin with {shown!r}; give more of the id")


COMMANDS = (facts, timeline, memos, pin, unpin, expire, tag, correct)
