"""Limits and moments of the engine: the bound itself is inside or outside, as its rule says."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omoide import When
from omoide.domain import Speaker
from omoide.engine import recorder
from omoide.engine.checked import LONGEST_HELD, SHORTEST_SHOWN, checked_stream
from omoide.engine.memory_folder import MAX_PATH, ROOT, Files, checked_path, run_command
from omoide.engine.messages import Utterance
from omoide.engine.recalling import MAX_RECALLED
from omoide.errors import BadCommand, BadInput
from omoide.mechanisms.reply_checks import ReplyChecks
from omoide.ports import Completion, Request

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from .conftest import World

MOMENT, DAY = timedelta(microseconds=1), timedelta(days=1)


def said(text: str = "Hi.") -> Utterance:
    """Words of the user's."""
    return Utterance(speaker=Speaker.USER, text=text)


async def test_as_much_as_is_allowed_is_allowed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The most turns of a call, and the most items of a recall."""
    monkeypatch.setattr(recorder, "MAX_TURNS", 3)
    assert len(await world.memory.record("ana", [said()] * 3)) == 3
    with pytest.raises(BadInput, match="at most 3 turns"):
        await world.memory.record("ana", [said()] * 4)
    for k in (1, MAX_RECALLED):
        await world.memory.recall("ana", "cats", k=k, budget=1)


@pytest.mark.parametrize(("late", "kept"), [(DAY, True), (DAY + MOMENT, False)])
async def test_a_time_may_be_a_day_ahead(world: World, late: timedelta, kept: bool) -> None:
    """A clock that is further ahead is not believed: the turn gets the present time."""
    now = world.clock.now()
    turn = Utterance(speaker=Speaker.USER, text="Hi.", time=now + late)
    [recorded] = await world.memory.record("ana", [turn])
    assert recorded.time == (now + late if kept else now)


async def test_a_moment_belongs_to_what_begins_with_it(world: World) -> None:
    """A version of the summary is there at the moment of its making, not before."""
    await world.session("ana", "I have a cat called Miso.", answers=("The user has a cat.",))
    [first] = await world.memory.history("ana")
    for at, found in ((first.time, 1), (first.time - MOMENT, 0)):
        assert len(await world.memory.history("ana", at=at)) == found
    assert (await world.memory.summary("ana", at=first.time)).number == 1
    changes = await world.memory.diff("ana", When(at=first.time - MOMENT), When(at=first.time))
    assert [change.new for change in changes] == ["The user has a cat."]


def test_the_longest_path_and_file() -> None:
    """One character more is refused."""
    path = f"{ROOT}/".ljust(MAX_PATH, "x")
    assert checked_path(path) == path
    with pytest.raises(BadCommand, match=f"at most {MAX_PATH} printable"):
        checked_path(path + "x")
    files = Files(texts={})
    create = {"command": "create", "path": path}
    with pytest.raises(BadCommand, match="a file may have 10"):
        run_command(files, {**create, "file_text": "x" * 11}, max_chars=10)
    run_command(files, {**create, "file_text": "x" * 10}, max_chars=10)
    assert files.texts == {path: "x" * 10}


@pytest.mark.parametrize(
    ("size", "shown"),
    [(0, "0B"), (1023, "1023B"), (1024, "1K"), (1536, "1.5K"), (1024**2, "1M"), (1024**3, "1G")],
)
def test_sizes_are_shown_in_the_largest_unit_that_fits(size: int, shown: str) -> None:
    """1,024 of a unit are one of the next."""

    class Long(str):
        """A text of any length."""

        __slots__ = ()

        def __len__(self) -> int:
            return size

        def encode(self, *_: object) -> Long:  # type: ignore[override]
            """As long as before."""
            return self

    files = Files(texts={f"{ROOT}/a.md": Long("x")})
    listing = run_command(files, {"command": "view", "path": ROOT}, max_chars=10)
    assert f"{shown}\t{ROOT}/a.md" in listing


async def shown(*pieces: str) -> list[str]:
    """The parts in which the pieces of an answer are shown."""
    done = Completion(text="", prompt_tokens=1, completion_tokens=1, seconds=0, finish="stop")

    async def stream(_: Request) -> AsyncGenerator[str | Completion]:
        for piece in pieces:
            yield piece
        yield done

    request = Request(messages=(), max_tokens=9)
    parts = checked_stream(stream, request, ReplyChecks(language="en", message="Hi.", known=False))
    return [part async for part in parts if isinstance(part, str)]


async def test_a_sentence_is_shown_as_soon_as_it_is_long_enough() -> None:
    """A shorter one waits for the next."""
    enough, less = "a" * SHORTEST_SHOWN + ".", "a" * (SHORTEST_SHOWN - 1) + "."
    assert (await shown(enough, " And", " so on."))[0] == enough
    assert (await shown(less, " And", " so on."))[0] == less + " And so on."


async def test_a_sentence_that_does_not_end_is_shown_once_it_is_too_long() -> None:
    """As far as it came."""
    words = " ".join(str(n) for n in range(1000))
    longest = words[:LONGEST_HELD]
    assert await shown(longest, "!") == [longest + "!"]
    assert await shown(longest + "0", "!") == [longest + "0", "!"]
