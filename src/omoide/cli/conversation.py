"""The logic of a chat with one user, without a terminal: lines go in, a screen shows the output."""

from __future__ import annotations

import asyncio
import logging
import math
from typing import TYPE_CHECKING

from omoide.cli.addressing import Reader
from omoide.cli.facts import fact_lines
from omoide.cli.show import ago, bold, clean, dim, one_line, plural, warning
from omoide.cli.status import aside_lines, memory_status, status_lines
from omoide.cli.updates import UpdateWatcher
from omoide.cli.views import (
    contribution_lines,
    history_lines,
    memory_lines,
    screenful,
    why_lines,
)
from omoide.domain import JobState, JobTask
from omoide.errors import BadInput, OmoideError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime, timedelta

    from omoide.cli.screen import Screen
    from omoide.domain import Fact, Session
    from omoide.engine.forgetting import FactMentions
    from omoide.engine.memory import Memory
    from omoide.mechanisms.base import Contribution
    from omoide.ports import Clock

log = logging.getLogger(__name__)

HELP = """\
/memory        what is remembered
/why [TEXT]    the turns that support each sentence, and what the last reply recalled
/history       all versions of the memory
/forget TEXT   remove for good everything that says TEXT (asks first)
/end           end this session; the memory is updated in the background
/quit          end the session and leave (also Ctrl-D)
/help          this list
To say something that starts with a slash, put a space before it. Alt-Enter starts a new line."""


AHEAD = 16
"""Characters that somebody must have typed since the last reading ahead."""


def last_boundary(text: str) -> int:
    """Where the last whole word of a text ends that somebody is typing: before its last space, or
    two characters before the end in a script without spaces.

    >>> last_boundary("Where do I li")
    10
    """
    space = max(text.rfind(" "), 0)
    return max(space, len(text) - 2) if text and not text[-1].isascii() else space


class ChatLoop:
    """Handles the lines of a chat, one at a time; `interrupt` may be called at any time."""

    def __init__(
        self,
        *,
        memory: Memory,
        user: str,
        screen: Screen,
        clock: Clock,
        idle: timedelta,
        at: datetime | None = None,
        prepare: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        """`prepare` does what can be done for the next reply while the user types; it is given
        what they have typed so far."""
        self.news = UpdateWatcher(memory=memory, user=user)
        self._memory = memory
        self._user = user
        self._screen = screen
        self._clock = clock
        self._idle = idle
        self._at = at
        self._last_line: datetime | None = None
        self._work: asyncio.Task[object] | None = None
        self._prepare = prepare
        self._preparing: asyncio.Task[None] | None = None
        self._read = 0
        self._to_forget: FactMentions | None = None
        self._recalled: tuple[Contribution, ...] = ()
        self._replied: datetime | None = None
        self._commands: dict[str, Callable[[str], Awaitable[None]]] = {
            "/memory": self._show_memory,
            "/why": self._show_why,
            "/history": self._show_history,
            "/forget": self._forget,
            "/end": self._end_command,
            "/help": self._help,
        }

    @property
    def busy(self) -> bool:
        """Whether something runs that `interrupt` would stop."""
        return self._work is not None

    @property
    def idle_every(self) -> float:
        """Seconds between looks for idle sessions. In a chat of the past there is only the first:
        each of its turns would look idle to the clock, and become a session of its own."""
        return 60.0 if self._at is None else math.inf

    @property
    def asking(self) -> str:
        """The question that the next line answers, if one was asked."""
        return "forget? [y/N] " if self._to_forget else ""

    def interrupt(self) -> None:
        """Stop what runs: the reply that streams, or the wait for the memory."""
        if self._work is not None:
            self._work.cancel()

    async def greet(self) -> None:
        """Start: end idle sessions, and show what is known and the status of the memory."""
        await self._memory.end_idle()
        await self.news.catch_up()
        status = await memory_status(self._memory, self._user)
        now = self._now()
        if not status.sessions:
            self._screen.line("Hello! We have not talked yet. Say something; /help lists commands.")
            return
        summary = await self._memory.summary(self._user)
        known = plural(len(summary.sentences), "sentence")
        name = Reader.of(summary).name
        last = f", the last one {ago(status.last, now)}" if status.last else ""
        self._screen.line(
            f"Hello again{f', {one_line(name)}' if name else ''}! "
            f"{plural(status.sessions, 'session')}{last}; the memory has {known}. "
            "/help lists commands."
        )
        for line in status_lines(status, now):
            self._screen.line(line)

    def prepare(self, begun: str = "") -> None:
        """Begin to prepare the next reply, to a message that has `begun` so."""
        if self._prepare is not None and self._preparing is None:
            self._read = len(begun)
            self._preparing = asyncio.ensure_future(self._prepared(self._prepare, begun))

    def typing(self, text: str) -> None:
        """Called with what is typed so far, at every key: now and then the words in it are read,
        which are then not left to be read after Enter. Reading never has to be stopped: the message
        goes on from there, unless its user changes its beginning."""
        words = text[: last_boundary(text)]
        if self.busy or self.asking or text.startswith("/") or len(words) < self._read + AHEAD:
            return
        if self._preparing is not None and self._preparing.done():
            self._preparing = None
        self.prepare(words)

    async def _prepared(self, prepare: Callable[[str], Awaitable[None]], begun: str) -> None:
        try:
            await prepare(begun)
        except OmoideError as error:  # the reply will say so
            log.debug("the next reply could not be prepared: %s", error)

    async def handle_line(self, line: str) -> bool:
        """Handle a line. Returns whether the chat goes on."""
        self._last_line = self._clock.now()
        if self._to_forget is not None:
            await self._forget_or_not(line)
            return True
        word, _, rest = line.strip().partition(" ")
        if not line.startswith("/"):
            if line.strip():
                await self._guarded(self._reply(line.strip()))
            return True
        if word in ("/quit", "/exit"):
            return False
        command = self._commands.get(word)
        if command is None:
            near = ", ".join(name for name in self._commands if name.startswith(word[:2]))
            hint = f" Did you mean {near}?" if near else ""
            self._screen.line(f"There is no command {clean(word)}.{hint} /help lists them all.")
        else:
            await self._guarded(command(rest.strip()))
        return True

    async def on_idle(self) -> None:
        """Called regularly between lines: ends the session after the idle time."""
        last = self._last_line
        if last is None or self.busy or self._clock.now() - last < self._idle:
            return
        self._last_line = None
        if await self._end():
            minutes = plural(int(self._idle.total_seconds() // 60), "minute")
            self._screen.line(
                dim(f"The session ended after {minutes} of silence; your next line starts another.")
            )

    async def leave(self) -> None:
        """End the session and update the memory; an interrupt leaves the update for later."""
        if self._preparing is not None:
            self._preparing.cancel()
            await asyncio.wait([self._preparing])
        await self._guarded(self._end())
        await self.finish()

    async def finish(self) -> None:
        """Wait until ended sessions are digested, and show the result."""
        pending = await self._pending()
        if not pending:
            return
        which = "session " + ", ".join(str(number) for number in pending)
        what = f"updating the memory with {which} (Ctrl-C leaves it for next time)"
        async with self._screen.waiting(what):
            finished = await self._stoppable(self._memory.run_jobs())
        if not finished:
            self._screen.line(f"The memory of {which} will be updated at the next start.")
            return
        for line in await self.news.fetch():
            self._screen.line(line)
        for line in status_lines(await memory_status(self._memory, self._user), self._now()):
            self._screen.line(line)

    # ── Replies ─────────────────────────────────────────────────────────────────────────────

    async def _reply(self, text: str) -> None:
        if not await self._stoppable(self._stream(text)):
            self._screen.line(dim(" [stopped]"))

    async def _stream(self, text: str) -> None:
        async with self._screen.waiting("thinking") as spinner:
            if self._preparing is not None:  # its work is needed for the reply
                await asyncio.wait([self._preparing])
                self._preparing = None
            reply = await self._memory.reply(self._user, text, at=self._at)
            self._recalled, self._replied = reply.recalled, reply.turn.time
            spinner.watch(lambda: reply.draft)
            try:
                async for piece in reply:
                    spinner.stop()
                    self._screen.piece(piece)
            finally:
                await reply.close()
        self._screen.line()
        self.prepare()

    # ── Commands ────────────────────────────────────────────────────────────────────────────

    async def _help(self, rest: str) -> None:
        del rest
        self._screen.line(HELP)

    async def _show_memory(self, rest: str) -> None:
        del rest
        summary = await self._memory.summary(self._user)
        status = await memory_status(self._memory, self._user)
        reader = Reader.of(summary)
        self._lines(memory_lines(summary, user=self._user, now=self._now(), reader=reader))
        self._lines([*status_lines(status, self._now()), *aside_lines(status)])

    async def _show_why(self, rest: str) -> None:
        reader = Reader.of(await self._memory.summary(self._user))
        matching = reader.saying(rest, await self._memory.why(self._user))
        lines = why_lines(matching, self._now(), reader=reader)
        if self._recalled and not rest:
            recalled = contribution_lines(
                self._recalled, self._now(), reader=reader, over=await self._over_since()
            )
            lines = [bold("Recalled for the last reply:"), *recalled, "", *lines]
        more = "/why TEXT for the sentences that say TEXT, or omoide memory why"
        self._lines(screenful(lines, rows=self._screen.rows, more=more))

    async def _over_since(self) -> list[Fact]:
        """The facts behind what was recalled that have ended since the last reply. What had ended
        before, the recalled text says itself."""
        turns = {source for item in self._recalled for source in item.sources}
        facts = await self._memory.facts(self._user, turns=sorted(turns), ended=True)
        since, now = self._replied, self._now()
        return [f for f in facts if since and f.ended and since < f.ended <= now]

    async def _show_history(self, rest: str) -> None:
        del rest
        self._lines(history_lines(await self._memory.history(self._user), self._now()))

    async def _forget(self, rest: str) -> None:
        if not rest:
            raise BadInput("/forget what? Give some of its words")
        fact = await self._memory.find_fact(self._user, rest)
        if fact.empty:
            self._screen.line(f"Nothing that is stored says {one_line(rest)!r}.")
            return
        reader = Reader.of(await self._memory.summary(self._user))
        self._lines(fact_lines(fact, self._now(), reader=reader))
        self._screen.line(warning("Remove all this for good? y or n"))
        self._to_forget = fact

    async def _forget_or_not(self, answer: str) -> None:
        fact, self._to_forget = self._to_forget, None
        if fact is None or answer.strip().lower() not in ("y", "yes"):
            self._screen.line("Nothing was removed.")
            return
        await self._guarded(self._forget_now(fact))

    async def _forget_now(self, fact: FactMentions) -> None:
        erased = await self._memory.forget(self._user, fact)
        removed = [plural(erased.turns, "turn"), plural(erased.sentences, "sentence")]
        removed += [plural(erased.facts, "fact")] if erased.facts else []
        self._screen.line(f"Removed: {', '.join(removed)}.")

    async def _end_command(self, rest: str) -> None:
        del rest
        if await self._end():
            self._screen.line(
                dim("The session has ended; the memory is updated while no reply is awaited.")
            )
        else:
            self._screen.line("No session is open.")

    # ── Internal ────────────────────────────────────────────────────────────────────────────

    async def _end(self) -> bool:
        return bool(await end_chat(self._memory, self._user, at=self._at))

    async def _pending(self) -> list[int]:
        jobs = await self._memory.jobs(self._user, states=[JobState.WAITING, JobState.RUNNING])
        return [j.session for j in jobs if j.task is JobTask.DIGEST and j.session is not None]

    async def _stoppable(self, work: Awaitable[object]) -> bool:
        """Run `work` so that `interrupt` can stop it. Returns whether it finished."""
        task = self._work = asyncio.ensure_future(work)
        try:
            await asyncio.wait([task])
        finally:
            self._work = None
            if not task.done():  # we are being cancelled ourselves
                task.cancel()
        if task.cancelled():
            return False
        task.result()
        return True

    async def _guarded(self, work: Awaitable[object]) -> None:
        """Run `work`; show an `OmoideError` and go on."""
        try:
            await work
        except OmoideError as error:
            self._screen.line(warning(f"! {one_line(str(error))}"))

    def _lines(self, lines: list[str]) -> None:
        for line in lines:
            self._screen.line(line)

    def _now(self) -> datetime:
        return self._at or self._clock.now()


async def end_chat(memory: Memory, user: str, *, at: datetime | None) -> list[Session]:
    """End the open session of the chat; sessions with a key belong to other programs."""
    numbers = [s.number for s in await memory.sessions(user) if s.open and s.key is None]
    return [s for number in numbers for s in await memory.end_session(user, session=number, at=at)]
