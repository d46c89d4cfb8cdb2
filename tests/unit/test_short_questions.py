"""Short questions about the asker: what answers them comes into the prompt, though it says it in
other words, and nothing comes if nothing was told."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.domain import Fact, FactChanges, MemoryKind, Owner, Speaker
from omoide.engine.messages import Utterance
from omoide.language import LANGUAGES, detect_language, pack
from omoide.mechanisms.base import Contribution, PromptPlace, without_repeats
from omoide.mechanisms.search.gate import BUDGETS, admitted_facts
from omoide.mechanisms.search.topics import topic_terms

from .conftest import SETTINGS
from .test_gate import SURE, item

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import World

    Make = Callable[..., Awaitable[World]]

TOLD = [
    ("I moved to Bergen last week.", "Where do I live?"),
    ("Everyone calls me Priya.", "What is my name?"),
    ("We adopted a kitten.", "Do I have any pets?"),
    ("My brother came over.", "Do I have siblings?"),
    ("我上周搬到了青岛。", "我住在哪里？"),
    ("我是六月九号出生的。", "我的生日是哪天？"),
    ("我和李娜结婚了。", "我老婆是谁？"),
    ("我们领养了一只小猫。", "我养宠物吗？"),
    ("先週、函館に引っ越しました。", "私はどこに住んでる？"),
    ("兄の健太が遊びに来ました。", "私に兄弟はいる？"),
    ("鹿児島の町で育ちました。", "私の出身はどこ？"),
    ("小学校で教えています。", "私の仕事は何？"),
    ("지난주에 강릉으로 이사했어요.", "나 어디 살아?"),
    ("우리 딸이 학교에 들어가요.", "나 아이 있어?"),
    ("땅콩을 먹으면 목이 부어요.", "나 알레르기 있어?"),
    ("초등학교에서 수학을 가르쳐요.", "내 직업이 뭐야?"),
    ("Tuần trước tôi dọn về Huế rồi.", "Tôi sống ở đâu?"),
    ("Mọi người hay gọi tôi là Linh.", "Tên tôi là gì?"),
    ("Cứ ăn lạc là cổ họng tôi sưng lên.", "Tôi bị dị ứng gì?"),
    ("Tôi với Lan cưới nhau năm 2019.", "Vợ tôi là ai?"),
]
"""What was told, and a question that shares no word of meaning with it."""
TALK = {
    "en": ["The rain will not stop today.", "Then stay inside and read!"],
    "zh": ["今天的雨下个没完。", "那就看看电影吧！"],
    "ja": ["今日は雨がやみません。", "傘を忘れないで！"],
    "ko": ["오늘은 비가 그치지 않네.", "그럼 우산을 챙겨!"],
    "vi": ["Hôm nay mưa mãi không tạnh.", "Vậy thì đọc sách đi!"],
}


async def make_memory(make_world: Make, language: str, *told: str) -> World:
    """Ana told these things and talked about the weather."""
    world = await make_world(settings=replace(SETTINGS, mechanisms=("search",), profile="small"))
    for number, text in enumerate((*told, TALK[language][0])):
        said = Utterance(speaker=Speaker.USER, text=text, id=f"t{number}")
        answer = Utterance(speaker=Speaker.ASSISTANT, text=TALK[language][1])
        await world.memory.record("ana", [said, answer], session=str(number))
    return world


@pytest.mark.parametrize(("told", "asked"), TOLD)
async def test_what_answers_in_other_words_comes_to_mind(
    make_world: Make, told: str, asked: str
) -> None:
    """Also in a memory of few turns, with the small profile and without an embedder."""
    world = await make_memory(make_world, detect_language(asked), told)
    context = await world.memory.context("ana", asked)
    assert "t0" in [c.id for c in context.recalled]


@pytest.mark.parametrize(("told", "asked"), TOLD)
async def test_nothing_comes_to_mind_if_nothing_is_about_it(
    make_world: Make, told: str, asked: str
) -> None:
    """Talk about the weather answers none of these questions."""
    world = await make_memory(make_world, detect_language(asked))
    assert not (await world.memory.context("ana", asked)).recalled


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Do you have any pets?", "Do I have any pets?"),
        ("I hope you can spend time with your dogs.", "Do I have any pets?"),
        ("I'm sure you will be home soon.", "Where do I live?"),
        ("你家里有小狗吗？", "我养宠物吗？"),
        ("你的小猫真可爱。", "我养宠物吗？"),
        ("あなたは猫を飼ってるんですね。", "私、ペット飼ってる？"),
        ("당신은 고양이를 키우는군요.", "나 반려동물 키워?"),
        ("Bạn có nuôi chó không?", "Tôi có nuôi thú cưng không?"),
    ],
)
async def test_the_other_ones_life_is_no_answer(make_world: Make, said: str, asked: str) -> None:
    """What was asked, or said of the one who listens, has the words but tells nothing."""
    world = await make_memory(make_world, detect_language(asked), said)
    assert not (await world.memory.context("ana", asked)).recalled


@pytest.mark.parametrize(
    ("lines", "asked"),
    [
        (
            ["The rain will not stop.", "We adopted a kitten.", "Work was long today."],
            "Do I have any pets?",
        ),
        (
            ["We saw the cathedral.", "We adopted a kitten.", "The ad was funny."],
            "Do I have any pets?",
        ),
        (["雨一直下个不停。", "我们领养了一只小猫。", "今天上班很累。"], "我养宠物吗？"),
    ],
)
async def test_only_what_tells_of_it_comes(make_world: Make, lines: list[str], asked: str) -> None:
    """The neighbours of what answers stay out of the prompt, even with "cat" inside a word."""
    world = await make_world(settings=replace(SETTINGS, mechanisms=("search",), profile="small"))
    said = [Utterance(speaker=Speaker.USER, text=t, id=f"t{i}") for i, t in enumerate(lines)]
    await world.memory.record("ana", said, session="a")
    context = await world.memory.context("ana", asked)
    assert [c.id for c in context.recalled] == ["t1"]


async def test_a_large_model_sees_the_rest_too(make_world: Make) -> None:
    """What tells of it comes before what only the ranking takes for an answer: "I'm only 27" has
    none of the words for an age."""
    settings = replace(SETTINGS, mechanisms=("search",), profile="large")
    lines = ["I'm only 27, why?", "My brother is ten years old.", "The rain will not stop."]
    said = [Utterance(speaker=Speaker.USER, text=t, id=f"t{i}") for i, t in enumerate(lines)]
    said.append(Utterance(speaker=Speaker.ASSISTANT, text="I see.", id="reply"))
    shown = {}
    for profile in ("large", "small"):
        world = await make_world(settings=replace(settings, profile=profile))
        await world.memory.record("ana", said, session="a")
        await world.memory.run_jobs()
        context = await world.memory.context("ana", "How old am I?")
        shown[profile] = {c.id for c in context.recalled}
    assert "t0" in shown["large"]
    assert "reply" not in shown["large"]
    assert shown["small"] == {"t1"}


async def test_a_reply_tells_what_its_question_asked_for(make_world: Make) -> None:
    """ "In Bergen." says nothing of a home, but the question that it answers does."""
    world = await make_world(settings=replace(SETTINGS, mechanisms=("search",), profile="large"))
    said = [
        Utterance(speaker=Speaker.ASSISTANT, text="Where do you live now?", id="q"),
        Utterance(speaker=Speaker.USER, text="In Bergen, by the harbour.", id="a"),
        Utterance(speaker=Speaker.ASSISTANT, text="Lovely!", id="l"),
    ]
    await world.memory.record("ana", said, session="a")
    context = await world.memory.context("ana", "Where do I live?")
    assert "a" in [c.id for c in context.recalled]


@pytest.mark.parametrize(
    ("asked", "others"),
    [
        ("What kind of car do I have?", ()),
        ("Where does my sister live?", ("sister",)),
        ("我妹妹住在哪里？", ("妹妹",)),
        ("私の妹はどこに住んでる？", ("妹",)),
        ("ルームメイトの名前は何？", ("ルー", "ーム", "ムメ", "メイ", "イト")),
        ("내 여동생 어디 살아?", ("여동", "동생")),
        ("Em gái tôi sống ở đâu?", ("gái",)),
    ],
)
def test_whom_it_is_about_is_still_looked_for(asked: str, others: tuple[str, ...]) -> None:
    """Only the words for the part of life have others in their place."""
    found = topic_terms(asked)
    assert found is not None
    assert found.others == others


@pytest.mark.parametrize(
    "asked",
    [
        "Where do you live?",
        "你住在哪里？",
        "Where is the capital of Norway?",
        "I live in Bergen.",
        "What did I tell you about the flat that my brother wanted to rent near the harbour?",
    ],
)
def test_other_messages_keep_their_words(asked: str) -> None:
    """What is not a short question about the asker is searched for as it is worded."""
    assert topic_terms(asked) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_tells_of_the_same_parts_of_life(language: str) -> None:
    """Each with words to ask and to tell; in unspaced scripts none is longer than the index's."""
    topics = pack(language).questions.topics
    assert topics.keys() == pack("en").questions.topics.keys()
    for topic in topics.values():
        assert topic.asked
        assert topic.told
        if not pack(language).words.bounded:
            assert all(len(word) <= 2 for word in topic.told)


async def know(world: World, *facts: Fact) -> None:
    """Store facts about Ana."""
    owner = Owner(tenant=SETTINGS.tenant, user="ana")
    await world.store.facts.apply(owner, FactChanges(added=facts))


HOMES = [
    ("en", "I moved to Oslo.", "User lives in Oslo.", "Where do I live?"),
    ("zh", "我搬到了青岛。", "用户住在青岛。", "我住在哪里？"),
    ("ja", "函館に引っ越しました。", "ユーザーは函館に住んでいる。", "私はどこに住んでる？"),
    ("ko", "강릉으로 이사했어요.", "사용자는 강릉에 살고 있다.", "나 어디 살아?"),
    ("vi", "Tôi dọn về Huế rồi.", "Người dùng sống ở Huế.", "Tôi sống ở đâu?"),
]
"""What was told, the fact that it states, and a question for it."""


@pytest.mark.parametrize(("language", "told", "text", "asked"), HOMES)
async def test_a_question_about_oneself_gets_facts(
    make_world: Make, language: str, told: str, text: str, asked: str
) -> None:
    """Facts that no summary states come beside the turns, under their own ids; to a remark none
    comes."""
    world = await make_memory(make_world, language, told)
    now = world.clock.now()
    home = Fact(id="f", about="user", text=text, said=now, learned=now, sources=("t0",))
    await know(world, home)
    context = await world.memory.context("ana", asked)
    assert (MemoryKind.FACT, "f", text) == next((c.kind, c.id, c.text) for c in context.recalled)
    remark = await world.memory.context("ana", TALK[language][0])
    assert MemoryKind.FACT not in [c.kind for c in remark.recalled]


@pytest.mark.parametrize(("language", "told", "text", "asked"), HOMES)
async def test_a_fact_that_a_plan_will_end_is_found_until_then(
    make_world: Make, language: str, told: str, text: str, asked: str
) -> None:
    """It holds until its day has come, and then no longer."""
    world = await make_memory(make_world, language, told)
    now = world.clock.now()
    moving = now + timedelta(days=10)
    home = Fact(id="f", about="user", text=text, said=now, learned=now, ended=moving, ended_by="p")
    plan = Fact(id="p", about="user", text="x", said=now, learned=now, supersedes=("f",))
    await know(world, home, plan)

    async def found(days: int) -> bool:
        result = await world.memory.recall("ana", asked, at=now + timedelta(days=days))
        return "f" in [item.id for item in result]

    assert await found(0)
    assert await found(9)
    assert not await found(10)
    besides = await world.memory.recall("ana", TALK[language][0], at=now)
    assert "f" not in [item.id for item in besides]


def test_only_the_best_facts_come_and_only_to_who_asks_about_what_memory_knows() -> None:
    """At most as many as the budget says, near the best of them."""
    facts = [replace(item(score), kind=MemoryKind.FACT) for score in (7.0, 6.5, 6.0, 5.5, 1.0)]
    found = [item(20.0), *facts]
    asked = replace(SURE, personal=True)
    small = BUDGETS["small"]
    assert [f.score for f in admitted_facts(found, asked, budget=small)] == [7.0, 6.5, 6.0]
    near = admitted_facts([facts[0], facts[-1]], asked, budget=small)
    assert [f.score for f in near] == [7.0]
    for other in (replace(asked, personal=False), replace(asked, asks=False)):
        assert admitted_facts(found, other, budget=small) == ()
    assert admitted_facts(found, replace(asked, known=0.1), budget=small) == ()
    assert admitted_facts([item(20.0)], asked, budget=small) == ()


def test_a_fact_that_the_memory_states_is_not_recalled_beside_it() -> None:
    """The same text stands in the system message already, perhaps with a mark after it."""
    stated, plan, again, moving, new = (
        Contribution(
            mechanism="x",
            place=place,
            kind=kind,
            id=name,
            text=text,
            value=0.5,
            sources=(),
            time=item(0.0).time,
            why="",
        )
        for name, place, kind, text in (
            ("a", PromptPlace.MEMORY, MemoryKind.SENTENCE, "User lives in Oslo."),
            ("p", PromptPlace.MEMORY, MemoryKind.SENTENCE, "User was moving. (the plan)"),
            ("b", PromptPlace.RECALLED, MemoryKind.FACT, "User lives in Oslo."),
            ("m", PromptPlace.RECALLED, MemoryKind.FACT, "User is moving."),
            ("c", PromptPlace.RECALLED, MemoryKind.FACT, "User has a cat."),
        )
    )
    assert without_repeats([stated, plan, again, moving, new]) == (stated, plan, new)
