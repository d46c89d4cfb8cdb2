"""The chat on a real terminal: the thin part that needs prompt_toolkit."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.patch_stdout import patch_stdout

from omoide.cli.screen import cancelled
from omoide.cli.show import dim, warning
from omoide.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prompt_toolkit.key_binding import KeyPressEvent

    from omoide.cli.conversation import ChatLoop
    from omoide.cli.screen import TerminalScreen
    from omoide.engine.runtime import Runtime

PROMPT = "you › "
EVERY = 1.0
"""Seconds between checks for updates of the memory."""


async def talk(conversation: ChatLoop, runtime: Runtime, screen: TerminalScreen) -> None:
    """Read lines until the user leaves; then end the session and update the memory."""
    await conversation.greet()
    conversation.prepare()
    async with (
        runtime.working(idle_every=conversation.idle_every),
        cancelled(asyncio.create_task(_watch(conversation, screen))),
    ):
        await _lines(conversation, screen)
        with _on_interrupt(conversation.interrupt):
            await conversation.leave()


async def _lines(conversation: ChatLoop, screen: TerminalScreen) -> None:
    session: PromptSession[str] = PromptSession(
        history=InMemoryHistory(),
        key_bindings=_keys(),
        color_depth=None if screen.colour else ColorDepth.DEPTH_1_BIT,
    )
    session.default_buffer.on_text_changed += lambda typed: conversation.typing(typed.text)
    warned = False
    while True:
        try:
            with patch_stdout(raw=True):
                line = await session.prompt_async(conversation.asking or PROMPT)
        except KeyboardInterrupt:
            if warned:
                return
            warned = True
            screen.line(dim("(Ctrl-C again leaves; so does Ctrl-D)"))
            continue
        except EOFError:
            return
        warned = False
        with _on_interrupt(conversation.interrupt):
            if not await conversation.handle_line(line):
                return


async def _watch(conversation: ChatLoop, screen: TerminalScreen) -> None:
    """Show updates of the memory above the prompt, but never in the middle of a reply."""
    while True:
        await asyncio.sleep(EVERY)
        if conversation.busy:
            continue
        try:
            await conversation.on_idle()
            for line in await conversation.news.fetch():
                screen.line(line)
        except StoreError as error:
            screen.line(warning(f"! {error}"))


def _keys() -> KeyBindings:
    """Enter sends; Alt-Enter starts a new line. Pasting several lines gives one message."""
    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


@contextmanager
def _on_interrupt(act: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C calls `act` within the block. The prompt installs its own handler, so this one is
    installed again each time."""
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):  # on Windows Ctrl-C ends the program, losing nothing
        loop.add_signal_handler(signal.SIGINT, act)
    try:
        yield
    finally:
        with suppress(NotImplementedError):
            loop.remove_signal_handler(signal.SIGINT)
