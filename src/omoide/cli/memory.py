"""`omoide memory`: what is remembered, through all its versions, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypedDict, TypeVar

import click

from omoide.cli.moments import LOOKING
from omoide.cli.scope import options, scoped
from omoide.cli.show import as_json, bold, dim, emit, moment, one_line
from omoide.cli.standing import standing, standing_lines
from omoide.cli.views import (
    diff_lines,
    history_lines,
    memory_lines,
    paragraph,
    version_line,
    why_lines,
)
from omoide.versions import When

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Unpack

    from omoide.cli.scope import Scope
    from omoide.cli.standing import Standing
    from omoide.domain import Sentence, SentenceChange, Summary
    from omoide.engine import Memory

P = ParamSpec("P")
T = TypeVar("T")


def versioned(prefix: str = "") -> Callable[[Callable[P, T]], Callable[P, T]]:
    """The three ways to name a version, as options: by number, by session or by time."""
    which = {"": "The version", "from-": "The older version", "to-": "The newer version"}[prefix]

    def add(command: Callable[P, T]) -> Callable[P, T]:
        for option in (
            click.option(f"--{prefix}at", type=LOOKING, help=f"{which} as of that time."),
            click.option(
                f"--{prefix}session",
                type=click.IntRange(min=0),
                metavar="N",
                help=f"{which} after session N.",
            ),
            click.option(
                f"--{prefix}version",
                type=click.IntRange(min=0),
                metavar="N",
                help=f"{which} by its number.",
            ),
        ):
            command = option(command)
        return command

    return add


class BothEnds(TypedDict):
    """What `versioned` gives to a command that has it for the older and for the newer."""

    from_version: int | None
    from_session: int | None
    from_at: datetime | None
    to_version: int | None
    to_session: int | None
    to_at: datetime | None


def named(
    number: int | None, *, version: int | None, session: int | None, at: datetime | None
) -> When | None:
    """The version meant, None if none was named. More than one way is bad usage."""
    given = [value for value in (number, version, session, at) if value is not None]
    if len(given) > 1:
        raise click.UsageError("name a version once: by number, by session or by time")
    if not given:
        return None
    return When(version=version if number is None else number, session=session, at=at)


@click.group()
@options
def memory() -> None:
    """Show what is remembered, how it changed, and why.

    A version is named by --version N, by --session N (as it was after that session) or by
    --at TIME (2026-01-05, yesterday, '3 days ago'); without any, it is the newest.
    """


@memory.command()
@versioned()
@scoped
def show(scope: Scope, version: int | None, session: int | None, at: datetime | None) -> None:
    """Show the memory, and whether it is up to date."""
    when = named(None, version=version, session=session, at=at) or When()

    async def work(memory: Memory) -> tuple[Summary, Standing, tuple[str, ...]]:
        found = await _find(memory, scope.user, when)
        return found, await standing(memory, scope.user), await memory.users()

    summary, stands, users = scope.run(work)
    if scope.json:
        emit({"user": scope.user, "memory": version_json(summary), "standing": stands})
        return
    now = scope.outside.clock.now()
    click.echo("\n".join(memory_lines(summary, user=scope.user, now=now)))
    if users and scope.user not in users:
        known = ", ".join(one_line(user) for user in users[:10])
        click.echo(dim(f"Known here: {known}. Choose with --user NAME."))
    if lines := standing_lines(stands, now):
        click.echo("\n" + "\n".join(lines))


@memory.command()
@scoped
def history(scope: Scope) -> None:
    """List all versions."""
    found = scope.run(lambda memory: memory.history(scope.user))
    if scope.json:
        emit([version_json(summary) for summary in found])
    else:
        click.echo("\n".join(history_lines(found, scope.outside.clock.now())))


@memory.command(name="diff")
@click.argument("older", type=click.IntRange(min=0), required=False)
@click.argument("newer", type=click.IntRange(min=0), required=False)
@versioned("from-")
@versioned("to-")
@scoped
def diff_(scope: Scope, /, older: int | None, newer: int | None, **given: Unpack[BothEnds]) -> None:
    """Show what changed from version OLDER to version NEWER.

    Without NEWER, to the newest; without either, what the last update changed.
    """
    old = named(
        older, version=given["from_version"], session=given["from_session"], at=given["from_at"]
    )
    new = named(newer, version=given["to_version"], session=given["to_session"], at=given["to_at"])
    new = new or When()

    async def work(memory: Memory) -> tuple[Summary, Summary, tuple[SentenceChange, ...]]:
        last = await _find(memory, scope.user, new)
        first = old or When(version=max(last.number - 1, 0))
        before = await _find(memory, scope.user, first)
        pinned = When(version=before.number), When(version=last.number)
        return before, last, await memory.diff(scope.user, *pinned)

    before, after, changes = scope.run(work)
    if scope.json:
        emit({"from": before.number, "to": after.number, "changes": changes})
        return
    click.echo(dim(f"version {before.number} → version {after.number}"))
    click.echo("\n".join(diff_lines(changes)))


@memory.command()
@click.argument("number", type=click.IntRange(min=0), required=False)
@versioned()
@scoped
def rollback(
    scope: Scope,
    number: int | None,
    version: int | None,
    session: int | None,
    at: datetime | None,
) -> None:
    """Bring version NUMBER back, as a new version. Nothing is taken away."""
    when = named(number, version=version, session=session, at=at)
    if when is None:
        raise click.UsageError("which version? Give its number, --session N or --at TIME")
    back = scope.run(lambda memory: memory.rollback(scope.user, when))
    if scope.json:
        emit(version_json(back))
    else:
        click.echo(version_line(back, scope.outside.clock.now()))


@memory.command()
@click.argument("text", required=False, default="")
@versioned()
@scoped
def why(
    scope: Scope, text: str, version: int | None, session: int | None, at: datetime | None
) -> None:
    """Show what each sentence rests on; with TEXT, only of sentences that hold it."""
    when = named(None, version=version, session=session, at=at)
    found = scope.run(lambda memory: memory.why(scope.user, when))
    found = tuple(b for b in found if text.casefold() in b.sentence.text.casefold())
    if scope.json:
        emit([{**_sentence_json(b.sentence), "turns": b.turns} for b in found])
    elif text and not found:
        click.echo(f"No sentence of the memory holds {one_line(text)!r}.")
    else:
        click.echo("\n".join(why_lines(found, scope.outside.clock.now())))


@memory.command()
@scoped
def aside(scope: Scope) -> None:
    """Show answers of the model that were kept from becoming memory, with the reasons."""
    found = scope.run(lambda memory: memory.aside(scope.user))
    if scope.json:
        emit(found)
        return
    now = scope.outside.clock.now()
    for rejected in found:
        head = f"session {rejected.session}, {moment(rejected.time, now)}"
        click.echo(bold(f"{head}, by {one_line(rejected.model)}"))
        for problem in rejected.problems:
            click.echo(f"  ! {one_line(problem)}")
        click.echo(dim(paragraph(rejected.text)))
    if not found:
        click.echo("No answer was set aside.")


def version_json(summary: Summary) -> dict[str, object]:
    """A version for programs: also says which sentences are supported."""
    plain = as_json(summary)
    sentences = [_sentence_json(sentence) for sentence in summary.sentences]
    return {**(plain if isinstance(plain, dict) else {}), "sentences": sentences}


def _sentence_json(sentence: Sentence) -> dict[str, object]:
    plain = as_json(sentence)
    return {
        **(plain if isinstance(plain, dict) else {}),
        "supported": sentence.supported,
    }


async def _find(memory: Memory, user: str, when: When) -> Summary:
    return await memory.memory(user, version=when.version, session=when.session, at=when.at)
