"""What the user asks to have forgotten goes into no prompt any more, and is not erased."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.domain import MemoryKind
from omoide.engine.versions import When
from omoide.mechanisms.search.recall import WIDTH
from tests.unit.conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.unit.conftest import World

    Make = Callable[..., Awaitable[World]]

LARGE = replace(
    SETTINGS, form="small", profile="large", mechanisms=("summary", "search"), recall_items=30
)

TALKS = {
    "en": (
        "I was diagnosed with lupus last month.",
        "User was diagnosed with lupus in December 2025.",
        "Please forget that I told you about my illness.",
        "What was I diagnosed with?",
        "lupus",
    ),
    "zh": (
        "我上个月被诊断出红斑狼疮。",
        "用户2025年12月被诊断出红斑狼疮。",
        "请忘掉我说过的病。",
        "我被诊断出什么病？",
        "狼疮",
    ),
    "ja": (
        "先月、狼瘡と診断されました。",
        "ユーザーは2025年12月に狼瘡と診断された。",
        "病気の話は忘れてください。",
        "私は何と診断されましたか？",
        "狼瘡",
    ),
    "ko": (
        "지난달에 루푸스 진단을 받았어요.",
        "사용자는 2025년 12월에 루푸스 진단을 받았다.",
        "제 병 이야기는 잊어 주세요.",
        "제가 무슨 진단을 받았죠?",
        "루푸스",
    ),
    "vi": (
        "Tháng trước tôi bị chẩn đoán lupus.",
        "Người dùng bị chẩn đoán lupus vào tháng 12 năm 2025.",
        "Xin hãy quên chuyện bệnh của tôi đi.",
        "Tôi bị chẩn đoán bệnh gì?",
        "lupus",
    ),
}
"""What was told, the fact, the request, a question about it, and the word that must not come."""


def entry(do: str, *turns: int, text: str = "", facts: tuple[int, ...] = ()) -> dict[str, object]:
    """An entry of an answer."""
    more = {"about": "user", "kind": "event", "since": None, "until": None, "why": ""}
    return {"do": do, "facts": facts, "text": text, "turns": turns, **more}


def answer(*changes: dict[str, object]) -> str:
    """A model's whole answer."""
    return json.dumps({"changes": changes, "topics": []}, ensure_ascii=False)


async def shown(world: World, question: str) -> str:
    """All that memory adds to a prompt for the question."""
    return (await world.memory.context("ana", question)).text


async def told(make_world: Make, language: str) -> World:
    """A memory with a fact that the user will want forgotten."""
    first, fact, _, question, word = TALKS[language]
    world = await make_world(settings=LARGE)
    await world.session("ana", first, answers=(answer(entry("add", 1, text=fact)),))
    assert word in await shown(world, question)
    return world


@pytest.mark.parametrize("language", TALKS)
async def test_what_the_user_wants_forgotten_goes_into_no_prompt(
    make_world: Make, language: str
) -> None:
    """Neither the fact nor the words behind it; and the next digest is not shown it."""
    world = await told(make_world, language)
    _, _, request, question, word = TALKS[language]
    await world.session("ana", request, answers=(answer(entry("forget", 1, facts=(1,))),))
    assert word not in await shown(world, question)
    assert await world.memory.facts("ana") == ()
    assert not any(word in item.text for item in await world.memory.recall("ana", question))
    await world.session("ana", question, answers=(answer(),))
    assert word not in world.iterator.requests[-1].messages[-1].content


async def test_the_topic_that_tells_it_is_not_recalled_either(make_world: Make) -> None:
    """Other topics are, and those of the same session that rest on other words."""
    first, fact, request, question, word = TALKS["en"]
    world = await make_world(settings=LARGE)
    topics = [
        {"topic": "illness", "first": 1, "last": 1, "summary": f"User told of {word}."},
        {"topic": "a garden", "first": 3, "last": 3, "summary": "User planted diagnosed roses."},
    ]
    noted = {"changes": [entry("add", 1, text=fact)], "topics": topics}
    garden = "My roses were diagnosed with mildew."
    await world.session("ana", first, garden, answers=(json.dumps(noted),))
    assert {"illness", "garden"} <= set(re.findall("illness|garden", await shown(world, question)))
    await world.session("ana", request, answers=(answer(entry("forget", 1, facts=(1,))),))
    after = await shown(world, question)
    assert word not in after
    assert "a garden" in after
    found = await world.memory.recall("ana", question, kinds=["memo"])
    assert not any("illness" in item.text for item in found)


async def test_nothing_is_erased_and_the_timeline_says_what_happened(make_world: Make) -> None:
    """So that a misunderstanding loses nothing, and the person can erase it for good."""
    world = await told(make_world, "en")
    request = TALKS["en"][2]
    await world.session("ana", request, answers=(answer(entry("forget", 1, facts=(1,))),))
    changed = [e for e in await world.memory.timeline("ana") if e.replaced]
    assert [e.fact.text for e in changed] == ["User asked to have something forgotten."]
    assert [old.text for old in changed[0].replaced] == [TALKS["en"][1]]
    assert any("lupus" in turn.text for turn in await world.memory.turns("ana"))


async def test_a_rollback_does_not_bring_it_back(make_world: Make) -> None:
    """That it is forgotten is the user's wish, as that a fact expires."""
    world = await told(make_world, "en")
    request, question = TALKS["en"][2:4]
    await world.session("ana", request, answers=(answer(entry("forget", 1, facts=(1,))),))
    await world.memory.rollback("ana", When(version=1))
    assert "lupus" not in await shown(world, question)


async def test_what_was_told_and_taken_back_in_one_session_is_left_out(make_world: Make) -> None:
    """Nothing was noted yet: the lines that tell it are named, and the reply to them goes too."""
    world = await make_world(settings=LARGE)
    forget = entry("forget", 1, 3)
    said = ("My code for the safe is 4711.", "Oh, please forget my code for the safe!", "I ski.")
    await world.session("ana", *said, answers=(answer(forget, entry("add", 5, text="User skis.")),))
    assert "4711" not in await shown(world, "What is my code for the safe?")
    found = await world.memory.recall("ana", "code for the safe ski", kinds=["turn"])
    assert {(item.kind, item.text) for item in found} == {
        (MemoryKind.TURN, "I ski."),
        (MemoryKind.TURN, "Go on."),
    }
    assert len(found) == 2


async def test_only_the_user_may_ask_for_it(make_world: Make) -> None:
    """A line of the assistant alone ends nothing; the entry is set aside with its reason."""
    world = await told(make_world, "en")
    await world.session("ana", "Hello!", answers=(answer(entry("forget", 2, facts=(1,))),))
    assert "lupus" in await shown(world, TALKS["en"][3])
    (rejected,) = await world.memory.rejected("ana")
    assert rejected.problems == ("no line of the user asks for it",)


async def test_what_is_said_again_is_learned_again(make_world: Make) -> None:
    """The same words later are a new wish to be remembered."""
    world = await told(make_world, "en")
    first, fact, request, question, word = TALKS["en"]
    await world.session("ana", request, answers=(answer(entry("forget", 1, facts=(1,))),))
    await world.session("ana", first, answers=(answer(entry("add", 1, text=fact)),))
    assert word in await shown(world, question)
    assert [f.text for f in await world.memory.facts("ana")] == [fact]


CODE = "My code for the safe is 4711."
ASKED = "What is my code for the safe?"


@pytest.mark.parametrize("retention", [0, 1])
async def test_what_has_expired_goes_into_no_prompt(make_world: Make, retention: int) -> None:
    """Neither the fact nor the words behind it, until when it expires included; they are stored."""
    world = await make_world(settings=replace(LARGE, retention=retention))
    told = entry("add", 1, text="User's code for the safe is 4711.")
    ski = entry("add", 3, text="User skis.")
    await world.session("ana", CODE, "I ski.", answers=(answer(told, ski),))
    if not retention:
        (fact,) = (f for f in await world.memory.facts("ana") if "4711" in f.text)
        await world.memory.expire("ana", fact.id, world.clock.now() + timedelta(days=1))
        assert "4711" in await shown(world, ASKED)
        world.clock.advance(timedelta(days=1))
    assert "4711" not in await shown(world, ASKED)
    for kinds in (["turn"], ["fact", "event", "memo", "sentence"]):
        found = await world.memory.recall("ana", ASKED, kinds=kinds)
        assert not any("4711" in item.text for item in found)
    assert any("4711" in turn.text for turn in await world.memory.turns("ana"))
    kept = await world.memory.recall("ana", "Do I ski?", kinds=["turn"])
    assert any(item.text == "I ski." for item in kept) == (not retention)


@pytest.mark.parametrize("forgets", [True, False])
async def test_what_else_a_hidden_line_says_is_recalled_as_its_facts(
    make_world: Make, forgets: bool
) -> None:
    """A correction in the line that asks to forget something is not lost with it."""
    world = await make_world(settings=LARGE)
    line = "I said 18, I meant 19 weeks along with the baby! And forget that I quit Farfetch."
    weeks = entry("add", 3, text="User is 19 weeks pregnant with a baby.")
    farfetch = entry("forget", 1, 3) if forgets else entry("add", 3, text="User quit Farfetch.")
    said = ("I quit Farfetch, and I am 18 weeks along with a baby.", line)
    await world.session("ana", *said, answers=(answer(weeks, farfetch),))
    if not forgets:
        (fact,) = (f for f in await world.memory.facts("ana") if "Farfetch" in f.text)
        await world.memory.expire("ana", fact.id, world.clock.now())
    nearer = [entry("add", 1, text=f"User meant to quit habit {i}.") for i in range(WIDTH)]
    await world.session("ana", "I have many habits.", answers=(answer(*nearer),))
    found = await world.memory.recall("ana", "I meant, did I quit?", k=99, kinds=["turn", "fact"])
    assert [item.text for item in found if "19 weeks" in item.text] == [weeks["text"]]
    assert line not in await shown(world, "How many weeks along am I with my baby?")
