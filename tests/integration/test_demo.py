"""The demo conversation: the same story in five languages, complete without a model."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

from omoide.demo import LANGUAGES, load
from omoide.domain import JobState, Owner
from omoide.errors import BadInput
from omoide.language import detect_language

if TYPE_CHECKING:
    from tests.unit.conftest import World

DEMO = Owner(tenant="default", user="demo")


def read(name: str) -> Any:  # noqa: ANN401 - JSON
    """One of its files."""
    return json.loads(files("omoide.demo").joinpath(f"{name}.json").read_text("utf-8"))


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_demo_fills_everything(world: World, language: str) -> None:
    """Five sessions, five versions, memos and events; nothing is left for a model to do."""
    loaded = await load(world.memory, "demo", language, now=world.clock.now())
    assert (loaded.sessions, loaded.turns, loaded.versions) == (5, 30, 5)
    await world.memory.run_jobs()
    assert world.replier.requests == world.iterator.requests == []
    jobs = await world.memory.jobs("demo")
    assert {job.state for job in jobs} <= {JobState.DONE}
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
async def test_the_demo_is_a_life_that_changes(world: World, language: str) -> None:
    """Sixteen facts: six are replaced, a paw heals, and the newest summary states what holds."""
    loaded = await load(world.memory, "demo", language, now=world.clock.now())
    assert loaded.facts == 16
    entries = await world.memory.timeline("demo")
    assert Counter(entry.change for entry in entries) == {"began": 10, "changed": 6, "ended": 1}
    assert all(entry.reason for entry in entries if entry.change != "began")
    (ended,) = [entry for entry in entries if entry.change == "ended"]
    assert (ended.fact.id, ended.sources) == ("demo-paw", ("demo-4-5",))
    holding = {fact.id: fact.text for fact in await world.memory.facts("demo")}
    summary = await world.memory.summary("demo")
    assert {s.fact: s.text for s in summary.sentences}.items() <= holding.items()
    (cake,) = await world.memory.facts("demo", ids=["demo-cake"])
    assert cake.until
    assert cake.until.weekday() == 5
    assert cake.said.date() < cake.until <= cake.said.date() + timedelta(days=7)
    then = world.clock.now() - timedelta(days=60)
    believed = {fact.id for fact in await world.memory.facts("demo", at=then)}
    assert believed == {
        f"demo-{name}" for name in ("work", "lisbon", "walnuts", "lessons", "dog")
    } | {"demo-floating"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_tells_the_same_story(language: str) -> None:
    """The same places hold words, in that language."""
    english, words = read("en"), read(language)
    assert [len(said) for said in words["turns"]] == [len(said) for said in english["turns"]]
    assert words["reasons"].keys() == english["reasons"].keys()
    for part in ("sentences", "memos", "events"):
        assert words[part].keys() == english[part].keys() == (read("story")[part].keys())
    texts = [text for said in words["turns"] for text in said]
    texts += [*words["sentences"].values(), *words["events"].values()]
    assert all(text.strip() for text in texts)
    assert detect_language(" ".join(texts)) == language


async def test_the_demo_does_not_mix_with_anyone(world: World) -> None:
    """A user who has a memory keeps it as it is; an unknown language is named."""
    await load(world.memory, "demo", "en", now=world.clock.now())
    with pytest.raises(BadInput, match="another user"):
        await load(world.memory, "demo", "en", now=world.clock.now())
    with pytest.raises(BadInput, match="en, zh"):
        await load(world.memory, "x", "xx", now=world.clock.now())
    assert len(await world.memory.turns("demo")) == 30


@pytest.mark.parametrize(
    ("language", "weekdays"),
    [
        ("en", ("Friday", "Saturday")),
        ("zh", ("星期", "周")),
        ("ja", ("曜日",)),
        ("ko", ("요일",)),
        ("vi", ("thứ sáu", "thứ bảy")),
    ],
)
async def test_what_the_demo_plans_has_a_date(
    world: World, language: str, weekdays: tuple[str, ...]
) -> None:
    """A fact names the day itself, in every language: a weekday says nothing a week later."""
    await load(world.memory, "demo", language, now=world.clock.now())
    for entry in await world.memory.timeline("demo"):
        assert not [name for name in weekdays if name in entry.fact.text], entry.fact.text
