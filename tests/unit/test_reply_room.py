"""How long a reply may be, and how much of the model's window is kept free for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.language import estimate_tokens
from omoide.mechanisms.parts import memory_room, reply_tokens_for, session_room
from omoide.mechanisms.reply_room import kept_for_reply
from omoide.settings import Settings
from omoide.testing import ScriptedModel

from .conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import World

LARGE = replace(SETTINGS, form="small", profile="large", reply_tokens=0)


@pytest.mark.parametrize(
    ("settings", "tokens"),
    [
        (Settings(), 400),
        (Settings(profile="large"), 4000),
        (Settings(profile="large", reply_tokens=900), 900),
        (Settings(profile="small", reply_tokens=900), 900),
        (Settings.of("wang2023", profile="large"), 400),
        (Settings.of("memochat", profile="large"), 400),
    ],
)
def test_how_long_a_reply_may_be(settings: Settings, tokens: int) -> None:
    """By the model's profile, unless it is set; a paper's is always short."""
    assert reply_tokens_for(settings) == tokens


@pytest.mark.parametrize("window", [2048, 4096, 8192, 32_000, 128_000])
def test_a_long_reply_leaves_a_small_window_its_memory(window: int) -> None:
    """At most a quarter is kept free; a short reply's tokens are kept as ever."""
    long = Settings(profile="large")
    assert kept_for_reply(4000, window=window) <= window // 4
    assert kept_for_reply(400, window=window) == 400
    assert session_room(long, window=window) >= window * 3 // 4 - 4600 - 800
    assert memory_room(replace(long, memory_tokens=-1), window=window) >= window // 4


@pytest.mark.parametrize(
    ("window", "most", "least"), [(128_000, 4000, 4000), (8192, 4000, 3000), (2048, 1400, 400)]
)
async def test_a_strong_model_may_write_as_long_as_the_window_has_room(
    make_world: Callable[..., Awaitable[World]], window: int, most: int, least: int
) -> None:
    """Together with its prompt, the reply fits into the window."""
    model = ScriptedModel(["A long answer."], window=window)
    world = await make_world(settings=LARGE, model=model)
    await (await world.memory.reply("ana", "Write a parser for me.")).text()
    asked = model.requests[-1]
    prompt = sum(estimate_tokens(message.content) for message in asked.messages)
    assert least <= asked.max_tokens <= most
    assert prompt + asked.max_tokens <= window


async def test_a_long_session_leaves_a_long_reply_its_part(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """The oldest turns are left out, and the reply has the eighth that was kept for it."""
    model = ScriptedModel(["A long answer."], window=16_384)
    world = await make_world(settings=replace(LARGE, max_turn_chars=100_000), model=model)
    for number in range(20):
        await world.memory.record("ana", f"{number}: " + "one more thing, " * 300)
    await (await world.memory.reply("ana", "Write a parser for me.")).text()
    asked = model.requests[-1]
    prompt = sum(estimate_tokens(message.content) for message in asked.messages)
    assert 2048 <= asked.max_tokens <= 4000
    assert prompt + asked.max_tokens <= 16_384


async def test_a_papers_reply_is_short_where_the_user_chose_the_paper(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """The user's own method counts, not that of the settings."""
    model = ScriptedModel(["Hello."], window=128_000)
    world = await make_world(settings=LARGE, model=model)
    await world.memory.choose_preset("ana", "memochat")
    await (await world.memory.reply("ana", "Hello.")).text()
    assert model.requests[-1].max_tokens == 400
