"""Adapters behave as the framework's own implementation of the same interface: both do the same
things, and what they answer is compared."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

import omoide
from omoide.errors import BadInput
from omoide.testing import HashEmbedder, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from omoide import SyncMemory

CALL = {"type": "function_call", "call_id": "c1", "name": "clock", "arguments": "{}"}
DONE = {"type": "function_call_output", "call_id": "c1", "output": "noon"}


@contextmanager
def opened(folder: Path) -> Iterator[SyncMemory]:
    """A memory in a file, with models that are never asked."""
    with omoide.open(
        db=folder / "m.sqlite",
        model=ScriptedModel(),
        embedder=HashEmbedder(),
        mechanisms=["search"],
        background=False,
    ) as memory:
        yield memory


async def test_a_session_of_the_agents_sdk_is_like_its_own(tmp_path: Path) -> None:
    """Items come back as they were, in order, by number; the newest is popped; all are cleared."""
    agents = pytest.importorskip("agents")
    from omoide_frameworks.openai_agents import OmoideSession

    user = {"role": "user", "content": "What time is it?"}
    reply = {
        "role": "assistant",
        "type": "message",
        "content": [{"type": "output_text", "text": "Noon.", "annotations": []}],
    }

    async def story(session: Any) -> list[Any]:  # noqa: ANN401 - of the framework
        seen = [await session.get_items(), await session.pop_item()]
        await session.add_items([user, CALL])
        await session.add_items([DONE, reply])
        await session.add_items([])
        seen += [await session.get_items(), await session.get_items(limit=2)]
        seen += [await session.get_items(limit=0), await session.get_items(limit=99)]
        seen += [await session.pop_item(), await session.pop_item(), await session.get_items()]
        await session.add_items([user])
        seen += [await session.get_items()]
        await session.clear_session()
        return [*seen, await session.get_items(), await session.pop_item()]

    with opened(tmp_path) as memory:
        ours = OmoideSession(memory, user="ana", session_id="s")
        assert isinstance(ours, agents.Session)
        theirs = agents.SQLiteSession("s", tmp_path / "theirs.sqlite")
        assert await story(ours) == await story(theirs)
        other = OmoideSession(memory, user="ana", session_id="other")
        await other.add_items([user])
        assert await ours.get_items() == []
        said = await asyncio.to_thread(memory.turns, "ana")
        assert [t.text for t in said][:2] == ["What time is it?", "Noon."]
        theirs.close()


def store_ops() -> list[Any]:
    """Batches that a store is asked for, one after the other."""
    from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp

    ana, ben = ("ana", "memories"), ("ben", "memories")
    return [
        [PutOp(ana, "a", {"text": "likes tea", "n": 1}), PutOp(ana, "b", {"text": "cat", "n": 2})],
        [PutOp(ben, "a", {"text": "a dog"}), PutOp(("ana", "deep", "er"), "x", {"n": 5})],
        [GetOp(ana, "a"), GetOp(ana, "none")],
        [SearchOp(ana, None, 10, 0), SearchOp(("ana",), None, 1, 1)],
        [SearchOp(("ana",), {"n": 2}, 10, 0), SearchOp(("ana",), {"n": {"$gte": 2}}, 10, 0)],
        [SearchOp(("ana",), {"n": {"$ne": 2}}, 10, 0), SearchOp((), None, 10, 0)],
        [ListNamespacesOp(None, None, 10, 0), ListNamespacesOp(None, 2, 10, 0)],
        [ListNamespacesOp((MatchCondition("prefix", ("ana",)),), None, 10, 0)],
        [ListNamespacesOp((MatchCondition("suffix", ("*", "er")),), None, 10, 0)],
        [PutOp(ana, "a", {"text": "likes coffee"}), GetOp(ana, "a")],
        [PutOp(ana, "a", None), PutOp(ana, "c", {"text": "1"}), PutOp(ana, "c", {"text": "2"})],
        [GetOp(ana, "a"), GetOp(ana, "c"), SearchOp(ana, None, 10, 0)],
    ]


def shown(result: Any) -> Any:  # noqa: ANN401 - of the framework
    """A result without its times."""
    if isinstance(result, list):
        return [shown(item) for item in result]
    return (result.namespace, result.key, result.value) if hasattr(result, "key") else result


async def test_a_store_of_langgraph_is_like_its_own(tmp_path: Path) -> None:
    """Every operation of the interface, blocking and not; only what a search by words finds is
    ours."""
    pytest.importorskip("langgraph")
    from langgraph.store.memory import InMemoryStore

    from omoide_frameworks.langgraph import OmoideStore

    with opened(tmp_path) as memory:
        ours, theirs = OmoideStore(memory), InMemoryStore()
        for ops in store_ops():
            assert shown(await ours.abatch(ops)) == shown(await theirs.abatch(ops)), ops
        ours.put(("cleo", "notes"), "k", {"text": "a cat called Miso"})
        ours.put(("cleo", "notes"), "l", {"text": "a house in Oslo"})
        best = ours.search(("cleo",), query="Which cat?", limit=1)
        assert [item.key for item in best] == ["k"]
        before = ours.get(("cleo", "notes"), "k")
        ours.put(("cleo", "notes"), "k", {"text": "a dog"})
        after = ours.get(("cleo", "notes"), "k")
        assert before is not None
        assert after is not None
        assert before.created_at == after.created_at <= after.updated_at
        memory.erase("cleo")
        assert ours.search(("cleo",)) == []


@pytest.mark.filterwarnings("ignore:The class .InMemoryChatMessageHistory. was deprecated")
async def test_a_history_of_langchain_is_like_its_own(tmp_path: Path) -> None:
    """Messages come back as they were, tool calls included."""
    pytest.importorskip("langchain_core")
    from langchain_core.chat_history import InMemoryChatMessageHistory
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    from omoide_frameworks.langchain import OmoideChatMessageHistory

    call: Any = {"name": "clock", "args": {}, "id": "c1", "type": "tool_call"}
    messages = [
        SystemMessage("Be brief."),
        HumanMessage("What time is it?"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("noon", tool_call_id="c1"),
        AIMessage("Noon."),
    ]

    with opened(tmp_path) as memory:
        ours = OmoideChatMessageHistory(memory, user="ana", session="s")
        theirs = InMemoryChatMessageHistory()
        for history in (ours, theirs):
            history.add_messages(messages[:2])
            await history.aadd_messages(messages[2:])
        assert ours.messages == theirs.messages == await ours.aget_messages()
        assert [turn.text for turn in memory.turns("ana")] == ["What time is it?", "Noon."]
        await ours.aclear()
        assert ours.messages == []
        assert len(memory.turns("ana")) == 2


def test_blocking_code_needs_a_blocking_memory() -> None:
    """The error says which."""
    pytest.importorskip("langchain_core")
    from omoide_frameworks.langchain import OmoideChatMessageHistory

    history = OmoideChatMessageHistory(object(), user="ana", session="s")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"omoide\.open"):
        _ = history.messages


async def test_a_memory_of_llamaindex_is_like_its_own(tmp_path: Path) -> None:
    """Messages are put, set, read and reset; what memory adds is never stored."""
    pytest.importorskip("llama_index.core")
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import ChatMemoryBuffer

    from omoide_frameworks.llamaindex import OmoideMemory

    hello, hi = (
        ChatMessage(role="user", content="Hello."),
        ChatMessage(role="assistant", content="Hi."),
    )
    with opened(tmp_path) as memory:
        memory.record("ana", "I have a cat called Miso.", session="before")
        ours = OmoideMemory(memory, user="ana", session="s")
        theirs = ChatMemoryBuffer.from_defaults(token_limit=1000)
        for kept in (ours, theirs):
            kept.put(hello)
            await kept.aput(hi)
            kept.set([hello, hi, hello])
        assert ours.get_all() == theirs.get_all() == [hello, hi, hello]
        asked = await ours.aget("What is my cat called?")
        assert "Miso" in str(asked[0].content)
        assert asked[1:] == [hello, hi, hello]
        await ours.areset()
        assert await ours.aget_all() == []


async def test_a_service_of_adk_adds_searches_and_deletes(tmp_path: Path) -> None:
    """A session that is added twice is recorded once; apps do not share a memory unless told to."""
    pytest.importorskip("google.adk")
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session
    from google.genai import types

    from omoide_frameworks.adk import OmoideMemoryService

    def event(author: str, text: str) -> Event:
        content = types.Content(role="user", parts=[types.Part(text=text)])
        return Event(author=author, content=content)

    events = [
        event("user", "I have a cat called Miso."),
        event("friend", "Lovely."),
        Event(author="x"),
    ]
    session = Session(id="s", app_name="app", user_id="ana", events=events)
    with opened(tmp_path) as memory:
        service = OmoideMemoryService(memory)
        await service.add_session_to_memory(session)
        await service.add_session_to_memory(session)
        assert len(memory.turns("app/ana")) == 2
        who: Any = {"app_name": "app", "user_id": "ana"}
        found = (await service.search_memory(**who, query="cat")).memories
        assert found[0].content.parts[0].text == "I have a cat called Miso."
        assert (found[0].author, found[0].custom_metadata["kind"]) == ("user", "turn")
        other = await service.search_memory(app_name="other", user_id="ana", query="cat")
        assert other.memories == []
        await service.delete_memory(**who, memory_id=found[0].id)
        assert [turn.text for turn in memory.turns("app/ana")] == ["Lovely."]
        with pytest.raises(BadInput, match="deleted by id"):
            await service.delete_memory(**who, memory_id="sentence:v1-1")
        assert (await service.search_memory(**who, query=" ")).memories == []


async def test_the_tools_for_pydantic_ai(tmp_path: Path) -> None:
    """The model calls them, and gets what was said."""
    pydantic_ai = pytest.importorskip("pydantic_ai")
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from omoide_frameworks.pydantic_ai import memory_toolset

    calls = [
        ToolCallPart("remember", {"text": "I have a cat called Miso."}),
        ToolCallPart("recall", {"query": "cat"}),
    ]
    seen: list[str] = []

    def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(str(messages[-1].parts[-1].content))  # type: ignore[union-attr]
        return ModelResponse(parts=[calls.pop(0) if calls else TextPart("Done.")])

    with opened(tmp_path) as memory:
        tools = memory_toolset(memory, user="ana")
        agent = pydantic_ai.Agent(FunctionModel(script), toolsets=[tools])
        assert (await agent.run("Remember my cat.")).output == "Done."
    assert seen[1] == "stored"
    assert "Miso" in seen[2]


async def test_litellm_keeps_nothing_of_a_call_that_is_over(tmp_path: Path) -> None:
    """Neither of one that only called a tool, nor of many streams that their readers left."""
    litellm = pytest.importorskip("litellm")
    from omoide_frameworks.litellm import MOST, OmoideCallback

    function = {"name": "clock", "arguments": "{}"}
    choice = litellm.Choices(message={"tool_calls": [{"id": "c", "function": function}]})
    answer = litellm.ModelResponse(choices=[choice])
    with opened(tmp_path) as memory:
        callback = OmoideCallback(memory)
        call = {"user": "ana", "litellm_call_id": "one", "messages": [{"role": "user"}]}
        assert await callback.async_pre_call_deployment_hook(call, None) is not None
        await callback.async_post_call_success_deployment_hook(call, answer, None)
        await callback.async_log_success_event(call, answer, None, None)
        assert callback._begun == {}
        for number in range(MOST + 1):
            left = {**call, "litellm_call_id": str(number)}
            await callback.async_pre_call_deployment_hook(left, None)
        assert len(callback._begun) == MOST


async def test_litellm_goes_on_without_memory_for_a_name_that_no_user_can_have(
    tmp_path: Path,
) -> None:
    """Memory never fails a call."""
    pytest.importorskip("litellm")
    from omoide_frameworks.litellm import OmoideCallback

    call = {"user": "a\nb", "litellm_call_id": "one", "messages": [{"role": "user"}]}
    with opened(tmp_path) as memory:
        assert await OmoideCallback(memory).async_pre_call_deployment_hook(call, None) is None
