"""What of the memory is repeated beside the user's message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import World

FACTS = "The user has a cat called Miso.\nThe user lives in York.\nThe user plays the violin."
SAID = ("I have a cat called Miso.", "I live in York and I play the violin.")


async def near(world: World, text: str) -> list[str]:
    """The sentences that stand with the message."""
    world.replier.answers.append("I see.")
    reply = await world.memory.reply("ana", text)
    await reply.text()
    return [c.text for c in reply.contributions if c.id.endswith(".near")]


async def test_small_talk_brings_to_mind_only_what_it_names(world: World) -> None:
    """A greeting is answered without the memory beside it; a name in it brings its fact."""
    await world.session("ana", *SAID, answers=(FACTS,))
    assert await near(world, "Good night!") == []
    assert await near(world, "Miso!") == ["The user has a cat called Miso."]


async def test_a_message_of_some_length_stands_beside_the_nearest_facts(world: World) -> None:
    """Nearness counts the words that a fact rests on, too."""
    await world.session("ana", *SAID, answers=(FACTS,))
    found = await near(world, "What should I give the cat that I have for breakfast today?")
    assert found[0] == "The user has a cat called Miso."
    assert len(found) == 3


@pytest.mark.parametrize(
    ("model", "asked"), [("default", 10), ("http://127.0.0.1:9/v1#large", 2)], ids=str
)
async def test_a_local_model_is_shown_examples_and_an_endpoint_is_not(
    model: str, asked: int
) -> None:
    """The messages before the user's own: system, three examples and the memory, or the system
    alone."""
    from datetime import UTC, datetime

    from omoide.domain import Owner, Speaker, Turn
    from omoide.mechanisms.base import ReplyRequest
    from omoide.mechanisms.reply_forms import FORMS
    from omoide.settings import Settings

    now = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
    turn = Turn(
        id="1", session=1, position=1, speaker=Speaker.USER, text="Hi", time=now, language="en"
    )
    reply_request = ReplyRequest(
        owner=Owner(tenant="t", user="u"), text="Hi", session=(turn,), now=now, language="en"
    )
    request = FORMS[Settings(model=model).effective_reply_form](
        reply_request, (), window=8192, max_tokens=100
    )
    assert len(request.messages) == asked
    assert request.messages[-1].content == "Hi"


async def test_a_short_question_about_oneself_is_no_small_talk(world: World) -> None:
    """The nearest facts stand beside it though it shares no word with them; beside a short question
    about anything else they do not."""
    await world.session("ana", *SAID, answers=(FACTS,))
    assert len(await near(world, "Who is my pet?")) == 3
    assert await near(world, "Any news?") == []
