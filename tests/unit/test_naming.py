"""The user's name in the memory: noted by rule, with its turn, once, replaced when told anew."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import pytest

from omoide.claims.names import name_fact, name_in, named
from omoide.claims.noted_facts import NotedFact, pack, read_facts
from omoide.domain import Sentence, Speaker, Summary, Turn, empty_summary
from omoide.engine import complete
from omoide.language import LANGUAGES
from omoide.mechanisms.reply_forms import user_name
from omoide.mechanisms.summary.small_form import SmallForm
from omoide.mechanisms.summary.summariser import RecursiveSummary
from omoide.prompts.transcript import Line
from omoide.testing import ScriptedModel
from tests.unit.test_replies import reply_request

NOW = datetime(2026, 1, 5, tzinfo=UTC)
USER, ASSISTANT = Speaker.USER, Speaker.ASSISTANT


def turns(*said: str, session: int = 1, language: str = "en") -> list[Turn]:
    """What the user and the assistant said, in turn."""
    return [
        Turn(
            id=f"s{session}.{i}",
            session=session,
            position=i,
            speaker=USER if i % 2 else ASSISTANT,
            text=text,
            time=NOW,
            language=language,
        )
        for i, text in enumerate(said, start=1)
    ]


async def digested(*answers: str, said: list[Turn], old: Summary | None = None) -> Summary:
    """The memory after a session."""
    model = ScriptedModel(answers)
    iterator = RecursiveSummary(model=model, form=SmallForm())
    result = await iterator.digest(
        old=old or empty_summary(NOW), turns=said, at=NOW, ask=partial(complete, model)
    )
    assert result.summary is not None, result.rejected
    return result.summary


@pytest.mark.parametrize(
    ("language", "said", "note", "sentence", "name"),
    [
        (
            "en",
            "Hi, I'm Sam. I live in Leeds and I play the violin.",
            "User lives in Leeds.",
            "User is called Sam.",
            "Sam",
        ),
        ("zh", "你好，我叫小明，我在北京当老师。", "用户在北京当老师。", "用户叫小明。", "小明"),
        (
            "ja",
            "ミキです。東京で教師をしています。",
            "ユーザーは東京で教師をしている。",
            "ユーザーはミキという名前だ。",
            "ミキ",
        ),
        (
            "ko",
            "안녕, 나는 민수야. 서울에서 교사로 일해.",
            "사용자는 서울에서 교사로 일한다.",
            "사용자는 이름이 민수이다.",
            "민수",
        ),
        (
            "vi",
            "Chào bạn, mình là Nam, mình làm giáo viên ở Hà Nội.",
            "Người dùng làm giáo viên ở Hà Nội.",
            "Người dùng tên là Nam.",
            "Nam",
        ),
    ],
)
async def test_a_name_that_the_model_missed_is_noted(
    language: str, said: str, note: str, sentence: str, name: str
) -> None:
    """First of all, citing the turn that told it, and a reply knows it."""
    summary = await digested(note, said=turns(said, "?", language=language))
    assert [s.text for s in summary.sentences] == [sentence, note]
    assert summary.sentences[0].sources == ("s1.1",)
    assert user_name(reply_request(language), [sentence, note]) == name
    assert read_facts(sentence, language) == [name_fact(name, language)]


async def test_a_name_that_the_model_noted_too_stands_once() -> None:
    """In one wording, however the model put it."""
    for note in ("User is Emily.", "User is named Emily.", "User has a name called Emily."):
        said = turns("Hello, my name is Emily. I paint.")
        summary = await digested(f"{note}\nUser paints.", said=said)
        assert [s.text for s in summary.sentences] == ["User is called Emily.", "User paints."]


async def test_a_name_told_anew_replaces_the_old_one_and_cites_its_own_turn() -> None:
    """And a later session without a name keeps it, with its source."""
    first = await digested("User has a cat.", said=turns("I'm Ana. I have a cat."))
    anew = turns("By the way, my name is Anna, not Ana. I have a dog.", session=2)
    second = await digested("User has a dog.", said=anew, old=first)
    assert "no longer true: User is called Ana." in second.notes
    third = await digested("User likes tea.", said=turns("I like tea.", session=3), old=second)
    assert {s.text: s.sources for s in third.sentences} == {
        "User is called Anna.": ("s2.1",),
        "User has a cat.": ("s1.1",),
        "User has a dog.": ("s2.1",),
        "User likes tea.": ("s3.1",),
    }


async def test_a_name_told_twice_is_no_change() -> None:
    """Nothing is called untrue, and both turns are cited."""
    first = await digested("User has a cat.", said=turns("I'm Ana. I have a cat."))
    again = turns("I'm Ana! I have a dog.", session=2)
    second = await digested("User has a dog.", said=again, old=first)
    assert second.sentences[0].text == "User is called Ana."
    assert second.sentences[0].sources == ("s1.1", "s2.1")
    assert second.notes == ()


async def test_an_introduction_of_the_assistant_names_nobody() -> None:
    """Only the user's own words count."""
    said = turns("I have a cat.", "I'm Robin, nice to meet everyone!")
    summary = await digested("User has a cat.", "Assistant is Robin.", said=said)
    assert not any("called" in s.text for s in summary.sentences)


def test_the_name_is_not_left_out_of_a_full_memory() -> None:
    """It was told first of all, and is the last to go; no other fact joins its sentence."""
    name = name_fact("Ana", "en")
    facts = [name, *(NotedFact(about=USER, text=f"{'x' * 180} {i}") for i in range(9))]
    packed = pack(facts, "en", limit=5, first=[name])
    assert len(packed.sentences) == 5
    assert packed.sentences[0].text == "User is called Ana."
    assert name not in packed.left_out


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_written_of_a_name_is_known_again(language: str) -> None:
    """As a sentence and as a fact."""
    name = {"zh": "小明", "ja": "健太", "ko": "민수"}.get(language, "Ana")
    fact = name_fact(name, language)
    assert named(fact.text, language) == named(fact.sentence(language), language) == name


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "User is Irish."),
        ("en", "User is called Ana and has a cat."),
        ("zh", "用户叫小明，养了一只猫。"),
        ("ja", "ユーザーは猫を飼っている。"),
        ("ko", "사용자는 고양이를 키운다."),
        ("vi", "Người dùng nuôi con mèo tên Mướp."),
    ],
)
def test_what_tells_more_than_a_name_is_not_only_a_name(language: str, text: str) -> None:
    """A cat's name, or a name with something else, is not put aside for the name."""
    assert named(text, language) == ""


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "User has a cat called Miso."),
        ("en", "User has a daughter, whose name is Lea."),
        ("en", "User's friend is called Rui."),
        ("zh", "用户有一只猫，名叫Miso。"),
        ("zh", "用户有一个女儿，名叫小雨。"),
        ("zh", "用户常和一个朋友爬山，叫王芳。"),
        ("zh", "用户的猫叫Miso。"),
        ("ja", "ユーザーは猫を飼っていて、名前はMisoだ。"),
        ("ja", "ユーザーの猫はMisoという名前だ。"),
        ("ja", "ユーザーには娘がいて、桜という名前だ。"),
        ("ja", "ユーザーの友人は健太という人だ。"),
        ("ko", "사용자는 고양이를 키우고, 이름은 Miso이다."),
        ("ko", "사용자는 딸이 있고, 지우라는 이름이다."),
        ("ko", "사용자의 친구 이름은 민수이다."),
        ("vi", "Người dùng có một con mèo, tên là Miso."),
        ("vi", "Người dùng có con gái và tên là Lan."),
        ("vi", "Bạn của người dùng tên là Nam."),
    ],
)
def test_the_name_of_a_cat_a_child_or_a_friend_is_not_the_users(
    language: str, sentence: str
) -> None:
    """Also where the clause that has the name leaves out whose it is."""
    assert name_in(sentence, language) == ""


@pytest.mark.parametrize(
    ("language", "sentence", "name"),
    [
        ("en", "User lives in Porto and is called Ana.", "Ana"),
        ("en", "User has a cat called Miso; is called Ana.", "Ana"),
        ("zh", "用户名叫安娜，有一只猫，名叫Miso。", "安娜"),
        ("zh", "用户有一只猫，名叫Miso；叫安娜。", "安娜"),
        ("zh", "用户有一只猫，用户叫安娜。", "安娜"),
        ("ja", "ユーザーは健太という名前で、猫の名前はMisoだ。", "健太"),
        ("ja", "ユーザーの名前は健太だ。", "健太"),
        ("ko", "사용자의 이름은 민수이고, 고양이를 키운다.", "민수"),
        ("vi", "Người dùng tên là Nam và có một con mèo, tên là Miso.", "Nam"),
        ("vi", "Tên của người dùng là Nam.", "Nam"),
    ],
)
def test_the_users_own_name_is_found_among_other_things(
    language: str, sentence: str, name: str
) -> None:
    """In the first clause, in a clause with the user as its subject, or as a fact of its own."""
    assert name_in(sentence, language) == name


@pytest.mark.parametrize(
    ("language", "old", "said", "note", "sentence"),
    [
        (
            "ja",
            "ユーザーは健太、東京で教師をしていて、猫のモチと暮らしている。",
            "教師をやめて、パン屋で働き始めたんだ。",
            "ユーザーは教師をやめて、パン屋で働き始めた。",
            "ユーザーは健太、猫のモチと暮らしている。",
        ),
        (
            "ko",
            "사용자는 고양이 콩이랑 살고 서울에서 교사로 일한다.",
            "교사를 그만두고 빵집에서 일하기 시작했어.",
            "사용자는 교사를 그만두고 빵집에서 일한다.",
            "사용자는 고양이 콩이랑 살다.",
        ),
        (
            "en",
            "User lives in Leeds with her dog Rex.",
            "I moved to York last week.",
            "User moved to York.",
            "User lives with her dog Rex.",
        ),
        (
            "zh",
            "用户和妹妹一起住在北京。",
            "我上个月搬到成都了。",
            "用户搬到成都。",
            "用户和妹妹一起住。",
        ),
        (
            "vi",
            "Người dùng sống ở Huế cùng em gái.",
            "Mình chuyển vào Đà Nẵng rồi.",
            "Người dùng chuyển vào Đà Nẵng.",
            "Người dùng sống cùng em gái.",
        ),
    ],
)
def test_what_still_holds_of_a_sentence_that_changed_is_kept(
    language: str, old: str, said: str, note: str, sentence: str
) -> None:
    """The name, the cat, the sister: what nothing contradicts survives the change beside it."""
    reading = SmallForm().read(
        [note],
        old=[Sentence(text=old)],
        session=[Line(speaker=USER, text=said)],
        language=language,
        limit=20,
    )
    assert [s.text for s in reading.sentences] == [sentence, note]
    assert any(text.startswith("no longer true") for text in reading.notes)


async def test_the_name_survives_the_sentence_that_held_it() -> None:
    """A small model wrote name, town and work into one sentence; the work and the town change."""
    introduced = turns("こんにちは。私は健太、東京で教師をしていて、猫もいるよ。", language="ja")
    first = await digested("ユーザーは健太という東京の教師として働いている。", said=introduced)
    left = turns("教師をやめて、今はパン屋で働いているんだ。", session=2, language="ja")
    note = "ユーザーは教師をやめて、今はパン屋で働いている。"
    second = await digested(note, said=left, old=first)
    assert [s.text for s in second.sentences] == ["ユーザーは健太という名前だ。", note]
    assert second.sentences[0].sources == ("s1.1",)
