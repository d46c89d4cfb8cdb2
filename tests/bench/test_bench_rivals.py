"""Other libraries' memories in a run, with a fake in the place of mem0's client."""

from __future__ import annotations

import importlib.util
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from omoide.domain import Owner, Session, Speaker, Turn
from omoide.engine import complete
from omoide.errors import BadReply, MissingExtra, ModelUnavailable
from omoide.mechanisms import ReplyRequest, SessionToDigest
from omoide.testing import HashEmbedder, ScriptedModel
from omoide_bench.methods import parse, registry
from omoide_bench.rivals.bridge import Bridge, in_thread
from omoide_bench.rivals.mem0 import Mem0, open_mem0
from omoide_bench.running.execute import execute
from tests.bench.bench_lab import course, job, lab

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
ANA = Owner(tenant="t", user="ana")
INSTALLED = importlib.util.find_spec("mem0") is not None


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


def mem0(*, infer: bool, hides_errors: bool = False) -> Mem0:
    """The mechanism over the fake client."""
    opened = partial(Client, hides_errors=hides_errors)
    return Mem0(embedder=HashEmbedder(dimensions=64), infer=infer, items=2, open_client=opened)


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
    mechanism = mem0(infer=True)
    await mechanism.digest(session(model))
    await mechanism.digest(session(model))
    found = await mechanism.contribute(reply_request())
    assert [one.text for one in found] == ["Likes tea.", "Has a cat."]
    assert found[0].sources == ()
    assert found[0].value > found[1].value
    assert len(model.requests) == 1


async def test_messages_keep_their_turns() -> None:
    """Without inference no model is asked, and what is found cites its turn."""
    mechanism = mem0(infer=False)
    await mechanism.digest(session(ScriptedModel([])))
    found = await mechanism.contribute(reply_request())
    assert [one.sources for one in found] == [("t1",), ("t0",)]
    assert found[1].text == "User: I have a cat."


@pytest.mark.parametrize("hides_errors", [True, False])
async def test_an_unreachable_model_is_not_an_empty_memory(hides_errors: bool) -> None:
    """A library that swallows the error does not hide it from the run."""
    mechanism = mem0(infer=True, hides_errors=hides_errors)
    with pytest.raises(ModelUnavailable):
        await mechanism.digest(session(ScriptedModel([ModelUnavailable("gone")])))


async def test_a_failure_of_the_library_is_a_bad_reply() -> None:
    """What breaks inside the library costs the session, with its name."""
    mechanism = mem0(infer=True)
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


def test_rivals_are_methods() -> None:
    """They are named like any other."""
    assert parse("mem0:raw", registry()).mechanisms == ("mem0:raw",)


@pytest.mark.skipif(INSTALLED, reason="mem0 is installed")
async def test_a_missing_library_says_what_to_install() -> None:
    """The error names the extra."""
    bridge = Bridge(HashEmbedder())
    with pytest.raises(MissingExtra, match=r"omoide-bench\[rivals\]"):
        await in_thread(lambda: open_mem0(bridge, 64))


@pytest.mark.skipif(not INSTALLED, reason="needs omoide-bench[rivals]")
async def test_mem0_itself_in_a_run() -> None:
    """The real library finds the turns of a small conversation by our vectors."""
    work = job("locomo", "mem0:raw", categories="single-hop")
    async with lab(ScriptedModel(["a red kayak"])) as parts:
        result = await execute(work, lab=parts, course=course(work))
    [item] = result.methods[0].items
    assert item.scores["evidence"] == 1
