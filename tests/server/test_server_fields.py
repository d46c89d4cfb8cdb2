"""Every object of a request is read to its last field: what has no effect is left out, and what
nobody knows is refused by its path, however deep it stands."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from omoide.errors import Unconvertible

from .test_server_protocols import CONVERTERS

if TYPE_CHECKING:
    from collections.abc import Iterator

PNG = "iVBORw0KGgo="
RICH: dict[str, dict[str, Any]] = {
    "/v1/responses": {
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "Look."},
                    {"type": "input_image", "image_url": "https://a.example/b.png"},
                    {"type": "input_file", "filename": "a.pdf", "file_data": "data:x"},
                ],
            },
            {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "a cat"},
            {"type": "reasoning"},
        ],
        "tools": [{"type": "function", "name": "look"}],
        "tool_choice": {"type": "function", "name": "look"},
        "text": {"format": {"type": "json_schema", "name": "answer"}},
        "reasoning": {"effort": "low"},
    },
    "/v1/messages": {
        "max_tokens": 9,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look."},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": PNG},
                    },
                    {"type": "document", "source": {"type": "text", "data": "A cat."}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking"},
                    {"type": "text", "text": "Wait."},
                    {"type": "tool_use", "id": "c1", "name": "look"},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1"}]},
        ],
        "tools": [{"name": "look"}, {"type": "memory_20250818"}],
        "tool_choice": {"type": "tool", "name": "look"},
    },
    "/api/chat": {
        "messages": [
            {"role": "user", "content": "Look.", "images": [PNG]},
            {
                "role": "assistant",
                "tool_calls": [{"id": "c1", "function": {"name": "look"}}],
            },
            {"role": "tool", "content": "a cat", "tool_name": "look"},
        ],
        "tools": [{"type": "function", "function": {"name": "look"}}],
        "options": {"temperature": 0.5},
    },
}
"""A request with an object of each kind that the protocol has."""

Path = tuple[str | int, ...]
HARMLESS: dict[str, list[tuple[Path, dict[str, Any]]]] = {
    "/v1/responses": [
        (("input", 0), {"id": "m1", "status": "completed", "phase": "final_answer"}),
        (("input", 0, "content", 0), {"annotations": [], "logprobs": []}),
        (("input", 1), {"id": "f1", "status": "completed"}),
        (("input", 3), {"summary": [], "content": [], "encrypted_content": "x"}),
        (("tools", 0), {"defer_loading": True, "output_schema": {}, "async": True}),
        (("tools", 0), {"allowed_callers": ["direct"]}),
        (("tools", 0), {"allowed_callers": []}),
        (("reasoning",), {"summary": "auto", "generate_summary": "auto"}),
    ],
    "/v1/messages": [
        (("system", 0), {"cache_control": {}, "citations": []}),
        (("messages", 0), {"cache_control": {}}),
        (("messages", 0, "content", 0), {"cache_control": {}, "citations": []}),
        (("messages", 0, "content", 2), {"context": "a pet"}),
        (("messages", 0, "content", 2, "source"), {"media_type": "text/plain"}),
        (("messages", 1, "content", 0), {"thinking": "hm", "signature": "s", "data": "d"}),
        (("messages", 1, "content", 1), {"cache_control": {}, "citations": []}),
        (("messages", 1, "content", 2), {"caller": {"type": "direct"}}),
        (("messages", 2, "content", 0), {"cache_control": {}, "toolset_name": "t"}),
        (("tools", 0), {"cache_control": {}, "eager_input_streaming": True}),
        (("tools", 0), {"input_examples": [], "defer_loading": True}),
        (("tools", 0), {"allowed_callers": ["direct"]}),
        (("tools", 1), {"name": "memory", "cache_control": {}, "defer_loading": True}),
        (("tools", 1), {"allowed_callers": ["x"], "input_examples": []}),
    ],
    "/api/chat": [
        (("messages", 1), {"thinking": "hm"}),
        (("messages", 1, "tool_calls", 0), {"type": "function"}),
        (("messages", 1, "tool_calls", 0, "function"), {"index": 0, "description": "d"}),
        (("tools", 0), {"items": {}}),
        (("options",), {"num_ctx": 4096, "num_gpu": 1, "mirostat": 1}),
        ((), {"keep_alive": "5m"}),
    ],
}
"""Fields without effect, each at the place where clients send it."""
OPEN = {("tools", 0, "function"), ("tools", 0, "parameters")}
"""What is passed on as it is: a schema is the client's own."""


def at(body: Any, path: Path) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """The object there."""
    for step in path:
        body = body[step]
    return body  # type: ignore[no-any-return]


def objects(body: Any, path: Path = ()) -> Iterator[Path]:  # noqa: ANN401 - JSON
    """Where the objects of a request stand."""
    if isinstance(body, dict) and path not in OPEN:
        yield path
    pairs = body.items() if isinstance(body, dict) else enumerate(body)
    for step, value in pairs:
        if isinstance(value, dict | list):
            yield from objects(value, (*path, step))


def written(path: Path) -> str:
    """The path as a refusal names it."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


@pytest.mark.parametrize("path", RICH)
def test_a_field_without_effect_is_left_out(path: str) -> None:
    """The chat is the same as without it."""
    plain = CONVERTERS[path](RICH[path])
    assert len(plain["messages"]) >= 3
    for place, more in HARMLESS[path]:
        body = copy.deepcopy(RICH[path])
        at(body, place).update(more)
        assert CONVERTERS[path](body) == plain, (place, more)


@pytest.mark.parametrize(
    ("path", "place"), [(path, place) for path, body in RICH.items() for place in objects(body)]
)
def test_a_field_that_nobody_knows_is_refused_at_its_place(path: str, place: Path) -> None:
    """It is not dropped in silence, and the refusal says where it stands."""
    body = copy.deepcopy(RICH[path])
    at(body, place)["invented"] = 1
    with pytest.raises(Unconvertible, match="does not know it") as refusal:
        CONVERTERS[path](body)
    assert refusal.value.param == written((*place, "invented"))


@pytest.mark.parametrize(
    ("path", "place", "more"),
    [
        ("/v1/responses", ("tools", 0), {"allowed_callers": ["code"]}),
        ("/v1/responses", ("input", 0, "content", 1), {"file_id": "f"}),
        ("/v1/responses", ("input", 0, "content", 2), {"file_id": "f"}),
        ("/v1/responses", ("input", 0, "content", 2), {"file_url": "https://a.example"}),
        ("/v1/messages", ("tools", 0), {"allowed_callers": ["code"]}),
    ],
)
def test_a_field_that_is_refused_has_a_reason(path: str, place: Path, more: dict[str, Any]) -> None:
    """Not only that nobody knows it: the client learns what to give instead."""
    body = copy.deepcopy(RICH[path])
    at(body, place).update(more)
    with pytest.raises(Unconvertible) as refusal:
        CONVERTERS[path](body)
    assert refusal.value.param == written((*place, *more))
    assert "does not know it" not in str(refusal.value)


def values(value: object, path: Path = ()) -> Iterator[Path]:
    """The paths of all values in it."""
    steps: Iterator[tuple[str | int, object]] = iter(())
    if isinstance(value, dict):
        steps = iter(value.items())
    elif isinstance(value, list):
        steps = iter(enumerate(value))
    for step, inner in steps:
        yield (*path, step)
        yield from values(inner, (*path, step))


PASSED_ON = {("/api/chat", ("tools", 0, "function", "name"))}
"""What the upstream checks, since it is passed on as it is."""


@pytest.mark.parametrize("wrong", [True, [7]], ids=str)
@pytest.mark.parametrize("path", RICH)
def test_a_value_of_the_wrong_kind_is_refused_at_its_place(path: str, wrong: object) -> None:
    """A truth or a list of numbers where a text, an object, a number or a list of objects belongs:
    the refusal says where, and nothing else is raised."""
    for place in values(RICH[path]):
        body = copy.deepcopy(RICH[path])
        holder: Any = at(body, place[:-1])
        holder[place[-1]] = wrong
        if (path, place) in PASSED_ON:
            continue
        with pytest.raises(Unconvertible) as refusal:
            CONVERTERS[path](body)
        assert (refusal.value.param or "").startswith(written(place))


LOOK: dict[str, Any] = {"type": "function", "function": {"name": "look"}}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
PICTURE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
CHATS: dict[str, dict[str, Any]] = {
    "/v1/responses": {
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look."},
                    {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}},
                    {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:x"}},
                ],
            },
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
        ],
        "tools": [LOOK],
        "tool_choice": LOOK,
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer"}},
        "reasoning_effort": "low",
    },
    "/v1/messages": {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look."},
                    PICTURE,
                    {"type": "text", "text": "A cat."},
                ],
            },
            {"role": "assistant", "content": "Wait.", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": ""},
        ],
        "max_completion_tokens": 9,
        "tools": [
            {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
        ],
        "tool_choice": LOOK,
    },
    "/api/chat": {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Look."}, PICTURE]},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
        ],
        "temperature": 0.5,
        "tools": [LOOK],
        "stream": True,
        "stream_options": {"include_usage": True},
    },
}
"""What the requests of `RICH` are for an upstream."""


@pytest.mark.parametrize("path", RICH)
def test_a_request_becomes_this_chat(path: str) -> None:
    """Every part of it arrives, and nothing is made up. Anthropic's own tool comes last."""
    chat = CONVERTERS[path](RICH[path])
    if path == "/v1/messages":
        assert chat["tools"].pop()["function"]["name"] == "memory"
    assert chat == CHATS[path]


@pytest.mark.parametrize(
    ("path", "message", "chat"),
    [
        (
            "/v1/messages",
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x"}],
            },
            {"role": "tool", "tool_call_id": "c", "content": "x"},
        ),
        (
            "/v1/messages",
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c", "content": "x", "is_error": True}
                ],
            },
            {"role": "tool", "tool_call_id": "c", "content": "Error: x"},
        ),
        (
            "/v1/messages",
            {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
            {"role": "system", "content": "Be brief."},
        ),
        (
            "/v1/messages",
            {
                "role": "user",
                "content": [
                    {
                        "type": "document",
                        "title": "a.pdf",
                        "source": {
                            "type": "base64",
                            "media_type": "application/pdf",
                            "data": "JVBERg==",
                        },
                    }
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "file",
                        "file": {
                            "filename": "a.pdf",
                            "file_data": "data:application/pdf;base64,JVBERg==",
                        },
                    }
                ],
            },
        ),
        (
            "/v1/responses",
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
            {"role": "assistant", "content": None, "refusal": "No."},
        ),
        (
            "/v1/responses",
            {
                "role": "assistant",
                "content": [
                    {"type": "output_text", "text": "One."},
                    {"type": "output_text", "text": "Two."},
                ],
            },
            {"role": "assistant", "content": "One.\nTwo."},
        ),
        (
            "/v1/responses",
            {"role": "developer", "content": "Be brief."},
            {"role": "system", "content": "Be brief."},
        ),
    ],
)
def test_a_message_of_each_kind(path: str, message: dict[str, Any], chat: dict[str, Any]) -> None:
    """Results of tools, errors of theirs, documents, refusals, several texts."""
    field = "input" if path == "/v1/responses" else "messages"
    user = {"role": "user", "content": "Look."}
    body = {"max_tokens": 9, field: [message, user]}
    if path == "/v1/responses":
        del body["max_tokens"]
    assert CONVERTERS[path](body)["messages"][0] == chat


@pytest.mark.parametrize("role", ["assistant", "developer", "system"])
def test_only_the_user_shows_pictures(role: str) -> None:
    """A picture beside a text in anybody else's message is refused."""
    content = [
        {"type": "output_text", "text": "Look."},
        {"type": "input_image", "image_url": "https://a.example/b.png"},
    ]
    with pytest.raises(Unconvertible, match="only text") as refusal:
        CONVERTERS["/v1/responses"]({"input": [{"role": role, "content": content}]})
    assert refusal.value.param == "input[0].content"
