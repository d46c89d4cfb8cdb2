"""Other libraries' memories in a run, with a fake in the place of their client."""

from __future__ import annotations

import importlib.util
from datetime import UTC, datetime
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from omoide.domain import Owner, Session, Speaker, Turn
from omoide.engine import complete
from omoide.errors import BadReply, MissingExtra, ModelUnavailable
from omoide.mechanisms import ReplyRequest, SessionToDigest
from omoide.testing import HashEmbedder, ScriptedModel
from omoide_bench.methods import parse, registry
from omoide_bench.rivals.bridge import Bridge, in_thread
from omoide_bench.rivals.langmem import open_langmem, tool_answer
from omoide_bench.rivals.mem0 import open_mem0
from omoide_bench.rivals.method import Rival
from omoide_bench.running.execute import execute
from tests.bench.bench_lab import course, job, lab

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
ANA = Owner(tenant="t", user="ana")
INSTALLED = importlib.util.find_spec("mem0") is not None
LANGMEM = importlib.util.find_spec("langmem") is not None


class Client:
    """A client in mem0's form: facts are the model's lines, and search returns all it has."""

    def __init__(self, bridge: Bridge, dimensions: int, *, hides_errors: bool = False) -> None:
        assert dimensions == 64
        self._bridge = bridge
        self._hides_errors = hides_errors
        self.kept: list[dict[str, Any]] = []

    def add(
        self, messages: list[dict[str, str]], *, user_id: str, metadata: dict[str, str], infer: bool
    ) -> object:
        """Keep the model's lines, or the messages."""
        assert user_id == "ana"
        texts = [message["content"] for message in messages]
        if infer:
            try:
                texts = self._bridge.answer(messages).splitlines()
            except Exception:
                if not self._hides_errors:
                    raise
                texts = []
        self._bridge.embed(texts)
        self.kept += [{"id": text, "memory": text, "metadata": metadata} for text in texts]
        return self.kept

    def search(self, query: str, *, top_k: int, filters: dict[str, str]) -> dict[str, Any]:
        """The latest ones first."""
        assert filters == {"user_id": "ana"}
        self._bridge.embed([query])
        return {"results": self.kept[::-1][:top_k]}


def rival(*, infer: bool, hides_errors: bool = False) -> Rival:
    """The mechanism over the fake client."""
    opened = partial(Client, hides_errors=hides_errors)
    embedder = HashEmbedder(dimensions=64)
    return Rival("mem0", embedder=embedder, infer=infer, items=2, open_client=opened)


def session(model: ScriptedModel) -> SessionToDigest:
    """A session of two turns."""
    said = ((Speaker.USER, "I have a cat."), (Speaker.ASSISTANT, "What is her name?"))
    turns = tuple(
        Turn(id=f"t{i}", position=i, session=1, speaker=who, text=text, time=NOW, language="en")
        for i, (who, text) in enumerate(said)
    )
    return SessionToDigest(
        owner=ANA,
        session=Session(number=1, started=NOW, last=NOW, ended=NOW),
        turns=turns,
        language="en",
        ask=partial(complete, model),
    )


def reply_request() -> ReplyRequest:
    """A message of the user."""
    return ReplyRequest(owner=ANA, text="My cat?", session=(), now=NOW, language="en")


async def test_facts_are_written_by_our_model_once() -> None:
    """The library's request goes to the model of the run; digesting again asks nothing."""
    model = ScriptedModel(["Has a cat.\nLikes tea."])
    mechanism = rival(infer=True)
    await mechanism.digest(session(model))
    await mechanism.digest(session(model))
    found = await mechanism.contribute(reply_request())
    assert [one.text for one in found] == ["Likes tea.", "Has a cat."]
    assert found[0].sources == ()
    assert found[0].value > found[1].value
    assert len(model.requests) == 1


async def test_messages_keep_their_turns() -> None:
    """Without inference no model is asked, and what is found cites its turn."""
    mechanism = rival(infer=False)
    await mechanism.digest(session(ScriptedModel([])))
    found = await mechanism.contribute(reply_request())
    assert [one.sources for one in found] == [("t1",), ("t0",)]
    assert found[1].text == "User: I have a cat."


@pytest.mark.parametrize("hides_errors", [True, False])
async def test_an_unreachable_model_is_not_an_empty_memory(hides_errors: bool) -> None:
    """A library that swallows the error does not hide it from the run."""
    mechanism = rival(infer=True, hides_errors=hides_errors)
    with pytest.raises(ModelUnavailable):
        await mechanism.digest(session(ScriptedModel([ModelUnavailable("gone")])))


async def test_a_failure_of_the_library_is_a_bad_reply() -> None:
    """What breaks inside the library costs the session, with its name."""
    mechanism = rival(infer=True)
    mechanism._open = lambda bridge, dimensions: Broken()
    with pytest.raises(BadReply, match="mem0 failed: KeyError"):
        await mechanism.digest(session(ScriptedModel([])))


class Broken:
    """A client that fails."""

    def add(self, *args: object, **options: object) -> object:
        """Fail as a library does."""
        raise KeyError("memory")

    def search(self, *args: object, **options: object) -> dict[str, Any]:
        """Find nothing."""
        return {"results": []}


async def test_the_model_is_only_asked_while_a_session_is_digested() -> None:
    """A library that asks at any other time is told so."""
    bridge = Bridge(HashEmbedder())
    with pytest.raises(RuntimeError, match="outside of a session"):
        await in_thread(lambda: bridge.answer([{"role": "user", "content": "Hi"}]))


@pytest.mark.parametrize("name", ["mem0", "mem0:raw", "langmem"])
def test_rivals_are_methods_with_our_number_of_items(name: str) -> None:
    """They are named like any other, and asked for as many items as search may bring."""
    assert parse(name, registry()).mechanisms == (name,)
    parts: Any = SimpleNamespace(
        budget=SimpleNamespace(items=30), needed_embedder=lambda name: HashEmbedder()
    )
    method = registry()[name].make(parts)
    assert isinstance(method, Rival)
    assert (method.name, method._items) == (name, 30)


@pytest.mark.parametrize(
    "opened",
    [
        pytest.param(open_mem0, marks=pytest.mark.skipif(INSTALLED, reason="is installed")),
        pytest.param(open_langmem, marks=pytest.mark.skipif(LANGMEM, reason="is installed")),
    ],
)
async def test_a_missing_library_says_what_to_install(
    opened: Callable[[Bridge, int], object],
) -> None:
    """The error names the extra."""
    bridge = Bridge(HashEmbedder())
    with pytest.raises(MissingExtra, match=r"omoide-bench\[rivals\]"):
        await in_thread(lambda: opened(bridge, 64))


MEMORY_TOOL = {
    "function": {
        "name": "Memory",
        "description": "Store one.",
        "parameters": {"type": "object", "properties": {"content": {"type": "string"}}},
    }
}


def test_calls_of_tools_are_asked_for_as_json_without_random_ids() -> None:
    """The same request twice although the library made new ids; the answer has the real ones."""
    asked = []

    def answer(messages: list[dict[str, str]], *, schema: object) -> str:
        asked.append((messages, schema))
        return '{"calls": [{"name": "Memory", "args": {"content": "id-1 has a cat."}}]}'

    for _ in range(2):
        name = str(uuid4())
        said = [{"role": "user", "content": f"<session {name}>I have a cat.</session {name}>"}]
        text, calls = tool_answer(answer, said, [MEMORY_TOOL])
        assert calls[0]["args"] == {"content": f"{name} has a cat."}
        assert name in text
    assert asked[0] == asked[1]
    assert "Store one." in asked[0][0][-1]["content"]


def test_an_answer_that_is_no_call_is_an_error() -> None:
    """It is not taken for a session without facts."""
    with pytest.raises(ValueError, match="Expecting"):
        tool_answer(lambda _, schema: "Noted!", [], [MEMORY_TOOL])


@pytest.mark.filterwarnings("ignore")  # of the library
@pytest.mark.skipif(not LANGMEM, reason="needs omoide-bench[rivals]")
async def test_langmem_itself_keeps_and_updates_what_the_model_calls_for() -> None:
    """The real library writes memories by our model's JSON and finds them by our vectors."""
    insert = '{"calls": [{"name": "Memory", "args": {"content": "User has a cat."}}]}'
    model = ScriptedModel([insert])
    method = Rival("langmem", open_client=open_langmem, embedder=HashEmbedder(), items=3)
    await method.digest(session(model))
    [found] = await method.contribute(reply_request())
    assert (found.text, found.time) == ("User has a cat.", NOW)
    assert model.requests[0].schema is not None


@pytest.mark.skipif(not INSTALLED, reason="needs omoide-bench[rivals]")
async def test_mem0_itself_in_a_run() -> None:
    """The real library finds the turns of a small conversation by our vectors."""
    work = job("locomo", "mem0:raw", categories="single-hop")
    async with lab(ScriptedModel(["a red kayak"])) as parts:
        result = await execute(work, lab=parts, course=course(work))
    [item] = result.methods[0].items
    assert item.scores["evidence"] == 1
