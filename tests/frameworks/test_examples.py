"""The examples run as they stand, with the real framework, against a model that is scripted.

`make frameworks` has an environment for those that cannot be installed beside the others.
"""

from __future__ import annotations

import asyncio
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from omoide.testing.endpoint import FakeEndpoint
from tests.server.serving import listening, serving

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples/frameworks"
NEEDS = {
    "adk_memory_service.py": ("google.adk", "litellm"),
    "agent_framework_provider.py": ("agent_framework",),
    "crewai_memory.py": (),
    "langgraph_node.py": ("langgraph", "langchain_openai"),
    "litellm_callback.py": ("litellm",),
    "llamaindex_memory.py": ("llama_index.llms.openai_like",),
    "openai_agents_session.py": ("agents",),
    "pydantic_ai_capability.py": ("pydantic_ai",),
}
OWN_PYTHON = {"crewai_memory.py": ROOT / ".venv/crewai/bin/python"}
"""Frameworks that cannot be installed beside our server, each with its own environment."""
QUIET = {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false"}


def missing(name: str) -> str:
    """A module or an environment that is not installed; empty if none is."""
    own = OWN_PYTHON.get(name)
    if own is not None and not (own.parent.parent / ".ready").exists():
        return f"{own.relative_to(ROOT)} (make crewai)"
    for module in NEEDS[name]:
        try:
            if find_spec(module) is None:
                return module
        except ModuleNotFoundError:
            return module
    return ""


def test_every_example_is_tested() -> None:
    """None is left to rot."""
    assert {path.name for path in EXAMPLES.glob("*.py")} == NEEDS.keys()


@pytest.mark.parametrize("name", NEEDS)
async def test_what_was_told_in_one_thread_is_known_in_the_next(tmp_path: Path, name: str) -> None:
    """The second prompt has what the first thread told; both sides of both are recorded."""
    if lacking := missing(name):
        pytest.skip(f"{lacking} is not installed here")
    async with (
        FakeEndpoint(otherwise="Lovely.") as model,
        serving(tmp_path) as bench,
        listening(bench.app) as url,
    ):
        process = await asyncio.create_subprocess_exec(
            *(str(OWN_PYTHON.get(name, sys.executable)), str(EXAMPLES / name)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, **QUIET, "OMOIDE_URL": url, "MODEL_URL": model.url},
        )
        output = (await process.communicate())[0].decode()
        assert process.returncode == 0, output
        (user,) = await bench.memory().users()
        said = [turn.text.strip() for turn in await bench.memory().turns(user)]
        threads = {session.key for session in await bench.memory().sessions(user)}
    assert output.count("Lovely.") == 2
    chats = [r.body["messages"] for r in model.requests if r.path.endswith("completions")]
    assert len(chats) == 2
    assert "cat called Miso" in str(chats[1])
    assert said == ["I have a cat called Miso.", "Lovely.", "What is my cat called?", "Lovely."]
    assert threads == {"monday", "tuesday"}
