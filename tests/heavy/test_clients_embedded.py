"""The vendors' own clients against `omoide serve` with real weights: the tiny embedded model.

The model is too small to say anything sensible, so nothing here depends on what it says: a tool is
called because a grammar leaves it no choice.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

import omoide
from tests.integration.clients.drivers import (
    DRIVERS,
    AnthropicDriver,
    OllamaDriver,
    OpenAIDriver,
    ResponsesDriver,
)
from tests.integration.clients.lines import title
from tests.tiny import tiny_model

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.integration.clients.drivers import Driver

pytestmark = pytest.mark.model
MUST_CALL: dict[Any, dict[str, Any]] = {
    OpenAIDriver: {"tool_choice": "required"},
    ResponsesDriver: {"tool_choice": "required"},
    AnthropicDriver: {"tool_choice": {"type": "any"}},
}
"""How each protocol asks for a call. Ollama's has no such choice."""
TOO_LONG = "word " * 20_000
"""More tokens than the model's window has."""


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[str]:
    """The address of the command, started with the tiny model."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "omoide.cli", "--db", str(folder / "m.sqlite")),
        *("serve", "--port", "0"),
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "OMOIDE_MODEL": str(tiny_model()), "OMOIDE_EMBEDDER": "none"},
    )
    assert process.stderr
    try:
        address = ""
        while not address:
            address = json.loads(await process.stderr.readline()).get("address", "")
        drain = asyncio.create_task(process.stderr.read())
        yield address
        process.terminate()
        await drain
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.parametrize("driver", DRIVERS, ids=title)
async def test_a_real_model_answers_every_client(tmp_path: Path, driver: type[Driver]) -> None:
    """At once, in pieces, by calling a tool, and with the client's own error; and all that was said
    is recorded."""
    make: Any = driver
    async with served(tmp_path) as url:
        client = make(url, None)
        whole = await client.say("Say hello.")
        assert whole.text
        assert min(whole.tokens) > 0
        pieces = [piece async for piece in client.stream("Count from one to five.")]
        assert len(pieces) > 1
        if driver.tools:
            called = await client.say("How is Oslo?", tools=True, **MUST_CALL.get(driver, {}))
            if driver is not OllamaDriver or called.calls:
                ((name, arguments),) = called.calls
                assert name == "weather"
                assert isinstance(arguments["place"], str)
                answered = await client.give_back("How is Oslo?", called, "It rains.")
                assert answered.text or answered.calls
            streamed = await client.stream_calls("How is Rome?")
            assert streamed.text or streamed.calls[0][0] == "weather"
        with pytest.raises(driver.error, match="window") as refused:
            await client.say(TOO_LONG)
        assert client.status(refused.value) == 400
        await client.close()
        said = await _said(url)
        heard = [whole.text.strip(), "".join(pieces).strip()]
        assert said[:4] == ["Say hello.", heard[0], "Count from one to five.", heard[1]]
        assert said[-1] == TOO_LONG.strip()


async def _said(url: str) -> list[str]:
    async with omoide.connect_async(url) as memory:
        return [turn.text.strip() for turn in await memory.turns("ana")]
