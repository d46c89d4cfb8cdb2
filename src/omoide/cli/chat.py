"""`omoide chat`: talk to a model that remembers you."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from omoide.bootstrap import describe_download, local_servers
from omoide.cli.addressing import Reader
from omoide.cli.choosing import choice_file, offer
from omoide.cli.conversation import ChatLoop, end_chat
from omoide.cli.memory import version_json
from omoide.cli.scope import scoped
from omoide.cli.screen import TerminalScreen
from omoide.cli.show import emit
from omoide.cli.status import memory_status, status_lines
from omoide.cli.time_parsing import TALKING
from omoide.cli.views import diff_lines
from omoide.domain import diff
from omoide.errors import BadInput, BadText, OmoideError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from omoide.cli.scope import Scope
    from omoide.domain import Summary
    from omoide.engine.memory import Memory
    from omoide.engine.runtime import Runtime
    from omoide.settings import Settings

PLAIN = "This is a plain prompt; pip install 'omoide[chat]' for one with history. Ctrl-D leaves."


def typed(read: Callable[[str], str]) -> Iterator[str]:
    """The lines typed at a plain prompt until the user leaves, without blank ones."""
    while True:
        try:
            line = read("you › ")
        except (EOFError, KeyboardInterrupt):
            return
        if line.strip():
            yield line


@click.command()
@click.option(
    "--model",
    metavar="M",
    help="A name from `omoide models list`, a GGUF file, hf:OWNER/REPOSITORY/FILE.gguf or a URL.",
)
@click.option(
    "--say", "says", metavar="TEXT", multiple=True, help="Say this and leave; repeatable."
)
@click.option("--end", is_flag=True, help="With --say: end the session and update the memory.")
@click.option("--at", type=TALKING, help="Talk as if it were that time, for demos.")
@scoped
def chat(
    scope: Scope, model: str | None, says: tuple[str, ...], end: bool, at: datetime | None
) -> None:
    """Talk to a model that remembers you.

    With --say, or if the input is not a terminal, it answers each line and exits; the session stays
    open until it is idle unless --end is given. Lines that begin with a slash are commands, as at
    a terminal (/help lists them).
    """
    at_terminal = sys.stdin.isatty()
    if model:
        scope = replace(scope, settings=replace(scope.settings, model=model))
    elif at_terminal and sys.stdout.isatty() and not (says or end or scope.json):
        scope = replace(scope, settings=_first_choice(scope))
    if about := asyncio.run(describe_download(scope.settings, scope.settings.model, hub=True)):
        click.echo(f"to be downloaded first: {about}", err=True)
    if says or end or scope.json or not at_terminal:
        lines = says if says or (end and at_terminal) else _stdin()
        batch = BatchChat(scope=scope, lines=lines, end=end, at=at)
        scope.run_with(batch.run, create=True)
    elif find_spec("prompt_toolkit") is None:
        click.echo(PLAIN, err=True)
        batch = BatchChat(scope=scope, lines=typed(input), end=True, at=at)
        scope.run_with(batch.run, create=True)
    else:
        from omoide.cli.terminal import talk

        screen = TerminalScreen()

        async def interactive(runtime: Runtime) -> None:
            conversation = ChatLoop(
                memory=runtime.memory(),
                user=scope.user,
                screen=screen,
                clock=scope.outside.clock,
                idle=scope.settings.idle,
                at=at,
                prepare=lambda begun: runtime.prepare(scope.user, at=at, begun=begun),
            )
            await talk(conversation, runtime, screen)

        scope.run_with(interactive, create=True, progress=screen.progress)


def _first_choice(scope: Scope) -> Settings:
    """The settings; at the first start, with a model that runs on this machine, if the user wants
    one."""
    settings, kept = scope.settings, choice_file(scope.settings)
    first = isinstance(settings.db, Path) and not settings.db.exists()
    if scope.model_named or not first or kept is None or kept.exists():
        return settings
    servers = asyncio.run(local_servers(settings))
    return offer(settings, servers) if servers else settings


@dataclass(frozen=True, kw_only=True)
class BatchChat:
    """A chat that is not interactive: each line is answered on stdout, one after another."""

    scope: Scope
    lines: Iterable[str]
    end: bool
    at: datetime | None

    async def run(self, runtime: Runtime) -> None:
        """Answer the lines, end the session if `end` is set or somebody quits, and bring the memory
        up to date. The update comes last, so that no reply waits for it."""
        loading = asyncio.ensure_future(runtime.load_model())
        try:
            await self._answer_all(runtime.memory())
        finally:
            loading.cancel()
            with suppress(asyncio.CancelledError, OmoideError):  # whoever asked it has said so
                await loading

    async def _answer_all(self, memory: Memory) -> None:
        await memory.end_idle(at=self.at)
        commands = ChatLoop(
            memory=memory,
            user=self.scope.user,
            screen=TerminalScreen(),
            clock=self.scope.outside.clock,
            idle=self.scope.settings.idle,
            at=self.at,
        )
        end = self.end
        for line in self.lines:
            if not (line.startswith("/") or commands.asking):
                await self._say(memory, line.strip())
            elif self.scope.json:
                raise BadInput(f"{line.split()[0]} is a command for people: leave out --json")
            elif not await commands.handle_line(line):
                end = True
                break
        if end:
            await self._end(memory)
        else:
            await self._catch_up(memory)

    async def _say(self, memory: Memory, line: str) -> None:
        reply = await memory.reply(self.scope.user, line, at=self.at)
        text, screen = "", TerminalScreen()
        try:
            async for piece in reply:
                text += piece
                if not self.scope.json:
                    screen.piece(piece)
        finally:
            await reply.close()
        if self.scope.json:
            answer = {"said": line, "reply": text, "turn": reply.turn, "recalled": reply.recalled}
            emit(answer, indent=None)
        else:
            screen.line()

    async def _end(self, memory: Memory) -> None:
        before = await self._written(memory)
        ended = await end_chat(memory, self.scope.user, at=self.at)
        await self._catch_up(memory)
        after = await self._written(memory)
        if self.scope.json:
            changes = diff(before.sentences, after.sentences)
            memory_json = version_json(after)
            emit({"ended": ended, "memory": memory_json, "changes": changes}, indent=None)
        else:
            await self._show_changes(memory, before, after)

    async def _written(self, memory: Memory) -> Summary:
        """The newest version as it was written: what has ended since a past `--at` is in it."""
        newest = await memory.summary(self.scope.user)
        return await memory.summary(self.scope.user, version=newest.number)

    async def _show_changes(self, memory: Memory, before: Summary, after: Summary) -> None:
        if after.number != before.number:
            click.echo(f"\nMemory, version {after.number}:")
            changes = diff(before.sentences, after.sentences)
            click.echo("\n".join(diff_lines(changes, reader=Reader.of(after))))
        status = await memory_status(memory, self.scope.user)
        for line in status_lines(status, self.scope.outside.clock.now()):
            click.echo(line, err=True)

    async def _catch_up(self, memory: Memory) -> None:
        """Run the jobs that are due; on a terminal, say so."""
        behind = (await memory_status(memory, self.scope.user)).behind
        if behind and sys.stderr.isatty() and not self.scope.json:
            numbers = ", ".join(str(b.session.number) for b in behind)
            click.echo(f"updating the memory with session {numbers} …", err=True)
        await memory.run_jobs()


def _stdin() -> Iterator[str]:
    """The lines of stdin as they come, without blank ones. A space before a slash is kept: such a
    line is no command."""
    for number, raw in enumerate(sys.stdin.buffer, 1):
        try:
            line = raw.decode().rstrip()
        except UnicodeDecodeError as error:
            raise BadText(f"line {number} of the input is not UTF-8 ({error.reason})") from error
        if line.strip():
            yield line
