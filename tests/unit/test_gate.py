"""The gate: whether anything that was recalled goes into a prompt, and how much."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.domain import MemoryKind, RecalledItem, Speaker, Support
from omoide.engine.messages import Utterance
from omoide.language.terms import terms
from omoide.mechanisms.base import Contribution, PromptPlace, without_repeats
from omoide.mechanisms.parts import budget_for
from omoide.mechanisms.search.gate import (
    BUDGETS,
    CALIBRATED,
    Bars,
    RecallBudget,
    admitted,
    admitted_facts,
    admitted_topics,
    is_open,
    judged,
)
from omoide.mechanisms.search.question import parse_query
from omoide.ports.store import NamedSpeaker
from omoide.settings import Settings

from .conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import World

SURE = Support(best=9.0, mismatch=0.0, words=0.9, turns=100, known=0.9)
USER = NamedSpeaker(speaker=Speaker.USER, name=None)
ASSISTANT = NamedSpeaker(speaker=Speaker.ASSISTANT, name=None)


def within(far: float) -> RecallBudget:
    """The small budget, with items that are so far behind the best."""
    return replace(BUDGETS["small"], far=far)


def item(score: float) -> RecalledItem:
    """An item with that score."""
    time = datetime(2026, 1, 5, tzinfo=UTC)
    return RecalledItem(
        kind=MemoryKind.TURN, text="x", score=score, sources=("x",), time=time, tokens=1
    )


@pytest.mark.parametrize("space", ["", "own"])
@pytest.mark.parametrize(
    ("bar", "kind"),
    [
        ("personal", {"personal": True}),
        ("personal", {"personal": True, "addressed": True}),
        ("addressed", {"addressed": True}),
        ("asked", {}),
        ("said", {"asks": False, "personal": True}),
    ],
)
def test_the_gate_opens_at_the_bar_of_what_was_said(
    bar: str, kind: dict[str, bool], space: str
) -> None:
    """At the bar itself and above it, not below; each space of vectors has bars of its own."""
    bars = {"": (0.1, 0.2, 0.3, 0.4), "own": (0.5, 0.6, 0.7, 0.8)}
    named = {
        name: Bars(personal=p, asked=a, addressed=b, said=c) for name, (p, a, b, c) in bars.items()
    }
    budget = replace(BUDGETS["small"], words=named[""], spaces={"own": named["own"]})
    height = getattr(named[space], bar)
    for known, opens in ((height, True), (height + 0.01, True), (height - 0.01, False)):
        support = replace(SURE, known=known, space=space, **{"asks": True, **kind})
        assert is_open(support, budget) is opens


def test_more_words_and_meaning_make_it_likelier_and_a_larger_memory_less() -> None:
    """The calibrated probability rises with the evidence and falls with the number of turns."""
    weak = Support(best=1.0, mismatch=0.0, words=0.2, cosine=0.3, turns=100)
    for space in (None, *CALIBRATED):
        known = judged(weak, space).known
        assert judged(replace(weak, words=0.6), space).known > known
        assert judged(replace(weak, turns=10_000), space).known < known
    for space in CALIBRATED:
        assert judged(replace(weak, cosine=0.6), space).known > judged(weak, space).known


@pytest.mark.parametrize("space", [None, *CALIBRATED])
def test_little_evidence_is_rather_nothing_and_much_is_rather_something(space: str | None) -> None:
    """A few of the words and a faint resemblance in a hundred turns; most of the words and a close
    one."""
    support = Support(best=1.0, mismatch=0.0, turns=100)
    cosines = (0.3, 0.8) if space else (None, None)
    assert judged(replace(support, words=0.2, cosine=cosines[0]), space).known < 0.5
    assert judged(replace(support, words=0.8, cosine=cosines[1]), space).known > 0.5


@pytest.mark.parametrize("space", CALIBRATED)
def test_words_alone_do_not_outweigh_a_meaning_that_is_far_off(space: str) -> None:
    """A turn with all words of the question and another meaning is rather nothing, where vectors
    are calibrated."""
    found = Support(best=1.0, mismatch=0.0, words=1.0, cosine=0.1, turns=100)
    assert judged(found, space).known < 0.5


def test_vectors_that_nobody_calibrated_do_not_count() -> None:
    """However near they are: words decide, above what is unsure with any vectors."""
    found = Support(best=1.0, mismatch=0.0, words=0.6, cosine=0.1, turns=100)
    by_words = judged(replace(found, cosine=None), None).known
    for cosine in (0.1, 0.9):
        assert judged(replace(found, cosine=cosine), "unheard-of").known == by_words


def test_nothing_found_is_nothing_known() -> None:
    """Without a shared word and without vectors there is no support at all."""
    assert judged(Support(best=0.0, mismatch=0.0, turns=3), None).known == 0
    assert judged(Support(best=0.0, mismatch=0.0), "use-multilingual").known < 0.25


@pytest.mark.parametrize(
    ("known", "asks", "personal", "opens"),
    [
        (0.3, True, True, True),
        (0.15, True, True, False),
        (0.3, True, False, False),
        (0.8, True, False, True),
        (0.7, False, False, False),
        (0.8, False, False, True),
    ],
)
def test_a_question_about_oneself_needs_the_least(
    known: float, asks: bool, personal: bool, opens: bool
) -> None:
    """A question that only memory can answer opens the gate first, a remark last."""
    support = replace(SURE, known=known, asks=asks, personal=personal)
    assert is_open(support, BUDGETS["small"]) is opens
    assert bool(admitted([item(1.0)], support, budget=within(5))) is opens


def test_items_far_behind_the_best_are_left_out() -> None:
    """A question gets everything near the best item, a remark only the few nearest."""
    items = [item(score) for score in (9.0, 8.5, 8.0, 7.5, 5.0, 3.0)]
    assert [i.score for i in admitted(items, SURE, budget=within(5))] == [9.0, 8.5, 8.0, 7.5, 5.0]
    assert [i.score for i in admitted(items, SURE, budget=within(1))] == [9.0, 8.5, 8.0]
    remark = admitted(items, replace(SURE, asks=False), budget=within(5))
    assert [i.score for i in remark] == [9.0, 8.5, 8.0]
    assert len(remark) == BUDGETS["small"].said_items
    assert admitted([], SURE, budget=within(5)) == ()
    behind = [item(score) for score in (9.0, 8.5, 5.0)]
    assert len(admitted(behind, SURE, budget=within(5))) == 3
    assert [i.score for i in admitted(behind, replace(SURE, asks=False), budget=within(5))] == [
        9.0,
        8.5,
    ]


@pytest.mark.parametrize(
    ("text", "personal"),
    [
        ("What is my cat called?", True),
        ("我的猫叫什么名字？", True),
        ("私の猫の名前は何ですか？", True),
        ("내 고양이 이름이 뭐야?", True),
        ("Con mèo của tôi tên là gì?", True),
        ("What did you recommend to me?", True),
        ("What is the capital of Australia?", False),
        ("Can you suggest a snack?", False),
        ("My cat is ill.", False),
        ("I'm thinking of moving to Oslo. What do you think?", True),
        ("我在考虑搬去上海。你觉得怎么样？", True),
        ("Tôi định chuyển đến Huế. Bạn nghĩ sao?", True),
        ("Do you think it will rain?", False),
        ("I'm looking for new ways to meet friends. Any suggestions?", True),
        ("Tôi muốn học nấu ăn. Có gợi ý nào không?", True),
        ("Any ideas for dinner?", False),
    ],
)
def test_what_only_memory_can_know(text: str, personal: bool) -> None:
    """Questions about oneself and about earlier replies, in five languages."""
    day = datetime(2026, 1, 5, tzinfo=UTC).date()
    assert parse_query(text, asked=day, voices=(USER, ASSISTANT)).personal is personal


@pytest.mark.parametrize(
    "text",
    [
        "Can you suggest a snack?",
        "Can you list the order in which I visited them?",
        "你能推荐一道菜吗？",
    ],
)
def test_a_request_is_about_the_one_who_asks(text: str) -> None:
    """Being polite to the assistant does not make it a question about the assistant."""
    day = datetime(2026, 1, 5, tzinfo=UTC).date()
    assert parse_query(text, asked=day, voices=(USER, ASSISTANT)).about == {0}


def test_budgets_go_by_the_model_unless_set() -> None:
    """An endpoint gets the large budget, a local model the small one; settings win."""
    assert budget_for(Settings()) == BUDGETS["small"]
    assert budget_for(Settings(model="http://127.0.0.1:9/v1#m")) == BUDGETS["large"]
    assert budget_for(Settings(recall_items=2)).items == 2
    assert budget_for(Settings(recall_tokens=77, memory_tokens=99)).memory == 99


async def test_a_reply_is_shown_with_its_question_weekday_and_name(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """A line has its date once, the weekday, the person's name, and the question it answers."""
    settings = replace(SETTINGS, mechanisms=("search",), partner="person")
    world = await make_world(settings=settings)
    talk = [
        Utterance(speaker=Speaker.ASSISTANT, text="How often do you train at the gym?", name="Bo"),
        Utterance(speaker=Speaker.USER, text="Three times a week.", name="Ana"),
        Utterance(speaker=Speaker.ASSISTANT, text="I had rice for lunch.", name="Bo"),
    ]
    await world.memory.record("ana", talk)
    await world.memory.end_session("ana")
    world.clock.advance(timedelta(days=7))
    context = await world.memory.context("ana", "How often do I train at the gym?")
    line = context.recalled[0].text
    assert line == (
        '2026-01-05, Monday, Ana, asked "How often do you train at the gym?": Three times a week.'
    )
    assert not any("rice" in c.text for c in context.recalled[:1])


@pytest.mark.parametrize(("reply", "first"), [("Ask for 30 days.", 1), ("A lease. " * 90, 0)])
async def test_what_a_user_tells_in_a_question_does_not_give_way_to_an_essay(
    make_world: Callable[..., Awaitable[World]], reply: str, first: int
) -> None:
    """A short reply is shown with its question in one line; beside a long one the question stands
    by itself, and comes first."""
    settings = replace(SETTINGS, mechanisms=("search",), profile="large")
    world = await make_world(settings=settings)
    asked = "How do I word the notice if my lease in Porto ends on 20 March?"
    talk = [
        Utterance(speaker=Speaker.USER, text=asked),
        Utterance(speaker=Speaker.ASSISTANT, text=reply),
    ]
    turns = await world.memory.record("ana", talk)
    await world.memory.end_session("ana")
    world.clock.advance(timedelta(days=7))
    context = await world.memory.context("ana", "When does my lease in Porto end?")
    assert context.recalled[0].sources == (turns[first].id,)
    assert asked in context.recalled[0].text


async def test_the_fact_ranks_above_the_question_about_it(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """The README's own example: what the user told comes before what she was asked."""
    world = await make_world(settings=replace(SETTINGS, mechanisms=("search",)))
    talk = [
        Utterance(speaker=Speaker.USER, text="Hi! I adopted a cat called Miso."),
        Utterance(speaker=Speaker.ASSISTANT, text="That's great! What's your cat's name?"),
    ]
    await world.memory.record("ana", talk)
    found = await world.memory.recall("ana", "what pets does she have?")
    again = await world.memory.recall("ana", "What is my cat's name?")
    for result in (found, again):
        assert not result or result[0].text == "Hi! I adopted a cat called Miso."
    assert again
    assert again[0].counted
    assert again.support.known > 0.25


async def test_what_no_longer_fits_the_prompt_is_recalled(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """The beginning of a session that is too long to be sent is found like an old session."""
    world = await make_world(settings=replace(SETTINGS, mechanisms=("search",)))
    await world.memory.record("ana", "I adopted a cat called Miso.", session="long")
    for _ in range(4):
        await world.memory.record("ana", "The meeting took all day. " * 350, session="long")
    async with world.memory.exchange("ana", "What is my cat called?", session="long") as turn:
        assert any("called Miso" in c.text for c in turn.why)


def test_a_turn_that_a_sentence_repeats_is_left_out() -> None:
    """A recalled turn gives way to a recalled sentence that cites it and has most of its words; one
    that says more stays."""
    time = datetime(2026, 1, 5, tzinfo=UTC)
    sentence, same, more = (
        Contribution(
            mechanism="x",
            place=PromptPlace.RECALLED,
            kind=kind,
            id=text,
            text=text,
            value=0.5,
            sources=("t1",),
            time=time,
            why="",
        )
        for kind, text in (
            (MemoryKind.SENTENCE, "User has a cat called Miso."),
            (MemoryKind.TURN, "2026-01-05, Monday, User: I have a cat called Miso."),
            (MemoryKind.TURN, "2026-01-05, Monday, User: My cat Miso broke her paw in Oslo."),
        )
    )
    assert without_repeats([sentence, same, more]) == (sentence, more)
    assert without_repeats([same, more]) == (same, more)


@pytest.mark.parametrize(("asks", "known"), [(True, 0.45), (False, 0.6)])
def test_a_strong_model_is_shown_what_only_may_belong_here(*, asks: bool, known: float) -> None:
    """It does not mind turns that do not fit; a small one is confused by them."""
    support = replace(SURE, asks=asks, personal=False, known=known)
    assert admitted([item(1.0)], support, budget=BUDGETS["large"])
    assert not admitted([item(1.0)], support, budget=BUDGETS["small"])
    assert not admitted([item(1.0)], replace(support, known=0.3), budget=BUDGETS["large"])


def test_a_strong_model_is_shown_more_around_a_remark() -> None:
    """What somebody tells about a change of mind needs the earlier reasons beside it."""
    items = [item(9.0 - n / 4) for n in range(20)]
    remark = replace(SURE, asks=False)
    assert len(admitted(items, remark, budget=BUDGETS["small"])) == 3
    assert len(admitted(items, remark, budget=BUDGETS["large"])) == 10


def test_each_embedder_has_bars_of_its_own() -> None:
    """Vectors make a remark of everyday talk look known, so for a strong model the bar is higher
    with the default embedder than by words, and lower for what only memory can answer."""
    likely = Support(best=9.0, mismatch=0.0, words=0.15, cosine=0.5, turns=40, asks=False)
    with_vectors = judged(likely, "use-multilingual")
    assert with_vectors.space == "use-multilingual"
    assert with_vectors.known == pytest.approx(0.57, abs=0.02)
    assert not is_open(with_vectors, BUDGETS["large"])
    assert is_open(replace(with_vectors, space=""), BUDGETS["large"])
    personal = replace(with_vectors, asks=True, personal=True, known=0.16)
    assert is_open(personal, BUDGETS["large"])
    assert not is_open(replace(personal, space=""), BUDGETS["large"])
    asked = replace(with_vectors, asks=True, known=0.6)
    assert is_open(asked, BUDGETS["large"])
    assert not is_open(replace(asked, addressed=True), BUDGETS["large"])


@pytest.mark.parametrize(
    ("text", "addressed"),
    [
        ("Do you like tea?", True),
        ("你喜欢喝茶吗？", True),
        ("あなたはお茶が好きですか？", True),
        ("Bạn có thích trà không?", True),
        ("Can you suggest a snack?", False),
        ("What area was hit by the flood?", False),
        ("You are right.", False),
    ],
)
def test_a_question_about_the_one_who_is_asked(text: str, addressed: bool) -> None:
    """It says "you" otherwise than to ask for something."""
    day = datetime(2026, 1, 5, tzinfo=UTC).date()
    assert parse_query(text, asked=day, voices=(USER, ASSISTANT)).addressed is addressed


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ("Anna and Tom are my colleagues.", "Is Tom older than Anna?"),
        ("My cousin Maria was born in May.", "When is Maria's birthday?"),
        ("张伟是我的表弟，李婷是我的同事。", "张伟和李婷谁年龄更大？"),
        ("小王是我的邻居。", "小王住几楼？"),
        ("田中君は同僚で、佐藤君は上司です。", "田中君と佐藤君はどちらが年上？"),
        ("민수는 사촌이고 지연은 동료야.", "민수와 지연 중에 누가 더 나이가 많아?"),
        ("Lan là chị họ, Hùng là đồng nghiệp.", "Lan và Hùng ai lớn tuổi hơn?"),
    ],
)
def test_a_question_about_somebody_whom_memory_knows(told: str, text: str) -> None:
    """Only memory can answer it, though nobody says "my": in five languages."""
    day = datetime(2026, 1, 5, tzinfo=UTC).date()
    known = frozenset(terms(told))
    assert parse_query(text, asked=day, voices=(USER, ASSISTANT), known=known).personal


@pytest.mark.parametrize(
    "text",
    [
        "Is my brother older than my boss?",
        "我表哥和我的上司谁年纪大？",
        "私の兄と上司はどちらが年上？",
        "우리 형이랑 상사 중에 누가 나이가 많아?",
        "Anh họ của tôi và sếp của tôi ai lớn tuổi hơn?",
    ],
)
def test_a_comparison_of_two_of_the_users_people(text: str) -> None:
    """It is one that only memory can answer."""
    day = datetime(2026, 1, 5, tzinfo=UTC).date()
    assert parse_query(text, asked=day, voices=(USER, ASSISTANT)).personal


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ("I flew to Australia.", "What is the capital of Australia?"),
        ("I saw the Mona Lisa.", "Who painted the Mona Lisa?"),
        ("I read about Caesar.", "Was Napoleon taller than Wellington?"),
        ("I work on Friday.", "Is Friday a holiday?"),
        ("我周五上班。", "周五天气怎么样？"),
        ("我喜欢历史。", "刘备和曹操谁更年长？"),
        ("Tôi từng sống ở Huế.", "Thời tiết ở Huế thế nào?"),
        ("Tôi thích lịch sử.", "Nguyễn Du và Nguyễn Trãi ai sinh trước?"),
    ],
)
def test_a_question_about_the_world_is_not_about_somebody_known(told: str, text: str) -> None:
    """Neither a place that memory knows nor a name that it does not know makes it one that only
    memory can answer. Where the subject is left out, the probability alone decides."""
    day = datetime(2026, 1, 5, tzinfo=UTC).date()
    known = frozenset(terms(told))
    assert not parse_query(text, asked=day, voices=(USER, ASSISTANT), known=known).personal


@pytest.mark.parametrize(
    ("told", "asked", "world", "talk"),
    [
        (
            ["My cousin Anna turned 36.", "Our team lead is Tom, aged 44."],
            "Is Tom or Anna the older one of these two people?",
            "How old is the city of Rome?",
            "Nice weather!",
        ),
        (
            ["张伟是我的表弟，今年36岁。", "李婷是我的上司，今年44岁。"],
            "张伟和李婷哪一位的年纪更大一些？",
            "罗马有多少年历史？",
            "今天天气真好！",
        ),
        (
            ["いとこの田中君は36歳です。", "上司の佐藤君は44歳です。"],
            "田中君と佐藤君はどちらが年上？",
            "日本の首都はどこ？",
            "いい天気だね！",
        ),
        (
            ["사촌 민수는 서른여섯 살이야.", "상사 지연은 마흔네 살이야."],
            "민수와 지연 중에 누가 나이가 많아?",
            "호주의 수도는 어디야?",
            "날씨 좋다!",
        ),
        (
            ["Chị họ Lan 36 tuổi.", "Sếp Hùng 44 tuổi."],
            "Giữa Lan và Hùng thì ai sinh ra trước người kia?",
            "Nước Úc ở đâu?",
            "Trời đẹp quá!",
        ),
    ],
)
async def test_a_comparison_of_known_people_brings_memory_and_the_world_does_not(
    make_world: Callable[..., Awaitable[World]],
    told: list[str],
    asked: str,
    world: str,
    talk: str,
) -> None:
    """Two people who were spoken of apart are found when they are compared; questions
    about the world and small talk stay without memory, in five languages."""
    there = await make_world(settings=replace(SETTINGS, mechanisms=("search",)))
    for number, note in enumerate(told):
        await there.memory.record("ana", note, session=str(number))
    await there.memory.end_session("ana")
    there.clock.advance(timedelta(days=7))
    assert (await there.memory.context("ana", asked)).recalled
    assert not (await there.memory.context("ana", world)).recalled
    assert not (await there.memory.context("ana", talk)).recalled


def test_a_small_model_asks_less_of_a_question_than_of_talk_about_the_other() -> None:
    """With the default embedder "Do you like tea?" must look more familiar than a question about
    anything else, as for a strong model."""
    asked = replace(SURE, known=0.7, space="use-multilingual")
    assert is_open(asked, BUDGETS["small"])
    assert not is_open(replace(asked, space=""), BUDGETS["small"])
    assert not is_open(replace(asked, known=0.8, addressed=True), BUDGETS["small"])


def test_a_strong_model_gets_facts_and_topics_with_a_remark_that_turns_come_to() -> None:
    """At the same bar, and as near to the best; a small model gets neither."""
    for kind, admit in ((MemoryKind.FACT, admitted_facts), (MemoryKind.MEMO, admitted_topics)):
        found = [item(20.0), *(replace(item(score), kind=kind) for score in (9.0, 8.0, 4.0))]
        remark = replace(SURE, asks=False)
        assert [i.score for i in admit(found, remark, budget=BUDGETS["large"])] == [9.0, 8.0]
        assert admit(found, remark, budget=BUDGETS["small"]) == ()
        bar = BUDGETS["large"].words.said
        assert admit(found, replace(remark, known=bar), budget=BUDGETS["large"])
        assert not admit(found, replace(remark, known=bar - 0.01), budget=BUDGETS["large"])
        few = replace(BUDGETS["large"], said_items=1)
        assert len(admit(found, remark, budget=few)) == 1


@pytest.mark.parametrize(("profile", "brought"), [("large", True), ("small", False)])
async def test_a_request_that_asks_nothing_brings_a_strong_model_facts(
    make_world: Callable[..., Awaitable[World]], *, profile: str, brought: bool
) -> None:
    """ "Draft …" is no question to a list of words; small talk stays without memory."""
    settings = replace(SETTINGS, form="small", mechanisms=("search",), profile="large")
    world = await make_world(settings=replace(settings, mechanisms=("summary", "search")))
    told = "Our landlord Mr Bloom wants to raise the rent of our flat in June."
    fact = "User's landlord Mr Bloom will raise the rent of the flat in June 2026."
    change = {"do": "add", "text": fact, "about": "Mr Bloom", "kind": "plan", "turns": [1]}
    await world.session("ana", told, answers=(json.dumps({"changes": [change], "topics": []}),))
    asked = await make_world(
        store=world.store, clock=world.clock, settings=replace(settings, profile=profile)
    )
    request = "Draft a letter to our landlord Mr Bloom about the rent of our flat in June."
    context = await asked.memory.context("ana", request)
    assert (MemoryKind.FACT in {c.kind for c in context.recalled}) is brought
    assert not (await asked.memory.context("ana", "Nice weather today!")).recalled
