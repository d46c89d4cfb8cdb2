"""langmem (LangChain): memories that the model inserts and updates by tool calls, found by vectors.

langmem's own manager runs over LangGraph's store in this process, with our model and embedder; its
instructions and search stay as they are. Our models answer with text, so a call of a tool is asked
for as JSON by a schema made from langmem's tools. langmem puts random ids into its prompts; the
model sees numbers in their place, so that the same session always makes the same request.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from omoide.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omoide_bench.rivals.bridge import Bridge
    from omoide_bench.rivals.method import RivalClient

_ID = re.compile(r"\b[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}\b")
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "user"}
_ASKED = """These functions can be called:
{tools}

Answer only with JSON: {{"calls": [{{"name": a function, "args": its arguments}}, …]}}.
To call none, answer {{"calls": []}}."""


def open_langmem(bridge: Bridge, dimensions: int) -> RivalClient:
    """An empty langmem memory over the bridge's model and embedder. Raises `MissingExtra`."""
    try:
        from langgraph.store.memory import InMemoryStore
        from langmem import create_memory_store_manager
    except ImportError as error:
        raise MissingExtra(
            "langmem is not installed: pip install 'omoide-bench[rivals]'"
        ) from error
    store = InMemoryStore(index={"dims": dimensions, "embed": bridge.embed})
    manager = create_memory_store_manager(_chat_model(bridge), store=store)
    return _Client(manager, store)


class _Client:
    """langmem's manager and store as a `RivalClient`."""

    def __init__(self, manager: Any, store: Any) -> None:  # noqa: ANN401 - of the library
        self._manager = manager
        self._store = store
        self._at: dict[str, str] = {}
        """The time of the session that wrote each memory; langmem keeps none."""

    def add(
        self, messages: list[dict[str, str]], *, user_id: str, metadata: dict[str, str], infer: bool
    ) -> object:
        """Have the model update the memories."""
        del infer
        config = {"configurable": {"langgraph_user_id": user_id}}
        written = self._manager.invoke({"messages": messages}, config=config)
        self._at |= {put["key"]: metadata["at"] for put in written}
        return written

    def search(self, query: str, *, top_k: int, filters: dict[str, str]) -> dict[str, Any]:
        """The memories with the nearest vectors."""
        found = self._store.search(("memories", filters["user_id"]), query=query, limit=top_k)
        return {
            "results": [
                {
                    "id": item.key,
                    "memory": _text(item.value["content"]),
                    "metadata": {"at": self._at[item.key]},
                    "score": item.score,
                }
                for item in found
            ]
        }


def _text(content: object) -> str:
    """A memory's text; langmem keeps it under `content` unless another schema is set."""
    return str(content.get("content", content) if isinstance(content, dict) else content)


def tool_answer(
    ask: Callable[..., str], messages: Sequence[dict[str, str]], tools: Sequence[dict[str, Any]]
) -> tuple[str, list[dict[str, Any]]]:
    """The model's text and calls of tools, asked for as JSON, with numbers in place of ids."""
    ids: dict[str, str] = {}

    def numbered(text: str) -> str:
        return _ID.sub(lambda match: ids.setdefault(match[0], f"id-{len(ids) + 1}"), text)

    functions = [tool["function"] for tool in tools]
    asked = [{**message, "content": numbered(message["content"])} for message in messages]
    if functions:
        listed = "\n".join(json.dumps(one, ensure_ascii=False) for one in functions)
        asked.append({"role": "user", "content": _ASKED.format(tools=numbered(listed))})
    text = ask(asked, schema=_schema(functions) if functions else None)
    for full, number in reversed(ids.items()):  # id-12 before id-1
        text = text.replace(number, full)
    return text, _calls(text) if functions else []


def _schema(functions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    calls = [
        {
            "type": "object",
            "properties": {"name": {"const": one["name"]}, "args": one["parameters"]},
            "required": ["name", "args"],
        }
        for one in functions
    ]
    listed = {"type": "array", "items": {"anyOf": calls}}
    return {"type": "object", "properties": {"calls": listed}, "required": ["calls"]}


def _calls(text: str) -> list[dict[str, Any]]:
    """The calls in an answer. Raises `ValueError` if it is not the JSON that was asked for."""
    start, end = text.find("{"), text.rfind("}")
    found = json.loads(text[start : end + 1])["calls"]
    return [{"name": call["name"], "args": call["args"], "id": f"call-{n}"}
            for n, call in enumerate(found)]  # fmt: skip


def _chat_model(bridge: Bridge) -> Any:  # noqa: ANN401 - a class of the library
    """The bridge's model as a chat model of LangChain that can call tools."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.utils.function_calling import convert_to_openai_tool

    class BridgedModel(BaseChatModel):
        """Asks our model; tools are bound as keyword arguments of each call."""

        @property
        def _llm_type(self) -> str:
            return "omoide-bench"

        def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:  # noqa: ANN401
            """The model with these tools."""
            del options
            return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])

        def _generate(self, messages: list[Any], *args: Any, **options: Any) -> Any:  # noqa: ANN401
            del args
            said = [{"role": _ROLES[m.type], "content": str(m.text)} for m in messages]
            text, calls = tool_answer(bridge.answer, said, options.get("tools", ()))
            message = AIMessage(content="" if calls else text, tool_calls=calls)
            return ChatResult(generations=[ChatGeneration(message=message)])

    return BridgedModel()
