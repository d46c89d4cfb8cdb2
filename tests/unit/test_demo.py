"""The demo conversation: the same story in five languages, complete without a model."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

from omoide.demo import LANGUAGES, load
from omoide.domain import Owner, State
from omoide.errors import BadInput
from omoide.language import detect

if TYPE_CHECKING:
    from .conftest import World

DEMO = Owner(tenant="default", user="demo")


def read(name: str) -> Any:  # noqa: ANN401 - JSON
    """One of its files."""
    return json.loads(files("omoide.demo").joinpath(f"{name}.json").read_text("utf-8"))


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_demo_fills_everything(world: World, language: str) -> None:
    """Five sessions, five versions, memos and events; nothing is left for a model to do."""
    loaded = await load(world.store, DEMO, language, now=world.clock.now())
    assert (loaded.sessions, loaded.turns, loaded.versions) == (5, 30, 5)
    await world.memory.settle()
    assert world.replier.requests == world.iterator.requests == []
    jobs = await world.memory.jobs("demo")
    assert {job.state for job in jobs} <= {State.DONE}
    because = await world.memory.why("demo")
    assert [bool(b.turns) for b in because] == [True] * 7 + [False]
    for memo in await world.store.memos.read(DEMO):
        whole = sum(len(turn.text) for turn in await world.store.turns.read(DEMO, ids=memo.sources))
        assert 0 < len(memo.compressed) < whole + 40
    events = await world.store.events.read(DEMO)
    assert [event.id for event in events if event.superseded_by] == ["demo-lisbon"]
    assert max(event.recalls for event in events) == 3
    assert all(turn.time < world.clock.now() for turn in await world.memory.turns("demo"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_tells_the_same_story(language: str) -> None:
    """The same places hold words, in that language."""
    english, words = read("en"), read(language)
    assert [len(said) for said in words["turns"]] == [len(said) for said in english["turns"]]
    for part in ("sentences", "memos", "events"):
        assert words[part].keys() == english[part].keys() == (read("story")[part].keys())
    texts = [text for said in words["turns"] for text in said]
    texts += [*words["sentences"].values(), *words["events"].values()]
    assert all(text.strip() for text in texts)
    assert detect(" ".join(texts)) == language


async def test_the_demo_does_not_mix_with_anyone(world: World) -> None:
    """A user who has a memory keeps it as it is; an unknown language is named."""
    await load(world.store, DEMO, "en", now=world.clock.now())
    with pytest.raises(BadInput, match="another user"):
        await load(world.store, DEMO, "en", now=world.clock.now())
    with pytest.raises(BadInput, match="en, zh"):
        await load(world.store, Owner(tenant="default", user="x"), "xx", now=world.clock.now())
    assert len(await world.memory.turns("demo")) == 30
