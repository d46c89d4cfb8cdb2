"""A framework that is not installed: the adapter says what to install."""

from __future__ import annotations

import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from omoide.errors import MissingExtra

PACKAGE = Path(__file__).parents[2] / "packages/omoide-frameworks"
FRAMEWORKS = {
    "adk": "google.adk",
    "agent_framework": "agent_framework",
    "crewai": "crewai",
    "langchain": "langchain_core",
    "langgraph": "langgraph",
    "litellm": "litellm",
    "llamaindex": "llama_index",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
}
SHARED = {"__init__", "bridge", "extras", "transcript"}


def test_every_adapter_has_an_extra() -> None:
    """And is in the table here."""
    modules = {path.stem for path in (PACKAGE / "src/omoide_frameworks").glob("*.py")} - SHARED
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {name.replace("-", "_") for name in project["optional-dependencies"]}
    assert modules == FRAMEWORKS.keys() == extras


@pytest.mark.parametrize("adapter", FRAMEWORKS)
def test_a_missing_framework_is_told_with_its_extra(
    adapter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command to run stands in the error, whether it is installed here or not."""
    framework = FRAMEWORKS[adapter]
    for name in [n for n in sys.modules if n == framework or n.startswith(f"{framework}.")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, framework, None)
    monkeypatch.delitem(sys.modules, f"omoide_frameworks.{adapter}", raising=False)
    wanted = rf"pip install --upgrade 'omoide-frameworks\[{adapter.replace('_', '-')}\]'"
    with pytest.raises(MissingExtra, match=wanted):
        import_module(f"omoide_frameworks.{adapter}")
