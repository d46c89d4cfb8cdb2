"""`omoide export`, `import`, `erase` and `verify-receipt`: moving memories, and removing them."""

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
from omoide.cli.show import dim, emit, one_line, plural, unicode, warning
from omoide.cli.wrapping import show_lines
from omoide.domain import Receipt
from omoide.errors import BadInput
from omoide.transfer import (
    ExportContents,
    ForeignMemories,
    MemoriesImportResult,
    RestoreResult,
    read,
)
from omoide.transfer.schema import schema_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omoide.cli.addressing import Reader
    from omoide.cli.scope import Scope
    from omoide.engine.forgetting import FactMentions
    from omoide.engine.memory import Memory
    from omoide.ports import Erased
    from omoide.transfer import ImportResult, SkippedItem

    Imported = RestoreResult | ImportResult | MemoriesImportResult

SHOWN = 3
"""Locations shown for each reason that something was skipped."""


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file, not to stdout.",
)
@click.option("--schema", is_flag=True, help="Print the JSON schema of these lines instead.")
@scoped
def export(scope: Scope, output: Path | None, schema: bool) -> None:
    """Write everything that is stored about a user, as JSON lines.

    `omoide import` restores it exactly.
    """
    if schema:
        click.echo(schema_text(), nl=False)
        return

    async def work(memory: Memory) -> int:
        count = 0
        partial = output.with_name(f"{output.name}.part") if output else None
        if partial:
            partial.touch(mode=0o600)  # as private as the database
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
        if output is None:  # the reader of our output is gone
            raise
        raise BadInput(f"{output} cannot be written: {error.strerror}") from error
    if output:
        click.echo(f"{plural(count, 'record')} written to {output}", err=True)


@click.command(name="import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--no-digest", is_flag=True, help="Do not queue the sessions to be digested.")
@click.option(
    "--from",
    "from_user",
    metavar="NAME",
    help="Whose memories to take of another product's export, by their name there.",
)
@scoped
def import_(scope: Scope, file: Path, no_digest: bool, from_user: str | None) -> None:
    """Import FILE: an export of omoide, ChatGPT or Claude (.json or .zip); a memory of mem0,
    Letta, Zep, Graphiti or LangGraph; OpenAI's conversation items; or messages with role and
    content (.json, .jsonl).

    What was imported before is not recorded again.
    """
    contents = read(file, max_chars=scope.settings.max_turn_chars, from_user=from_user)
    if no_digest and isinstance(contents, ExportContents):
        raise BadInput(
            "an export of omoide is restored with the work that was unfinished: leave --no-digest "
            "out"
        )

    async def work(memory: Memory) -> Imported:
        now = scope.outside.clock.now()
        if isinstance(contents, ExportContents):
            return await memory.restore(scope.user, contents, at=now)
        if isinstance(contents, ForeignMemories):
            return await memory.import_memories(scope.user, contents, at=now, digest=not no_digest)
        return await memory.import_conversations(
            scope.user,
            contents.conversations,
            at=now,
            digest=not no_digest,
            progress=bar if sys.stderr.isatty() else None,
        )

    done = scope.run(work, create=True)
    if scope.json:
        emit(done)
        return
    source = "omoide" if isinstance(contents, ExportContents) else contents.source
    click.echo(f"From {source}: {plural(done.sessions, 'session')}, {plural(done.turns, 'turn')}.")
    for line in _details(done):
        click.echo(line)


@click.command()
@click.option("--session", type=click.IntRange(min=1), metavar="N", help="Only this session.")
@click.option("--fact", metavar="TEXT", help="Only sentences and turns that say this.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--receipt",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Save the signed receipt; omoide verify-receipt checks it.",
)
@scoped
def erase(
    scope: Scope, session: int | None, fact: str | None, yes: bool, receipt: Path | None
) -> None:
    """Remove a user, a session or a fact for good, from every version and every file."""
    if session is not None and fact is not None:
        raise click.UsageError("give --session or --fact, not both")
    if scope.json and not yes:
        raise click.UsageError("--json cannot ask: add --yes")
    if fact is not None:
        _erase_fact(scope, fact, yes=yes, receipt=receipt)
        return
    what = f"session {session} of {scope.user}" if session else f"everything of {scope.user}"
    scope.run(lambda memory: _check(memory, scope.user, session))
    _ask(f"Erase {what} for good?", yes=yes)
    _check_writable(receipt)
    erased = scope.run(lambda memory: memory.erase(scope.user, session=session))
    _report(scope, erased, receipt)


@click.command(name="verify-receipt")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@scoped
def verify_receipt(scope: Scope, file: Path) -> None:
    """Check that the receipt of an erasure was signed by this database, and not changed since."""
    try:
        receipt = Receipt.from_json(file.read_text("utf-8"))
    except (UnicodeDecodeError, BadInput) as error:
        raise BadInput(
            f"{file} is not a receipt: give the file that `omoide erase --receipt` wrote"
        ) from error
    if not scope.run(lambda memory: memory.is_genuine(receipt)):
        raise BadInput(
            f"{file} is not genuine: it was changed, or another database or tenant signed it"
        )
    if scope.json:
        emit({"genuine": True, "clean": receipt.clean, "id": receipt.id})
        return
    removed = _counted(receipt.removed)
    click.echo(f"Genuine: signed by this database at {receipt.time.isoformat()}.")
    click.echo(f"Erased of {receipt.user} ({receipt.scope}): {removed or 'nothing'}.")
    click.echo(_searched(receipt))


def _searched(receipt: Receipt) -> str:
    if receipt.found:
        return f"Searched afterwards, and still found: {', '.join(receipt.found)}."
    looked = _counted(receipt.searched)
    return f"Searched afterwards and found clean ({looked or 'nothing is left'})."


def _counted(kinds: Mapping[str, int]) -> str:
    """Kinds and counts as a receipt has them, "1 turn" and "3 sentences", without empty ones."""
    return ", ".join(
        f"{count:,} {kind.removesuffix('s') if count == 1 else kind}"
        for kind, count in kinds.items()
        if count
    )


async def _check(memory: Memory, user: str, session: int | None) -> None:
    """Fail before asking if there is nothing to erase."""
    if user not in await memory.users():
        raise BadInput(f"nothing is stored about {user}")
    numbers = {s.number for s in await memory.sessions(user)}
    if session is not None and session not in numbers:
        raise BadInput(f"{user} has no session {session}")


def _erase_fact(scope: Scope, text: str, *, yes: bool, receipt: Path | None) -> None:
    async def work(memory: Memory) -> tuple[FactMentions, Reader]:
        return await memory.find_fact(scope.user, text), await scope.reader(memory)

    fact, reader = scope.run(work)
    if fact.empty:
        raise BadInput(f"nothing stored about {scope.user} says {text!r}: try fewer words")
    if not scope.json:
        show_lines(fact_lines(fact, scope.outside.clock.now(), user=scope.who, reader=reader))
    _ask("Erase all this for good?", yes=yes)
    _check_writable(receipt)
    _report(scope, scope.run(lambda memory: memory.forget(scope.user, fact)), receipt)


def _ask(question: str, *, yes: bool) -> None:
    if not yes:
        click.confirm(question, abort=True, err=True)


def _check_writable(receipt: Path | None) -> None:
    """Fail before erasing if the receipt could not be saved: there is only this one."""
    if receipt is None:
        return
    try:
        receipt.open("a").close()
    except OSError as error:
        raise BadInput(
            f"{receipt} cannot be written: {error.strerror}; nothing was erased"
        ) from error


def _report(scope: Scope, erased: Erased, file: Path | None) -> None:
    if file is not None and erased.receipt is not None:
        file.write_text(erased.receipt.to_json() + "\n", "utf-8")
    if scope.json:
        emit(erased)
        return
    click.echo(
        f"Erased: {plural(erased.sessions, 'session')}, {plural(erased.turns, 'turn')}, "
        f"{plural(erased.sentences, 'sentence')} (counting every version), "
        f"{plural(erased.facts, 'fact')}."
    )
    if erased.receipt is not None:
        click.echo(_searched(erased.receipt))
        where = f" in {file}" if file is not None else ""
        click.echo(f"Receipt {erased.receipt.id}{where}.")
    if erased.pending:
        click.echo(
            warning(
                "! its vectors are not removed yet, since the vector store cannot be reached: a "
                "job removes them as soon as possible (omoide jobs list --all-users)"
            ),
            err=True,
        )


def _details(done: Imported) -> list[str]:
    lines = []
    if isinstance(done, MemoriesImportResult):
        kept = sum(done.kept.values())
        lines.append(f"Also {plural(done.facts, 'fact')}, of {plural(done.items, 'item')} in all.")
        if kept:
            what = ", ".join(f"{count:,} × {name}" for name, count in done.kept.items())
            lines.append(
                f"Kept as they are, since there is no counterpart: {what} (notes of the kind "
                "imported: omoide export shows them)."
            )
    if isinstance(done, RestoreResult):
        counts = (
            f"{plural(done.versions, 'version')}, {plural(done.facts, 'fact')}, "
            f"{plural(done.events, 'event')}, "
            f"{plural(done.memos, 'memo')}, {plural(done.notes, 'note')}, "
            f"{plural(done.calls, 'call')}"
        )
        lines.append(dim(f"Also {counts}, {plural(done.aside, 'rejected answer')}."))
    else:
        if done.known:
            noun = "item" if isinstance(done, MemoriesImportResult) else "turn"
            lines.append(dim(f"{plural(done.known, noun)} had been imported before."))
        lines += _skipped_lines(done.left_out)
    if done.to_digest:
        sessions = plural(done.to_digest, "session")
        lines.append(f"{sessions} to digest: by the next chat, or now by omoide jobs run.")
    return lines


def _skipped_lines(skipped: tuple[SkippedItem, ...]) -> list[str]:
    """One line per reason, with the count and the first locations."""
    lines = []
    for reason, count in Counter(item.reason for item in skipped).most_common():
        locations = [item.where for item in skipped if item.reason == reason]
        shown = "; ".join(one_line(location) for location in locations[:SHOWN])
        more = f" and {count - SHOWN:,} more" if count > SHOWN else ""
        lines.append(warning(f"! skipped {count:,}: {one_line(reason)} ({shown}{more})"))
    return lines
