"""The chat at a real terminal: a process on a pseudo-terminal, driven by keys.

Run as a program, this file is that process: `omoide` with models that answer from the prompt.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import pytest

from omoide.adapters.stores.sqlite import SqliteStore, worker_name
from omoide.bootstrap import SystemClock
from omoide.cli.main import cli
from omoide.cli.scope import Outside
from omoide.engine.runtime import Runtime
from omoide.testing import HashEmbedder, ScriptedModel

if __name__ != "__main__":  # the process that the terminal runs knows nothing of the tests
    from tests.integration.test_models_hub import OLLAMA, answering, serving

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator
    from pathlib import Path

    from omoide.ports import Completion, Request
    from omoide.settings import Settings

# ── The process ─────────────────────────────────────────────────────────────────────────────


class Talker(ScriptedModel):
    """Says hello, or speaks without end when asked to go on forever."""

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion, None]:
        """An answer by what was asked."""
        asked = request.messages[-1].content
        if "forever" in asked:
            for number in count(1):
                await asyncio.sleep(0.01)
                yield f"{number} "
        if asked.startswith("echo "):
            self.answers.append(asked.removeprefix("echo ").splitlines()[0] + " END")
            async for piece in super().stream(request):
                yield piece
            return
        lines = asked.count("\n")
        self.answers.append(f"Hello to {lines + 1} line(s)!")
        async for piece in super().stream(request):
            yield piece


class Digester(ScriptedModel):
    """Remembers a cat, or whatever else was said first; told to stall, it never answers."""

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion, None]:
        """The new memory."""
        if os.environ.get("STALL"):
            await asyncio.Event().wait()
        told = request.messages[0].content.rpartition("\nUser: ")[2].splitlines()[0]
        cat = "The user has a cat called Miso."
        self.answers.append(cat if "Miso" in told else f"The user says {told}.")
        async for piece in super().stream(request):
            yield piece


async def open_scripted(
    settings: Settings,
    *,
    create: bool = True,
    progress: Callable[[int, int, str], None] | None = None,
) -> Runtime:
    """A runtime as bootstrap would make it, with models of our own."""
    del progress
    store = await SqliteStore.open(settings.db, create=create)
    return Runtime(
        replace(settings, form="paper", reply_tokens=50, max_turn_chars=1000),
        store=store,
        model=Talker(),
        summariser=Digester(),
        embedder=HashEmbedder(),
        clock=SystemClock(),
        name=worker_name(),
        owns=[store],
    )


if __name__ == "__main__":
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C is a signal
    cli(obj=Outside(open=open_scripted, clock=SystemClock()), prog_name="omoide")


# ── The tests ───────────────────────────────────────────────────────────────────────────────

CTRL_C, CTRL_D = "\x03", "\x04"
PROMPT = "you ›"
KANA = "今日はとても良い天気だから、いっしょに公園まで歩いて行こう"
_ANSI = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\x1b\][^\x07]*\x07")


class Terminal:
    """A process on a pseudo-terminal; waits are for output, never for time."""

    def __init__(self, *args: str, env: dict[str, str]) -> None:
        self._master, slave = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, __file__, *args],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env={
                **os.environ,
                "PROMPT_TOOLKIT_NO_CPR": "1",
                "TERM": "xterm",
                "OMOIDE_LOCAL_SERVERS": "none",
                **env,
            },
        )
        os.close(slave)
        self._raw = b""
        self._seen = 0

    @property
    def text(self) -> str:
        """All that was printed so far, without escape sequences."""
        return _ANSI.sub("", self._raw.decode(errors="replace"))

    def wait_for(self, wanted: str, seconds: float = 600) -> str:
        """Read until this stands in what came since the last wait; all that came until then."""
        deadline = time.monotonic() + seconds
        while wanted not in self.text[self._seen :]:
            left = deadline - time.monotonic()
            if left <= 0 or not self._read(left):
                pytest.fail(f"waited for {wanted!r}; came {self.text[self._seen :]!r}")
        end = self.text.index(wanted, self._seen) + len(wanted)
        came, self._seen = self.text[self._seen : end], end
        return came

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def end(self, seconds: float = 600) -> int:
        """Wait for the process to leave; its exit code."""
        deadline = time.monotonic() + seconds
        while self._read(max(0.0, deadline - time.monotonic())):
            pass
        return self._process.wait(timeout=seconds)

    def close(self) -> None:
        """Be rid of it."""
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return False
        try:
            chunk = os.read(self._master, 65536)
        except OSError:  # the other side is closed
            return False
        self._raw += chunk
        return bool(chunk)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Starts `omoide …` on one database, as often as wanted."""
    running: list[Terminal] = []

    def begin(*args: str, **env: str) -> Terminal:
        terminal = Terminal("--db", str(tmp_path / "m.sqlite"), *args, env=env)
        running.append(terminal)
        return terminal

    yield begin
    for terminal in running:
        terminal.close()


def test_talk_leave_and_be_remembered(start: Callable[..., Terminal]) -> None:
    """A chat is answered, updates the memory on Ctrl-D, and is known at the next start."""
    terminal = start("chat")
    terminal.wait_for("We have not talked yet")
    terminal.wait_for(PROMPT)
    terminal.type("I have a cat called Miso.\r")
    terminal.wait_for("Hello to 1 line(s)!")
    terminal.wait_for(PROMPT)
    terminal.type("/nonsense\r")
    terminal.wait_for("There is no command /nonsense")
    terminal.wait_for(PROMPT)
    terminal.type(CTRL_D)
    terminal.wait_for("memory updated after session 1: version 1, 1 new")
    assert terminal.end() == 0
    again = start("chat")
    again.wait_for("Hello again! 1 session, the last one")
    again.wait_for("the memory has 1 sentence")
    again.wait_for(PROMPT)
    again.type("/quit\r")
    assert again.end() == 0


def test_the_memory_is_updated_behind_the_prompt(start: Callable[..., Terminal]) -> None:
    """/end returns at once, and the notice comes above the waiting prompt."""
    terminal = start("chat")
    terminal.wait_for(PROMPT)
    terminal.type("I have a cat called Miso.\r")
    terminal.wait_for("Hello to")
    terminal.wait_for(PROMPT)
    terminal.type("/end\r")
    terminal.wait_for("The session has ended")
    terminal.wait_for("memory updated after session 1")
    terminal.type("/memory\r")
    terminal.wait_for("1. You have a cat called Miso.")
    terminal.wait_for(PROMPT)
    terminal.type(CTRL_D)
    assert terminal.end() == 0


def test_a_paste_of_several_lines_is_one_message(start: Callable[..., Terminal]) -> None:
    """Bracketed paste keeps its line ends until Enter."""
    terminal = start("chat")
    terminal.wait_for(PROMPT)
    terminal.type("\x1b[200~one\ntwo\nthree\x1b[201~")
    terminal.wait_for("three")
    terminal.type("\r")
    terminal.wait_for("Hello to 3 line(s)!")
    terminal.wait_for(PROMPT)


def test_words_are_wrapped_and_not_cut(start: Callable[..., Terminal]) -> None:
    """A long reply ends its lines between words, in narrow terminals and in Japanese too."""
    terminal = start("chat", COLUMNS="30")
    terminal.wait_for(PROMPT)
    for said in ("echo the quick brown fox jumps over the lazy dog and runs away", "echo " + KANA):
        terminal.type(f"{said}\r")
        terminal.wait_for("END")
        terminal.wait_for(PROMPT)
    lines = re.split(r"[\r\n]+", terminal.text)
    assert "the quick brown fox jumps over" in lines
    assert "the lazy dog and runs away END" in lines
    assert KANA[:14] in lines  # a small っ does not begin a line


def test_a_server_on_this_machine_is_offered_once(
    start: Callable[..., Terminal], tmp_path: Path
) -> None:
    """The first start asks for one key press and keeps the answer; the second does not ask."""
    with serving(answering(OLLAMA)) as ollama:
        terminal = start("chat", OMOIDE_LOCAL_SERVERS=ollama)
        terminal.wait_for("1  llama3.1:8b (Ollama)")
        terminal.type("1")
        terminal.wait_for("llama3.1:8b it is.")
        terminal.wait_for(PROMPT)
        terminal.type(CTRL_D)
        assert terminal.end() == 0
        assert (tmp_path / "m.sqlite.model").read_text() == f"{ollama}/v1#llama3.1:8b\n"
        again = start("chat", OMOIDE_LOCAL_SERVERS=ollama)
        again.wait_for(PROMPT)
        assert "Press a key" not in again.text


def test_ctrl_c_stops_a_reply_and_keeps_it(start: Callable[..., Terminal]) -> None:
    """The reply stops, the prompt comes back, what was shown is recorded; twice leaves."""
    terminal = start("chat")
    terminal.wait_for(PROMPT)
    terminal.type("Talk forever\r")
    terminal.wait_for("7 8 9 10 11")  # faint, as it forms
    terminal.wait_for("120 121 122")  # as part of the reply: no sentence is held back for so long
    terminal.type(CTRL_C)
    terminal.wait_for("[stopped]")
    terminal.wait_for(PROMPT)
    terminal.type(CTRL_C)
    terminal.wait_for("Ctrl-C again leaves")
    terminal.wait_for(PROMPT)
    terminal.type(CTRL_C)
    terminal.wait_for("memory updated")
    assert terminal.end() == 0
    said = start("export")
    said.wait_for("7 8 9 10 11")
    assert said.end() == 0


def test_ctrl_c_leaves_the_update_for_the_next_start(start: Callable[..., Terminal]) -> None:
    """A digestion that hangs is left at once; the next start does it."""
    terminal = start("chat", STALL="1")
    terminal.wait_for(PROMPT)
    terminal.type("I have a cat called Miso.\r")
    terminal.wait_for("Hello to")
    terminal.wait_for(PROMPT)
    terminal.type("/quit\r")
    terminal.wait_for("updating the memory with session 1")
    terminal.type(CTRL_C)
    terminal.wait_for("The memory of session 1 will be updated at the next start.")
    assert terminal.end() == 0
    again = start("chat")
    again.wait_for("session 1, ended")
    again.wait_for("memory updated after session 1")


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_without_colours(start: Callable[..., Terminal], env: dict[str, str]) -> None:
    """No colour is sent where none is wanted, and the chat works all the same."""
    terminal = start("chat", **env)
    terminal.wait_for(PROMPT)
    terminal.type("Hi\r")
    terminal.wait_for("Hello to 1 line(s)!")
    terminal.wait_for(PROMPT)
    terminal.type("/quit\r")
    terminal.wait_for("memory updated")
    assert terminal.end() == 0
    assert not re.search(rb"\x1b\[(?:2|[34]\d)m", terminal._raw)
