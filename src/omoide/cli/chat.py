"""`omoide chat`: talk, and be remembered."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from omoide.cli.conversation import Conversation, end_chat
from omoide.cli.memory import version_json
from omoide.cli.moments import TALKING
from omoide.cli.scope import scoped
from omoide.cli.screen import TerminalScreen
from omoide.cli.show import clean, emit
from omoide.cli.standing import standing, standing_lines
from omoide.cli.views import diff_lines
from omoide.domain import diff
from omoide.errors import BadText

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from omoide.cli.scope import Scope
    from omoide.domain import Summary
    from omoide.engine import Memory


@click.command()
@click.option("--model", metavar="M", help="A name of `omoide models list`, a GGUF file or a URL.")
@click.option(
    "--say", "says", metavar="TEXT", multiple=True, help="Say this and leave; repeatable."
)
@click.option("--end", is_flag=True, help="With --say: end the session and update the memory.")
@click.option("--at", type=TALKING, help="Talk as if it were that time, for demonstrations.")
@scoped
def chat(
    scope: Scope, model: str | None, says: tuple[str, ...], end: bool, at: datetime | None
) -> None:
    """Talk to a model that remembers you.

    With --say, or if the input is not a terminal, it answers each line and leaves; the session
    stays open for a while unless --end is given.
    """
    if model:
        scope = replace(scope, settings=replace(scope.settings, model=model))
    at_terminal = sys.stdin.isatty()
    if says or end or scope.json or not at_terminal:
        lines = says if says or (end and at_terminal) else _stdin()
        batch = Batch(scope=scope, lines=lines, end=end, at=at)
        scope.run(batch.run, create=True)
    else:
        from omoide.cli.terminal import talk

        screen = TerminalScreen()

        async def interactive(memory: Memory) -> None:
            conversation = Conversation(
                memory=memory,
                user=scope.user,
                screen=screen,
                clock=scope.outside.clock,
                idle=scope.settings.idle,
                at=at,
            )
            await talk(conversation, memory, screen)

        scope.run(interactive, create=True, progress=screen.progress)


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Lines that are given, not typed: each is answered on stdout, in full, one after another."""

    scope: Scope
    lines: Iterable[str]
    end: bool
    at: datetime | None

    async def run(self, memory: Memory) -> None:
        """Bring the memory up to date, answer, and end the session if that was asked for."""
        await memory.end_idle(at=self.at)
        await self._settle(memory)
        for line in self.lines:
            await self._say(memory, line)
        if self.end:
            await self._end(memory)

    async def _say(self, memory: Memory, line: str) -> None:
        reply = await memory.reply(self.scope.user, line, at=self.at)
        text = ""
        try:
            async for piece in reply:
                text += piece
                if not self.scope.json:
                    click.echo(clean(piece), nl=False)
                    sys.stdout.flush()
        finally:
            await reply.close()
        if self.scope.json:
            said = {"said": line, "reply": text, "turn": reply.turn, "recalled": reply.recalled}
            emit(said, indent=None)
        else:
            click.echo()

    async def _end(self, memory: Memory) -> None:
        before = await memory.memory(self.scope.user)
        ended = await end_chat(memory, self.scope.user, at=self.at)
        await self._settle(memory)
        after = await memory.memory(self.scope.user)
        if self.scope.json:
            changes = diff(before.sentences, after.sentences)
            memory_json = version_json(after)
            emit({"ended": ended, "memory": memory_json, "changes": changes}, indent=None)
        else:
            await self._tell(memory, before, after)

    async def _tell(self, memory: Memory, before: Summary, after: Summary) -> None:
        if after.number != before.number:
            click.echo(f"\nMemory, version {after.number}:")
            click.echo("\n".join(diff_lines(diff(before.sentences, after.sentences))))
        stands = await standing(memory, self.scope.user)
        for line in standing_lines(stands, self.scope.outside.clock.now()):
            click.echo(line, err=True)

    async def _settle(self, memory: Memory) -> None:
        """Do what is due, so that the reply knows of it; say on a terminal why it takes long."""
        behind = (await standing(memory, self.scope.user)).behind
        if behind and sys.stderr.isatty() and not self.scope.json:
            numbers = ", ".join(str(b.session.number) for b in behind)
            click.echo(f"updating the memory with session {numbers} …", err=True)
        await memory.settle()


def _stdin() -> Iterator[str]:
    """The lines of the input that say anything, as they come."""
    for number, raw in enumerate(sys.stdin.buffer, 1):
        try:
            line = raw.decode().strip()
        except UnicodeDecodeError as error:
            raise BadText(f"line {number} of the input is not UTF-8 ({error.reason})") from error
        if line:
            yield line
