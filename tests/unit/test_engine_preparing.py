"""Reading ahead: what the model is given before the user's message is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omoide.domain import Speaker
from omoide.engine.messages import Utterance
from omoide.language import LANGUAGES, detect_language, pack
from omoide.mechanisms.reply_notes import usual_greeting
from omoide.testing import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.ports import Request

    from .conftest import World


class ReadingModel(ScriptedModel):
    """A model that can read ahead, and keeps what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.prepared: list[Request] = []
        self.begun: list[str] = []

    async def prepare(self, request: Request, *, begun: str = "") -> None:
        """Read it."""
        self.prepared.append(request)
        self.begun.append(begun)


async def say(world: World, *texts: str, session: str | None) -> None:
    """Talk in a session: the user, then the assistant, by turns."""
    speakers = (Speaker.USER, Speaker.ASSISTANT)
    said = [Utterance(speaker=speakers[n % 2], text=text) for n, text in enumerate(texts)]
    await world.memory.record("ana", said, session=session)


@pytest.mark.parametrize("before", ["nothing", "open", "ended", "elsewhere", "both"])
async def test_what_is_read_ahead_is_how_the_next_prompt_begins(
    make_world: Callable[..., Awaitable[World]], before: str
) -> None:
    """All of it but the message: with the open session if there is one, without any that has ended
    or that another client holds under a key of its own."""
    model = ReadingModel()
    world = await make_world(model=model)
    if before in ("open", "ended", "both"):
        await say(world, "I live in Oslo.", "Lovely.", session=None)
    if before == "ended":
        await world.memory.end_session("ana")
    if before in ("elsewhere", "both"):
        await say(world, "Book a flight.", "Where to?", session="phone")
    await world.runtime.prepare("ana")
    model.answers.append("Yes.")
    await (await world.memory.reply("ana", "Is it cold there?")).text()
    [ahead], [asked] = model.prepared, model.requests
    assert ahead.messages[:-1] == asked.messages[:-1]
    assert ahead.max_tokens == asked.max_tokens
    told = " ".join(message.content for message in ahead.messages[:-1])
    assert ("I live in Oslo." in told) == (before in ("open", "both"))
    assert "Book a flight." not in told


async def test_the_language_is_that_of_what_was_said_last(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """By the user, also in a session that has ended."""
    model = ReadingModel()
    world = await make_world(model=model)
    await say(world, "I live in Oslo.", "Lovely.", session=None)
    await say(world, "私は東京に住んでいます。", "Lovely, is it not?", session=None)
    await world.memory.end_session("ana")
    await world.runtime.prepare("ana")
    model.answers.append("はい。")
    await (await world.memory.reply("ana", "そこは寒いですか？")).text()
    assert model.prepared[0].messages[:-1] == model.requests[0].messages[:-1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_usual_greeting_is_one(language: str) -> None:
    """In the language it is expected in."""
    greeting = usual_greeting(language)
    assert pack(language).replies.greeting.search(greeting)
    assert detect_language(greeting) == language


async def test_who_comes_back_is_expected_to_greet(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """The worked example of a greeting is read ahead; a message that does not greet loses
    nothing by it."""
    model = ReadingModel()
    world = await make_world(model=model)
    model.answers.append("Lovely.")
    await world.session("ana", "I live in Oslo.", answers=("User lives in Oslo.",))
    for message in ("Hello again!", "Is it cold there?"):
        await world.runtime.prepare("ana")
        model.answers.append("Yes.")
        await (await world.memory.reply("ana", message)).text()
        await world.memory.end_session("ana")
    greeted, other = zip(model.prepared, model.requests[1:], strict=True)
    assert greeted[0].messages[:-1] == greeted[1].messages[:-1]
    assert len(greeted[0].messages) == len(other[1].messages) + 2
    assert other[0].messages[: len(other[1].messages) - 1] == other[1].messages[:-1]


@pytest.mark.parametrize("message", ["Hello again, old friend!", "Is it cold there in winter?"])
async def test_words_that_are_typed_are_read_ahead(
    make_world: Callable[..., Awaitable[World]], message: str
) -> None:
    """With the prompt that such a message gets: a question is not taken for a greeting."""
    model = ReadingModel()
    world = await make_world(model=model)
    model.answers.append("Lovely.")
    await world.session("ana", "I live in Oslo.", answers=("User lives in Oslo.",))
    await world.runtime.prepare("ana", begun=f"{message[:12]} ")
    model.answers.append("Yes.")
    await (await world.memory.reply("ana", message)).text()
    [ahead], asked = model.prepared, model.requests[-1]
    assert ahead.messages[:-1] == asked.messages[:-1]
    assert model.begun == [message[:12].rstrip()]
    assert asked.messages[-1].content.startswith(model.begun[0])


async def test_a_model_that_cannot_read_ahead_is_left_alone(world: World) -> None:
    """Nothing is asked of it."""
    await world.runtime.prepare("ana")
    assert world.replier.requests == []
