"""A small model answers from what the user told minutes ago, in the session that is still open."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.domain import Speaker
from omoide.engine.messages import Utterance
from omoide.mechanisms.reply_checks import ReplyChecks, ReplyFault
from omoide.mechanisms.reply_notes import told_here

from .conftest import SETTINGS
from .test_reply_notes import asked, noted, said

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import World

NOW = datetime(2026, 8, 20, 19, tzinfo=UTC)
SMALL = replace(
    SETTINGS, mechanisms=("search",), profile="small", reply_form="small", timezone="UTC"
)
TOLD = {
    "en": ("I've got a parrot called Figaro.", "It rained all day.", "What's my parrot called?"),
    "zh": ("我养了一只鹦鹉，叫小豆。", "今天一直在下雨。", "我的鹦鹉叫什么名字？"),
    "ja": ("オウムを飼っていて、名前はピコだよ。", "一日中雨だった。", "うちのオウムの名前は？"),
    "ko": (
        "나는 앵무새를 키우는데 이름이 콩이야.",
        "하루 종일 비가 왔어.",
        "내 앵무새 이름이 뭐지?",
    ),
    "vi": ("Mình nuôi con vẹt tên là Mít.", "Trời mưa cả ngày.", "Con vẹt của mình tên gì?"),
}
"""What is told, something else, and a question for the first; with a name in it."""
NAMES = {"en": "Figaro", "zh": "小豆", "ja": "ピコ", "ko": "콩이", "vi": "Mít"}
PLANS = {
    "en": ("I'm moving to Innsbruck next month.", "Where do I live?", "In Graz!"),
    "zh": ("我下个月要搬去苏州。", "我住在哪里？", "你住在大连。"),
    "ja": ("来月、松本に引っ越すんだ。", "私はどこに住んでる？", "金沢だよ。"),
    "ko": ("나 다음 달에 속초로 이사해.", "나 어디에 살지?", "대구에 살지."),
    "vi": ("Tháng sau mình sẽ chuyển vào Cần Thơ.", "Mình đang sống ở đâu?", "Ở Huế."),
}
"""What is yet to come, a question for what holds today, and its answer."""
DENIALS = {
    "en": "I don't know, you never told me.",
    "zh": "这个我不太清楚，你没告诉过我。",
    "ja": "それはまだ聞いてないよ。覚えてないな。",
    "ko": "그건 잘 모르겠어, 말해 준 적 없잖아.",
    "vi": "Cậu chưa kể cho mình nghe.",
}


async def talked(
    make_world: Callable[..., Awaitable[World]], language: str, *, profile: str = "small"
) -> World:
    """A session in which the user told two things, each with a reply."""
    settings = replace(SMALL, profile=profile, reply_form="small" if profile == "small" else "chat")
    world = await make_world(settings=settings)
    told, other, _ = TOLD[language]
    said = [
        Utterance(speaker=speaker, text=text, time=NOW + timedelta(minutes=minute))
        for minute, (speaker, text) in enumerate(
            [
                (Speaker.USER, told),
                (Speaker.ASSISTANT, "!"),
                (Speaker.USER, other),
                (Speaker.ASSISTANT, "…"),
            ]
        )
    ]
    await world.memory.record("ana", said, session="now")
    await world.memory.run_jobs()
    world.clock.time = NOW + timedelta(minutes=9)
    return world


async def reply(world: World, language: str, *answers: str) -> str:
    """The reply to the question, if the model answers so."""
    world.replier.answers.extend(answers)
    asked = TOLD[language][2]
    return await (await world.memory.reply("ana", asked, session="now")).text()


@pytest.mark.parametrize("language", TOLD)
async def test_what_was_told_in_this_session_stands_beside_the_question(
    make_world: Callable[..., Awaitable[World]], language: str
) -> None:
    """A small model overlooks it further above, where it stands as well."""
    world = await talked(make_world, language)
    await reply(world, language, f"{NAMES[language]}!")
    *before, last = world.replier.requests[0].messages
    told = TOLD[language][0]
    assert told in last.content
    assert any(message.content == told for message in before)


async def test_the_latest_stands_there_though_it_shares_no_word_with_the_question(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """As long as it has no vector, or none can read its language, nothing else would bring it."""
    world = await make_world(settings=SMALL)
    told = "Chồng mình lái xe cứu thương, hay phải trực đêm."
    said = Utterance(speaker=Speaker.USER, text=told, time=NOW)
    await world.memory.record("ana", [said], session="now")
    world.clock.time = NOW + timedelta(minutes=9)
    world.replier.answers.append("Ông ấy lái xe cứu thương.")
    await (await world.memory.reply("ana", "Ông xã mình làm gì nhỉ?", session="now")).text()
    assert told in world.replier.requests[0].messages[-1].content


@pytest.mark.parametrize("language", PLANS)
async def test_a_plan_does_not_stand_in_for_what_holds_until_then(
    make_world: Callable[..., Awaitable[World]], language: str
) -> None:
    """Else a reply without a word of the plan would be replaced by the user's own words."""
    plan, asked, answer = PLANS[language]
    world = await make_world(settings=SMALL)
    said = Utterance(speaker=Speaker.USER, text=plan, time=NOW)
    await world.memory.record("ana", [said], session="now")
    world.clock.time = NOW + timedelta(minutes=9)
    world.replier.answers.append(answer)
    assert await (await world.memory.reply("ana", asked, session="now")).text() == answer


async def test_what_only_shares_a_question_word_does_not_stand_in(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """啥 asks, as 什么 does."""
    world = await make_world(settings=SMALL)
    said = Utterance(speaker=Speaker.USER, text="中午不知道吃啥，烦。", time=NOW)
    await world.memory.record("ana", [said], session="now")
    world.clock.time = NOW + timedelta(minutes=9)
    world.replier.answers.append("叫一兆韦德。")
    asked = "我去的那家健身房叫啥名字？"
    answer = await world.memory.reply("ana", asked, session="now")
    assert await answer.text() == "叫一兆韦德。"


async def test_a_clients_own_messages_are_not_shown_twice(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """Whoever sends the session as messages asks a model of their own, in a form of their own."""
    world = await make_world(settings=SMALL)
    told, _, asked = TOLD["en"]
    sent = [{"role": "user", "content": told}, {"role": "assistant", "content": "Nice!"}]
    async with world.memory.exchange("ana", [*sent, {"role": "user", "content": asked}]) as turn:
        assert sum(told in str(message["content"]) for message in turn.messages) == 1


async def test_a_large_model_sees_it_once(make_world: Callable[..., Awaitable[World]]) -> None:
    """It finds what it was told further above, and nothing is said twice."""
    world = await talked(make_world, "en", profile="large")
    await reply(world, "en", "Figaro!")
    messages = world.replier.requests[0].messages
    assert sum(TOLD["en"][0] in message.content for message in messages) == 1


@pytest.mark.parametrize(
    ("language", "asked"),
    [
        ("en", "What is the capital of Australia?"),
        ("ja", "オーストラリアの首都はどこ？"),
        ("ko", "호주의 수도는 어디야?"),
    ],
)
async def test_a_question_about_the_world_brings_nothing_of_the_session(
    make_world: Callable[..., Awaitable[World]], language: str, asked: str
) -> None:
    """Also where a subject is mostly left out, so that any question may be about the asker."""
    world = await talked(make_world, language)
    world.replier.answers.append("Canberra.")
    await (await world.memory.reply("ana", asked, session="now")).text()
    assert world.replier.requests[0].messages[-1].content == asked


async def test_a_remark_brings_nothing_of_the_session(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """Only a question about the user's own life does."""
    world = await talked(make_world, "en")
    world.replier.answers.append("Lovely.")
    await (await world.memory.reply("ana", "Parrots are noisy birds.", session="now")).text()
    assert world.replier.requests[0].messages[-1].content == "Parrots are noisy birds."


@pytest.mark.parametrize("language", TOLD)
async def test_the_users_own_words_stand_in_for_a_denial(
    make_world: Callable[..., Awaitable[World]], language: str
) -> None:
    """If the second try denies it too; what is recorded is what was shown."""
    world = await talked(make_world, language)
    shown = await reply(world, language, DENIALS[language], DENIALS[language])
    assert TOLD[language][0] in shown
    assert DENIALS[language] not in shown
    assert (await world.memory.turns("ana"))[-1].text == shown


async def test_a_reply_that_overlooks_it_is_tried_again(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """The second try has the reason in its prompt."""
    world = await talked(make_world, "en")
    assert await reply(world, "en", "She's called Coco.", "It's Figaro.") == "It's Figaro."
    assert "earlier in this talk" in world.replier.requests[1].messages[-1].content


MENTIONS = {
    "zh": (
        "我外婆住在哪里？",
        "用户的外婆今年八十六岁，住在绍兴。",
        "外婆寄来一大箱梅干菜，冰箱都塞不下了。",
    ),
    "ko": (
        "내 스쿠터 이름이 뭐였지?",
        "사용자는 노란 스쿠터를 타고, 스쿠터에 병아리라는 이름을 붙였다.",
        "스쿠터 안장에 길고양이가 떡하니 앉아서 안 비켜 주더라.",
    ),
    "vi": (
        "Mình học tiếng Hàn để làm gì?",
        "Người dùng học tiếng Hàn để đi du học ở Busan.",
        "Cô giáo tiếng Hàn bắt cả lớp lên hát, mình lạc tông thảm hại.",
    ),
}
"""A question, the note that answers it, and what only speaks of the same thing."""


@pytest.mark.parametrize("language", MENTIONS)
def test_what_only_speaks_of_it_does_not_stand_in_for_the_note(language: str) -> None:
    """A note with its words of the question and more of them answers it."""
    question, answer, mention = MENTIONS[language]
    request = asked(question, language)
    earlier = replace(request.session[0], text=mention)
    request = replace(request, session=(earlier, request.session[1]))
    turn = said(mention, earlier.id)
    assert told_here(request, [turn]) == mention
    assert told_here(request, [turn, noted(answer)]) == ""


def test_what_changed_stands_in_for_the_note() -> None:
    """It has no word of the question, which the note has."""
    request = asked("Where do I live now?")
    change = "By the way, I moved to Innsbruck on Monday."
    earlier = replace(request.session[0], text=change)
    request = replace(request, session=(earlier, request.session[1]))
    found = told_here(request, [noted("User lives in Graz."), said(change, earlier.id)])
    assert found == change


def test_a_reply_with_a_word_of_what_was_told_overlooks_nothing() -> None:
    """The words of the question do not count: "Do you live in Graz?" has them too."""
    checks = ReplyChecks(
        language="en",
        message="Where do I live now?",
        known=True,
        told_here="By the way, I moved to Innsbruck on Monday.",
    )
    assert checks.fault("You live in Graz now.") is ReplyFault.OVERLOOKS
    assert checks.fault("In Innsbruck, since Monday.") is None
    assert checks.instead.endswith("“By the way, I moved to Innsbruck on Monday.”")
    assert replace(checks, told_here="").fault("You live in Graz now.") is None
    assert replace(checks, told_here="").instead == ""


async def test_what_was_never_told_may_be_denied(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """The session has nothing of it, so the denial is right, and is shown at once."""
    world = await talked(make_world, "en")
    world.replier.answers.append("I don't know your sister's name.")
    answer = await world.memory.reply("ana", "What is my sister's name?", session="now")
    assert await answer.text() == "I don't know your sister's name."
    assert len(world.replier.requests) == 1
