"""`omoide memory`: what is remembered, all its versions, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypedDict, TypeVar

import click

from omoide.cli.addressing import Reader
from omoide.cli.groups import CommandGroup
from omoide.cli.memory_facts import COMMANDS
from omoide.cli.scope import options, scoped
from omoide.cli.show import as_json, bold, dim, emit, format_time, one_line
from omoide.cli.status import aside_lines, memory_status, status_lines
from omoide.cli.time_parsing import LOOKING
from omoide.cli.views import (
    diff_lines,
    history_lines,
    memory_lines,
    paragraph,
    version_line,
    why_lines,
)
from omoide.cli.wrapping import show_lines
from omoide.engine.versions import When

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Unpack

    from omoide.cli.scope import Scope
    from omoide.cli.status import MemoryStatus
    from omoide.domain import Sentence, SentenceChange, Summary
    from omoide.engine.memory import Memory
    from omoide.engine.versions import Because

P = ParamSpec("P")
T = TypeVar("T")


def versioned(prefix: str = "") -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Add options for the three ways to name a version: by number, by session or by time."""
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


class VersionRange(TypedDict):
    """The options of a command that uses `versioned` for an older and a newer version."""

    from_version: int | None
    from_session: int | None
    from_at: datetime | None
    to_version: int | None
    to_session: int | None
    to_at: datetime | None


def version_named(
    number: int | None, *, version: int | None, session: int | None, at: datetime | None
) -> When | None:
    """The version that the options name; None if they name none. Naming it twice is an error."""
    named = [value for value in (number, version, session, at) if value is not None]
    if len(named) > 1:
        raise click.UsageError("name a version once: by number, by session or by time")
    if not named:
        return None
    return When(version=version if number is None else number, session=session, at=at)


@click.group(cls=CommandGroup)
@options
def memory() -> None:
    """Show what is remembered, how it changed, and why.

    Choose a version with --version N, --session N (as it was after that session) or --at TIME
    (2026-01-05, yesterday, '3 days ago'); the default is the newest.
    """


@memory.command()
@versioned()
@scoped
def show(scope: Scope, version: int | None, session: int | None, at: datetime | None) -> None:
    """Show the memory, and whether it is up to date."""
    when = version_named(None, version=version, session=session, at=at) or When()

    async def work(memory: Memory) -> tuple[Summary, MemoryStatus, tuple[str, ...]]:
        summary = await _find(memory, scope.user, when)
        return summary, await memory_status(memory, scope.user), await memory.users()

    summary, status, users = scope.run(work)
    if scope.json:
        emit({"user": scope.user, "memory": version_json(summary), "standing": status})
        return
    now = scope.outside.clock.now()
    reader = Reader.of(summary, you=not scope.named)
    show_lines(memory_lines(summary, user=scope.user, now=now, reader=reader))
    if users and scope.user not in users:
        known = ", ".join(one_line(user) for user in users[:10])
        click.echo(dim(f"Known users: {known}. Choose with --user NAME."))
    if lines := [*status_lines(status, now), *aside_lines(status)]:
        click.echo("\n" + "\n".join(lines))


@memory.command()
@scoped
def history(scope: Scope) -> None:
    """List all versions."""
    versions = scope.run(lambda memory: memory.history(scope.user))
    if scope.json:
        emit([version_json(version) for version in versions])
    else:
        click.echo("\n".join(history_lines(versions, scope.outside.clock.now())))


@memory.command(name="diff")
@click.argument("older", type=click.IntRange(min=0), required=False)
@click.argument("newer", type=click.IntRange(min=0), required=False)
@versioned("from-")
@versioned("to-")
@scoped
def diff_(
    scope: Scope, /, older: int | None, newer: int | None, **named: Unpack[VersionRange]
) -> None:
    """Show what changed from version OLDER to version NEWER.

    NEWER defaults to the newest; without either, it shows what the last update changed.
    """
    old = version_named(
        older, version=named["from_version"], session=named["from_session"], at=named["from_at"]
    )
    new = version_named(
        newer, version=named["to_version"], session=named["to_session"], at=named["to_at"]
    )
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
    show_lines(diff_lines(changes, reader=Reader.of(after, you=not scope.named)))


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
    """Bring version NUMBER back, as a new version. No version is removed."""
    when = version_named(number, version=version, session=session, at=at)
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
    """Show the turns that support each sentence; with TEXT, only of sentences that contain it."""
    when = version_named(None, version=version, session=session, at=at)

    async def work(memory: Memory) -> tuple[tuple[Because, ...], Reader]:
        return await memory.why(scope.user, when), await scope.reader(memory)

    found, reader = scope.run(work)
    reasons = reader.saying(text, found)
    if scope.json:
        emit([{**_sentence_json(b.sentence), "turns": b.turns} for b in reasons])
    elif text and not reasons:
        click.echo(f"No sentence of the memory contains {one_line(text)!r}.")
    else:
        lines = why_lines(reasons, scope.outside.clock.now(), user=scope.who, reader=reader)
        show_lines(lines)


@memory.command()
@scoped
def rejected(scope: Scope) -> None:
    """Show the model answers that were rejected, with the reasons."""
    answers = scope.run(lambda memory: memory.rejected(scope.user))
    if scope.json:
        emit(answers)
        return
    now = scope.outside.clock.now()
    for answer in answers:
        head = f"session {answer.session}, {format_time(answer.time, now)}"
        click.echo(bold(f"{head}, by {one_line(answer.model)}"))
        for problem in answer.problems:
            click.echo(f"  ! {one_line(problem)}")
        click.echo(dim(paragraph(answer.text)))
    if not answers:
        click.echo("No answer was rejected.")


for command in COMMANDS:
    memory.add_command(command)


def version_json(summary: Summary) -> dict[str, object]:
    """A version as JSON, which also says which sentences are supported."""
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
    return await memory.summary(user, version=when.version, session=when.session, at=when.at)
