"""What is told of relatives and pets: it is not the user's, and its end is understood."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from omoide.claims import NotedFact, retire
from omoide.claims.noted_facts import line_fact
from omoide.domain import Fact as StoredFact
from omoide.domain import Speaker
from omoide.mechanisms.facts.operations import Action
from omoide.mechanisms.facts.small_form import SmallForm
from omoide.prompts.transcript import Line


def note(sentence: str, language: str) -> NotedFact:
    """A sentence of a memory as a note."""
    found = line_fact(sentence, language)
    assert found is not None
    return found


def retired(old: str, new: str, language: str) -> tuple[list[str], list[str]]:
    """What is left of the old sentence, and what is no longer true."""
    said = dict.fromkeys(Speaker, "")
    holding, gone = retire([note(old, language)], [note(new, language)], language, said=said)
    return [fact.sentence(language) for fact in holding], [fact.text for fact in gone]


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("ja", "ユーザーの兄は京都に住んでいる。", "ユーザーは京都に引っ越した。"),
        ("zh", "用户的男朋友周宁是程序员。", "用户现在在出版社当编辑，辞了工作。"),
        ("en", "User's brother lives in Bergen.", "User moved to Leeds."),
    ],
)
def test_the_users_change_leaves_relatives_alone(language: str, old: str, new: str) -> None:
    """Where the brother lives does not change when the user moves."""
    assert retired(old, new, language) == ([old], [])


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("en", "User has a dog, Biscuit, who is eleven.", "User's dog Biscuit died."),
        (
            "en",
            "User has a son Tim who studies law.",
            "User has a son Tim who has left university.",
        ),
        ("ja", "ユーザーはタロウという柴犬を飼っている。", "ユーザーの犬のタロウは亡くなった。"),
        ("ko", "사용자는 고양이 까미를 키운다.", "사용자의 고양이 까미가 무지개다리를 건넜다."),
        ("vi", "Người dùng có con chó tên Vàng.", "Người dùng có con chó Vàng chết."),
    ],
)
def test_the_end_of_what_is_told_of_a_relative_is_understood(
    language: str, old: str, new: str
) -> None:
    """However the two sentences speak of them."""
    holding, gone = retired(old, new, language)
    assert (holding, bool(gone)) == ([], True)


def test_what_is_left_of_a_relatives_fact_is_not_told_of_the_user() -> None:
    """It ends as a whole: "studies nursing" would become the user's."""
    holding, _ = retired(
        "ユーザーの兄は大阪に住んでいて、部屋探しを手伝っている。",
        "ユーザーの兄は京都に引っ越した。",
        "ja",
    )
    assert holding == []


def test_two_facts_about_a_relative_both_hold() -> None:
    """They have the relative in common, and nothing else: the name is not lost."""
    day = datetime(2026, 3, 24, tzinfo=UTC)
    name = StoredFact(
        id="f1",
        about="user",
        text="사용자의 아내 이름은 서연이다.",
        said=day,
        learned=day,
        language="ko",
    )
    session = [Line(speaker=Speaker.USER, text="아내가 임신했어요!")]
    answer = SmallForm().read(
        "사용자의 아내가 임신했다.", known=[name], session=session, language="ko"
    )
    assert [(op.action, op.facts) for op in answer.operations] == [(Action.ADD, ())]
