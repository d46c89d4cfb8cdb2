"""Tools of the embedded model: the grammar allows only calls of the client's tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema_rs import Draft202012Validator

from omoide.errors import ModelRefused
from omoide.language import LANGUAGES
from omoide.ports import Completion
from omoide.server.embedded import EngineUpstream
from omoide.server.embedded_tools import OfferedTools, ToolCall
from omoide.server.problems import HttpProblem
from omoide.server.upstream import UpstreamRequest
from omoide.testing import ScriptedModel
from omoide.wire.fields import Fields

if TYPE_CHECKING:
    from omoide.ports import Request

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {
    "type": "function",
    "function": {"name": "weather", "description": "Today's weather.", "parameters": CITY},
}
CLOCK = {"type": "function", "function": {"name": "clock"}}
CALL = '{"tool": "weather", "arguments": {"city": "Bergen"}}'


async def sent(model: ScriptedModel, *messages: dict[str, Any], **more: object) -> str:
    """What the upstream answers to a chat with both tools."""
    upstream = EngineUpstream(model, None, max_tokens=50)
    body = {"messages": list(messages), "tools": [WEATHER, CLOCK], **more}
    forward = UpstreamRequest(
        method="POST", path="/chat/completions", body=json.dumps(body).encode()
    )
    async with upstream.send(forward) as answer:
        return b"".join([block async for block in answer.blocks]).decode()


def user(text: str = "Is it raining in Bergen?") -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": text}


def forms(request: Request) -> list[object]:
    """The forms that the schema of a request allows."""
    assert request.schema is not None
    every: Any = request.schema["anyOf"]
    return [one["properties"].get("tool", {}).get("const", "reply") for one in every]


async def test_a_call_is_answered_in_the_form_of_chat_completions() -> None:
    """The model sees the tools, and its JSON becomes a tool call."""
    model = ScriptedModel([CALL])
    answer = json.loads(await sent(model, user()))
    (choice,) = answer["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    (call,) = choice["message"]["tool_calls"]
    assert call["function"]["name"] == "weather"
    assert json.loads(call["function"]["arguments"]) == {"city": "Bergen"}
    told = model.requests[0].messages[0]
    assert told.role == "system"
    assert "Today's weather." in told.content
    assert forms(model.requests[0]) == ["weather", "clock", "reply"]


async def test_a_reply_is_a_reply() -> None:
    """A model that needs no tool says what it has to say."""
    answer = json.loads(await sent(ScriptedModel(['{"reply": "Hello!"}']), user("Hi")))
    (choice,) = answer["choices"]
    assert choice["message"]["content"] == "Hello!"
    assert choice["finish_reason"] == "stop"
    assert "tool_calls" not in choice["message"]


@pytest.mark.parametrize(
    ("choice", "allowed"),
    [
        ("auto", ["weather", "clock", "reply"]),
        ("required", ["weather", "clock"]),
        ({"type": "function", "function": {"name": "weather"}}, ["weather"]),
    ],
)
async def test_the_clients_choice_is_kept(choice: object, allowed: list[str]) -> None:
    """The grammar has no other way out."""
    model = ScriptedModel([CALL])
    await sent(model, user(), tool_choice=choice)
    assert forms(model.requests[0]) == allowed


@pytest.mark.parametrize("given", [{}, {"parameters": {"type": "object", "properties": {}}}])
@pytest.mark.parametrize(("arguments", "allowed"), [({}, True), ({"x": 1}, False)])
def test_a_tool_that_names_no_parameters_takes_none(
    given: dict[str, object], arguments: object, allowed: bool
) -> None:
    """As with OpenAI; a small model would write some without end."""
    clock = {"type": "function", "function": {"name": "clock", **given}}
    tools = OfferedTools.read(Fields({"tools": [clock]}))
    assert tools is not None
    answer = {"tool": "clock", "arguments": arguments}
    assert Draft202012Validator(tools.schema).is_valid(answer) is allowed


PLACE = {
    "type": "object",
    "properties": {"place": {"$ref": "#/$defs/Place"}},
    "$defs": {"Place": {"enum": ["Bergen", {"near": "Oslo"}]}},
}
"""As Pydantic writes a nested model."""


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [({"place": "Bergen"}, True), ({"place": {"near": "Oslo"}}, True), ({"place": "Rome"}, False)],
)
def test_a_tool_may_refer_to_its_own_definitions(arguments: object, allowed: bool) -> None:
    """Though its schema stands inside another one, beside those of other tools."""
    place = {"type": "function", "function": {"name": "place", "parameters": PLACE}}
    tools = OfferedTools.read(Fields({"tools": [WEATHER, place]}))
    assert tools is not None
    answer = {"tool": "place", "arguments": arguments}
    assert Draft202012Validator(tools.schema).is_valid(answer) is allowed


@pytest.mark.parametrize(
    ("answer", "allowed"),
    [
        (CALL, True),
        ('{"reply": "Hello!"}', True),
        ('{"tool": "weather", "arguments": {"city": "Bergen"}, "reply": "Hello!"}', False),
        ('{"reply": "Hello!", "mood": "glad"}', False),
        ('{"tool": "weather"}', False),
    ],
)
async def test_an_answer_has_nothing_besides(answer: str, allowed: bool) -> None:
    """By the schema it is a tool and its arguments, or a reply, and nothing more."""
    model = ScriptedModel([CALL])
    await sent(model, user())
    schema = model.requests[0].schema
    assert schema is not None
    assert Draft202012Validator(dict(schema)).is_valid(json.loads(answer)) is allowed


async def test_with_no_choice_the_model_is_not_told_of_tools() -> None:
    """It replies freely."""
    model = ScriptedModel(["Hello!"])
    answer = json.loads(await sent(model, user(), tool_choice="none"))
    assert answer["choices"][0]["message"]["content"] == "Hello!"
    assert model.requests[0].schema is None
    assert len(model.requests[0].messages) == 1


@pytest.mark.parametrize("text", [CALL, '{"reply": "Hello!"}'], ids=["call", "reply"])
async def test_a_stream_has_the_answer_in_one_piece(text: str) -> None:
    """What it is, is known at its end."""
    options = {"include_usage": True}
    streamed = await sent(ScriptedModel([text]), user(), stream=True, stream_options=options)
    assert streamed.endswith("data: [DONE]\n\n")
    said, end, usage = (json.loads(event) for event in streamed.split("data: ")[1:-1])
    delta = said["choices"][0]["delta"]
    if text is CALL:
        assert delta["tool_calls"][0]["index"] == 0
        assert delta["tool_calls"][0]["function"]["name"] == "weather"
    else:
        assert delta["content"] == "Hello!"
    wanted = "tool_calls" if text is CALL else "stop"
    assert end["choices"][0]["finish_reason"] == wanted
    assert usage["usage"]["completion_tokens"] > 0


async def test_the_model_sees_its_call_and_the_result() -> None:
    """A call without words is part of the dialogue, as the model wrote it."""
    call = ToolCall(id="call_1", name="weather", arguments='{"city": "Bergen"}').as_message()
    model = ScriptedModel(['{"reply": "It rains."}'])
    await sent(
        model,
        user(),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
    )
    _, _, called, result = model.requests[0].messages
    assert called.role == "assistant"
    assert json.loads(called.content) == json.loads(CALL)
    assert result.content == "rain"


async def test_a_call_that_broke_off_is_an_error_that_says_what_to_do() -> None:
    """It is not passed on as text."""
    with pytest.raises(HttpProblem, match="max_tokens"):
        await sent(ScriptedModel([CALL[:30]]), user())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"reply": "It rai', "It rai"),
        ('{"reply": "caf\\u00', "caf"),
        ('{"reply": "He said \\"', 'He said "'),
        ('{"reply": "one\\', "one"),
    ],
)
async def test_a_reply_that_broke_off_is_passed_on_as_far_as_it_came(text: str, said: str) -> None:
    """As without tools, and the client is told that it was cut."""
    done = Completion(text=text, prompt_tokens=9, completion_tokens=5, seconds=0.1, finish="length")
    answer = json.loads(await sent(ScriptedModel([done]), user()))
    (choice,) = answer["choices"]
    assert choice["message"]["content"] == said
    assert choice["finish_reason"] == "length"


async def test_a_request_that_the_model_cannot_keep_to_is_the_clients_mistake() -> None:
    """Its library does not try it again, as it would after a 502."""
    with pytest.raises(HttpProblem, match="grammar") as caught:
        await sent(ScriptedModel([ModelRefused("no grammar for this schema")]), user())
    assert caught.value.status == 400


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_tells_of_tools_and_of_the_form(language: str) -> None:
    """Both ways of answering are named in the language of the dialogue."""
    said = {
        "en": "Hello",
        "zh": "你好吗",
        "ja": "こんにちは",
        "ko": "안녕하세요",
        "vi": "Xin chào bạn",
    }
    for must in (True, False):
        offered = OfferedTools.read(
            Fields({"tools": [WEATHER], "tool_choice": "required" if must else "auto"})
        )
        assert offered is not None
        told = offered.system_message([said[language]]).content
        assert '"weather"' in told
        assert ('"reply"' in told) is not must
