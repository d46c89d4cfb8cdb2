"""What only OpenAI's Responses have: conversations that the server keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import openai
import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.errors import StoreFull
from omoide.server.options import Options
from omoide.testing.endpoint import stream, whole
from tests.server.serving import listening, serving

from .drivers import ResponsesDriver
from .lines import connected, shows

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.domain import Note, Owner

    from .lines import Line

ONLY = [ResponsesDriver]


def texts(line: Line) -> list[tuple[str, str]]:
    """Roles and texts of what the endpoint was sent last."""
    return [(message["role"], message["content"]) for message in line.sent["messages"]]


@shows("continued by id", only=ONLY)
async def test_a_response_continues_another(line: Line) -> None:
    """The server knows what was said before. The messages of a second branch are not those of the
    first, though memory may recall them."""
    line.endpoint.answers += [whole("One."), whole("Two."), whole("Three.")]
    first = await line.driver.create(input="Say one.", instructions="Be brief.")
    second = await line.driver.create(input="Say two.", previous_response_id=first.raw.id)
    assert second.raw.previous_response_id == first.raw.id
    said = [("user", "Say one."), ("assistant", "One."), ("user", "Say two.")]
    assert texts(line) == said
    await line.driver.create(input="Say three.", previous_response_id=first.raw.id)
    *before, (role, text) = texts(line)
    assert before == said[:2]
    assert (role, text.rpartition("\n")[2]) == ("user", "Say three.")
    assert await line.settled("Say one.", "One.", "Say two.", "Two.", "Say three.", "Three.")


@shows("continued by id", only=ONLY)
async def test_a_streamed_response_is_stored_when_it_says_so(line: Line) -> None:
    """Whoever sees the last event may continue at once."""
    line.endpoint.answers.append(stream("On", "e."))
    events = await line.driver.api.responses.create(
        model="m", input="Say one.", user="ana", stream=True
    )
    kinds, numbers = [], []
    async for event in events:
        kinds.append(event.type)
        numbers.append(event.sequence_number)
        if event.type == "response.completed":
            assert event.response.store is True
            again = await line.driver.create(
                input="Say two.", previous_response_id=event.response.id
            )
    assert numbers == list(range(len(numbers)))
    assert kinds == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert again.text == "I see."
    assert texts(line)[:2] == [("user", "Say one."), ("assistant", "One.")]


@shows("continued by id", only=ONLY)
async def test_what_is_not_stored_cannot_be_continued(line: Line) -> None:
    """`store: false` is respected, and so is a client that wants no memory at all."""
    for more in ({"store": False}, {"extra_headers": {"X-Omoide-Memory": "off"}}):
        unkept = await line.driver.create(input="Hi", **more)
        assert unkept.raw.store is False
        with pytest.raises(openai.BadRequestError, match="not stored for user 'ana'") as raised:
            await line.driver.create(input="And?", previous_response_id=unkept.raw.id)
        assert raised.value.code == "previous_response_not_found"
        assert raised.value.param == "previous_response_id"
    assert await line.bench.memory().notes("ana", kind="response") == ()


@shows("continued by id", only=ONLY)
async def test_nobody_continues_another_users_response(line: Line) -> None:
    """An id is not a key."""
    first = await line.driver.create(input="My secret is 42.")
    for named in ({"user": "bob"}, {"user": "ana", "extra_headers": {"X-Omoide-User": "bob"}}):
        with pytest.raises(openai.BadRequestError, match="not stored for user 'bob'"):
            await line.driver.create(input="And?", previous_response_id=first.raw.id, **named)
    with pytest.raises(openai.NotFoundError):
        await line.driver.api.responses.retrieve(
            first.raw.id, extra_headers={"X-Omoide-User": "bob"}
        )
    assert len(line.endpoint.requests) == 1


@shows("stored responses", only=ONLY)
async def test_a_stored_response_is_read_and_deleted(line: Line) -> None:
    """With its input; and gone when its user is erased."""
    header: Any = {"X-Omoide-User": "ana"}
    api = line.driver.api.responses
    first = await line.driver.create(input="Say one.", metadata={"topic": "numbers"})
    read = await api.retrieve(first.raw.id, extra_headers=header)
    assert read.output_text == "I see."
    assert read.metadata == {"topic": "numbers"}
    items = await api.input_items.list(first.raw.id, extra_headers=header)
    assert [item.content[0].text for item in items.data] == ["Say one."]
    second = await line.driver.create(input="Say two.", previous_response_id=first.raw.id)
    await api.delete(first.raw.id, extra_headers=header)
    with pytest.raises(openai.NotFoundError, match="is not stored"):
        await api.retrieve(first.raw.id, extra_headers=header)
    assert (await api.retrieve(second.raw.id, extra_headers=header)).id == second.raw.id
    await line.bench.memory().erase("ana")
    with pytest.raises(openai.NotFoundError):
        await api.retrieve(second.raw.id, extra_headers=header)


@shows("conversations", only=ONLY)
async def test_a_conversation_is_kept(line: Line) -> None:
    """Responses are added to it, its items can be read and added, and it can be deleted."""
    header: Any = {"X-Omoide-User": "ana"}
    api = line.driver.api.conversations
    begun = await api.create(
        items=[{"type": "message", "role": "user", "content": "I am Ana."}],
        metadata={"topic": "names"},
        extra_headers=header,
    )
    line.endpoint.answers += [whole("Hello, Ana."), whole("You are Ana.")]
    await line.driver.create(input="Hello!", conversation=begun.id)
    last = await line.driver.create(input="Who am I?", conversation={"id": begun.id})
    assert last.raw.conversation.id == begun.id
    assert texts(line) == [
        ("user", "I am Ana."),
        ("user", "Hello!"),
        ("assistant", "Hello, Ana."),
        ("user", "Who am I?"),
    ]
    note: Any = {"type": "message", "role": "user", "content": "Good night."}
    await api.items.create(begun.id, items=[note], extra_headers=header)
    items = await api.items.list(begun.id, extra_headers=header)
    said = [item.content[0].text async for item in items]
    assert said == [
        "I am Ana.",
        "Hello!",
        "Hello, Ana.",
        "Who am I?",
        "You are Ana.",
        "Good night.",
    ]
    assert (await api.retrieve(begun.id, extra_headers=header)).metadata == {"topic": "names"}
    sessions = await line.bench.memory().sessions("ana")
    assert [session.key for session in sessions] == [begun.id]
    await api.delete(begun.id, extra_headers=header)
    with pytest.raises(openai.BadRequestError, match="is not stored"):
        await line.driver.create(input="Hello?", conversation=begun.id)


async def test_conversations_survive_a_restart(tmp_path: Path) -> None:
    """Another server on the same file goes on where the first one stopped."""
    ids: list[str] = []
    for text in ("Say one.", "Say two."):
        store = await SqliteStore.open(tmp_path / "memory.sqlite")
        async with serving(tmp_path, store=store) as bench, listening(bench.app) as url:
            driver = ResponsesDriver(url, None)
            more = {"previous_response_id": ids[-1]} if ids else {}
            heard = await driver.create(input=text, **more)
            ids.append(heard.raw.id)
            await driver.close()
            sent = [m["content"] for m in bench.upstairs.requests[-1].body["messages"]]
    assert sent == ["Say one.", "I see.", "Say two."]


async def test_a_server_may_be_told_to_store_nothing(tmp_path: Path) -> None:
    """Then the responses say so, and memory goes on as before."""
    options = Options(patience=600.0, store=False)
    async with connected(tmp_path, ResponsesDriver, options=options) as line:
        heard = await line.driver.create(input="Hi", store=True)
        assert heard.raw.store is False
        assert await line.settled("Hi", "I see.")
        with pytest.raises(openai.BadRequestError, match="is not stored"):
            await line.driver.create(input="And?", previous_response_id=heard.raw.id)


class FullNotes:
    """Notes that no longer fit on the disk."""

    async def put(self, owner: Owner, note: Note, *, mark: str | None = None) -> None:
        """Raises `StoreFull`."""
        raise StoreFull("the disk is full")


@pytest.mark.parametrize("line", ONLY, indirect=True)
async def test_a_response_that_cannot_be_stored_says_so(line: Line) -> None:
    """The chat goes on; the answer does not claim to be stored."""
    line.bench.server.runtime.store.notes = FullNotes()  # type: ignore[assignment]
    heard = await line.driver.create(input="Hi")
    assert heard.text == "I see."
    assert heard.raw.store is False


@shows("structured output", only=ONLY)
async def test_structured_output_is_asked_for(line: Line) -> None:
    """A JSON schema goes to the upstream as Chat Completions name it."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    wanted = {"type": "json_schema", "name": "number", "schema": schema, "strict": True}
    await line.driver.create(
        input="A number.", text={"format": wanted}, max_output_tokens=9, reasoning={"effort": "low"}
    )
    named = {"name": "number", "schema": schema, "strict": True}
    assert line.sent["response_format"] == {"type": "json_schema", "json_schema": named}
    assert line.sent["max_completion_tokens"] == 9
    assert line.sent["reasoning_effort"] == "low"


@shows("images", only=ONLY)
async def test_an_image_goes_along(line: Line) -> None:
    """Its text is recorded, the image is passed on."""
    content = [
        {"type": "input_text", "text": "What is it?"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBOR"},
    ]
    await line.driver.create(input=[{"role": "user", "content": content}])
    assert line.sent["messages"][0]["content"] == [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBOR"}},
    ]
    assert await line.settled("What is it?", "I see.")
