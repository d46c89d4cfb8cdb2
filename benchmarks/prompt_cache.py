"""How much of a prompt a provider's prompt cache can reuse, over a chat of 50 messages.

    python benchmarks/prompt_cache.py [--turns 50] [--profile large]

Somebody with 40 earlier sessions and a summary chats through `Memory.context`, as a client of the
proxy does: all messages of the chat are sent each time. Three of four messages ask after something
old, the fourth is small talk. Counted is the beginning that a request has in common with the one
before it, as a share of its characters: a cache reuses that and computes the rest. Beside it, the
same memory put into the system message as a whole, as many integrations do. No weights, no data.
"""

from __future__ import annotations

import argparse
import asyncio
from datetime import timedelta
from itertools import pairwise, takewhile
from statistics import mean
from typing import TYPE_CHECKING

from prompt_size import message, notes

from omoide import Utterance
from omoide.bootstrap import temporary_store
from omoide.domain import Speaker
from omoide.engine import Runtime
from omoide.settings import Settings
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel

if TYPE_CHECKING:
    from omoide import Memory

SESSIONS = 40
SYSTEM = "You are a friendly assistant. Answer in one or two sentences. " * 10
REPLY = "Yes, I remember that well. You told me about it some time ago, and it sounded like fun."
SMALL_TALK = "Ha, that is funny. Thank you!"


async def remember(memory: Memory, summariser: ScriptedModel, clock: FrozenClock) -> None:
    """Forty sessions, each about something new."""
    for number in range(SESSIONS):
        await memory.record("ana", [Utterance(speaker=Speaker.USER, text=message(number))])
        summariser.answers.append(notes)
        await memory.end_session("ana")
        await memory.run_jobs()
        clock.advance(timedelta(days=1))


def text_of(messages: list[dict[str, str]]) -> str:
    """A request as one text."""
    return "\n".join(f"{message['role']}: {message['content']}" for message in messages)


async def prompts(memory: Memory, *, turns: int) -> dict[str, list[str]]:
    """The requests of a chat, with memory where we put it and all of it in the system message."""
    chat = [{"role": "system", "content": SYSTEM}]
    ours, together, recalled = [], [], 0
    for number in range(turns):
        asked = f"What did I give to friend{number % SESSIONS}?" if number % 4 else SMALL_TALK
        chat.append({"role": "user", "content": asked})
        context = await memory.context("ana", chat)
        recalled += bool(context.recalled)
        ours.append(text_of(context.messages))
        memories = {"role": "system", "content": f"{SYSTEM}\n\n{context.text}"}
        together.append(text_of([memories, *chat[1:]]))
        chat.append({"role": "assistant", "content": REPLY})
    print(f"{turns} messages, {recalled} with recalled turns")
    return {"omoide": ours, "all memory in the system message": together}


def reused(requests: list[str]) -> list[float]:
    """The share of each request but the first that begins like the one before it."""
    return [
        sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
        / len(after)
        for before, after in pairwise(requests)
    ]


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=50)
    parser.add_argument("--profile", choices=("small", "large"), default="large")
    given = parser.parse_args()
    summariser, clock = ScriptedModel(), FrozenClock()
    store = await temporary_store()
    runtime = Runtime(
        Settings(writer="fused", timezone="UTC", profile=given.profile),
        store=store,
        model=ScriptedModel(),
        summariser=summariser,
        embedder=HashEmbedder(),
        clock=clock,
        name="bench",
        owns=[store],
    )
    memory = runtime.memory()
    await remember(memory, summariser, clock)
    requests_by_way = await prompts(memory, turns=given.turns)
    print("| | first ten | all | last ten | characters computed anew |\n|---|---|---|---|---|")
    for name, requests in requests_by_way.items():
        shares = reused(requests)
        anew = sum(
            (1 - share) * len(text) for share, text in zip(shares, requests[1:], strict=True)
        )
        parts = (shares[:10], shares, shares[-10:])
        cells = " | ".join(f"{100 * mean(part):.0f} %" for part in parts)
        print(f"| {name} | {cells} | {anew:,.0f} |")
    await runtime.close()


if __name__ == "__main__":
    asyncio.run(main())
