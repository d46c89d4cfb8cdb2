"""The fused writer: summary, memos and events of a session from one call."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from omoide.domain import CallPurpose, JobState, Owner, Speaker, Turn
from omoide.engine.messages import Utterance
from omoide.errors import BadInput, BadReply
from omoide.language import LANGUAGES
from omoide.mechanisms.fused.json_form import JsonForm
from omoide.mechanisms.fused.notes import gist
from omoide.mechanisms.memos.segments import BY_WORDS, boundaries, segments
from omoide.mechanisms.memos.topics import keywords, phrases, topic
from omoide.mechanisms.summary.both_form import BothForm
from omoide.prompts import vocabulary
from omoide.prompts.transcript import Line
from omoide.testing import HashEmbedder
from tests.unit.conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.testing import Answer
    from tests.unit.conftest import World

TALK = [
    (Speaker.USER, "I adopted a cat called Miso from the shelter in Bergen last week."),
    (Speaker.ASSISTANT, "I have a cat too, a grey cat called Pepper from a shelter."),
    (Speaker.USER, "Miso the cat sleeps on the piano all day, the cat loves the piano."),
    (Speaker.ASSISTANT, "A cat on the piano sounds lovely."),
    (Speaker.USER, "On Friday I start a new job as a nurse at the hospital in Oslo."),
    (Speaker.ASSISTANT, "A nurse at a hospital has long shifts, is the hospital near?"),
    (Speaker.USER, "The hospital is an hour by train, and the nurse shifts start at six."),
    (Speaker.ASSISTANT, "My sister is a nurse in a hospital with night shifts."),
]
NOTES = """User adopted a cat called Miso from the shelter in Bergen.
User starts a new job as a nurse at the hospital in Oslo.
Assistant has a grey cat called Pepper.
Assistant has a sister who is a nurse in a hospital."""
MEMOS = [
    {"topic": "Miso the cat", "start": 1, "end": 4, "summary": "The User took in a cat, Miso."},
    {
        "topic": "Nursing job in Oslo",
        "start": 5,
        "end": 8,
        "summary": "The User begins on Friday as a nurse at a hospital in Oslo.",
    },
]
EVENTS = [
    {"text": "User adopted a cat called Miso.", "topics": ["pets"], "keywords": ["cat"]},
    {"text": "User starts a job as a nurse in Oslo.", "topics": ["work"], "keywords": ["nurse"]},
]
WHOLE = {
    "memory": ["User adopted a cat called Miso.", "User starts a job as a nurse in Oslo."],
    "memos": MEMOS,
    "events": EVENTS,
}
ALL = ("summary", "memos", "human-recall")
OWNER = Owner(tenant="default", user="ana")


async def digested(
    make_world: Callable[..., Awaitable[World]],
    answers: list[Answer],
    *,
    form: str = "small",
    mechanisms: tuple[str, ...] = ALL,
    sessions: int = 1,
) -> World:
    """A user with sessions like the talk above, digested by these answers."""
    settings = replace(SETTINGS, mechanisms=mechanisms, writer="fused", form=form)
    world = await make_world(settings=settings)
    world.iterator.answers.extend(answers)
    for number in range(sessions):
        said = [
            Utterance(speaker=speaker, text=text, id=f"{number}.{i}")
            for i, (speaker, text) in enumerate(TALK)
        ]
        await world.memory.record("ana", said)
        await world.memory.end_session("ana")
        await world.memory.run_jobs()
        world.clock.advance(timedelta(days=7))
    return world


@pytest.mark.parametrize(
    ("form", "answer"), [("small", NOTES), ("paper", json.dumps(WHOLE))], ids=["small", "paper"]
)
async def test_one_call_gives_summary_memos_and_events(
    make_world: Callable[..., Awaitable[World]], form: str, answer: str
) -> None:
    """The model is asked once; every turn is in a memo, every event rests on turns."""
    world = await digested(make_world, [answer], form=form)
    assert len(world.iterator.requests) == 1
    memory = await world.memory.summary("ana")
    assert "Miso" in memory.text
    assert all(sentence.supported for sentence in memory.sentences)
    memos = await world.store.memos.read(OWNER)
    assert [len(memo.sources) for memo in memos] == [4, 4]
    assert all(memo.topic and memo.summary and memo.whole for memo in memos)
    assert "nurse" in memos[1].summary
    events = await world.store.events.read(OWNER)
    assert {"Miso" in e.text for e in events} == {True, False}
    assert all(e.sources and e.topics and e.keywords and e.participants for e in events)
    assert await world.memory.jobs("ana", states=[JobState.DEAD]) == ()


@pytest.mark.parametrize("form", ["small", "paper"])
async def test_the_cost_at_mscs_session_length(
    make_world: Callable[..., Awaitable[World]], form: str
) -> None:
    """Sessions of 12 turns, MSC's length, cost under 0.1 calls and 300 prompt tokens a turn, with
    all three mechanisms; ours have 8 turns, so that one call is counted over 12."""
    answer = NOTES if form == "small" else json.dumps(WHOLE)
    world = await digested(make_world, [answer] * 4, form=form, sessions=4)
    calls = [c for c in await world.memory.calls("ana") if c.purpose is CallPurpose.DIGEST]
    turns = 12 * 4
    assert len(calls) / turns <= 0.1
    assert sum(c.prompt_tokens for c in calls) / turns <= 300


async def test_what_one_answer_has_not_is_asked_for_alone(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """A JSON answer without usable memos or events keeps its memory; the rest is asked for."""
    bare = json.dumps({"memory": WHOLE["memory"]})
    answers: list[Answer] = [bare, json.dumps({"memos": MEMOS}), json.dumps({"events": EVENTS})]
    world = await digested(make_world, answers, form="paper")
    assert (await world.memory.summary("ana")).number == 1
    assert len(await world.store.memos.read(OWNER)) == 2
    events = await world.store.events.read(OWNER)
    assert {event.topics for event in events} == {("pets",), ("work",)}  # not the memory's texts
    assert len(world.iterator.requests) == 3


async def test_a_bad_answer_is_asked_for_again_as_json(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """The second question says what was wrong and wants all three parts."""
    world = await digested(make_world, ["Sure!", json.dumps(WHOLE)], form="paper")
    assert (await world.memory.summary("ana")).number == 1
    assert '"memos"' in world.iterator.requests[1].messages[-1].content
    assert len(await world.memory.rejected("ana")) == 1


@pytest.mark.parametrize("mechanisms", [ALL, ("human-recall", "memos")], ids=["all", "no summary"])
async def test_no_usable_answer_loses_nothing(
    make_world: Callable[..., Awaitable[World]], mechanisms: tuple[str, ...]
) -> None:
    """Memos are written by code, the answers lie aside once, and the job says why."""
    world = await digested(make_world, ["Sure!"] * 3, mechanisms=mechanisms)
    memos = await world.store.memos.read(OWNER)
    assert sum(len(memo.sources) for memo in memos) == len(TALK)
    assert "cat" in memos[0].summary
    assert len(await world.memory.rejected("ana")) == 3
    (dead,) = await world.memory.jobs("ana", states=[JobState.DEAD])
    assert "no usable events" in dead.error


@pytest.mark.parametrize("told", [7, {"user": "a cat"}, True, None, [3], ""], ids=str)
def test_a_memory_that_is_no_list_of_texts_is_a_bad_reply(told: object) -> None:
    """Whatever JSON a model writes under "memory", it is asked again; prose counts as a list."""
    given: dict[str, Any] = {"old": (), "session": (), "language": "en", "limit": 20}
    with pytest.raises(BadReply, match="wanted JSON"):
        JsonForm().read([json.dumps({"memory": told})], **given)
    read = JsonForm().read(['{"memory": "User has a cat. User is a nurse."}'], **given)
    assert [s.text for s in read.sentences] == ["User has a cat.", "User is a nurse."]


async def test_the_order_of_mechanisms_does_not_matter(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """Whoever comes first has the model asked; the summary still builds on the old one."""
    order = ("human-recall", "memos", "summary")
    world = await digested(make_world, [NOTES, NOTES], mechanisms=order, sessions=2)
    assert (await world.memory.summary("ana")).number == 2
    assert len(world.iterator.requests) == 2


async def test_an_unknown_writer_is_refused(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """A misspelt setting is told, with what there is."""
    with pytest.raises(BadInput, match=r"fused, separate"):
        await make_world(settings=replace(SETTINGS, writer="fusd"))


# ── Notes about both ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("language", LANGUAGES)
def test_both_speakers_are_asked_about_in_one_question(language: str) -> None:
    """Their words stand apart, and the grammar wants notes about both."""
    said = {
        "en": ("I live in Oslo.", "I like jazz."),
        "zh": ("我住在北京。", "我喜欢爵士乐。"),
        "ja": ("東京に住んでいます。", "ジャズが好きです。"),
        "ko": ("서울에 살아요.", "재즈를 좋아해요."),
        "vi": ("Tôi sống ở Huế.", "Tôi thích nhạc jazz."),
    }[language]
    session = [
        Line(speaker=speaker, text=text) for speaker, text in zip(Speaker, said, strict=True)
    ]
    (question,) = BothForm().ask(old=(), session=session, language=language, limit=20)
    asked = question.request.messages[-1].content
    assert asked.index(said[0]) < asked.index(said[1])
    assert question.request.grammar is not None
    none = vocabulary(language)["none"]
    assert question.request.grammar.startswith(f'root ::= "{none}" | user')
    assert "assistant ::=" in question.request.grammar


def test_one_speaker_alone_is_asked_about_as_before() -> None:
    """An assistant that tells nothing of itself costs nothing."""
    session = [
        Line(speaker=Speaker.USER, text="I live in Oslo."),
        Line(speaker=Speaker.ASSISTANT, text="Great that you live there!"),
    ]
    (question,) = BothForm().ask(old=(), session=session, language="en", limit=20)
    assert "Messages of Assistant" not in question.request.messages[-1].content


def test_a_fact_under_the_wrong_speaker_goes_to_the_right_one() -> None:
    """Only the words of the one it is about bear it out."""
    session = [
        Line(speaker=Speaker.USER, text="I breed alpacas in Wales."),
        Line(speaker=Speaker.ASSISTANT, text="I play the oboe on Sundays."),
    ]
    reading = BothForm().read(
        ["User plays the oboe on Sundays.\nAssistant breeds alpacas in Wales."],
        old=(),
        session=session,
        language="en",
        limit=20,
    )
    assert {s.text for s in reading.sentences} == {
        "User breeds alpacas in Wales.",
        "Assistant plays the oboe on Sundays.",
    }


# ── Cutting by topic ────────────────────────────────────────────────────────────────────────────


def turns(*texts: str) -> tuple[Turn, ...]:
    """A session of these."""
    return tuple(
        Turn(
            id=f"t{i}",
            session=1,
            position=i,
            speaker=list(Speaker)[i % 2],
            text=text,
            time=datetime(2026, 1, 5, tzinfo=UTC),
            language="en",
        )
        for i, text in enumerate(texts)
    )


async def test_a_dialogue_is_cut_where_its_topic_changes() -> None:
    """Four turns on a cat, four on a job; an embedder that was not measured is not trusted."""
    talk = turns(*(text for _, text in TALK))
    for embedder in (None, HashEmbedder()):
        cut = await segments(talk, embedder=embedder)
        assert [len(stretch) for stretch in cut] == [4, 4]


async def test_nothing_is_left_out_however_long_the_dialogue() -> None:
    """Every turn is in one stretch, in order, none longer than allowed."""
    talk = turns(*(f"turn {i} about topic{i // 7} and topic{i // 7} again" for i in range(900)))
    cut = await segments(talk, embedder=None)
    assert tuple(turn for stretch in cut for turn in stretch) == talk
    assert max(map(len, cut)) <= BY_WORDS.longest
    assert await segments((), embedder=None) == ()
    assert await segments(talk[:1], embedder=None) == (talk[:1],)


def test_a_gist_is_told_in_the_order_it_was_said() -> None:
    """Also where one turn holds several of its sentences, the most telling of them last."""
    told = ["Yes. I moved to Oslo. In March 2025 I began as a nurse at the Ullevål hospital there."]
    [turn] = turns(*told)
    assert gist([turn], "en", most=2) == (
        "User: I moved to Oslo. "
        "User: In March 2025 I began as a nurse at the Ullevål hospital there."
    )


def test_one_topic_is_not_cut() -> None:
    """A cut has its price."""
    assert boundaries([text for _, text in TALK[:4]], vectors=None, cuts=BY_WORDS) == []


@pytest.mark.parametrize(
    ("language", "text", "wanted"),
    [
        ("en", "We visited the Sydney Opera House, and the opera was great.", "Sydney Opera House"),
        ("zh", "我上周去了北京故宫。", "北京故宫"),
        ("ja", "先週、金閣寺でカメラを買いました。", "金閣寺"),
        ("ko", "어제 경복궁에서 사진을 찍었어요.", "경복궁"),
        ("vi", "Hôm qua tôi đến Văn Miếu.", "Văn Miếu"),
    ],
)
def test_phrases_are_found_in_every_language(language: str, text: str, wanted: str) -> None:
    """Runs of telling words; grammar and small talk are not among them."""
    assert wanted in phrases(text, language)
    assert wanted in keywords(text, (), language=language)


def test_a_topic_is_named_by_what_its_stretch_alone_has() -> None:
    """Words that the whole session has do not tell stretches apart."""
    talk = turns(*(text for _, text in TALK))
    first, second = (topic(part, talk, language="en") for part in (talk[:4], talk[4:]))
    assert "cat" in first
    assert "hospital" in second or "nurse" in second
