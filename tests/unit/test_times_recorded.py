"""Times at the edges of the calendar: refused where they come in, and shown if they are stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from omoide import Owner, Speaker, Utterance
from omoide.domain import NewTurn
from omoide.domain.time import in_zone
from omoide.errors import BadInput
from omoide.transfer.foreign_conversations import ForeignConversation, ForeignMessage

from .conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import World

    MakeWorld = Callable[..., Awaitable[World]]

FIRST = datetime(1, 1, 1, tzinfo=UTC)
"""How Go and .NET write a time that was never set."""
LAST = datetime(9999, 12, 31, 23, tzinfo=UTC)
YORK = timezone(timedelta(hours=-5))
OWNER = Owner(tenant="default", user="ana")


async def test_the_time_of_a_message_that_no_zone_can_show_is_refused(world: World) -> None:
    """With the name of the field, wherever it comes in."""
    memory, turn = world.memory, Utterance(speaker=Speaker.USER, text="Hi.", time=FIRST)
    for asked in (
        memory.record("ana", turn),
        memory.record("ana", {"role": "user", "content": "Hi.", "time": FIRST.isoformat()}),
        memory.begin("ana", turn),
        memory.context("ana", turn),
    ):
        with pytest.raises(BadInput, match=r"^time=.*the years 2 to 9998"):
            await asked
    assert await memory.turns("ana") == ()


@pytest.mark.parametrize("time", [FIRST, LAST])
async def test_the_time_of_a_call_that_no_zone_can_show_is_refused(
    world: World, time: datetime
) -> None:
    """With the name of the field, wherever it comes in."""
    memory = world.memory
    for made in (
        memory.record("ana", "Hi.", at=time),
        memory.begin("ana", "Hi.", at=time),
        memory.context("ana", "Hi.", at=time),
        memory.recall("ana", "Hi.", at=time),
    ):
        with pytest.raises(BadInput, match=r"^at="):
            await made
    assert await memory.turns("ana") == ()


async def test_any_time_may_be_the_limit_of_a_search(world: World) -> None:
    """Many programs write "any time" as the first or last time there is."""
    await world.memory.record("ana", "I sail my boat Nerissa.")
    found = await world.memory.recall("ana", "boat", since=FIRST, until=LAST)
    assert [item.text for item in found] == ["I sail my boat Nerissa."]
    east, west = timezone(timedelta(hours=14)), timezone(timedelta(hours=-14))
    first, last = FIRST.replace(tzinfo=east), LAST.replace(tzinfo=west)
    assert len(await world.memory.recall("ana", "boat", since=first, until=last)) == 1


async def test_a_turn_of_an_older_version_does_not_cost_the_others(make_world: MakeWorld) -> None:
    """It is recalled with the day in UTC, and the others with it."""
    settings = replace(SETTINGS, timezone="America/New_York", mechanisms=("search",))
    world = await make_world(settings=settings)
    texts = ["My boat Nerissa is blue.", "I sail my boat Nerissa on the lake."]
    for time, text in zip((FIRST, world.clock.now()), texts, strict=True):
        said = NewTurn(speaker=Speaker.USER, text=text, time=time, id=text[:5], language="en")
        await world.store.turns.append(OWNER, [said], session=text, idle=timedelta(hours=1))
    world.clock.advance(timedelta(days=1))
    found = await world.memory.context("ana", "What is my boat Nerissa like?")
    assert len(found.contributions) == 2
    assert "0001-01-01" in found.text


def test_the_ends_of_the_calendar_stay_as_they_are() -> None:
    """Every other time is converted."""
    assert in_zone(FIRST, YORK) == FIRST
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    assert in_zone(noon, YORK).hour == 7


async def test_what_is_said_to_be_said_later_is_recorded_as_now(world: World) -> None:
    """Also where the whole call is dated in the future."""
    now, late = world.clock.now(), world.clock.now() + timedelta(days=400)
    last = Utterance(speaker=Speaker.USER, text="Hello.", time=LAST)
    [recorded] = await world.memory.record("ana", "Hi.", at=late)
    [endless] = await world.memory.record("cleo", last)
    assert endless.time == (await world.memory.begin("dora", last)).turn.time == now
    assert (await world.memory.context("ana", last)).text == ""
    exchange = await world.memory.begin("ben", "Hi.", at=late)
    [reply] = await exchange.finish("Hello.")
    assert recorded.time == exchange.turn.time == reply.time == now


async def test_an_imported_time_that_cannot_be_is_that_of_the_message_before(world: World) -> None:
    """Too early, or more than a day ahead."""
    now = world.clock.now()
    told, late = now - timedelta(days=30), now + timedelta(days=400)
    messages = tuple(
        ForeignMessage(id=f"m{i}", speaker=Speaker.USER, text=f"Message {i}.", time=time)
        for i, time in enumerate((FIRST, told, late))
    )
    talk = ForeignConversation(key="c", messages=messages, started=late)
    await world.memory.import_conversations("ana", [talk], at=late, digest=False)
    assert [turn.time for turn in await world.memory.turns("ana")] == [told] * 3
