"""Replies that repeat themselves endlessly are cut off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.mechanisms.reply_forms import is_looping

from .conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import World

TABLE = """Here are your trips.
| year | city | days | hotel | cost |
| --- | --- | --- | --- | --- |
| 2024 | Oslo | 3 | Grand | 900 |"""
CODE = """Try this:
```python
class Shop:
    def open(self):
        for day in days:
            if day.works:
                for hour in day.hours:
                    if hour.free:
                        with self.door:
                            self.serve(hour)
```"""


def begun(text: str) -> list[str]:
    """A text as it grows."""
    return [text[:end] for end in range(1, len(text) + 1)]


@pytest.mark.parametrize(
    "text", [TABLE, CODE, "=" * 90, "\n" * 40, "ha ha ha ha ha ha", "Nothing is said twice here."]
)
def test_tables_code_and_lines_are_no_loops(text: str) -> None:
    """At no point while they are written: the second row of a table, deep indentation, a rule."""
    assert not any(map(is_looping, begun(text)))


@pytest.mark.parametrize(
    "run",
    [
        *("rice cakes, ", "- Rice cakes\n", "私はお米が好きです。", "나는 쌀을 좋아해. "),
        "Miso is a cat who sleeps on the warm oven of the bakery all day long. ",
    ],
)
def test_a_run_of_text_four_times_is_a_loop(run: str) -> None:
    """In any script, whatever came before; three times is not enough."""
    assert not is_looping(f"So: {run * 3}")
    assert is_looping(f"So: {run * 4}")


async def replied(make_world: Callable[..., Awaitable[World]], answer: str, *, profile: str) -> str:
    """The reply that is recorded when a model of that profile gives this answer."""
    world = await make_world(settings=replace(SETTINGS, profile=profile))
    world.replier.answers.append(answer)
    said = await (await world.memory.reply("ana", "Show me.")).text()
    (_, turn) = await world.memory.turns("ana")
    assert turn.text == said
    return turn.text


@pytest.mark.parametrize("profile", ["small", "large"])
@pytest.mark.parametrize("answer", [TABLE, CODE], ids=["table", "code"])
async def test_a_reply_with_a_table_or_code_is_kept_whole(
    make_world: Callable[..., Awaitable[World]], profile: str, answer: str
) -> None:
    """Nothing of it is lost, whatever the model."""
    assert await replied(make_world, answer, profile=profile) == answer
