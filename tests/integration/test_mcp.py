"""The memory as tools of an agent, spoken to by the official client."""

from __future__ import annotations

import os
import re
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

pytest.importorskip("mcp", reason="pip install 'omoide[mcp]'")

from mcp import Client, StdioServerParameters

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.engine.runtime import Runtime
from omoide.server.keys import ApiKeys, Scope
from omoide.server.options import Options
from omoide.server.tools import make_tools
from omoide.server.tools_http import guarded_app
from omoide.settings import Settings
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


CAT = "My cat is called Miso."
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
HEADERS = {"accept": "application/json, text/event-stream", "host": "127.0.0.1:8378"}


@asynccontextmanager
async def remembered(folder: Path) -> AsyncIterator[Runtime]:
    """A runtime without a real model."""
    runtime = Runtime(
        Settings(form="paper"),
        store=await SqliteStore.open(folder / "m.sqlite"),
        model=ScriptedModel(),
        summariser=ScriptedModel(["The user has a cat called Miso."]),
        embedder=HashEmbedder(),
        clock=FrozenClock(),
        name="test",
    )
    try:
        yield runtime
    finally:
        await runtime.store.close()


async def called(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    """The structured result of a tool that must not fail."""
    result = await client.call_tool(tool, dict(arguments))
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def test_an_agent_remembers_recalls_and_sees_the_memory(tmp_path: Path) -> None:
    """What one call records another finds, and a digested session is shown with sources."""
    async with (
        remembered(tmp_path) as runtime,
        Client(make_tools(runtime, user="ana")) as client,
    ):
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == {
            *("remember", "recall", "memory", "facts", "timeline", "correct", "forget"),
        }
        kept = await called(client, "remember", text=CAT)
        found = await called(client, "recall", query="cat")
        assert found["items"][0]["text"] == CAT
        assert found["items"][0]["sources"] == [kept["turn"]]
        await runtime.memory().end_session("ana")
        await runtime.memory().run_jobs()
        shown = await called(client, "memory")
        assert shown["version"] == 1
        assert shown["sentences"][0]["sources"] == [kept["turn"]]


async def test_an_agent_reads_and_corrects_facts(tmp_path: Path) -> None:
    """By id, as the person says; the timeline tells both, and an unknown id is named."""
    async with (
        remembered(tmp_path) as runtime,
        Client(make_tools(runtime, user="ana")) as client,
    ):
        await called(client, "remember", text=CAT)
        await runtime.memory().end_session("ana")
        await runtime.memory().run_jobs()
        (fact,) = (await called(client, "facts", about="user"))["facts"]
        assert fact["text"] == "The user has a cat called Miso."
        assert (await called(client, "facts", at="2020-01-01T00:00:00Z"))["facts"] == []
        told = "The user has a cat called Momo."
        assert (await called(client, "correct", fact=fact["id"], text=told))["text"] == told
        changes = (await called(client, "timeline"))["changes"]
        assert changes[-1]["before"] == [fact["text"]]
        failed = await client.call_tool("correct", {"fact": "none", "text": told})
        assert failed.is_error
        assert "there is no fact" in str(failed.content)


async def test_forgetting_shows_first_and_removes_when_confirmed(tmp_path: Path) -> None:
    """Without `confirm` nothing goes; with it the words are gone."""
    async with (
        remembered(tmp_path) as runtime,
        Client(make_tools(runtime, user="ana")) as client,
    ):
        await called(client, "remember", text=CAT)
        await called(client, "remember", text="I live in York.")
        seen = await called(client, "forget", text="Miso")
        assert seen["turns"] == [CAT]
        assert not seen["done"]
        assert len(await runtime.memory().turns("ana")) == 2
        assert (await called(client, "forget", text="Miso", confirm=True))["done"]
        assert [turn.text for turn in await runtime.memory().turns("ana")] == ["I live in York."]


async def test_forgetting_for_a_named_user_leaves_the_others_alone(tmp_path: Path) -> None:
    """Also the user whom the tools are for."""
    async with (
        remembered(tmp_path) as runtime,
        Client(make_tools(runtime, user="ana")) as client,
    ):
        for user in ("ana", "ben"):
            await called(client, "remember", text=CAT, user=user)
        assert (await called(client, "forget", text="Miso", confirm=True, user="ben"))["done"]
        assert await runtime.memory().turns("ben") == ()
        assert [turn.text for turn in await runtime.memory().turns("ana")] == [CAT]


async def test_users_are_kept_apart_and_errors_say_what_to_do(tmp_path: Path) -> None:
    """Another user's words are not found, and bad input is told in our words."""
    async with (
        remembered(tmp_path) as runtime,
        Client(make_tools(runtime, user="ana")) as client,
    ):
        await called(client, "remember", text=CAT, user="ben")
        assert (await called(client, "recall", query="cat"))["items"] == []
        failed = await client.call_tool("remember", {"text": "  "})
        assert failed.is_error
        assert "empty" in str(failed.content)


@pytest.mark.heavy
async def test_the_command_speaks_over_stdio(tmp_path: Path) -> None:
    """`omoide mcp` as a process, as a desktop agent starts it; what it recorded outlives it."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "omoide.cli", "--db", str(tmp_path / "m.sqlite"), "--user", "ana", "mcp"],
        env={**os.environ, "OMOIDE_EMBEDDER": "none"},
    )
    async with Client(command) as client:
        await called(client, "remember", text=CAT)
        assert (await called(client, "recall", query="cat"))["items"][0]["text"] == CAT
    async with Client(command) as client:
        assert (await called(client, "recall", query="cat"))["items"][0]["text"] == CAT


async def test_over_http_a_key_of_the_tenant_with_every_scope_is_needed(tmp_path: Path) -> None:
    """No key, a key without the right to erase, and another tenant's key are refused."""
    keys = ApiKeys.for_file(tmp_path / "m.sqlite")

    def made(tenant: str, *scopes: Scope) -> str:
        key = keys.create(tenant=tenant, name="k", scopes=scopes, at=FrozenClock().now())
        return key.secret

    narrow = made("default", Scope.READ, Scope.WRITE)
    foreign, full = made("other", *Scope), made("default", *Scope)
    async with remembered(tmp_path) as runtime:
        tools = make_tools(runtime, user="ana")
        app = guarded_app(tools, keys=keys, options=Options(), tenant="default")
        transport = httpx.ASGITransport(app=app)
        async with (
            tools.session_manager.run(),
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8378") as client,
        ):
            statuses = []
            for secret in ("", narrow, foreign, full):
                bearer = {"authorization": f"Bearer {secret}"} if secret else {}
                answered = await client.post("/mcp", json=INITIALIZE, headers=HEADERS | bearer)
                statuses.append(answered.status_code)
    assert statuses == [401, 403, 403, 200]


async def test_memory_can_be_attached_by_hand(tmp_path: Path) -> None:
    """As resources of the person and of others, and as prompts."""
    async with remembered(tmp_path) as runtime:
        memory = runtime.memory()
        await memory.record("me", CAT)
        await memory.end_session("me")
        await memory.run_jobs()
        async with Client(make_tools(runtime, user="me")) as client:
            listed = {str(r.uri) for r in (await client.list_resources()).resources}
            assert listed == {"memory://summary", "memory://facts"}
            templates = (await client.list_resource_templates()).resource_templates
            assert len(templates) == 2
            for uri in ("memory://summary", "memory://facts", "memory://users/me/summary"):
                (content,) = (await client.read_resource(uri)).contents
                assert "cat called Miso" in str(content)
            (nobody,) = (await client.read_resource("memory://users/ben/facts")).contents
            assert "No facts are known yet." in str(nobody)
            names = {prompt.name for prompt in (await client.list_prompts()).prompts}
            assert names == {"about_me", "with_memory"}
            asked = await client.get_prompt("with_memory", {"question": "What is my cat called?"})
            assert "Miso" in str(asked.messages[0].content)
            assert "What is my cat called?" in str(asked.messages[0].content)
            shown = await client.get_prompt("about_me", {})
            assert "cat called Miso" in str(shown.messages[0].content)


def test_the_skill_names_the_tools_that_there_are() -> None:
    """And has the header that agents look for."""
    skill = (Path(__file__).parents[2] / "skills/omoide-memory/SKILL.md").read_text()
    assert re.match(r"---\nname: omoide-memory\ndescription: .+\n---\n", skill)
    named = set(re.findall(r"^\| `(\w+)`", skill, re.MULTILINE))
    assert named == {"remember", "recall", "memory", "facts", "timeline", "correct", "forget"}
