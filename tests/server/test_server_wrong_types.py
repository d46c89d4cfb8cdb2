"""One field at a time of a valid request has a value of another type: the server refuses it by its
name, in the protocol's own error format, or has no use for it. It never fails."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from omoide.server.options import Options

from .serving import CHAT, Bench, serving
from .test_server_fields import CALL, LOOK, RICH, at, values

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ANA = {"X-Omoide-User": "ana"}
T = "2026-01-05T09:00:00Z"
HI = {"role": "user", "content": "Hi"}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    (
        CHAT,
        {
            "model": "m",
            "user": "ana",
            "messages": [
                {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
                {"role": "user", "content": "Look.", "name": "Ana"},
                {"role": "assistant", "content": None, "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
                HI,
            ],
            "max_tokens": 9,
            "max_completion_tokens": 9,
            "temperature": 0.5,
            "frequency_penalty": 0.5,
            "seed": 1,
            "stop": ["x"],
            "n": 1,
            "response_format": SCHEMA,
            "stream": False,
        },
    ),
    (
        CHAT,
        {
            "messages": [HI],
            "tools": [LOOK],
            "tool_choice": LOOK,
            "stream": True,
            "stream_options": {"include_usage": True},
        },
    ),
    ("/v1/embeddings", {"model": "m", "input": ["a cat"], "encoding_format": "float"}),
    (
        "/v1/completions",
        {
            "prompt": "Hi",
            "user": "ana",
            "max_tokens": 9,
            "temperature": 0.5,
            "stop": ["x"],
            "stream": True,
            "stream_options": {"include_usage": True},
        },
    ),
    ("/v1/responses", {**RICH["/v1/responses"], "user": "ana", "metadata": {"a": "b"}}),
    ("/v1/conversations", {"items": [HI], "metadata": {"a": "b"}}),
    ("/v1/messages", {**RICH["/v1/messages"], "stop_sequences": ["x"]}),
    (
        "/v1/messages",
        {
            "messages": [HI],
            "max_tokens": 9,
            "metadata": {"user_id": "ana"},
            "stream": True,
            "thread": {"type": "create"},
        },
    ),
    ("/v1/messages/count_tokens", RICH["/v1/messages"]),
    (
        "/api/chat",
        {**RICH["/api/chat"], "user": "ana", "options": {"stop": ["x"], "num_predict": 9}},
    ),
    ("/api/generate", {"prompt": "Hi", "system": "Be brief.", "format": "json", "stream": False}),
    ("/api/embed", {"model": "m", "input": ["a cat"]}),
    ("/api/turns", {"turns": [{"speaker": "user", "text": "Hi", "time": T}], "session": "s"}),
    ("/api/recall", {"query": "cat", "k": 3, "at": T, "kinds": ["turn"], "tags": ["x"]}),
    ("/api/reply", {"text": "Hi", "session": "s", "at": T, "stream": False}),
    ("/api/context", {"messages": [HI, {"role": "user", "content": [{"text": "So."}]}]}),
    ("/api/exchanges", {"text": "Hi", "session": "s", "id": "e1", "at": T, "budget": 9}),
    ("/api/exchanges", {"messages": [HI], "session": "s"}),
    (
        "/api/exchanges/finish",
        {
            "turn": "e1",
            "text": "So.",
            "used": [{"mechanism": "x", "place": "memory", "kind": "turn", "id": "1", "time": T}],
            "once": True,
        },
    ),
    ("/api/memory/tool", {"command": "view", "path": "/memories", "view_range": [1, 2]}),
    ("/api/erase", {"several": {"turns": ["x"], "session": 99}}),
]
OTHERS: tuple[object, ...] = (True, 7, [7], {"a": 1}, "half \ud83d")


@pytest.fixture
async def own(tmp_path: Path) -> AsyncIterator[Bench]:
    """A server whose chats go to its own model, a scripted one."""
    options = Options(patience=300.0, work=False)
    async with serving(tmp_path, embedded=True, options=options) as bench:
        yield bench


@pytest.mark.parametrize(
    ("path", "body"), REQUESTS, ids=[f"{path} {i}" for i, (path, _) in enumerate(REQUESTS)]
)
async def test_a_value_of_another_type_is_no_failure(
    own: Bench, path: str, body: dict[str, Any]
) -> None:
    """The error names the field or what it stands in."""

    async def sent(body: dict[str, Any]) -> tuple[int, str]:
        own.replier.answers.clear()
        own.replier.answers.extend(['{"reply": "Hello."}'] * 4)
        headers = {**ANA, "Content-Type": "application/json"}
        response = await own.client.post(path, content=json.dumps(body), headers=headers)
        return response.status_code, response.text

    status, text = await sent(body)
    assert status < 300, text
    for place in values(body):
        for value in OTHERS:
            changed = copy.deepcopy(body)
            holder: Any = at(changed, place[:-1])
            if type(holder[place[-1]]) is type(value) and not isinstance(value, str):
                continue
            holder[place[-1]] = value
            status, text = await sent(changed)
            assert status < 500, (place, value, text)
            named = any(step in text for step in place if isinstance(step, str))
            assert status < 400 or named, (place, value, text)


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"stop": 5}, "stop"),
        ({"stop": [5]}, "stop"),
        ({"response_format": "json_object"}, "response_format"),
        ({"response_format": {"json_schema": "x"}}, "response_format.json_schema"),
        ({"response_format": {"type": "xml"}}, "response_format.type"),
        ({"stream_options": "usage"}, "stream_options"),
        ({"stream": True, "stream_options": "usage"}, "stream_options"),
        ({"seed": "lucky"}, "seed"),
        ({"temperature": "hot"}, "temperature"),
        ({"frequency_penalty": -1}, "frequency_penalty"),
        ({"max_completion_tokens": -1}, "max_completion_tokens"),
        ({"tools": "weather"}, "tools"),
        ({"messages": [HI, {"role": "user", "content": 7}]}, "messages[1].content"),
        ({"messages": [HI, {"role": "user", "content": [7]}]}, "messages[1].content[0]"),
        ({"messages": [HI, {"role": "wizard", "content": "x"}]}, "messages[1].role"),
        ({"messages": [HI, {"role": "assistant", "tool_calls": 7}]}, "messages[1].tool_calls"),
    ],
)
async def test_the_embedded_model_refuses_by_the_name_of_the_field(
    own: Bench, more: dict[str, Any], field: str
) -> None:
    """With status 400, as OpenAI does."""
    body = {"messages": [HI], "user": "ana", **more}
    response = await own.client.post(CHAT, json=body)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == field


async def test_the_embedded_model_answers_at_a_path_with_a_query(own: Bench) -> None:
    """Azure's clients send their version there, and lists have a limit."""
    own.replier.answers.append("Hello.")
    listed = await own.client.get("/v1/models", params={"limit": "20"})
    vectors = await own.client.post(
        "/v1/embeddings", params={"api-version": "2024-10-21"}, json={"input": "a cat"}
    )
    chat = await own.client.post(
        CHAT, params={"api-version": "2024-10-21"}, json={"messages": [HI], "user": "ana"}
    )
    assert listed.json()["data"][0]["id"] == "replier"
    assert len(vectors.json()["data"][0]["embedding"]) == 64
    assert chat.json()["choices"][0]["message"]["content"] == "Hello."


async def test_vectors_of_another_length_are_refused(own: Bench) -> None:
    """The embedder has one length; a client that asks for it gets it."""
    for dimensions, status in ((64, 200), (8, 400)):
        body = {"input": "a cat", "dimensions": dimensions}
        response = await own.client.post("/v1/embeddings", json=body)
        assert response.status_code == status
    assert response.json()["error"]["param"] == "dimensions"


@pytest.mark.parametrize(("encoding", "status"), [("utf-8-sig", 200), ("utf-16", 400)])
async def test_json_is_utf_8(own: Bench, encoding: str, status: int) -> None:
    """With a byte order mark or without; no other encoding, which an upstream would not read."""
    own.replier.answers.append("Hello.")
    raw = json.dumps({"messages": [HI], "user": "ana"}).encode(encoding)
    headers = {"Content-Type": "application/json"}
    response = await own.client.post(CHAT, content=raw, headers=headers)
    assert response.status_code == status


async def test_a_number_beyond_all_measure_is_no_failure(own: Bench) -> None:
    """It cannot be written again as JSON."""
    body = b'{"messages": [{"role": "user", "content": "Hi"}], "tools": [%s], "max_tokens": 9}'
    tool = b'{"name": "f", "input_schema": {"maximum": 1e999}}'
    response = await own.client.post(
        "/v1/messages/count_tokens",
        content=body % tool,
        headers={"Content-Type": "application/json"},
    )
    assert response.status_code == 400
    assert response.json()["type"] == "error"
