"""What only Anthropic's Messages have: blocks, counting, thinking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anthropic
import pytest

from omoide.testing.endpoint import DONE, Scripted, event, whole

from .drivers import AnthropicDriver
from .lines import shows

if TYPE_CHECKING:
    from .lines import Line

ONLY = [AnthropicDriver]


@shows("counting of tokens", only=ONLY)
async def test_tokens_are_counted(line: Line) -> None:
    """An estimate of what the request holds; nothing is recorded or sent."""
    count = line.driver.api.messages.count_tokens
    hello = await count(model="m", messages=[{"role": "user", "content": "Hello there"}])
    more = await count(
        model="m", system="Be brief. " * 50, messages=[{"role": "user", "content": "Hello there"}]
    )
    assert 0 < hello.input_tokens < 10
    assert more.input_tokens > hello.input_tokens + 50
    assert line.endpoint.requests == []
    assert await line.bench.memory().users() == ()


@shows("images", only=ONLY)
async def test_an_image_goes_along(line: Line) -> None:
    """Its text is recorded, the image is passed on."""
    image = {"type": "base64", "media_type": "image/png", "data": "iVBOR"}
    content: Any = [{"type": "image", "source": image}, {"type": "text", "text": "What is it?"}]
    await line.driver.api.messages.create(
        model="m",
        max_tokens=9,
        messages=[{"role": "user", "content": content}],
        metadata={"user_id": "ana"},
    )
    assert line.sent["messages"][0]["content"] == [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBOR"}},
        {"type": "text", "text": "What is it?"},
    ]
    assert await line.settled("What is it?", "I see.")


@shows("structured output", only=ONLY)
async def test_structured_output_is_asked_for(line: Line) -> None:
    """A JSON schema goes to the upstream as Chat Completions name it."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    await line.driver.say(
        "A number.", output_config={"format": {"type": "json_schema", "schema": schema}}
    )
    assert line.sent["response_format"]["json_schema"]["schema"] == schema


@shows("reasoning", only=ONLY)
async def test_reasoning_becomes_thinking(line: Line) -> None:
    """Where the client asked for it; and it may be sent back."""
    blocks = (
        event({"role": "assistant", "reasoning_content": "Hm. "}),
        event({"reasoning_content": "Yes."}),
        event({"content": "Yes, indeed."}),
        event({}, finish="stop"),
        DONE,
    )
    line.endpoint.answers.append(Scripted(media_type="text/event-stream", blocks=blocks))
    thinking = {"type": "enabled", "budget_tokens": 1024}
    asked: dict[str, Any] = {"model": "m", "max_tokens": 2048, "metadata": {"user_id": "ana"}}
    messages: list[Any] = [{"role": "user", "content": "Is it?"}]
    async with line.driver.api.messages.stream(
        **asked, messages=messages, thinking=thinking
    ) as stream:
        final = await stream.get_final_message()
    assert [(b.type, getattr(b, b.type)) for b in final.content] == [
        ("thinking", "Hm. Yes."),
        ("text", "Yes, indeed."),
    ]
    messages += [
        {"role": "assistant", "content": final.content},
        {"role": "user", "content": "Sure?"},
    ]
    await line.driver.api.messages.create(**asked, messages=messages)
    assert [m["content"] for m in line.sent["messages"]] == ["Is it?", "Yes, indeed.", "Sure?"]
    assert await line.settled("Is it?", "Yes, indeed.", "Sure?", "I see.")


@shows("conversations", only=ONLY)
async def test_a_thread_sends_only_what_is_new(line: Line) -> None:
    """The server knows the rest, the system prompt included."""
    thread = line.driver.api.beta.messages.thread(
        model="m", max_tokens=99, system="Be brief.", metadata={"user_id": "ana"}
    )
    line.endpoint.answers += [whole("One."), whole("Two.")]
    await thread.send({"role": "user", "content": "Say one."})
    await thread.send({"role": "user", "content": "Say two."})
    assert thread.previous_message_id is not None
    assert [m["content"] for m in line.sent["messages"]] == [
        "Be brief.",
        "Say one.",
        "One.",
        "Say two.",
    ]
    assert await line.settled("Say one.", "One.", "Say two.", "Two.")


@shows("conversations", only=ONLY)
async def test_a_thread_that_is_gone_begins_anew(line: Line) -> None:
    """Erased, the conversation is the client's to send again, which its client does by itself."""
    thread = line.driver.api.beta.messages.thread(
        model="m", max_tokens=99, metadata={"user_id": "ana"}
    )
    await thread.send({"role": "user", "content": "Say one."})
    lost = thread.previous_message_id
    await line.bench.memory().erase("ana")
    await thread.send({"role": "user", "content": "Say two."})
    assert thread.previous_message_id not in (None, lost)
    assert [m["content"] for m in line.sent["messages"]] == ["Say one.", "I see.", "Say two."]


@pytest.mark.parametrize("line", ONLY, indirect=True)
async def test_a_thread_is_one_users_and_has_no_branches(line: Line) -> None:
    """Each refusal has the code that Anthropic's clients recover by."""
    create = line.driver.api.beta.messages.create
    asked: dict[str, Any] = {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    ana, bob = {"metadata": {"user_id": "ana"}}, {"metadata": {"user_id": "bob"}}
    first = await create(**asked, **ana, thread={"type": "create"})
    on = {"type": "continue", "previous_message_id": first.id}
    with pytest.raises(anthropic.NotFoundError, match="thread_not_found"):
        await create(**asked, **bob, thread=on)
    await create(**asked, **ana, thread=on)
    with pytest.raises(anthropic.ConflictError, match="thread_already_continued"):
        await create(**asked, **ana, thread=on)
    with pytest.raises(anthropic.BadRequestError, match="system"):
        await create(**asked, **ana, thread=on | {"previous_message_id": "x"}, system="No.")
    off = await create(
        **asked, **ana, thread={"type": "create"}, extra_headers={"X-Omoide-Memory": "off"}
    )
    with pytest.raises(anthropic.NotFoundError, match="thread_not_found"):
        await create(**asked, **ana, thread={**on, "previous_message_id": off.id})
