"""The proxy in one process: what it adds, what it leaves alone, and what happens in trouble."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from omoide.adapters.models.adapter import Adapter, author_name
from omoide.adapters.models.lazy import LazyChat
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import Speaker
from omoide.errors import ContextTooLong, ModelStalled, ModelUnavailable, StoreFull
from omoide.ports import Skill
from omoide.server.embedded import EngineUpstream
from omoide.server.options import Options
from omoide.server.upstream import UpstreamRequest
from omoide.testing import ScriptedModel
from omoide.testing.endpoint import DONE, Scripted, event, failure, stream, whole
from omoide.wire.connecting import proxy_to
from tests.unit.conftest import SETTINGS

from .serving import CAT, CHAT, M1, Bench, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from omoide.mechanisms.base import ReplyRequest

TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A running server whose upstream is in memory."""
    async with serving(tmp_path) as bench:
        yield bench


@pytest.fixture
async def own(tmp_path: Path) -> AsyncIterator[Bench]:
    """A running server that answers with the engine's own model."""
    async with serving(tmp_path, embedded=True) as bench:
        yield bench


async def test_memory_is_added_and_told_in_headers(bench: Bench) -> None:
    """The upstream sees the memory and what came to mind; the client sees how much of it."""
    await bench.remember()
    response = await bench.chat({"role": "system", "content": "Be brief."}, "My cat is ill.")
    system, last = bench.upstairs.requests[-1].body["messages"]
    assert system["content"].startswith("Be brief.")
    assert M1 in system["content"]
    assert M1 in last["content"]
    assert last["content"].endswith("My cat is ill.")
    told = {k: v for k, v in response.headers.items() if k.startswith("x-omoide")}
    assert told.pop("x-omoide-memory-tokens").isdecimal()
    assert told == {
        "x-omoide-recalled": str(last["content"].count("\n- ")),
        "x-omoide-memory-version": "1",
        "x-omoide-session": "3",
        "x-omoide-status": "ok",
        "x-omoide-stored": "yes",
    }


async def test_two_stateless_calls_in_a_row_work(bench: Bench) -> None:
    """What was said a moment ago and is not in the request is recalled; the request's own messages
    are not recalled a second time."""
    await bench.chat("I adopted a cat called Miso.")
    response = await bench.chat("What is my cat called?")
    (asked,) = bench.upstairs.requests[-1].body["messages"]
    assert "I adopted a cat called Miso." in asked["content"]
    assert asked["content"].endswith("What is my cat called?")
    assert response.headers["x-omoide-recalled"] == "1"
    seen = {"role": "assistant", "content": " I\nsee. "}
    response = await bench.chat("I adopted a cat called Miso.", seen, "What is my cat called?")
    assert response.headers["x-omoide-recalled"] == "0"


async def test_another_open_conversation_is_remembered_too(bench: Bench) -> None:
    """A second conversation of the same user knows what is being said in the first."""
    await bench.chat("I adopted a cat called Miso.", headers={"X-Omoide-Session": "phone"})
    await bench.chat("What is my cat called?", headers={"X-Omoide-Session": "desk"})
    assert "called Miso" in bench.upstairs.requests[-1].body["messages"][-1]["content"]


@pytest.mark.parametrize("said", ["Hello!", "Thanks, that helps a lot.", "Good night!", "lol ok"])
async def test_small_talk_gets_nothing(bench: Bench, said: str) -> None:
    """A greeting or thanks brings no old lines into the prompt."""
    for text in ("I adopted a cat called Miso.", "My sister lives in Oslo.", "I bake bread."):
        await bench.chat(text)
    response = await bench.chat(said)
    assert response.headers["x-omoide-recalled"] == "0"
    assert bench.upstairs.requests[-1].body["messages"][-1]["content"] == said


async def test_what_has_no_memory_goes_by_byte_for_byte(bench: Bench) -> None:
    """Field order, numbers and unknown fields are the client's."""
    raw = (
        b'{ "tools":' + json.dumps(TOOLS).encode() + b', "temperature":1.50, "zeta":{"b":[1e2]},'
        b'"model":"x", "user":"ana", "messages":[{"role":"user","content":"Hi \\u3042"}] }'
    )
    headers = {"Content-Type": "application/json", "OpenAI-Organization": "org", "Cookie": "c"}
    response = await bench.client.post(f"{CHAT}?v=1", content=raw, headers=headers)
    received = bench.upstairs.requests[-1]
    assert received.raw == raw
    assert received.path == "/v1/chat/completions?v=1"
    assert received.headers["openai-organization"] == "org"
    assert "cookie" not in received.headers
    assert response.content == whole("I see.").blocks[0]


async def test_unknown_fields_survive_where_memory_is_added(bench: Bench) -> None:
    """Only the messages change."""
    await bench.remember()
    more: dict[str, Any] = {
        "tools": TOOLS,
        "response_format": {"type": "json_object"},
        "n": 2,
        "logprobs": True,
        "x_vendor": {"a": [1, 2.5, None]},
    }
    await bench.chat({"role": "user", "content": "My cat?", "name": "Ana"}, **more)
    body = bench.upstairs.requests[-1].body
    assert {name: body[name] for name in more} == more
    assert body["messages"][-1]["name"] == "Ana"
    assert body["user"] == "ana"


async def test_a_stream_goes_by_unchanged_and_is_recorded(bench: Bench) -> None:
    """Chunks come as the upstream cut them, usage and all, even in the middle of an event."""
    usage = b'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2}}\n\n'
    parts = stream("Hel", "lo \u3042")
    joined = b"".join(b for b in parts.blocks[:-1] if isinstance(b, bytes)) + usage + DONE
    blocks = tuple(joined[i : i + 7] for i in range(0, len(joined), 7))
    bench.upstairs.answers.append(replace(parts, blocks=blocks))
    response = await bench.chat("Hi", stream=True)
    assert response.content == joined
    assert response.headers["content-type"] == "text/event-stream"
    assert await bench.said() == ["Hi", "Hello \u3042"]
    (call,) = await bench.replies()
    assert call.model == "fake-1"
    assert (call.prompt_tokens, call.completion_tokens, call.failed) == (7, 2, False)


async def test_words_are_recorded_before_the_upstream_is_asked(bench: Bench) -> None:
    """An upstream that fails loses nothing."""
    seen: list[list[str]] = []

    async def look(request: httpx.Request) -> httpx.Response:
        seen.append(await bench.said())
        raise httpx.ConnectError("refused", request=request)

    bench.server.upstream._transport = httpx.MockTransport(look)  # type: ignore[attr-defined]
    response = await bench.chat("Remember this.")
    assert response.status_code == 502
    assert response.json()["error"]["code"] == "upstream_unreachable"
    assert response.headers["x-omoide-status"] == "ok"
    assert seen == [["Remember this."]]


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
@pytest.mark.parametrize("streamed", [True, False])
async def test_errors_of_the_upstream_pass_through(
    bench: Bench, status: int, streamed: bool
) -> None:
    """Status, body and Retry-After are what the client's own retries go by."""
    bench.upstairs.answers.append(failure(status, "no", retry_after="7", x_request_id="up"))
    response = await bench.chat("Hi", stream=streamed)
    assert response.status_code == status
    assert response.json()["error"]["message"] == "no"
    assert response.headers["retry-after"] == "7"
    assert await bench.said() == ["Hi"]
    assert await bench.replies() == []


@pytest.mark.parametrize("status", [600, 999])
async def test_a_status_that_does_not_exist_is_a_502(bench: Bench, status: int) -> None:
    """The client hears that, instead of losing its connection."""
    bench.upstairs.answers.append(replace(whole("Hi."), status=status))
    response = await bench.chat("Hi")
    assert response.status_code == 502
    assert response.json()["error"]["code"] == "upstream_invalid"


async def test_an_upstream_that_says_nothing_is_a_504(tmp_path: Path) -> None:
    """In OpenAI's form, so that clients raise what they should."""
    async with serving(tmp_path, wait=0.01) as bench:
        bench.upstairs.answers.append(Scripted(blocks=(asyncio.Event(),)))
        response = await bench.chat("Hi")
        assert response.status_code == 504
        assert response.json()["error"]["type"] == "server_error"


async def test_a_stream_that_stalls_ends_with_an_error_event(tmp_path: Path) -> None:
    """What was said until then is recorded, and the call counts as failed."""
    async with serving(tmp_path, wait=1.0) as bench:
        bench.upstairs.answers.append(stream("One ", asyncio.Event(), "two"))
        response = await bench.chat("Count.", stream=True)
        last = json.loads(response.text.split("data: ")[-1])
        assert last["error"]["code"] == "upstream_timeout"
        assert await bench.said() == ["Count.", "One "]
        assert [c.failed for c in await bench.replies()] == [True]


async def test_chat_goes_on_without_memory_where_the_database_fails(bench: Bench) -> None:
    """The client gets its answer, and is told."""

    async def full(*_: object, **__: object) -> None:
        raise StoreFull("no space for 'My secret'")

    bench.server.runtime.store.turns.append = full  # type: ignore[method-assign,assignment]
    response = await bench.chat("Hi")
    assert response.status_code == 200
    assert response.headers["x-omoide-status"] == "degraded; reason=store-full"
    assert "x-omoide-session" not in response.headers
    assert bench.server.metrics.degraded == {"store-full": 1}


async def test_one_mechanism_that_fails_keeps_no_other_from_it(bench: Bench) -> None:
    """A broken summary still lets recall speak."""
    await bench.remember()

    async def broken(request: ReplyRequest) -> None:
        raise ZeroDivisionError

    bench.server.runtime.mechanisms[0].contribute = broken  # type: ignore[method-assign,assignment]
    response = await bench.chat("My cat is ill.")
    assert response.headers["x-omoide-status"] == "degraded; reason=zero-division-error"
    assert CAT in bench.upstairs.requests[-1].body["messages"][-1]["content"]


async def test_chat_does_not_wait_for_slow_memory(tmp_path: Path) -> None:
    """After the patience it goes on without; the words are recorded when memory is back."""
    store = await SqliteStore.open(":memory:")
    gate, append = asyncio.Event(), store.turns.append

    async def slow(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - passed through
        await gate.wait()
        return await append(*args, **kwargs)

    store.turns.append = slow  # type: ignore[method-assign]
    async with serving(tmp_path, store=store, options=Options(patience=0.01)) as bench:
        response = await bench.chat("Hi")
        assert response.headers["x-omoide-status"] == "degraded; reason=timeout"
        gate.set()
        await bench.server.runtime.exchanges.settled()
        assert await bench.said() == ["Hi", "I see."]


async def test_too_long_a_text_is_recorded_in_parts(bench: Bench) -> None:
    """So is too long an answer. Nothing is lost, the client is told, and a retry adds nothing."""
    words = "A line of a long document.\n" * (SETTINGS.max_turn_chars // 13)
    for _ in range(2):
        bench.upstairs.answers.append(whole(words))
        response = await bench.chat(words)
        assert response.headers["x-omoide-status"] == "ok"
        assert response.headers["x-omoide-changed"] == "text-split"
    turns = await bench.memory().turns("ana")
    for speaker in Speaker:
        texts = [turn.text for turn in turns if turn.speaker is speaker]
        assert "".join(texts) == words
        assert all(text.endswith("\n") for text in texts)
        assert len(texts) > 1


async def test_memory_can_be_switched_off(bench: Bench) -> None:
    """Such a request leaves no trace and gets none."""
    await bench.remember()
    response = await bench.chat("My cat?", headers={"X-Omoide-Memory": "off"})
    assert len(bench.upstairs.requests[-1].body["messages"]) == 1
    assert response.headers["x-omoide-status"] == "off"
    misspelt = await bench.chat("My cat?", headers={"X-Omoide-Memory": "of"})
    assert misspelt.status_code == 400
    assert "My cat?" not in await bench.said()


async def test_the_user_is_named_by_header_or_field_or_default(tmp_path: Path) -> None:
    """The header goes first; nobody at all is a 400 unless a default was set."""
    body: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    async with serving(tmp_path) as bench:
        refused = await bench.client.post(CHAT, json=body)
        assert refused.status_code == 400
        assert refused.json()["error"]["param"] == "user"
        await bench.client.post(CHAT, json={**body, "user": "björn"})
        named = {"X-Omoide-User": "bob"}
        await bench.client.post(CHAT, json={**body, "user": "ana"}, headers=named)
        assert await bench.memory().users() == ("björn", "bob")
        guessed = {b"X-Omoide-User": "björn".encode()}
        assert (await bench.client.post(CHAT, json=body, headers=guessed)).status_code == 400
    async with serving(tmp_path, options=Options(default_user="me")) as bench:
        await bench.client.post(CHAT, json=body)
        assert await bench.memory().users() == ("me",)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b'{"messages":[]}',
        b'{"messages":"x"}',
        b'{"messages":[{"content":"x"}],"user":"ana"}',
        b'{"messages":[{"role":"user","content":NaN}],"user":"ana"}',
        b'{"messages":[{"role":"user","content":"x"}],"user":7}',
        b"[" * 100_000,
        b"\xff",
    ],
)
async def test_what_cannot_be_a_chat_is_a_400(bench: Bench, body: bytes) -> None:
    """In OpenAI's form, before anything is recorded or forwarded."""
    response = await bench.client.post(
        CHAT, content=body, headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert bench.upstairs.requests == []


async def test_our_own_model_names_stand_for_the_upstreams(bench: Bench) -> None:
    """A client that knows no model says omoide; any other name is the client's choice."""
    await bench.chat("Hi", model="omoide")
    await bench.chat("Hi", model="gpt-x")
    assert [r.body["model"] for r in bench.upstairs.requests] == ["fake-1", "gpt-x"]


async def test_a_key_of_ours_never_reaches_the_upstream(bench: Bench) -> None:
    """Without keys the client's own authorization goes along; with them it is ours."""
    await bench.chat("Hi", headers={"Authorization": "Bearer sk-theirs"})
    await bench.chat("Hi", headers=bench.key())
    first, second = bench.upstairs.requests
    assert first.headers["authorization"] == "Bearer sk-theirs"
    assert "authorization" not in second.headers


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("page\\fbreak", "pagebreak"),
        ("\\u001b[31mred", "[31mred"),
        ("half \\ud83d", "half \ufffd"),
        ("nul\\u0000", "nul"),
    ],
)
async def test_a_character_that_cannot_be_stored_costs_no_words(
    bench: Bench, sent: str, kept: str
) -> None:
    """The message is recorded without it, and the client is told; the upstream gets it as it
    was."""
    raw = b'{"messages":[{"role":"user","content":"%s"}],"user":"ana"}' % sent.encode()
    response = await bench.client.post(
        CHAT, content=raw, headers={"Content-Type": "application/json"}
    )
    assert response.headers["x-omoide-status"] == "ok"
    assert response.headers["x-omoide-changed"] == "text-cleaned"
    assert await bench.said() == [kept, "I see."]
    assert sent.encode() in bench.upstairs.requests[-1].raw


async def test_a_message_of_control_characters_is_no_message(bench: Bench) -> None:
    """There is nothing to record, and the client is told."""
    response = await bench.chat("\x00\x07")
    assert response.status_code == 200
    assert response.headers["x-omoide-status"] == "degraded; reason=empty-text"
    assert response.headers["x-omoide-stored"] == "no"


@pytest.mark.parametrize(
    "content", ["   ", [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]]
)
async def test_a_message_without_words_is_not_stored_and_says_so(
    bench: Bench, content: str | list[dict[str, Any]]
) -> None:
    """Neither is the reply to it."""
    response = await bench.chat({"role": "user", "content": content})
    assert response.status_code == 200
    assert response.headers["x-omoide-status"] == "degraded; reason=empty-text"
    assert response.headers["x-omoide-stored"] == "no"
    assert await bench.said() == []
    assert dict(bench.server.metrics.degraded) == {"empty-text": 1}


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_answer_that_cannot_be_read_is_not_stored_and_says_so(
    bench: Bench, streamed: bool
) -> None:
    """The client gets it as it is: in a stream the end says so."""
    sent = b'data: {"choices":[]}\n\ndata: [DONE]\n\n' if streamed else b"<html>Log in</html>"
    media_type = "text/event-stream" if streamed else "text/html"
    bench.upstairs.answers.append(Scripted(media_type=media_type, blocks=(sent,)))
    response = await bench.chat("Hi", stream=streamed)
    assert await bench.said() == ["Hi"]
    if streamed:
        assert b": X-Omoide-Stored: no\n\ndata: [DONE]" in response.content
    else:
        assert response.content == sent
        assert response.headers["x-omoide-stored"] == "no"
        assert response.headers["x-omoide-status"] == "degraded; reason=bad-reply"


async def test_the_first_choice_is_recorded(bench: Bench) -> None:
    """Of several answers side by side, the one most clients show."""
    blocks = (
        event({"content": "b"}, index=1),
        event({"content": "a"}),
        event({"content": "b"}, index=1, finish="stop"),
        event({}, finish="stop"),
        DONE,
    )
    bench.upstairs.answers.append(Scripted(media_type="text/event-stream", blocks=blocks))
    await bench.chat("Hi", n=2, stream=True)
    assert await bench.said() == ["Hi", "a"]


async def test_models_and_embeddings_pass_through(bench: Bench) -> None:
    """Neither needs a user, and neither leaves a trace."""
    bench.upstairs.answers += [Scripted(blocks=(b'{"data": []}',)), Scripted(blocks=(b"{}",))]
    listed = await bench.client.get("/v1/models")
    made = await bench.client.post("/v1/embeddings", json={"input": "x", "model": "e"})
    assert (listed.content, made.content) == (b'{"data": []}', b"{}")
    assert bench.upstairs.requests[1].body == {"input": "x", "model": "e"}
    assert await bench.memory().users() == ()


async def test_the_embedded_model_answers_in_the_same_form(own: Bench) -> None:
    """At once and in events, with the memory in its prompt."""
    own.replier.answers += ["How is Miso?", "And Miso?"]
    await own.remember()
    answer = (await own.chat("My cat is ill.", max_tokens=9)).json()
    assert answer["choices"][0]["message"]["content"] == "How is Miso?"
    assert answer["usage"]["total_tokens"] > 0
    asked = own.replier.requests[-1]
    assert M1 in asked.messages[0].content
    assert asked.max_tokens == 9
    streamed = await own.chat("Better now.", stream=True, stream_options={"include_usage": True})
    chunks = [json.loads(e) for e in streamed.text.split("data: ")[1:-1]]
    said = [c["choices"][0]["delta"].get("content", "") for c in chunks if c["choices"]]
    assert "".join(said) == "And Miso?"
    assert chunks[-1]["usage"]["completion_tokens"] > 0
    assert streamed.text.endswith("data: [DONE]\n\n")
    assert (await own.said())[-4:] == ["My cat is ill.", "How is Miso?", "Better now.", "And Miso?"]


@pytest.mark.parametrize(
    ("skills", "author"),
    [(frozenset({Skill.REPLY}), "weights"), (None, "weights+tuned")],
    ids=["an adapter for replies", "an adapter for everything"],
)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_the_embedded_model_answers_under_the_name_of_what_answered(
    skills: frozenset[Skill] | None, author: str, streamed: bool
) -> None:
    """A client's request asks for no skill: an adapter that was not used is not named, in the
    answer or in the list of models."""
    adapters = (Adapter(name="tuned", path=Path("tuned.gguf"), skills=skills),)

    async def load() -> ScriptedModel:
        return ScriptedModel(["Hello there."])

    model = LazyChat(
        load, name="weights+tuned", window=512, author=partial(author_name, "weights", adapters)
    )
    upstream = EngineUpstream(model, None, max_tokens=20)
    body = {"messages": [{"role": "user", "content": "Hi"}], "stream": streamed}

    async def sent(path: str) -> str:
        forward = UpstreamRequest(method="POST", path=path, body=json.dumps(body).encode())
        async with upstream.send(forward) as answer:
            return b"".join([block async for block in answer.blocks]).decode()

    listed = json.loads(await sent("/models"))["data"]
    assert [card["id"] for card in listed] == [upstream.model] == [author]
    text = await sent("/chat/completions")
    told = [json.loads(e) for e in text.split("data: ")[1:-1]] if streamed else [json.loads(text)]
    assert {chunk["model"] for chunk in told} == {author}


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ModelUnavailable("down"), 502),
        (ModelStalled("late"), 504),
        (ContextTooLong("long"), 400),
    ],
)
async def test_errors_of_the_embedded_model_have_their_status(
    own: Bench, error: Exception, status: int
) -> None:
    """Even if a stream was asked for: nothing was sent yet."""
    own.replier.answers.append(error)
    response = await own.chat("Hi", stream=True)
    assert response.status_code == status
    assert response.json()["error"]["message"] == str(error)


async def test_what_the_embedded_model_cannot_is_refused(own: Bench) -> None:
    """Silence about it would look like a model that does not want to."""
    refused: list[dict[str, Any]] = [
        {"tools": [{"type": "web_search"}]},
        {"tools": TOOLS, "response_format": {"type": "json_object"}},
        {"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "g"}}},
        {"functions": [{}]},
        {"n": 2},
        {"max_tokens": -1},
    ]
    for field in refused:
        response = await own.chat("Hi", **field)
        assert response.status_code == 400


async def test_the_embedded_embedder_serves_vectors(own: Bench) -> None:
    """As numbers or packed, as OpenAI's client asks for them."""
    body = {"input": ["a cat", "a dog"], "model": "x"}
    plain = (await own.client.post("/v1/embeddings", json=body)).json()
    packed = await own.client.post("/v1/embeddings", json={**body, "encoding_format": "base64"})
    assert len(plain["data"][1]["embedding"]) == 64
    assert isinstance(packed.json()["data"][0]["embedding"], str)
    assert (await own.client.get("/v1/models")).json()["data"][0]["id"] == "replier"


async def test_the_next_words_wait_for_the_last_reply(bench: Bench) -> None:
    """A client that does not wait for the end of a response still gets its turns in order."""
    writing, append = asyncio.Event(), bench.server.runtime.store.turns.append
    gate = asyncio.Event()

    async def slow(owner: Any, said: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - passed through
        if said[0].text == "I see.":
            writing.set()
            await gate.wait()
        return await append(owner, said, **kwargs)

    bench.server.runtime.store.turns.append = slow  # type: ignore[method-assign]
    first = asyncio.create_task(bench.chat("One"))
    await writing.wait()
    second = asyncio.create_task(bench.chat("One", {"role": "assistant", "content": "-"}, "Two"))
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(first, second)
    assert (await bench.said())[:3] == ["One", "I see.", "Two"]


async def test_closing_an_answer_early_closes_the_upstream(bench: Bench) -> None:
    """Leaving the context breaks the answer off."""
    bench.upstairs.answers.append(stream("a", asyncio.Event(), "b"))
    forward = UpstreamRequest(method="POST", path="/chat/completions", body=b'{"stream":true}')
    async with bench.server.upstream.send(forward) as answer:
        blocks = answer.blocks
        assert b"assistant" in await anext(blocks)
    async with aclosing(blocks):  # type: ignore[type-var]
        pass


async def test_an_upstreams_cookies_reach_no_other_caller(bench: Bench) -> None:
    """What one answer sets is neither handed on nor sent along with the next request."""
    told = whole("Hello.")
    bench.upstairs.answers.append(replace(told, headers={"set-cookie": "who=ana; Path=/"}))
    first = await bench.chat("Hi")
    await bench.chat("And again", user="bob")
    assert "set-cookie" not in first.headers
    assert "cookie" not in bench.upstairs.requests[-1].headers


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("http://model.example/v1", "http://one.example:3128"),
        ("https://model.example/v1", "http://two.example:3128"),
        ("http://127.0.0.1:8080/v1", None),
    ],
)
def test_the_machines_proxy_is_used(
    url: str, wanted: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As everywhere: by scheme, and not for what `no_proxy` names."""
    monkeypatch.setenv("http_proxy", "http://one.example:3128")
    monkeypatch.setenv("https_proxy", "http://two.example:3128")
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    assert proxy_to(url) == wanted
