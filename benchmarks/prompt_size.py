"""Measures the length of a reply's prompt after 1 to 500 sessions, each about something new.

    python benchmarks/prompt_size.py [--sessions 500]

A scripted model notes each session's facts, with the fused writer; every 50 sessions a reply is
requested and its whole prompt counted (tokens estimated as for budgets). No weights, no data.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide import Utterance
from omoide.bootstrap import temporary_store
from omoide.domain import JobState, Speaker
from omoide.engine import Runtime
from omoide.language import estimate_tokens
from omoide.settings import Settings
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel

if TYPE_CHECKING:
    from omoide.ports import Request

PLACES = "Oslo Bergen Turku Lisbon Porto Ghent Basel Graz Split Cork Malmo Riga Gdansk Brno".split()
THINGS = "kayak cello telescope beehive loom kiln canoe harp bicycle sextant easel lathe".split()
WAYS = {
    "default": Settings().mechanisms,
    "all": ("summary", "search", "memos", "human-recall"),
}


def message(number: int) -> str:
    """What the user says in a session."""
    place, thing = PLACES[number % len(PLACES)], THINGS[number % len(THINGS)]
    return f"I bought {thing} number{number} in {place} and gave it to friend{number}."


def notes(request: Request) -> str:
    """What a good small model would note about it."""
    said = request.messages[-1].content.rsplit("I bought ", 1)[-1].splitlines()[0]
    return f"User bought {said.rstrip('.')}."


async def sizes(mechanisms: tuple[str, ...], *, sessions: int, every: int) -> dict[int, int]:
    """Tokens of the whole prompt, by number of sessions."""
    replier, summariser, clock = ScriptedModel(), ScriptedModel(), FrozenClock()
    store = await temporary_store()
    runtime = Runtime(
        Settings(mechanisms=mechanisms, writer="fused", timezone="UTC"),
        store=store,
        model=replier,
        summariser=summariser,
        embedder=HashEmbedder(),
        clock=clock,
        name="bench",
        owns=[store],
    )
    memory = runtime.memory()
    found: dict[int, int] = {}
    for number in range(sessions):
        if number % every == every - 1:
            replier.answers.append("I do.")
            asked = f"Do you remember friend{number - 5}? {message(number)}"
            await (await memory.reply("ana", asked)).text()
            request = replier.requests.pop()
            found[number + 1] = sum(estimate_tokens(m.content) for m in request.messages)
        else:
            await memory.record("ana", [Utterance(speaker=Speaker.USER, text=message(number))])
        summariser.answers.append(notes)
        await memory.end_session("ana")
        await memory.run_jobs()
        clock.advance(timedelta(days=1))
    dead = await memory.jobs("ana", states=[JobState.DEAD, JobState.WAITING])
    assert not dead, dead
    await runtime.close()
    return found


async def main() -> None:
    """Print a line for each configuration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--every", type=int, default=50)
    args = parser.parse_args()
    for name, mechanisms in WAYS.items():
        began = time.process_time()
        found = await sizes(mechanisms, sessions=args.sessions, every=args.every)
        seconds = time.process_time() - began
        print(f"{name:8} {found}  ({seconds / args.sessions:.3f} s CPU per session)", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
