"""What an assistant says of itself: a person's life, a persona, a promise, or an invention."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.claims.attribution import Partner, speaker_lines
from omoide.domain import Speaker
from omoide.engine.messages import Utterance
from omoide.errors import BadInput
from omoide.mechanisms.search.mechanism import asks_about_replies
from omoide.mechanisms.summary.both_form import BothForm
from omoide.mechanisms.summary.small_form import SmallForm
from omoide.prompts.transcript import Line
from omoide.testing import ScriptedModel
from omoide_bench.methods import Method
from omoide_bench.running.cached_model import MethodModel
from tests.unit.conftest import SETTINGS

from .bench_lab import lab

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.unit.conftest import World

USER, ASSISTANT = Speaker.USER, Speaker.ASSISTANT
MODEL = Partner(person=False)
CLAIM = "I work at a bakery too."


def said(text: str) -> list[Line]:
    """A user's fact, and what the assistant answered."""
    return [Line(speaker=USER, text="I have a cat."), Line(speaker=ASSISTANT, text=text)]


@pytest.mark.parametrize("form", [SmallForm, BothForm])
def test_what_a_model_invents_of_itself_is_not_asked_about(
    form: Callable[[Partner], SmallForm],
) -> None:
    """One question less, and nothing of the bakery in the one that is left."""
    (question,) = form(MODEL).ask(old=(), session=said(CLAIM), language="en", limit=20)
    assert all("bakery" not in message.content for message in question.request.messages)
    both = form(Partner(person=True)).ask(old=(), session=said(CLAIM), language="en", limit=20)
    assert any("bakery" in q.request.messages[-1].content for q in both)


def test_what_the_persona_bears_out_is_kept() -> None:
    """A gardener may say that she gardens; her bakery is an invention all the same."""
    gardener = Partner(person=False, persona="a gardener who loves riddles")
    assert (
        speaker_lines(said("I love riddles."), ASSISTANT, "en", partner=gardener)
        == "- I love riddles."
    )
    assert speaker_lines(said(CLAIM), ASSISTANT, "en", partner=gardener) == ""


@pytest.mark.parametrize(
    ("language", "promise", "claim"),
    [
        ("en", "I'll remind you about the dentist tomorrow.", "I'll be at the beach tomorrow."),
        ("en", "I recommend The Little Prince.", "I love The Little Prince."),
        ("zh", "我推荐《小王子》这本书。", "我也喜欢《小王子》这本书。"),
        ("ja", "『星の王子さま』をおすすめします。", "私も『星の王子さま』が好き。"),
        ("ko", "내일 치과 예약을 알려 줄게.", "나도 내일 치과에 가."),
        ("vi", "Mình sẽ nhắc bạn đi nha sĩ.", "Mình cũng đi nha sĩ."),
    ],
)
def test_what_was_promised_or_advised_is_kept(language: str, promise: str, claim: str) -> None:
    """Also where it names the user; what only sounds friendly is not."""
    assert speaker_lines(said(promise), ASSISTANT, language, partner=MODEL) == f"- {promise}"
    assert speaker_lines(said(claim), ASSISTANT, language, partner=MODEL) == ""


async def test_by_default_the_memory_is_the_users(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """A session costs one call, and no later prompt tells of the assistant's bakery."""
    world = await make_world(settings=replace(SETTINGS, form="small"))
    talk = [Utterance(speaker=line.speaker, text=line.text) for line in said(CLAIM)]
    await world.memory.record("ana", talk)
    world.iterator.answers.append("User has a cat.")
    await world.memory.end_session("ana")
    await world.memory.run_jobs()
    assert [s.text for s in (await world.memory.summary("ana")).sentences] == ["User has a cat."]
    assert not world.iterator.answers


async def test_two_people_are_both_remembered(make_world: Callable[..., Awaitable[World]]) -> None:
    """As in the paper, where both speakers are people."""
    world = await make_world(settings=replace(SETTINGS, form="small", partner="person"))
    talk = [Utterance(speaker=line.speaker, text=line.text) for line in said(CLAIM)]
    await world.memory.record("ana", talk)
    world.iterator.answers += ["User has a cat.\nAssistant works at a bakery."]
    await world.memory.end_session("ana")
    await world.memory.run_jobs()
    told = [s.text for s in (await world.memory.summary("ana")).sentences]
    assert told == ["User has a cat.", "Assistant works at a bakery."]


async def test_a_partner_that_there_is_not_is_refused(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """With the names that there are."""
    with pytest.raises(BadInput, match="choose from assistant, person"):
        await make_world(settings=replace(SETTINGS, form="small", partner="robot"))


async def test_benchmarks_remember_both_speakers() -> None:
    """Their speakers are people, whatever a user's settings say."""
    began = datetime(2026, 1, 5, tzinfo=UTC)
    method = Method(name="summary", mechanisms=("summary",))
    model = ScriptedModel(["User has a cat.\nAssistant works at a bakery."])
    async with (
        lab(model) as bench,
        bench.new_memory(
            method, user="ana", began=began, model=MethodModel(bench.shared_model)
        ) as place,
    ):
        talk = [Utterance(speaker=s.speaker, text=s.text, time=began) for s in said(CLAIM)]
        await place.replay([talk])
        about = {s.about for s in (await place.memory.summary("ana")).sentences}
    assert about == {USER, ASSISTANT}


@pytest.mark.parametrize(
    ("partner", "model", "asked", "shown"),
    [
        ("assistant", "default", "Is the tall bookshelf too heavy?", False),
        ("assistant", "default", "Which bookshelf did you recommend?", True),
        ("person", "default", "Is the tall bookshelf too heavy?", True),
        ("assistant", "http://127.0.0.1:9/v1#large", "Is the tall bookshelf too heavy?", True),
    ],
)
async def test_a_small_model_is_not_shown_what_it_said_before(
    make_world: Callable[..., Awaitable[World]], partner: str, model: str, asked: str, shown: bool
) -> None:
    """It would say it again; who asks after it, or has a larger model or a person, gets it."""
    settings = replace(SETTINGS, mechanisms=("search",), partner=partner, model=model)
    world = await make_world(settings=settings)
    talk = [
        Utterance(speaker=USER, text="I bought a tall bookshelf."),
        Utterance(speaker=ASSISTANT, text="A tall bookshelf is heavy, I recommend a low one."),
    ]
    await world.memory.record("ana", talk)
    await world.memory.end_session("ana")
    await world.memory.run_jobs()
    world.clock.advance(timedelta(days=7))
    world.replier.answers.append("Fine.")
    reply = await world.memory.reply("ana", asked)
    brought = [c.text for c in reply.contributions]
    assert any("I bought" in text or "low one" in text for text in brought)
    assert any("low one" in text for text in brought) is shown
    await reply.text()


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("What did you tell me about bread?", True),
        ("你上次推荐的书叫什么？", True),
        ("この前おすすめしてくれた本は何だっけ？", True),
        ("지난번에 추천해 준 책이 뭐였지?", True),
        ("Bạn đã gợi ý quyển sách nào?", True),
        ("I followed your advice about the bread.", True),
        ("What was the book you recommended?", True),
        ("Can you suggest a snack?", False),
        ("Could you recommend a book?", False),
        ("Do you think I should call her?", False),
        ("What should I avoid when you suggest me a dessert recipe?", False),
        ("你能推荐一道菜吗？", False),
        ("おすすめの本を教えてくれる？", False),
        ("간식 추천해 줄래?", False),
        ("Bạn có thể gợi ý một món ăn không?", False),
        ("What shall I cook tonight?", False),
        ("周末去哪儿玩？", False),
        ("週末は何をしようかな？", False),
        ("주말에 뭘 할까?", False),
        ("Cuối tuần nên đi đâu?", False),
    ],
)
def test_asking_after_what_was_said_is_told_from_asking(text: str, asks: bool) -> None:
    """In five languages."""
    assert asks_about_replies(text) is asks
