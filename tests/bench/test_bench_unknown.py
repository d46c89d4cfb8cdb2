"""What was never told: the questions, what a reply is taken for, and a run with scripted models."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from omoide.language import LANGUAGES, detect_language
from omoide.testing import ScriptedModel
from omoide_bench.running.execute import execute
from omoide_bench.unknown.admitting import admits, only_asks
from omoide_bench.unknown.questions import UnknownQuestion, load, marks
from tests.bench.bench_lab import course, job, lab

if TYPE_CHECKING:
    from collections.abc import Callable

    from omoide.ports import Request
    from omoide_bench.running.results import Result

QUESTIONS = load()
BROTHER = UnknownQuestion(
    id="x",
    language="en",
    question="What is my brother called?",
    fact="User's brother is called Tom.",
    answer=r"\bTom\b",
    others=(("User's sister is called Lena.", "Lena"), ("User lives in Porto.", "Porto")),
)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_has_twenty_four_and_eight_of_the_world(language: str) -> None:
    """A fact holds its answer, and no other note, nor the question, does; each note its own
    value. With the fact there are five notes, and without it the same but for it."""
    own = [one for one in QUESTIONS if one.language == language]
    assert [bool(one.fact) for one in own].count(True) == 24
    assert len(own) == 32
    for one in own:
        assert detect_language(one.question) == language
        assert not re.search(one.answer, one.question, re.IGNORECASE)
        for note, value in one.others:
            assert re.search(value, note, re.IGNORECASE)
            assert not re.search(one.answer, note, re.IGNORECASE)
        if one.fact:
            known, unknown = one.given_notes("known"), one.given_notes("unknown")
            assert len(set(known)) == 5
            assert [note for note in known if note != one.fact] == list(unknown)
            assert re.search(one.answer, one.fact, re.IGNORECASE)
            assert (one.has("known"), one.has("unknown"), one.has("world")) == (True, True, False)
        else:
            assert len(set(one.given_notes("world"))) == 5
            assert (one.has("known"), one.has("unknown"), one.has("world")) == (False, False, True)
    assert len({one.place for one in own if one.fact}) == 5


def test_ids_are_stable() -> None:
    """By language and sort, none of them twice."""
    assert len({one.id for one in QUESTIONS}) == len(QUESTIONS) == 160
    assert {one.id.partition("-")[2] for one in QUESTIONS if one.language == "ja"} == {
        one.id.partition("-")[2] for one in QUESTIONS if one.language == "en"
    }


@pytest.mark.parametrize(
    ("reply", "right", "admitted", "made_up"),
    [
        ("Your brother is called Tom.", True, False, True),
        ("You haven't told me your brother's name. What is it?", False, True, False),
        ("I don't know, but your sister is Lena.", False, True, False),
        ("Your brother is called Lena.", False, False, True),
        ("You live in Porto, right?", False, False, True),
        ("His name is Max.", False, False, True),
        ("What's his name?", False, False, False),
        ("He is a lovely fellow!", False, False, True),
    ],
)
def test_a_reply_without_the_fact_admits_asks_or_makes_it_up(
    reply: str, right: bool, admitted: bool, made_up: bool
) -> None:
    """Whoever does neither admit nor merely ask makes it up, with another note's value or not."""
    found = marks(BROTHER, reply)
    assert (found.right, found.admits, found.made_up) == (right, admitted, made_up)
    assert found.borrows is (made_up and ("Lena" in reply or "Porto" in reply))


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("en-boss", "It was Mr Crane, of course. Did you tell him everything?"),
        ("en-street", "You live in Mill Street, don't you?"),
        ("zh-boss", "姓邱，你可别把名字给叫错了。"),
        ("zh-bus", "你儿子坐23路公交上学，回家就坐23路吧。"),
        ("ja-team", "鹿島アントラーズだね。何を言う？"),
        ("ja-car", "昔ホンダの車を借りたんだから、そのメーカーだね。"),
        ("ko-aunt", "이모는 청록색을 좋아하잖아."),
        ("ko-aunt", "너 쇄골을 좋아하잖아. 그거랑 관련된 일은 있을지도 몰라."),
        ("vi-floor", "Cậu ở tầng chín mà, xách đồ lên tầng trệt là không có lý."),
    ],
)
def test_what_the_embedded_model_said_is_made_up_of_other_notes(name: str, reply: str) -> None:
    """Its replies without the fact, judged by hand: none admits, all borrow."""
    (question,) = (one for one in QUESTIONS if one.id == name)
    found = marks(question, reply)
    assert (found.right, found.admits, found.made_up, found.borrows) == (False, False, True, True)


def test_an_admission_in_another_language_is_one() -> None:
    """It is not in the right language, but nothing is made up."""
    (question,) = (one for one in QUESTIONS if one.id == "ja-boss")
    found = marks(question, "You haven't told me that yet, what is the name?")
    assert (found.admits, found.made_up, found.language) == (True, False, False)


ADMITTED = {
    "en": (
        "I'm not sure, you never mentioned it.",
        "I don't have that information.",
        "You haven’t told me yet, which one is it?",
        "I have no idea, sorry!",
        "I can't remember you telling me.",
        "We've never talked about your boat.",
    ),
    "zh": (
        "我不太清楚，你没说过。",
        "抱歉，我不知道你老板姓什么。",
        "这个你还没告诉我呢。",
        "我记不清了。",
    ),
    "ja": (
        "ごめん、わからないな。",
        "それはまだ聞いていないよ。",
        "身長は教えてもらってないね。",
        "知らないんだ、何色なの？",
        "聞いたことがないです。",
    ),
    "ko": ("미안, 잘 모르겠어.", "아직 말해 준 적이 없잖아.", "그건 못 들었어.", "기억이 안 나네."),
    "vi": (
        "Mình không biết, cậu chưa kể mà.",
        "Cậu chưa nói cho mình nghe.",
        "Mình không nhớ rõ nữa.",
        "Mình không chắc lắm.",
    ),
}
TOLD = {
    "en": (
        "You told me it is Thursday.",
        "I know, it's the third floor!",
        "Your boss is Ms Lindqvist, don't you know?",
        "I don't know how you do it! The third floor again?",
        "Not the ninth floor, the third.",
        "It's red, but I don't think you should paint it.",
        "It was Mr Crane, of course. Did you tell him everything?",
    ),
    "zh": (
        "你住三楼呀。",
        "你不知道吗？是红色的。",
        "你告诉过我，是星期四。",
        "不是蓝色，是红色。",
        "是好久没聊了，见到你真高兴！",
        "就是不知道夜里的生意会不会也跟着冷清？",
    ),
    "ja": (
        "木曜日だよ。",
        "三階だよね、忘れないで。",
        "話してくれたよね、赤だよ。",
        "青じゃなくて赤だよ。",
    ),
    "ko": (
        "목요일이야.",
        "네가 말해 줬잖아, 3층이야.",
        "파란색이 아니라 빨간색이지.",
        "너 쇄골을 좋아하잖아. 그거랑 관련된 일은 있을지도 몰라.",
    ),
    "vi": (
        "Thứ năm đó cậu.",
        "Cậu kể rồi mà, tầng ba.",
        "Không phải màu xanh, màu đỏ mà.",
        "Tầng ba, cậu đừng quên tên phố nhé.",
        "Cậu không nghe nhạc à? Thứ năm đó.",
    ),
}


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_phrases_of_not_knowing_are_seen_and_others_are_not(language: str) -> None:
    """A denial, a word of telling, "maybe" and "don't forget" are no admission. Some of these are
    what the embedded model said."""
    for reply in ADMITTED[language]:
        assert admits(reply, language), reply
    for reply in TOLD[language]:
        assert not admits(reply, language), reply


def test_only_open_questions_are_mere_questions() -> None:
    """One that offers an answer tells; so does a sentence before it."""
    assert only_asks("What's he called?", "en")
    assert only_asks("何ていう名前？", "ja")
    assert only_asks("Cậu ấy tên gì?", "vi")
    assert not only_asks("He's Max, right?", "en")
    assert not only_asks("He's Max. What does he do?", "en")
    assert not only_asks("", "en")


def test_a_fourth_of_a_sample_is_about_the_world() -> None:
    """A larger sample holds a smaller one; the whole is all there is."""
    drawn = {n: {one.id for one in job("unknown", limit=n).cases} for n in (1, 40, 80, 160)}
    assert {n: len(ids) for n, ids in drawn.items()} == {1: 1, 40: 40, 80: 80, 160: 160}
    assert drawn[1] < drawn[40] < drawn[80] < drawn[160]
    assert sum("world" in one for one in drawn[40]) == 10
    assert drawn[160] == {one.id for one in QUESTIONS}


async def test_a_model_that_repeats_and_one_that_refuses() -> None:
    """Who repeats the notes is right where it was told and makes up the rest; who never knows
    admits everything, and refuses what it could have said."""
    repeats, refuses = await _run(_repeats), await _run(lambda _: "I don't know that, sorry.")
    assert repeats["known"] == {"right": 1, "refuses": 0}
    assert repeats["unknown"] == {"admits": 0, "made up": 1, "borrows": 1}
    assert repeats["world"] == {"right": 0, "refuses": 0}
    assert refuses["known"] == {"right": 0, "refuses": 1}
    assert refuses["unknown"] == {"admits": 1, "made up": 0, "borrows": 0}
    assert refuses["world"] == {"right": 0, "refuses": 1}


async def _run(answer: Callable[[Request], str]) -> dict[str, dict[str, float]]:
    work = job("unknown", languages="en")
    async with lab(ScriptedModel([answer] * 200)) as parts:
        result: Result = await execute(work, lab=parts, course=course(work))
    assert result.complete
    assert [len(method.items) for method in result.methods] == [24, 24, 8]
    return {
        method.name: {
            a.measure: a.mean
            for a in method.aggregates
            if a.group == "en" and a.measure != "language"
        }
        for method in result.methods
    }


def _repeats(request: Request) -> str:
    said = request.messages[-1].content
    return said.partition("<memory>")[2].partition("</memory>")[0].strip() or "…"
