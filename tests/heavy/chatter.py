"""A program that talks, ends sessions and digests them, and says aloud what is safe on disk.

    python chatter.py DATABASE RUN

It is killed at random moments by `test_kill.py`. Its models answer from the prompt, slowly
enough to be caught in the middle.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from omoide.adapters.stores.sqlite import SqliteStore, worker_name
from omoide.bootstrap import SystemClock
from omoide.engine.runtime import Runtime
from omoide.settings import Settings
from omoide.testing import HashEmbedder, ScriptedModel

if TYPE_CHECKING:
    from omoide.engine.memory import Memory
    from omoide.ports import Request


def summarise(request: Request) -> str:
    """A memory that names every code word it was shown."""
    shown = request.messages[0].content
    words = sorted({w.strip(".") for w in shown.split() if w.startswith("code-")})
    return "\n".join(f"The user knows {word}." for word in words[-15:]) or "The user talks."


class SlowModel(ScriptedModel):
    """Answers without end, and lets others run between words."""

    def __init__(self, answer: object) -> None:
        super().__init__(name="slow")
        self._answer = answer

    async def stream(self, request: Request):  # type: ignore[no-untyped-def] # noqa: ANN201 - as the base's
        """Refill the script, then answer a word at a time."""
        self.answers.append(self._answer)  # type: ignore[arg-type] # a text or a function
        async for piece in super().stream(request):
            await asyncio.sleep(0.002)
            yield piece


async def open_chatter(path: Path) -> Runtime:
    """A runtime over the file, with models that never fail."""
    store = await SqliteStore.open(path)
    return Runtime(
        Settings(db=path, form="paper", reply_tokens=50, max_turn_chars=1000),
        store=store,
        model=SlowModel("I hear you, my friend, go on."),
        summariser=SlowModel(summarise),
        embedder=HashEmbedder(),
        clock=SystemClock(),
        name=worker_name(),
        owns=[store],
    )


async def main(path: Path, run: str) -> None:
    """Talk until killed. Each line printed is a promise that something is durable."""
    runtime = await open_chatter(path)
    memory = runtime.memory()
    async with runtime.working(every=0.01):
        await talk(memory, run)


async def talk(memory: Memory, run: str) -> None:
    """Two turns a session, for ever."""
    number = 0
    while True:
        for _ in range(2):
            number += 1
            turn_id = f"{run}-{number}"
            reply = await memory.reply("ana", f"My word is code-{run:0>3}-{number:03}.", id=turn_id)
            print("said", turn_id, flush=True)  # noqa: T201 - this is how it promises
            await reply.text()
        (*_, ended) = await memory.end_session("ana")
        print("ended", ended.number, flush=True)  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
