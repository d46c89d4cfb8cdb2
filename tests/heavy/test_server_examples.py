"""The examples run as they stand, each where what it shows can be imported."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from omoide.testing.endpoint import FakeEndpoint
from tests.server.serving import listening, serving

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOWN = {
    "curl.sh": "",
    "openai_client.py": "openai",
    "anthropic_client.py": "anthropic",
    "ollama_client.py": "ollama",
    "langchain_chat.py": "langchain_openai",
    "llamaindex_chat.py": "llama_index",
    "pydantic_ai_agent.py": "pydantic_ai",
}


def test_every_example_is_tested() -> None:
    """None is left to rot."""
    there = {path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".sh")}
    assert there == SHOWN.keys()


@pytest.mark.parametrize("name", SHOWN)
async def test_an_example_is_remembered_from_one_session_to_the_next(
    tmp_path: Path, name: str
) -> None:
    """The second talk's prompt holds what the first one told."""
    if SHOWN[name] and find_spec(SHOWN[name]) is None:
        pytest.skip(f"{SHOWN[name]} is not installed")
    if name.endswith(".sh") and shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    runner = "sh" if name.endswith(".sh") else sys.executable
    async with (
        FakeEndpoint(otherwise="Lovely.") as endpoint,
        serving(tmp_path, url=endpoint.url) as bench,
        listening(bench.app) as url,
    ):
        bench.iterator.answers.append("The user has a cat called Miso.")
        process = await asyncio.create_subprocess_exec(
            *(runner, str(EXAMPLES / name)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, "OMOIDE_URL": url},
        )
        output = (await process.communicate())[0].decode()
    assert process.returncode == 0, output
    assert output.count("Lovely.") >= 2  # both replies; recall may show one again
    chats = [r.body["messages"] for r in endpoint.requests if r.path.endswith("completions")]
    assert (
        " a cat called Miso." in chats[-1][-1]["content"]
    )  # as it was said, or as the summary says it
