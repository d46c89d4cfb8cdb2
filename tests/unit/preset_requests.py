"""Everything that a paper's preset asks a model for one small dialogue, as text.

    python -m tests.unit.preset_requests        rewrites tests/unit/golden/presets/*.txt

Read the difference before you commit it: each line is what a paper's method shows the model.
"""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from omoide import Utterance
from omoide.adapters.analysers import analyser_for
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import Speaker
from omoide.engine import Runtime, complete
from omoide.mechanisms.memos import TextTools
from omoide.presets import DEFAULT, PRESETS
from omoide.settings import Settings
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel

if TYPE_CHECKING:
    from omoide.ports import Request

PAPERS = tuple(name for name in PRESETS if name != DEFAULT)
GOLDEN = Path(__file__).parent / "golden" / "presets"
START = datetime(2026, 3, 5, 19, 30, tzinfo=UTC)
SESSIONS = (
    ("I moved to Leeds with my dog Rusty.", "How does Rusty like Leeds?"),
    ("Rusty hurt his paw, so I am not going running.", "Oh no! Give him a treat from me."),
)
ASKED = "When will I go running with Rusty again?"
ANSWERS = {
    "memos": [{"topic": "the dog Rusty", "start": 1, "end": 2, "summary": "User has a dog."}],
    "numbers": [1],
    "events": [
        {
            "text": "User will go running with Rusty again.",
            "topics": ["sport"],
            "keywords": ["running"],
            "participants": ["User"],
        }
    ],
    "ratings": [5],
    "insights": [],
}
"""What the model answers where a schema asks for one of these."""
PROSE = "The user has a dog called Rusty. The user moved to Leeds."


def answer(request: Request) -> str:
    """A fitting answer: JSON if a schema asks for it, prose otherwise."""
    fields = (request.schema or {}).get("properties")
    if not isinstance(fields, dict):
        return PROSE
    return json.dumps({name: ANSWERS[name] for name in fields})


async def requests_of(preset: str) -> str:
    """The requests, in order: for two sessions and for a reply in a third."""
    model = ScriptedModel([answer] * 40)
    clock = FrozenClock()
    settings = Settings.of(preset, timezone="UTC", user_name="Ana", idle=timedelta(minutes=30))
    store = await SqliteStore.open(":memory:")
    runtime = Runtime(
        settings,
        store=store,
        clock=clock,
        model=model,
        embedder=HashEmbedder(name="use-multilingual", version="3"),
        text_tools=TextTools(analyser=analyser_for),
        owns=[store],
    )
    memory = runtime.memory()
    for number, (said, replied) in enumerate(SESSIONS):
        clock.time = START + timedelta(days=number)
        talk = [
            Utterance(speaker=Speaker.USER, text=said, id=f"user-{number}"),
            Utterance(speaker=Speaker.ASSISTANT, text=replied, id=f"assistant-{number}"),
        ]
        await memory.record("ana", talk, session=str(number))
        await memory.end_session("ana")
        await memory.run_jobs()
    clock.time = START + timedelta(days=1, hours=2)
    async with memory.exchange("ana", ASKED, session="now") as exchange:
        assert exchange.context is not None
        request = exchange.context.request(window=settings.window, max_tokens=settings.reply_tokens)
        await complete(model, request)
        await exchange.finish("", record=False)
    await runtime.close()
    return "\n".join(shown(request) for request in model.requests)


def shown(request: Request) -> str:
    """A request as text: how it is asked, then its messages."""
    head = f"##### temperature {request.temperature:g}, penalty {request.frequency_penalty:g}"
    asked = (request.schema or {}).get("properties")
    form = f", JSON: {', '.join(asked)}" if isinstance(asked, dict) else ""
    messages = [f"=== {message.role}\n{message.content}" for message in request.messages]
    return "\n".join([head + form, *messages, ""])


def main() -> None:
    """Write the golden files."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name in PAPERS:
        (GOLDEN / f"{name}.txt").write_text(asyncio.run(requests_of(name)), encoding="utf-8")


if __name__ == "__main__":
    main()
