"""A message that the user edited is not recalled into the chat that goes on from its place."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from .conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import World

    Make = Callable[..., Awaitable[World]]
    Chat = list[dict[str, str]]

LARGE = replace(SETTINGS, profile="large", mechanisms=("search",), recall_items=30)
MORNING = "Which park for a run? I run every morning at six."
EVENING = "Which park for a run? I run every evening at seven."


async def say(
    world: World, history: Chat, text: str, reply: str, *, session: str | None = None
) -> str:
    """Send a message after a history, and return what memory recalled. The history goes on."""
    history.append({"role": "user", "content": text})
    async with world.memory.exchange("ana", history, session=session) as turn:
        recalled = "\n".join(item.text for item in turn.why)
        await turn.finish(reply)
    history.append({"role": "assistant", "content": reply})
    world.clock.advance(timedelta(minutes=1))
    return recalled


async def begun(make_world: Make) -> tuple[World, Chat]:
    """A chat with one exchange."""
    world = await make_world(settings=LARGE)
    history: Chat = []
    await say(world, history, "Hello, I am Ana and I love to run in a park.", "Hello Ana!")
    return world, history


async def test_what_was_edited_away_is_not_recalled(make_world: Make) -> None:
    """Neither the message nor its reply nor what followed; also when it is edited once more."""
    world, history = await begun(make_world)
    first, second, third = list(history), list(history), list(history)
    await say(world, first, MORNING, "The city park, for a run in the morning.")
    await say(world, first, "I run in the park with Leo.", "A run in the park with Leo, nice.")
    recalled = await say(world, second, EVENING, "The riverside, for a run in the evening.")
    assert "morning" not in recalled
    assert "Leo" not in recalled
    recalled = await say(world, third, "Which park for a run at noon?", "The old park.")
    assert "morning" not in recalled
    assert "evening" not in recalled


async def test_nothing_said_is_lost(make_world: Make) -> None:
    """It stays among the turns, and other chats may recall it: perhaps both were meant."""
    world, history = await begun(make_world)
    await say(world, list(history), MORNING, "The city park.")
    await say(world, list(history), EVENING, "The riverside.")
    texts = [turn.text for turn in await world.memory.turns("ana")]
    assert MORNING in texts
    assert EVENING in texts


async def test_another_device_in_the_same_session_is_recalled(make_world: Make) -> None:
    """Its messages follow the same reply, and have another history."""
    world, history = await begun(make_world)
    phone: Chat = []
    await say(world, phone, "Hi, here is Ana on the phone.", "Hi Ana!")
    await say(world, phone, "I run in the park with Leo.", "Nice.")
    assert len(await world.memory.sessions("ana")) == 1
    recalled = await say(world, history, "With whom do I run in the park?", "With Leo.")
    assert "I run in the park with Leo." in recalled


async def test_the_first_message_of_another_chat_is_recalled(make_world: Make) -> None:
    """Every chat begins without a history, so nothing says that its first message was edited."""
    world, _ = await begun(make_world)
    recalled = await say(world, [], "Do I love to run in a park?", "You do.")
    assert "I love to run in a park." in recalled
