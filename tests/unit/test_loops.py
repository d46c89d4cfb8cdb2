"""Replies that repeat themselves endlessly: a small model's are kept from it and cut off, and no
others."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.mechanisms.reply_forms import PENALTY, is_looping
from omoide.server.run import upstream_of
from omoide.server.upstream import UpstreamRequest

from .conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.server.upstream import Upstream

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
LOOP = "You could try these: " + "rice cakes, " * 90


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


async def replied(
    make_world: Callable[..., Awaitable[World]], answer: str, *, profile: str, reply_form: str = ""
) -> str:
    """The reply that is recorded when a model of that profile gives this answer."""
    world = await make_world(settings=replace(SETTINGS, profile=profile, reply_form=reply_form))
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


@pytest.mark.parametrize(("profile", "whole"), [("small", False), ("large", True)])
async def test_only_a_small_models_loop_is_cut_off(
    make_world: Callable[..., Awaitable[World]], *, profile: str, whole: bool
) -> None:
    """What a large model says again and again, it means: a chorus, a row of equal cells."""
    said = await replied(make_world, LOOP, profile=profile, reply_form="chat")
    assert (said == LOOP) is whole


@pytest.mark.parametrize(("profile", "whole"), [("small", False), ("large", True)])
async def test_the_server_cuts_off_only_a_small_models_loop(
    make_world: Callable[..., Awaitable[World]], *, profile: str, whole: bool
) -> None:
    """A client's stream from the embedded model ends where it begins to loop; a table in it never
    does."""
    for answer, kept in ((LOOP, whole), (TABLE, True)):
        world = await make_world(settings=replace(SETTINGS, profile=profile))
        world.replier.answers.append(answer)
        upstream = upstream_of(world.runtime.settings.model, world.runtime)
        assert (await streamed(upstream) == answer) is kept


@pytest.mark.parametrize(("profile", "penalty"), [("small", PENALTY), ("large", 0.0)])
@pytest.mark.parametrize("form", ["", "chat", "agent", "agent+clock"])
async def test_only_a_small_model_is_penalised_for_repeating_a_word(
    make_world: Callable[..., Awaitable[World]], *, profile: str, penalty: float, form: str
) -> None:
    """In whatever form it is asked; a client's own penalty is kept."""
    world = await make_world(settings=replace(SETTINGS, profile=profile, reply_form=form))
    world.replier.answers += ["I see."] * 3
    await (await world.memory.reply("ana", "I have a cat.")).text()
    upstream = upstream_of(world.runtime.settings.model, world.runtime)
    await streamed(upstream)
    await streamed(upstream, frequency_penalty=0.7)
    asked = [request.frequency_penalty for request in world.replier.requests]
    assert asked == [penalty, penalty, 0.7]


async def streamed(upstream: Upstream, **more: float) -> str:
    """The text of a streamed answer."""
    body = {"messages": [{"role": "user", "content": "Show me."}], "stream": True, **more}
    forward = UpstreamRequest(
        method="POST", path="/chat/completions", body=json.dumps(body).encode()
    )
    async with upstream.send(forward) as answer:
        events = b"".join([block async for block in answer.blocks]).decode()
    chunks = [json.loads(event) for event in events.split("data: ")[1:-1]]
    return "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
