"""Conversion between protocols: what goes in, what comes out, what is refused."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.domain import Owner
from omoide.errors import OmoideError, Unconvertible
from omoide.server.problems import HttpProblem, problem_of
from omoide.server.protocols import completions, messages_request, ollama_request
from omoide.server.protocols.answer import ChatAnswer, chunks
from omoide.server.protocols.responses_request import read_request
from omoide.server.protocols.threads import Threads, new_thread
from omoide.server.routes import ROUTES
from omoide.testing.endpoint import DONE, Scripted, event, failure, stream, whole

from .serving import Bench, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

ANA = {"X-Omoide-User": "ana"}
HI = [{"role": "user", "content": "Hi"}]
PATHS: dict[str, dict[str, Any]] = {
    "/v1/responses": {"input": "Hi"},
    "/v1/completions": {"prompt": "Hi"},
    "/v1/messages": {"messages": HI, "max_tokens": 9},
    "/api/chat": {"messages": HI},
    "/api/generate": {"prompt": "Hi"},
}
"""The smallest chat of each protocol."""


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A running server whose upstream is in memory."""
    async with serving(tmp_path) as bench:
        yield bench


def responses_chat(body: dict[str, Any]) -> dict[str, Any]:
    """The chat of a Responses request without a history."""
    request = read_request(body)
    return request.body([], request.input)


CONVERTERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "/v1/responses": responses_chat,
    "/v1/completions": completions.chat_body,
    "/v1/messages": messages_request.chat_body,
    "/api/chat": ollama_request.chat_of_chat,
    "/api/generate": ollama_request.chat_of_generate,
}


@pytest.mark.parametrize(
    ("path", "more", "field"),
    [
        ("/v1/responses", {"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ("/v1/responses", {"tool_choice": {"type": "mcp"}}, "tool_choice.type"),
        ("/v1/responses", {"truncation": "auto"}, "truncation"),
        ("/v1/responses", {"prompt": {"id": "p"}}, "prompt"),
        ("/v1/responses", {"include": ["message.output_text.logprobs"]}, "include[0]"),
        ("/v1/responses", {"input": [{"type": "computer_call"}]}, "input[0].type"),
        ("/v1/responses", {"input": [7]}, "input[0]"),
        ("/v1/responses", {"input": [{"role": "user", "content": 7}]}, "input[0].content"),
        (
            "/v1/responses",
            {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}]},
            "input[0].content[0].file_id",
        ),
        ("/v1/responses", {"input": [{"type": "item_reference", "id": "x"}]}, "input[0].id"),
        ("/v1/responses", {"temperature": "hot"}, "temperature"),
        ("/v1/responses", {"conversation": "conv_1", "previous_response_id": "r"}, "previous"),
        ("/v1/responses", {"invented": 1}, "invented"),
        ("/v1/responses", {"text": {"invented": 1}}, "text.invented"),
        ("/v1/completions", {"prompt": ["a", "b"]}, "prompt"),
        ("/v1/completions", {"prompt": [1, 2]}, "prompt"),
        ("/v1/completions", {"n": 2}, "n"),
        ("/v1/completions", {"invented": 1}, "invented"),
        ("/v1/messages", {"tools": [{"type": "bash_20250124", "name": "bash"}]}, "tools[0].type"),
        ("/v1/messages", {"system": [{"type": "image"}]}, "system[0].type"),
        (
            "/v1/messages",
            {"messages": [{"role": "user", "content": [{"type": "server_tool_use"}]}]},
            "messages[0].content[0].type",
        ),
        ("/v1/messages", {"tool_choice": {"type": "tool"}}, "tool_choice.name"),
        ("/v1/messages", {"invented": 1}, "invented"),
        ("/api/chat", {"options": {"invented": 1}}, "options.invented"),
        ("/api/chat", {"messages": [{"role": "wizard", "content": "x"}]}, "messages[0].role"),
        ("/api/chat", {"format": 7}, "format"),
        ("/api/generate", {"context": [1, 2]}, "context"),
        ("/api/generate", {"raw": True}, "raw"),
        ("/api/generate", {"images": [7]}, "images[0]"),
    ],
)
async def test_a_refusal_names_the_field(
    bench: Bench, path: str, more: dict[str, Any], field: str
) -> None:
    """With status 400, in the protocol's format; nothing is recorded or sent."""
    response = await bench.client.post(path, json={**PATHS[path], **more}, headers=ANA)
    assert response.status_code == 400
    error = response.json()["error"]
    message = error if isinstance(error, str) else error["message"]
    assert field in message
    assert bench.upstairs.requests == []
    assert await bench.said() == []


HARMLESS: dict[str, dict[str, Any]] = {
    "/v1/responses": {
        "prompt_cache_key": "k",
        "prompt_cache_options": {},
        "prompt_cache_retention": "24h",
        "safety_identifier": "x",
        "service_tier": "auto",
        "stream_options": {"include_obfuscation": False},
        "background": False,
        "top_logprobs": 0,
        "truncation": "disabled",
        "context_management": [],
        "include": ["reasoning.encrypted_content"],
    },
    "/v1/completions": {
        "suffix": "",
        "echo": False,
        "logprobs": 0,
        "best_of": 1,
        "n": 1,
        "stream_options": {"include_usage": True},
    },
    "/v1/messages": {"mcp_servers": [], "service_tier": "auto"},
    "/api/chat": {"keep_alive": "5m", "logprobs": False, "top_logprobs": 0, "width": 0},
    "/api/generate": {"suffix": "", "template": "", "raw": False, "context": [], "keep_alive": 0},
}
"""Fields that clients send and that change nothing, with the value that means "none"."""


@pytest.mark.parametrize("path", HARMLESS)
def test_what_changes_nothing_is_accepted(path: str) -> None:
    """Each by itself, and the chat that goes to the upstream is the same as without it."""
    plain = CONVERTERS[path](PATHS[path])
    for field, value in HARMLESS[path].items():
        assert CONVERTERS[path]({**PATHS[path], field: value}) == plain, field


@pytest.mark.parametrize(
    ("path", "field", "value"),
    [
        ("/v1/responses", "background", True),
        ("/v1/responses", "top_logprobs", 3),
        ("/v1/responses", "context_management", [{"type": "compaction"}]),
        ("/v1/responses", "max_tool_calls", 2),
        ("/v1/responses", "moderation", {"model": "m"}),
        ("/v1/responses", "prompt", {"id": "p"}),
        ("/v1/responses", "truncation", "auto"),
        ("/v1/completions", "suffix", "end"),
        ("/v1/completions", "echo", True),
        ("/v1/completions", "logprobs", 2),
        ("/v1/completions", "best_of", 2),
        ("/v1/completions", "n", 2),
        ("/v1/messages", "container", "c"),
        ("/v1/messages", "mcp_servers", [{"name": "s"}]),
        ("/api/chat", "logprobs", True),
        ("/api/chat", "top_logprobs", 2),
        ("/api/chat", "height", 512),
        ("/api/generate", "suffix", "end"),
        ("/api/generate", "template", "{{ .Prompt }}"),
        ("/api/generate", "raw", True),
        ("/api/generate", "context", [1, 2]),
    ],
)
def test_what_would_change_the_answer_is_not_dropped_in_silence(
    path: str, field: str, value: object
) -> None:
    """A field that the upstream has no counterpart for is refused by name, with the reason."""
    with pytest.raises(Unconvertible, match=field) as refusal:
        CONVERTERS[path]({**PATHS[path], field: value})
    assert "does not know it" not in str(refusal.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "type role content text id name input arguments function source data url "
                "call_id output tool_calls tool_use_id image_url format options effort".split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
FIELDS = st.dictionaries(
    st.sampled_from(
        "input messages prompt system tools tool_choice text reasoning conversation options format "
        "think images stream stop metadata output_config include max_tokens".split()
    ),
    JSON,
    max_size=5,
)


@pytest.mark.parametrize("path", CONVERTERS)
@given(more=FIELDS)
def test_any_request_is_converted_or_refused(path: str, more: dict[str, Any]) -> None:
    """Never another error; and what comes out is a chat that can be sent."""
    refusal: HttpProblem | None = None
    chat: dict[str, Any] = {}
    try:
        chat = CONVERTERS[path]({**PATHS[path], **more})
    except HttpProblem as problem:
        refusal = problem
    except Unconvertible as error:
        refusal = problem_of(error)
    if refusal is None:
        assert all(isinstance(message["role"], str) for message in chat["messages"])
        json.dumps(chat)
    else:
        assert refusal.status == 400
        assert refusal.param


async def asked(bench: Bench, path: str, **more: object) -> dict[str, Any]:
    """What the upstream gets for a request."""
    response = await bench.client.post(path, json={**PATHS[path], **more}, headers=ANA)
    assert response.status_code == 200, response.text
    sent: dict[str, Any] = bench.upstairs.requests[-1].body
    return sent


async def test_instructions_and_a_system_item_become_one_message(bench: Bench) -> None:
    """Many chat templates allow only one system message, in front."""
    items = [{"role": "developer", "content": "Be kind."}, *HI]
    sent = await asked(bench, "/v1/responses", instructions="Be brief.", input=items)
    assert sent["messages"] == [{"role": "system", "content": "Be brief.\n\nBe kind."}, *HI]


async def test_items_of_an_agent_become_a_chat(bench: Bench) -> None:
    """Calls belong to the assistant's message before them, and reasoning is left out."""
    items = [
        *HI,
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "c2", "name": "g", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "1"},
        {
            "type": "function_call_output",
            "call_id": "c2",
            "output": [{"type": "input_text", "text": "2"}],
        },
    ]
    sent = await asked(bench, "/v1/responses", input=items)
    user, assistant, one, two = sent["messages"]
    assert user["content"].endswith("Hi")
    assert assistant["content"] == "Let me look."
    assert [call["id"] for call in assistant["tool_calls"]] == ["c1", "c2"]
    assert one == {"role": "tool", "tool_call_id": "c1", "content": "1"}
    assert two == {"role": "tool", "tool_call_id": "c2", "content": "2"}


async def test_an_item_may_be_referred_to(bench: Bench) -> None:
    """By the id that an earlier response gave it."""
    first = await bench.client.post("/v1/responses", json={"input": "Hi"}, headers=ANA)
    (item,) = first.json()["output"]
    items = [*HI, {"type": "item_reference", "id": item["id"]}, {"role": "user", "content": "So?"}]
    sent = await asked(bench, "/v1/responses", input=items)
    assert [m["content"] for m in sent["messages"]] == ["Hi", "I see.", "So?"]


async def test_results_of_tools_come_before_what_the_user_says(bench: Bench) -> None:
    """As Chat Completions want them, each a message of its own; errors say so."""
    use = {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": "\u3042"}}
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "is_error": True,
        "content": [{"type": "text", "text": "no such place"}],
    }
    said = {"type": "text", "text": "Try again."}
    messages = [
        *HI,
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result, said]},
    ]
    tools = [{"name": "f", "description": "d", "input_schema": {"type": "object"}}]
    choice = {"type": "any", "disable_parallel_tool_use": True}
    sent = await asked(
        bench, "/v1/messages", messages=messages, tools=tools, tool_choice=choice, top_k=5
    )
    _, assistant, tool, last = sent["messages"]
    assert assistant["content"] is None
    assert json.loads(assistant["tool_calls"][0]["function"]["arguments"]) == {"x": "\u3042"}
    assert tool == {"role": "tool", "tool_call_id": "t1", "content": "Error: no such place"}
    assert last["content"].endswith("Try again.")
    assert sent["tool_choice"] == "required"
    assert sent["parallel_tool_calls"] is False
    assert sent["top_k"] == 5


@pytest.mark.parametrize("given", [{}, {"max_tokens": None}])
async def test_a_message_without_max_tokens_is_refused_as_anthropic_does(
    bench: Bench, given: dict[str, Any]
) -> None:
    """In Anthropic's form, before anything is recorded; counting tokens needs none."""
    body = {"model": "m", "messages": HI, **given}
    refused = await bench.client.post("/v1/messages", json=body, headers=ANA)
    assert refused.status_code == 400
    assert refused.json()["type"] == "error"
    assert refused.json()["error"]["type"] == "invalid_request_error"
    assert "max_tokens" in refused.json()["error"]["message"]
    assert await bench.said() == []
    counted = await bench.client.post("/v1/messages/count_tokens", json=body)
    assert counted.status_code == 200


async def test_ollamas_results_find_their_calls_by_name(bench: Bench) -> None:
    """Ollama's calls may have no ids; results may come in another order."""
    calls: list[Any] = [{"function": {"name": name, "arguments": {}}} for name in ("f", "g")]
    messages = [
        *HI,
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_name": "g", "content": "2"},
        {"role": "tool", "tool_name": "f", "content": "1"},
    ]
    sent = await asked(bench, "/api/chat", messages=messages, stream=False)
    _, assistant, two, one = sent["messages"]
    f, g = [call["id"] for call in assistant["tool_calls"]]
    assert (two["tool_call_id"], one["tool_call_id"]) == (g, f)
    assert f != g


@pytest.mark.parametrize("path", PATHS)
async def test_a_stream_is_made_of_a_whole_answer(bench: Bench, path: str) -> None:
    """Some endpoints answer in one piece although a stream was asked for."""
    body = {**PATHS[path], "stream": True}
    response = await bench.client.post(path, json=body, headers=ANA)
    assert response.status_code == 200
    assert "I see." in response.text
    assert response.headers["content-type"].startswith(
        "application/x-ndjson" if path.startswith("/api") else "text/event-stream"
    )
    assert await bench.said() == ["Hi", "I see."]


@pytest.mark.parametrize("path", PATHS)
async def test_a_whole_answer_is_made_of_a_stream(bench: Bench, path: str) -> None:
    """Some endpoints stream although nobody asked for it."""
    bench.upstairs.answers.append(stream("Hel", "lo"))
    body = {**PATHS[path], "stream": False}
    response = await bench.client.post(path, json=body, headers=ANA)
    assert response.headers["content-type"] == "application/json"
    assert "Hello" in response.text
    assert await bench.said() == ["Hi", "Hello"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("streamed", [True, False])
async def test_what_is_no_chat_completion_is_an_error(
    bench: Bench, path: str, streamed: bool
) -> None:
    """An upstream that answers something else is not taken for one that says nothing."""
    bench.upstairs.answers.append(Scripted(blocks=(b'{"hello":"there"}',)))
    response = await bench.client.post(path, json={**PATHS[path], "stream": streamed}, headers=ANA)
    assert response.status_code == (200 if streamed else 502)
    assert "error" in response.text
    assert await bench.said() == ["Hi"]


@pytest.mark.parametrize("path", PATHS)
async def test_an_error_in_a_stream_is_told_in_it(bench: Bench, path: str) -> None:
    """Some endpoints fail with an event; what came before it is kept."""
    error = b'data: {"error":{"message":"out of memory","type":"server_error"}}\n\n'
    blocks = (event({"content": "Hel"}), error)
    bench.upstairs.answers.append(Scripted(media_type="text/event-stream", blocks=blocks))
    response = await bench.client.post(path, json={**PATHS[path], "stream": True}, headers=ANA)
    assert "out of memory" in response.text
    assert "Hel" in response.text
    assert "response.completed" not in response.text
    assert "message_stop" not in response.text
    assert await bench.said() == ["Hi", "Hel"]
    (call,) = await bench.replies()
    assert call.failed


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        ("/v1/responses", {"message", "type", "param", "code"}),
        ("/v1/messages", {"type", "message"}),
        ("/api/chat", None),
    ],
)
async def test_an_upstreams_error_is_told_in_the_protocols_words(
    bench: Bench, path: str, keys: set[str] | None
) -> None:
    """Status, message and the time to wait stay; the form is the client's."""
    bench.upstairs.answers.append(failure(429, "slow down", retry_after="7"))
    response = await bench.client.post(path, json=PATHS[path], headers=ANA)
    assert response.status_code == 429
    assert response.headers["retry-after"] == "7"
    assert response.headers["x-omoide-status"] == "ok"
    error = response.json()["error"]
    assert (error if keys is None else error["message"]) == "slow down"
    assert keys is None or error.keys() == keys


async def test_calls_without_index_or_id_are_told_apart() -> None:
    """Some servers number every call 0, and some give no ids."""
    answer = ChatAnswer(model="m")
    for name, id_ in (("f", "a"), ("g", "b")):
        function = {"name": name, "arguments": "{}"}
        answer.add(
            {
                "choices": [
                    {"delta": {"tool_calls": [{"index": 0, "id": id_, "function": function}]}}
                ]
            }
        )
    assert [(call.id, call.name) for call in answer.tool_calls] == [("a", "f"), ("b", "g")]
    nameless = ChatAnswer(model="m")
    function = {"name": "f", "arguments": "not JSON"}
    nameless.add({"choices": [{"message": {"tool_calls": [{"function": function}]}}]})
    assert nameless.tool_calls[0].id.startswith("call_")
    assert nameless.tool_calls[0].input == {}


def test_an_error_of_any_other_kind_may_pass() -> None:
    """The caller is asked to try again, as with a database that is away."""
    refusal = problem_of(OmoideError("something"))
    assert (refusal.status, refusal.headers) == (503, {"Retry-After": "1"})


@pytest.mark.parametrize("odd", ["", None, 7, ["n"]])
def test_an_upstream_that_does_not_name_its_model_keeps_the_name_asked_for(odd: object) -> None:
    """An empty name, or something that is none, changes nothing; a name does."""
    answer = ChatAnswer(model="m")
    answer.add({"model": odd})
    assert answer.model == "m"
    answer.add({"model": "n"})
    assert answer.model == "n"


@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=20))
async def test_a_stream_may_be_cut_anywhere(sizes: list[int]) -> None:
    """The chunks are the same however the bytes arrive."""
    joined = b"".join(b for b in stream("Hé", "llo \u3042").blocks if isinstance(b, bytes))

    async def blocks() -> AsyncIterator[bytes]:
        rest, i = joined, 0
        while rest:
            size = sizes[i % len(sizes)]
            yield rest[:size]
            rest, i = rest[size:], i + 1

    found = [chunk async for chunk in chunks(blocks(), stream=True)]
    assert found[-1] is None
    text = "".join(c["choices"][0]["delta"].get("content", "") for c in found if c is not None)
    assert text == "Héllo \u3042"


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("/v1/assistants", "/v1/responses"),
        ("/api/show", "/api/tags"),
        ("/nowhere", "/v1/messages"),
    ],
)
async def test_an_unknown_path_is_answered_with_what_is_served(
    bench: Bench, path: str, near: str
) -> None:
    """Whoever tries a path sees which ones there are."""
    response = await bench.client.post(path, json={})
    assert response.status_code == 404
    assert near in response.text
    wrong = await bench.client.get("/v1/messages")
    assert wrong.status_code == 405
    assert "POST /v1/messages" in wrong.text
    assert wrong.json()["type"] == "error"


async def test_ollamas_other_paths_are_refused_in_its_format(bench: Bench) -> None:
    """Its clients show `error`; only what it can use is listed."""
    error = (await bench.client.post("/api/show", json={})).json()["error"]
    assert "POST /api/chat" in error
    assert "/api/recall" not in error


async def test_the_protocols_have_their_own_error_formats(bench: Bench) -> None:
    """A missing key is told to each client in words that it understands."""
    bench.key()
    for row in ROUTES:
        if not row.foreign or row.needs is None or "{" in row.path:
            continue
        refused = await bench.client.request(row.method, row.path)
        assert refused.status_code == 401
        error = refused.json()["error"]
        if row.tag == "ollama":
            assert isinstance(error, str)
        else:
            assert error["type"] == "authentication_error"


async def test_a_reply_without_a_finish_but_with_its_end_is_complete(bench: Bench) -> None:
    """Some servers never say why an answer ended; the end mark is enough."""
    blocks = (event({"content": "Yes."}), DONE)
    bench.upstairs.answers.append(Scripted(media_type="text/event-stream", blocks=blocks))
    body = {**PATHS["/v1/messages"], "stream": True}
    response = await bench.client.post("/v1/messages", json=body, headers=ANA)
    assert "event: message_stop" in response.text


async def test_a_refusal_is_passed_on(bench: Bench) -> None:
    """The model's refusal is a refusal in every protocol that has one."""
    answer = whole(None, refusal="I cannot.")
    bench.upstairs.answers += [answer, answer, answer]
    responses = await bench.client.post("/v1/responses", json={"input": "Hi"}, headers=ANA)
    (part,) = responses.json()["output"][0]["content"]
    assert part == {"type": "refusal", "refusal": "I cannot."}
    messages = await bench.client.post("/v1/messages", json=PATHS["/v1/messages"], headers=ANA)
    assert messages.json()["stop_reason"] == "refusal"
    assert messages.json()["content"] == [{"type": "text", "text": "I cannot."}]
    chat = await bench.client.post(
        "/api/chat", json={**PATHS["/api/chat"], "stream": False}, headers=ANA
    )
    assert chat.json()["message"]["content"] == "I cannot."


KEPT: dict[str, dict[str, Any]] = {
    "/v1/responses": {"input": "My secret is a xylophone."},
    "/v1/messages": {
        "messages": [{"role": "user", "content": "My secret is a xylophone."}],
        "max_tokens": 9,
        "thread": {"type": "create"},
    },
}
"""A chat that is stored for its client, in each protocol that can."""


@pytest.mark.parametrize("path", KEPT)
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("erased", [{"all": True}, {"session": 1}])
async def test_a_thread_in_flight_does_not_bring_erased_words_back(
    bench: Bench, path: str, streamed: bool, erased: dict[str, Any]
) -> None:
    """Of the user, or of a session: neither the message nor its answer is stored."""
    erasing = asyncio.Event()
    answer = stream("A secret", erasing, "!") if streamed else whole("A secret!")
    blocks = answer.blocks if streamed else (erasing, *answer.blocks)
    bench.upstairs.answers.append(replace(answer, blocks=blocks))
    body = {"model": "m", "stream": streamed, **KEPT[path]}
    chat = asyncio.ensure_future(bench.client.post(path, json=body, headers=ANA))
    while not bench.upstairs.requests:  # noqa: ASYNC110 - until it was asked
        await asyncio.sleep(0)
    removed = await bench.client.post("/api/erase", json=erased, headers=ANA)
    assert removed.status_code == 200
    erasing.set()
    answered = await chat
    assert answered.status_code == 200
    if path == "/v1/responses":
        assert '"store":false' in answered.text
    store, ana = bench.server.runtime.store, Owner(tenant="default", user="ana")
    assert await store.notes.read(ana) == ()
    assert await bench.said() == []
    if "all" in erased:
        assert await store.archive.owners("default") == ()


async def test_a_thread_is_not_continued_over_an_erasure(bench: Bench) -> None:
    """What was read before it and sent to the model is not stored again after it."""
    first = (await bench.client.post("/v1/responses", json={"input": "Hi"}, headers=ANA)).json()
    erasing = asyncio.Event()
    answer = whole("Yes.")
    bench.upstairs.answers.append(replace(answer, blocks=(erasing, *answer.blocks)))
    output = {"type": "function_call_output", "call_id": "c", "output": "4"}
    body = {"input": [output], "previous_response_id": first["id"]}
    chat = asyncio.ensure_future(bench.client.post("/v1/responses", json=body, headers=ANA))
    while len(bench.upstairs.requests) < 2:  # noqa: ASYNC110 - until it was asked
        await asyncio.sleep(0)
    await bench.client.post("/api/erase", json={"session": 1}, headers=ANA)
    erasing.set()
    assert (await chat).json()["store"] is False
    again = {"input": "And?", "previous_response_id": first["id"]}
    assert (await bench.client.post("/v1/responses", json=again, headers=ANA)).status_code == 400


async def test_storing_a_thread_takes_no_longer_than_the_patience(bench: Bench) -> None:
    """Of a store that does not come to it the chat hears that nothing is stored; nor is it late."""
    store, memory = bench.server.runtime.store, bench.memory()
    write, free, removed = store.notes.put, asyncio.Event(), asyncio.Event()

    async def locked(*args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - passed through
        await free.wait()
        await write(*args, **kwargs)

    remove = store.notes.remove

    async def removing(*args: Any, **kwargs: Any) -> int:  # noqa: ANN401 - passed through
        count = await remove(*args, **kwargs)
        removed.set()
        return count

    store.notes.put, store.notes.remove = locked, removing  # type: ignore[method-assign]
    ana = Owner(tenant="default", user="ana")
    threads = Threads(store, ana, bench.clock, patience=0.001)
    await threads.begin(await memory.begin("ana", HI))
    kept = await threads.keep(new_thread(), after=None, input=[], response={"output": []})
    assert kept is False
    free.set()
    await removed.wait()
    assert await store.notes.read(ana) == ()
