"""`omoide export`, `import` and `erase`: taking memories along, and removing them for good."""

from __future__ import annotations

import json
import sys
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from omoide.cli.facts import fact_lines
from omoide.cli.progress import bar
from omoide.cli.scope import scoped
from omoide.cli.show import dim, emit, many, one_line, unicode, warning
from omoide.domain import Owner
from omoide.errors import BadInput
from omoide.facts import find_fact, forget
from omoide.transfer import Contents, Restored, bring_in, read, restore
from omoide.transfer.schema import schema_text

if TYPE_CHECKING:
    from omoide.cli.scope import Scope
    from omoide.engine import Memory
    from omoide.facts import Fact
    from omoide.ports import Erased
    from omoide.transfer import Brought, LeftOut

SHOWN = 3
"""Places shown for each reason that something was left out."""


@click.command()
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="A file, not stdout."
)
@click.option("--schema", is_flag=True, help="Print the JSON schema of these lines instead.")
@scoped
def export(scope: Scope, output: Path | None, schema: bool) -> None:
    """Write everything that is stored of a user, as JSON lines.

    `omoide import` brings it back to the same state.
    """
    if schema:
        click.echo(schema_text(), nl=False)
        return

    async def work(memory: Memory) -> int:
        count = 0
        partial = output.with_name(f"{output.name}.part") if output else None
        if partial:
            partial.touch(mode=0o600)  # it is as private as the database
        with partial.open("w", encoding="utf-8") if partial else nullcontext(sys.stdout) as file:
            async for record in memory.export(scope.user):
                file.write(json.dumps(record, ensure_ascii=not (partial or unicode())) + "\n")
                count += 1
        if partial and output:
            partial.replace(output)
        return count

    try:
        count = scope.run(work)
    except OSError as error:
        if output is None:  # whoever read it has left
            raise
        raise BadInput(f"{output} cannot be written: {error.strerror}") from error
    if output:
        click.echo(f"{many(count, 'record')} written to {output}", err=True)


@click.command(name="import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--no-digest", is_flag=True, help="Do not queue the update of the memory.")
@scoped
def import_(scope: Scope, file: Path, no_digest: bool) -> None:
    """Bring in FILE: our own export, or one of ChatGPT or Claude (.json or .zip), or messages
    with role and content (.json, .jsonl).

    What was brought in before is not recorded again.
    """
    held = read(file, longest=scope.settings.longest)

    async def work(memory: Memory) -> Restored | Brought:
        owner, now = Owner(tenant=memory.tenant, user=scope.user), scope.outside.clock.now()
        if isinstance(held, Contents):
            return await restore(memory.store, owner, held, at=now)
        return await bring_in(
            memory.store,
            owner,
            held.conversations,
            at=now,
            digest=not no_digest,
            progress=bar if sys.stderr.isatty() else None,
        )

    done = scope.run(work, create=True)
    if scope.json:
        emit(done)
        return
    source = "omoide" if isinstance(held, Contents) else held.source
    click.echo(f"From {source}: {many(done.sessions, 'session')}, {many(done.turns, 'turn')}.")
    for line in _details(done):
        click.echo(line)


@click.command()
@click.option("--session", type=click.IntRange(min=1), metavar="N", help="Only this session.")
@click.option("--fact", metavar="TEXT", help="Only what says this: sentences and turns.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@scoped
def erase(scope: Scope, session: int | None, fact: str | None, yes: bool) -> None:
    """Remove a user, a session or a fact for good, from every version and every file."""
    if session is not None and fact is not None:
        raise click.UsageError("give --session or --fact, not both")
    if scope.json and not yes:
        raise click.UsageError("--json cannot ask: add --yes")
    if fact is not None:
        _erase_fact(scope, fact, yes=yes)
        return
    what = f"session {session} of {scope.user}" if session else f"everything of {scope.user}"
    scope.run(lambda memory: _check(memory, scope.user, session))
    _ask(f"Erase {what} for good?", yes=yes)
    _told(scope, scope.run(lambda memory: memory.erase(scope.user, session=session)))


async def _check(memory: Memory, user: str, session: int | None) -> None:
    """Say before asking that there is nothing to erase."""
    if user not in await memory.users():
        raise BadInput(f"nothing is stored of {user}")
    numbers = {s.number for s in await memory.sessions(user)}
    if session is not None and session not in numbers:
        raise BadInput(f"{user} has no session {session}")


def _erase_fact(scope: Scope, text: str, *, yes: bool) -> None:
    found: Fact = scope.run(lambda memory: find_fact(memory, scope.user, text))
    if found.empty:
        raise BadInput(f"nothing that is stored of {scope.user} says {text!r}: try fewer words")
    if not scope.json:
        click.echo("\n".join(fact_lines(found, scope.outside.clock.now())))
    _ask("Erase all this for good?", yes=yes)
    _told(scope, scope.run(lambda memory: forget(memory, scope.user, found)))


def _ask(question: str, *, yes: bool) -> None:
    if not yes:
        click.confirm(question, abort=True, err=True)


def _told(scope: Scope, erased: Erased) -> None:
    if scope.json:
        emit(erased)
        return
    click.echo(
        f"Erased: {many(erased.sessions, 'session')}, {many(erased.turns, 'turn')}, "
        f"{many(erased.sentences, 'sentence')} (every version counted)."
    )
    if erased.pending:
        click.echo(
            warning(
                "! vectors of it are still elsewhere, since that place cannot be reached: a job "
                "removes them as soon as possible (omoide jobs list --all-users)"
            ),
            err=True,
        )


def _details(done: Restored | Brought) -> list[str]:
    lines = []
    if isinstance(done, Restored):
        kept = (
            f"{many(done.versions, 'version')}, {many(done.events, 'event')}, "
            f"{many(done.memos, 'memo')}, {many(done.notes, 'note')}, {many(done.calls, 'call')}"
        )
        lines.append(dim(f"With them {kept}, {many(done.aside, 'answer')} set aside."))
    else:
        if done.known:
            lines.append(dim(f"{many(done.known, 'turn')} had been imported before."))
        lines += _left_out_lines(done.left_out)
    if done.to_digest:
        sessions = many(done.to_digest, "session")
        lines.append(f"{sessions} to be digested: by the next chat, or now by omoide jobs run.")
    return lines


def _left_out_lines(left_out: tuple[LeftOut, ...]) -> list[str]:
    """Each reason once, with how often and the first places."""
    lines = []
    for reason, count in Counter(left.reason for left in left_out).most_common():
        places = [left.where for left in left_out if left.reason == reason]
        shown = "; ".join(one_line(place) for place in places[:SHOWN])
        more = f" and {count - SHOWN:,} more" if count > SHOWN else ""
        lines.append(warning(f"! left out {count:,}: {one_line(reason)} ({shown}{more})"))
    return lines
