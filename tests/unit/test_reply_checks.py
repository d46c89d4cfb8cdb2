"""What a small model's reply must not say, and how it is mended before it is shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.domain import MemoryKind, Owner, Speaker, Turn
from omoide.engine.checked import checked_stream
from omoide.engine.reply import Draft, Reply
from omoide.language import LANGUAGES
from omoide.mechanisms.base import Contribution, PromptPlace, ReplyRequest
from omoide.mechanisms.parts import checks_replies, reply_form_for
from omoide.mechanisms.reply_checks import ReplyChecks, ReplyFault, checks_for
from omoide.mechanisms.reply_forms import FORMS
from omoide.mechanisms.reply_notes import GREETING, RECALLED, placed_notes
from omoide.ports import Completion, Message, Request, Skill
from omoide.prompts import render, vocabulary
from omoide.settings import Settings
from omoide.testing import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

NOW = datetime(2026, 8, 20, 20, 0, tzinfo=UTC)
REQUEST = Request(messages=(Message(role="user", content="What's my cat called?"),), max_tokens=50)
MISO = "User has a cat called Miso."


def checks(message: str = "Hi", *, known: bool = False, said: Sequence[str] = ()) -> ReplyChecks:
    """Checks in English."""
    return ReplyChecks(language="en", message=message, known=known, said=tuple(said))


async def shown(model: ScriptedModel, checked: ReplyChecks) -> list[str]:
    """The parts of a reply that are shown."""
    stream = checked_stream(model.stream, REQUEST, checked)
    return [piece async for piece in stream if not isinstance(piece, Completion)]


@pytest.mark.parametrize(
    ("language", "denial", "answer"),
    [
        ("en", "I don't know, you never told me.", "She is called Miso."),
        ("zh", "这个我不太清楚，你没告诉过我。", "它叫年糕呀。"),
        ("ja", "三毛猫？もう覚えてないな。お知らせしたことがないでしょ。", "モチちゃんだよね。"),
        ("ko", "그건 잘 모르겠어, 말해 준 적 없잖아.", "두부잖아."),
        ("ko", "그건 아직 안 알려 줬어.", "두부잖아."),
        ("vi", "Cháu không biết, cậu chưa kể.", "Đậu đấy."),
        ("vi", "Cậu chưa kể cho mình nghe.", "Nó tên là Bún mà."),
    ],
)
def test_a_denial_is_a_fault_only_if_memory_knows(language: str, denial: str, answer: str) -> None:
    """Where nothing is known, it is the right answer."""
    known = ReplyChecks(language=language, message="?", known=True)
    assert known.fault(denial) is ReplyFault.DENIES
    assert known.fault(answer) is None
    assert replace(known, known=False).fault(denial) is None


@pytest.mark.parametrize(
    ("language", "message", "bad", "good"),
    [
        (
            "en",
            "Hi! I adopted a cat called Miso.",
            "What's your cat's name?",
            "How old is she?",
        ),
        ("zh", "我昨天收养了一只小狗，名字叫豆包。", "它叫什么名字？", "它多大了？"),
        ("ja", "今日、猫を迎えたよ。名前はアズキ。", "名前は何？", "何歳？"),
        ("ko", "오늘 고양이를 데려왔어. 이름은 콩이야.", "이름이 뭐야?", "몇 살이야?"),
        ("vi", "Mình nhận nuôi con mèo tên là Mướp.", "Nó tên là gì?", "Nó mấy tuổi?"),
    ],
)
def test_a_name_that_was_just_given_is_not_asked_for(
    language: str, message: str, bad: str, good: str
) -> None:
    """Other questions may be asked, and a name that was not given."""
    given = ReplyChecks(language=language, message=message, known=False)
    assert given.fault(bad) is ReplyFault.ASKS_TOLD
    assert given.fault(good) is None
    assert replace(given, message="!").fault(bad) is None


@pytest.mark.parametrize(
    ("language", "message", "bad", "good"),
    [
        (
            "en",
            "I'm Ana. I moved to Bergen last week and I'm allergic to walnuts.",
            "That's interesting! Are you allergic to walnuts?",
            "Bergen! How do you like it there?",
        ),
        ("zh", "我上周搬到了杭州，我对核桃过敏。", "你对核桃过敏吗？", "杭州住得习惯吗？"),
        ("ja", "くるみアレルギーなんだ。", "くるみアレルギーなの？", "ほかのナッツは平気？"),
        (
            "ko",
            "이사했고 호두 알레르기가 있어.",
            "호두 알레르기가 있어?",
            "짐은 풀었어?",
        ),
        ("vi", "Mình làm y tá ở bệnh viện.", "Bạn làm ở bệnh viện à?", "Ca đêm có nhiều không?"),
    ],
)
def test_what_was_just_said_is_not_asked_for(
    language: str, message: str, bad: str, good: str
) -> None:
    """Only what the message states: a question may be taken up."""
    given = ReplyChecks(language=language, message=message, known=False)
    assert given.fault(bad) is ReplyFault.ASKS_TOLD
    assert given.fault(good) is None
    assert replace(given, message=bad).fault(bad) is None


@pytest.mark.parametrize(
    ("language", "message", "bad", "told"),
    [
        (
            "en",
            "From June I'll work as a school nurse in Bergen.",
            "A school nurse is a great change from the flower shop.",
            "Our flower shop closed, so from June I'll be a school nurse.",
        ),
        ("zh", "我下个月去出版社当编辑。", "从花店到出版社，真不容易。", "我不在花店了。"),
        ("ja", "来月から学校で働くよ。", "花屋とはずいぶん違うね。", "花屋を辞めたよ。"),
        ("ko", "구월부터 빵집에서 일해.", "꽃집이랑은 많이 다르겠다.", "꽃집을 그만뒀어."),
        ("vi", "Tháng sau mình đi dạy.", "Khác hẳn tiệm hoa nhỉ.", "Mình nghỉ ở tiệm hoa."),
    ],
)
def test_a_worked_example_is_not_the_users_life(
    language: str, message: str, bad: str, told: str
) -> None:
    """The flower shop is Dana's of the prompt, unless the user speaks of one."""
    asked = ReplyChecks(language=language, message=message, known=False, told=message)
    assert asked.fault(bad) is ReplyFault.INVENTS
    assert replace(asked, told=told).fault(bad) is None


@pytest.mark.parametrize(
    ("language", "message", "bad", "good"),
    [
        (
            "en",
            "We got engaged, Lars and I.",
            "Hedda, Lars and I are so proud!",
            "Lars and you make a lovely couple. You and I should celebrate!",
        ),
        ("zh", "我和小林订婚了。", "恭喜！小林和我都很高兴。", "小林和你真配，我为你高兴！"),
        ("ja", "健太と婚約したよ。", "健太さんと私はうれしいよ！", "健太さんとお幸せに！"),
        ("ko", "민호랑 약혼했어.", "민호랑 나는 정말 기뻐!", "민호랑 행복해야 해!"),
        ("vi", "Mình đính hôn với Nam rồi.", "Nam và mình vui lắm!", "Nam và cậu hợp nhau quá!"),
    ],
)
def test_the_users_people_are_not_the_models(
    language: str, message: str, bad: str, good: str
) -> None:
    """Whom the user named is not together with the assistant; a name nobody told is another
    matter."""
    asked = ReplyChecks(language=language, message=message, known=False, told=message)
    assert asked.fault(bad) is ReplyFault.CLAIMS
    assert asked.fault(good) is None
    assert replace(asked, told="").fault(bad) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_things_of_the_worked_examples_are_in_the_prompt(language: str) -> None:
    """A list that no longer fits the prompt would check nothing."""
    shown = "".join(m.content for m in render("reply_small", language, memory="", now="").messages)
    things = vocabulary(language)["reply_example_things"].split(", ")
    found = [thing for thing in things if thing in shown]
    assert len(found) >= 2, (things, shown)


def test_an_earlier_reply_or_the_message_said_again_is_an_echo() -> None:
    """Short phrases may be said again."""
    earlier = "Biscuit is a sweetie, isn't she? Give her a hug."
    echo = checks("Any dessert without nuts for me?", said=(earlier, "Any dessert without nuts?"))
    assert echo.fault("Biscuit is a sweetie, isn't she!") is ReplyFault.ECHOES
    assert echo.fault("Any dessert without nuts?") is ReplyFault.ECHOES
    assert echo.fault("A fruit salad would be safe.") is None
    assert checks(said=("That's it!",)).fault("That's it!") is None


async def test_a_denial_of_what_is_known_is_tried_again_with_the_reason() -> None:
    """Nothing of the first try is shown, wherever in it the denial stands."""
    model = ScriptedModel(["A cat? I don't know its name.", "Your cat is called Miso. Cute!"])
    assert "".join(await shown(model, checks(known=True))) == "Your cat is called Miso. Cute!"
    again = model.requests[1].messages[-1].content
    assert again.startswith(REQUEST.messages[-1].content)
    assert "Do not say that you don't know." in again


async def test_a_second_fault_is_shown_rather_than_nothing() -> None:
    """There are two tries, and the user gets a reply."""
    model = ScriptedModel(["I don't know.", "I really don't know."])
    assert await shown(model, checks(known=True)) == ["I really don't know."]
    assert not model.answers


@pytest.mark.parametrize(
    ("second", "seen"),
    [
        ("Hedda, Lars and I! How lovely. When is it?", "How lovely. When is it?"),
        ("Hedda, Lars and I are happy.", "Hedda, Lars and I are happy."),
        ("Lars and I are happy. " * 9, "Lars and I are happy. " * 4),
    ],
    ids=["more comes", "nothing else", "a loop"],
)
async def test_a_second_try_is_shown_without_its_fault_if_anything_is_left(
    second: str, seen: str
) -> None:
    """The sentence with the fault is left out; a reply of nothing else is better than none."""
    model = ScriptedModel(["Hedda, Lars and I are so proud!", second])
    told = replace(checks("We got engaged, Lars and I."), told="We got engaged, Lars and I.")
    assert "".join(await shown(model, told)).startswith(seen.strip())
    assert not model.answers


async def test_a_short_beginning_with_a_fault_does_not_take_the_rest_along() -> None:
    """Though it waited for the next sentence and is one part with it. 小丹 is of an example."""
    wrong = "小丹，好久不见！年糕最近怎么样？"
    model = ScriptedModel([wrong, wrong])
    greeted = ReplyChecks(
        language="zh", message="好久不见！", known=False, told="养了一只橘猫叫年糕"
    )
    assert await shown(model, greeted) == ["年糕最近怎么样？"]


async def test_a_good_reply_comes_sentence_by_sentence_from_one_call() -> None:
    """The text is whole, and its `Completion` comes at the end."""
    text = "Good for the garden. Mr. Hill will be glad!\nAnd you?"
    model = ScriptedModel([text])
    stream = checked_stream(model.stream, REQUEST, checks())
    *parts, end = [piece async for piece in stream]
    assert "".join(map(str, parts)) == text
    assert parts[0] == "Good for the garden."
    assert isinstance(end, Completion)


async def test_a_later_sentence_with_a_fault_ends_the_reply_before_it() -> None:
    """What was shown stays, and the model is not asked again."""
    model = ScriptedModel(["That's great to hear! What's your cat's name? I love cats."])
    told = checks("I adopted a cat called Miso.")
    assert "".join(await shown(model, told)) == "That's great to hear!"
    assert len(model.requests) == 1


async def test_a_mere_exclamation_is_not_shown_alone() -> None:
    """It waits for the next sentence; if that has a fault, the model is asked once more."""
    model = ScriptedModel(["Ana! What is your cat's name?", "Ana! A cat, how lovely."])
    told = replace(checks(known=False), message="I'm Ana, and my cat is called Miso.")
    assert "".join(await shown(model, told)) == "Ana! A cat, how lovely."


async def test_a_held_back_reply_that_loops_ends_there() -> None:
    """It is not read to its last token before anything is shown."""
    model = ScriptedModel(["rice cakes and " * 90])
    assert len("".join(await shown(model, checks(known=True)))) < 200


async def test_closing_a_checked_reply_early_stops_the_model() -> None:
    """As with a reply that is not checked."""
    model = ScriptedModel(["One sentence here. Another one there."])
    stream = checked_stream(model.stream, REQUEST, checks())
    assert await anext(stream) == "One sentence here."
    await stream.aclose()


@pytest.mark.parametrize(
    ("model", "profile", "form", "checked"),
    [
        ("default", "auto", "small", True),
        ("default", "large", "chat", False),
        ("https://api.example/v1#gpt-5.2", "auto", "chat", False),
        ("https://api.example/v1#llama3.2:3b", "auto", "chat", False),
        ("/models/qwen2.5-7b-instruct-q4_k_m.gguf", "auto", "chat", False),
    ],
)
def test_no_crutch_of_a_small_model_reaches_a_strong_one(
    model: str, profile: str, form: str, checked: bool
) -> None:
    """Neither the worked examples nor the checks."""
    settings = Settings(model=model, profile=profile)
    assert reply_form_for(settings) == form
    assert checks_replies(settings) is checked


def reply_request(text: str, language: str = "en", *, earlier: int = 0) -> ReplyRequest:
    """Somebody says this after `earlier` other turns of the session."""
    turns = tuple(
        Turn(
            id=f"t{i}",
            session=3,
            position=i,
            speaker=Speaker.USER,
            text=text,
            time=NOW,
            language=language,
        )
        for i in range(earlier + 1)
    )
    owner = Owner(tenant="default", user="ana")
    return ReplyRequest(owner=owner, text=text, session=turns, now=NOW, language=language)


def note(text: str, *, days: float = 90, place: PromptPlace = PromptPlace.MEMORY) -> Contribution:
    """A sentence of the summary, so many days old."""
    return Contribution(
        mechanism="summary",
        place=place,
        kind=MemoryKind.SENTENCE,
        id=text,
        text=text,
        value=1.0,
        sources=(),
        time=NOW - timedelta(days=days),
        why="",
    )


NOTES = (
    note("User is called Nora."),
    note("User has a brother."),
    note("User likes tea."),
    note(MISO),
)


def beside(contributions: Sequence[Contribution]) -> list[str]:
    """The notes beside the message."""
    return [c.text for c in contributions if c.place is PromptPlace.RECALLED]


GREETINGS = {
    "en": "Hello again, long time no see!",
    "zh": "好久不见！",
    "ja": "久しぶり！",
    "ko": "오랜만이야!",
    "vi": "Lâu quá không gặp!",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_greeting_after_a_pause_has_the_name_and_the_newest_notes_beside_it(
    language: str,
) -> None:
    """In every language; the memory itself stays where it was."""
    form, placed = placed_notes(reply_request(GREETINGS[language], language), NOTES)
    assert form == GREETING
    assert [c for c in placed if c.place is PromptPlace.MEMORY] == list(NOTES)
    assert beside(placed)[-1] == MISO
    if language == "en":
        assert beside(placed) == ["User is called Nora.", "User likes tea.", MISO]


@pytest.mark.parametrize(
    ("asked", "notes"),
    [
        (reply_request("Hello again!", earlier=2), NOTES),
        (reply_request("Hello again!"), (note(MISO, days=0.1),)),
        (reply_request("Hello again!"), ()),
        (reply_request("What's my cat called?"), NOTES),
        (reply_request("Hello again! " + "I have a long story to tell you today. " * 4), NOTES),
    ],
    ids=["in a session", "an hour later", "nothing known", "no greeting", "more than a greeting"],
)
def test_any_other_message_is_left_as_it_was(
    asked: ReplyRequest, notes: tuple[Contribution, ...]
) -> None:
    """The recalled notes, if any, and the usual line."""
    assert placed_notes(asked, notes) == (RECALLED, notes)


def test_the_greeting_is_in_the_prompt_of_the_small_form_only() -> None:
    """The example of the greeting comes last before it, and has a skill of its own."""
    small, chat = (
        FORMS[form](reply_request(GREETINGS["en"]), NOTES, window=4096, max_tokens=50)
        for form in ("small", "chat")
    )
    assert [MISO in request.messages[-1].content for request in (small, chat)] == [True, False]
    assert small.messages[-2].role == "assistant"
    assert small.skill is Skill.GREETING


@pytest.mark.parametrize(
    ("question", "known"),
    [("What's my cat called?", True), ("What was my first teacher called at school?", False)],
)
def test_memory_knows_if_a_note_beside_the_question_has_a_third_of_its_words(
    question: str, known: bool
) -> None:
    """However near it is by its vector. Only then is a denial a fault, and only for a question
    about the user's own life."""
    near = replace(note(MISO, place=PromptPlace.RECALLED), score=0.9)
    asked = reply_request(question)
    request = FORMS["small"](asked, (near,), window=4096, max_tokens=50)
    assert request.skill is Skill.ANSWER
    assert checks_for(asked, (near,), request).known is known
    assert not checks_for(asked, (note(MISO),), request).known
    assert not checks_for(asked, (near,), replace(request, skill=Skill.REPLY)).known


async def test_a_draft_runs_ahead_of_what_is_shown_and_a_second_try_begins_it_anew() -> None:
    """An answer from memory is held back until it is complete; its words can be seen meanwhile."""
    model = ScriptedModel(["I do not know that.", "She is called Miso."])
    draft, seen = Draft(model.stream), list[str]()

    async def watched(request: Request) -> AsyncGenerator[str | Completion]:
        async for piece in draft.ask(request):
            yield piece
            seen.append(draft.text)

    parts = [
        piece
        async for piece in checked_stream(watched, REQUEST, checks(known=True))
        if not isinstance(piece, Completion)
    ]
    assert parts == ["She is called Miso."]
    assert seen[0] == "I"
    assert "I do not know that." in seen
    assert "She" in seen
    assert draft.text == "She is called Miso."
    turn = Turn(
        id="1",
        session=1,
        position=1,
        speaker=Speaker.USER,
        text="What's my cat called?",
        time=NOW,
        language="en",
    )

    async def pieces() -> AsyncGenerator[str, None]:
        yield "She is called Miso."

    reply = Reply(turn=turn, contributions=(), pieces=pieces(), draft=draft)
    assert reply.draft == "She is called Miso."
    assert Reply(turn=turn, contributions=(), pieces=pieces()).draft == ""
