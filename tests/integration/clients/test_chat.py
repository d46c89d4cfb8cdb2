"""What OpenAI's Chat Completions pass through, and how each protocol says why an answer ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.testing.endpoint import DONE, Scripted, event, whole

from .drivers import AnthropicDriver, CompletionsDriver, OllamaDriver, OpenAIDriver, ResponsesDriver
from .lines import shows

if TYPE_CHECKING:
    from .drivers import Heard
    from .lines import Line

ONLY = [OpenAIDriver]
ENDS: dict[type, dict[str, str]] = {
    OpenAIDriver: {"stop": "stop", "length": "length", "content_filter": "content_filter"},
    CompletionsDriver: {"stop": "stop", "length": "length", "content_filter": "content_filter"},
    ResponsesDriver: {
        "stop": "completed",
        "length": "max_output_tokens",
        "content_filter": "content_filter",
    },
    AnthropicDriver: {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"},
    OllamaDriver: {"stop": "stop", "length": "length"},
}
"""The protocol's word for each of the upstream's."""


def reason(driver: object, heard: Heard) -> str:
    """Why an answer ended, in the protocol's own words."""
    raw: Any = heard.raw
    if isinstance(driver, ResponsesDriver):
        details = raw.incomplete_details
        return str(details.reason if details else raw.status)
    if isinstance(driver, OpenAIDriver):
        return str(raw.choices[0].finish_reason)
    return str(raw.done_reason if isinstance(driver, OllamaDriver) else raw.stop_reason)


@shows("why an answer ended", only=list(ENDS))
async def test_why_an_answer_ended_is_said(line: Line) -> None:
    """Each protocol has its own words for it."""
    for finish, expected in ENDS[type(line.driver)].items():
        (cut,) = whole("I").blocks
        assert isinstance(cut, bytes)
        body = cut.replace(b'"finish_reason": "stop"', f'"finish_reason": "{finish}"'.encode())
        line.endpoint.answers.append(Scripted(blocks=(body,)))
        heard = await line.driver.say("Hi")
        assert reason(line.driver, heard) == expected


@shows("reasoning", only=[OpenAIDriver, OllamaDriver])
async def test_reasoning_is_shown(line: Line) -> None:
    """As the upstream's field, or as Ollama's thinking; it is not recorded."""
    blocks = (
        event({"role": "assistant", "reasoning_content": "Hm."}),
        event({"content": "Yes."}),
        event({}, finish="stop"),
        DONE,
    )
    line.endpoint.answers.append(Scripted(media_type="text/event-stream", blocks=blocks))
    if isinstance(line.driver, OllamaDriver):
        messages = [{"role": "user", "content": "Is it?"}]
        parts = await line.driver.api.chat("m", messages, stream=True, think="low")
        thoughts = [part.message.thinking or "" async for part in parts]
        assert line.sent["reasoning_effort"] == "low"
    else:
        stream = await line.driver.api.chat.completions.create(
            model="m", user="ana", messages=[{"role": "user", "content": "Is it?"}], stream=True
        )
        deltas = [chunk.choices[0].delta async for chunk in stream]
        thoughts = [getattr(delta, "reasoning_content", "") for delta in deltas]
    assert "".join(thoughts) == "Hm."
    assert await line.settled("Is it?", "Yes.")


@shows("images", only=ONLY)
async def test_an_image_goes_along(line: Line) -> None:
    """Its text is recorded, the image is passed on."""
    content: Any = [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBOR"}},
    ]
    messages: Any = [{"role": "user", "content": content}]
    await line.driver.api.chat.completions.create(model="m", user="ana", messages=messages)
    assert line.sent["messages"] == messages
    assert await line.settled("What is it?", "I see.")


@shows("structured output", only=ONLY)
async def test_structured_output_is_asked_for(line: Line) -> None:
    """The schema goes to the upstream as it is."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    wanted = {"type": "json_schema", "json_schema": {"name": "number", "schema": schema}}
    await line.driver.say("A number.", response_format=wanted)
    assert line.sent["response_format"] == wanted


@shows("sampling options", only=[OpenAIDriver, ResponsesDriver, CompletionsDriver])
async def test_sampling_options_go_along(line: Line) -> None:
    """Those that OpenAI's protocols share; Anthropic's client no longer has any."""
    await line.driver.say("Hi", temperature=0.5, top_p=0.25)
    assert (line.sent["temperature"], line.sent["top_p"]) == (0.5, 0.25)


@shows("list of models", only=ONLY)
async def test_models_are_listed(line: Line) -> None:
    """The upstream's."""
    assert [model.id async for model in line.driver.api.models.list()] == ["fake-1"]


@shows("embeddings", only=ONLY)
async def test_texts_are_embedded(line: Line) -> None:
    """By the upstream, whose answer is passed through."""
    body = b'{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,1]}]}'
    line.endpoint.answers.append(Scripted(blocks=(body,)))
    found = await line.driver.api.embeddings.create(model="e", input="one", encoding_format="float")
    assert found.data[0].embedding == [0.5, 1]
