"""What stands beside the message of a small model: little enough to be read in three seconds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from omoide.domain import MemoryKind, Owner, Speaker, Turn
from omoide.language import estimate_tokens
from omoide.mechanisms.base import Contribution, PromptPlace, ReplyRequest
from omoide.mechanisms.reply_forms import FORMS
from omoide.mechanisms.reply_notes import GREETING, RECALLED, ROOM, is_known, placed_notes

NOW = datetime(2026, 8, 20, 20, 0, tzinfo=UTC)
STORY = {
    "en": (
        "What's my cat called again?",
        "User has a cat called Miso.",
        "User is called Nora.",
        "User will work as a school nurse in Bergen from June 2026.",
        "User's brother Lars lives near User, in the house with the red door at the harbour.",
        "User is allergic to peanuts, and carries a syringe wherever she goes.",
    ),
    "zh": (
        "我的猫叫什么来着？",
        "用户的猫叫年糕。",
        "用户叫林晓。",
        "用户从2026年6月起在上海的一家出版社当编辑。",
        "用户的弟弟住在用户家附近，就在码头边那栋红门的房子里。",
        "用户对花生过敏，不管去哪里都随身带着药。",
    ),
    "ja": (
        "うちの猫の名前、覚えてる？",
        "ユーザーの猫の名前はモチだ。",
        "ユーザーは美咲という名前だ。",
        "ユーザーは2026年6月から仙台の図書館で働いている。",
        "ユーザーの弟は、港のそばの赤い扉の家に住んでいる。",
        "ユーザーはピーナッツのアレルギーがあり、いつも薬を持ち歩いている。",
    ),
    "ko": (
        "우리 고양이 이름 기억나?",
        "사용자는 두부라는 고양이를 키운다.",
        "사용자는 이름이 지민이다.",
        "사용자는 2026년 6월부터 부산에 있는 학교에서 간호사로 일한다.",
        "사용자의 남동생은 항구 옆 빨간 문이 있는 집에 산다.",
        "사용자는 땅콩 알레르기가 있어서 어디에 가든 약을 가지고 다닌다.",
    ),
    "vi": (
        "Con mèo của mình tên gì nhỉ?",
        "Người dùng có con mèo tên là Bún.",
        "Người dùng tên là Linh.",
        "Người dùng dạy toán ở một trường tại Đà Nẵng từ tháng 6 năm 2026.",
        "Em trai của người dùng sống gần đó, trong ngôi nhà cửa đỏ bên bến cảng.",
        "Người dùng bị dị ứng đậu phộng và luôn mang thuốc theo người.",
    ),
}
"""A question, the note that answers it, the user's name, and other notes."""


def noted(text: str, *sources: str, beside: bool = True) -> Contribution:
    """A sentence of the memory that rests on these turns; its second copy beside the message."""
    return Contribution(
        mechanism="summary",
        place=PromptPlace.RECALLED if beside else PromptPlace.MEMORY,
        kind=MemoryKind.SENTENCE,
        id=f"{text} {beside}",
        text=text,
        value=1.0,
        sources=sources,
        time=NOW,
        why="",
    )


def said(text: str, turn: str) -> Contribution:
    """A recalled turn."""
    return Contribution(
        mechanism="search",
        place=PromptPlace.RECALLED,
        kind=MemoryKind.TURN,
        id=turn,
        text=f"2026-02-03, Tuesday, User: {text}",
        value=0.9,
        sources=(turn,),
        time=NOW,
        why="",
    )


def asked(text: str, language: str = "en") -> ReplyRequest:
    """A message within a session."""
    turns = tuple(
        Turn(
            id=str(i),
            session=1,
            position=i,
            speaker=Speaker.USER,
            text=text,
            time=NOW,
            language=language,
        )
        for i in range(2)
    )
    owner = Owner(tenant="default", user="ana")
    return ReplyRequest(owner=owner, text=text, session=turns, now=NOW, language=language)


def beside(request: ReplyRequest, *contributions: Contribution) -> list[str]:
    """The texts beside the message."""
    form, placed = placed_notes(request, contributions)
    del form
    return [c.text for c in placed if c.place is PromptPlace.RECALLED]


@pytest.mark.parametrize("language", STORY)
def test_notes_beside_a_message_have_a_limit(language: str) -> None:
    """In every language; what has the message's words comes first, the user's name last, and all
    of it still stands in the memory above."""
    question, answer, name, *others = STORY[language]
    texts = [name, *others, answer]
    request = asked(question, language)
    contributions = [noted(t, beside=b) for b in (False, True) for t in texts]
    kept = beside(request, *contributions)
    assert kept[0] == answer
    assert name not in kept[:-1]
    assert len(kept) < len(texts)
    assert sum(estimate_tokens(f"- {text}") for text in kept) <= max(ROOM.values())
    prompt = FORMS["small"](request, contributions, window=4096, max_tokens=50)
    assert all(any(text in m.content for m in prompt.messages[:-1]) for text in texts)


def test_a_turn_that_the_memory_was_made_from_is_left_out() -> None:
    """Unless it has words of the question that no note has; a turn that no note rests on stays."""
    engaged = "User is engaged to Lars."
    turn = said("We got engaged, Lars and I. The wedding is in July.", "t1")
    memory = [noted(engaged, "t1", beside=b) for b in (False, True)]
    assert beside(asked("Who am I engaged to?"), *memory, turn) == [engaged]
    assert beside(asked("When is the wedding?"), *memory, turn) == [engaged, turn.text]
    untold = said("Lars and I went sailing.", "t2")
    assert beside(asked("Who am I engaged to?"), *memory, untold) == [engaged, untold.text]
    assert beside(asked("Who am I engaged to?"), memory[0], turn) == [turn.text]  # no embedder


def test_without_a_memory_all_turns_stay() -> None:
    """Before the first session has ended nothing else tells what was said."""
    turns = [said("I have a cat called Miso. " * 5, f"t{i}") for i in range(4)]
    assert len(beside(asked("What's my cat called?"), *turns)) == 4


def test_a_long_message_has_notes_nevertheless() -> None:
    """The nearest in any case."""
    question = "I have been thinking about all sorts of things for the whole week. " * 4
    notes = [noted("User has a cat called Miso.", beside=b) for b in (False, True)]
    assert beside(asked(f"{question} What's my cat called?"), *notes) == [notes[0].text]


def greeted(text: str = "Hi, I'm back!", *, turns: int = 1) -> ReplyRequest:
    """A message that begins a session, or comes later in it."""
    request = asked(text)
    return replace(request, session=request.session[:turns])


def ago(note: Contribution, time: timedelta) -> Contribution:
    """The same, as old as that."""
    return replace(note, time=NOW - time)


def test_a_greeting_after_a_day_gets_what_is_newest() -> None:
    """The user's name and the newest notes, in their order; they stay in the memory as well."""
    texts = ["User is called Nora.", "User likes tea.", "User has a cat.", "User lives in Bergen."]
    memory = [ago(noted(text, beside=False), timedelta(days=1)) for text in texts]
    form, placed = placed_notes(greeted(), memory)
    assert form == GREETING
    assert placed[:4] == tuple(memory)
    assert [c.text for c in placed[4:]] == [texts[0], *texts[2:]]
    assert {c.place for c in placed[4:]} == {PromptPlace.RECALLED}
    assert not {c.id for c in placed[4:]} & {c.id for c in memory}
    unnamed = beside(greeted(), *memory[1:])
    assert unnamed == texts[1:]


@pytest.mark.parametrize(
    ("request_", "age"),
    [
        (greeted(), timedelta(hours=23, minutes=59)),
        (greeted(turns=2), timedelta(days=9)),
        (greeted("I am back from Rome."), timedelta(days=9)),
        (greeted(f"Hi, I'm back! {'I saw so much that I have to tell. ' * 4}"), timedelta(days=9)),
    ],
    ids=["the same day", "within a session", "no greeting", "more than a greeting"],
)
def test_other_messages_get_what_is_near_them(request_: ReplyRequest, age: timedelta) -> None:
    """Only a short greeting that begins a session, a day or more after the newest of the memory,
    gets what is newest."""
    old = ago(noted("User likes tea.", beside=False), timedelta(days=30))
    memory = [old, ago(noted("User has a cat.", beside=False), age)]
    form, placed = placed_notes(request_, memory)
    assert form == RECALLED
    assert placed == tuple(memory)
    assert placed_notes(greeted(), [noted("User has a cat.")])[0] == RECALLED  # no memory


def test_long_notes_beside_a_greeting_give_way() -> None:
    """The name in any case, then the newest that fit."""
    long = "User has told at length of the garden, the greenhouse and all that grows in it. " * 2
    texts = ["User is called Nora.", "User has a cat.", long]
    memory = [ago(noted(text, beside=False), timedelta(days=3)) for text in texts]
    assert beside(greeted(), *memory) == texts[:2]
    assert beside(greeted(), memory[2]) == [long]


def test_memory_knows_a_question_of_which_a_note_has_a_third_of_the_words() -> None:
    """Beside the message; what stands in the memory above is not looked at."""
    question = asked("Where did Nora buy the copper kettle?")  # nora, buy, copper, kettle
    assert is_known(question, [noted("User has a copper kettle.")])
    assert not is_known(question, [noted("User likes tea and Nora.")])
    assert not is_known(question, [noted("User has a copper kettle.", beside=False)])
    assert not is_known(question, [])


def test_the_notes_of_a_message_leave_room_for_what_was_said() -> None:
    """A turn takes of the room of the notes; only one turn comes; and what is neither stays."""
    note = noted("User is engaged to Lars.", "t1")
    memory = replace(note, place=PromptPlace.MEMORY, id="m")
    other = noted("User's wedding in the old church by the sea is on the last day of July.", "t9")
    short = said("Lars and I went sailing.", "t2")
    again = said("Lars sings.", "t3")
    event = replace(short, kind=MemoryKind.EVENT, id="e", text="Sailing with Lars.")
    question = asked("Who is Lars, whom I am engaged to?")
    kept = beside(question, memory, note, other, short, again, event)
    assert kept == [note.text, other.text, short.text, event.text]
    long = replace(short, text=f"{short.text} {'And so on and on. ' * 12}")
    assert beside(question, memory, note, other, long) == [note.text, long.text]
