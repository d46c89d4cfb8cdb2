"""Whether one thing that a speaker said bears a note out."""

from __future__ import annotations

import pytest

from omoide.claims.noted_facts import NotedFact
from omoide.claims.support import unsupported
from omoide.domain import Speaker
from omoide.mechanisms.summary.small_form import SmallForm
from omoide.prompts.transcript import Line

USER, ASSISTANT = Speaker.USER, Speaker.ASSISTANT
NOWHERE, WISHED = "nothing said supports it", "it was only wished for, or is over"


def why(note: str, *said: str, language: str = "en") -> str:
    """Why a note about the user is not borne out; lines with ">" before them are the other's."""
    session = [
        Line(
            speaker=ASSISTANT if text.startswith(">") else USER, text=text.removeprefix(">").strip()
        )
        for text in said
    ]
    return unsupported(NotedFact(about=USER, text=note), session, language)


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ("has a beagle called Tobi", ["I have a beagle. His name is Tobi."]),
        ("has a beagle called Tobi", ["Tobi woke me up at four. You know, I have a beagle."]),
        ("was born in Kiel", ["> Were you born in Kiel?", "Yes, I was."]),
        ("has red as favorite colour", ["Do you have a favorite colour? Mine is red."]),
        ("wants to be a pilot", ["I want to be a pilot one day."]),
        ("is not a pilot", ["I want to be a pilot, but I am not one."]),
        ("is a pilot", ["I think you know that I am a pilot."]),
        ("has two dogs", ["I might be late, I have to walk my two dogs."]),
        ("lives in Kiel with a sister", ["You know my sister? I live with her, in Kiel."]),
    ],
)
def test_what_one_statement_bears_out_is_kept(note: str, said: list[str]) -> None:
    """With the question it answers, and the sentence before it."""
    assert why(note, *said) == ""


@pytest.mark.parametrize(
    ("note", "said", "reason"),
    [
        (
            "keeps bees in a Kiel office",
            ["I keep bees.", "> Oh!", "My office is in Kiel."],
            NOWHERE,
        ),
        ("is a brilliant cook", ["Wow, you are a brilliant cook!"], NOWHERE),
        ("teaches chemistry", ["> I teach.", "Do you teach chemistry?"], NOWHERE),
        ("is a morning person", ["I would be a morning person if nights were longer."], WISHED),
        ("has a boat in Genoa", ["I am thinking of a boat in Genoa."], WISHED),
        ("works as a baker", ["I used to work as a baker."], WISHED),
    ],
)
def test_words_of_several_statements_or_of_a_wish_make_no_fact(
    note: str, said: list[str], reason: str
) -> None:
    """Nor what was said to the other, or only asked."""
    assert why(note, *said) == reason


@pytest.mark.parametrize(
    ("language", "note", "said"),
    [
        ("zh", "养了一只叫咪咪的猫", "我养了一只猫。名字叫咪咪。"),
        ("ja", "ミミという猫を飼っている", "猫を飼っています。名前はミミです。"),
        ("ko", "미미라는 고양이를 키운다", "고양이를 키워요. 이름은 미미라고 해요."),
        ("vi", "nuôi một con mèo tên Mimi", "Mình nuôi một con mèo. Nó tên Mimi."),
    ],
)
def test_in_other_languages_a_turn_bears_a_note_out(language: str, note: str, said: str) -> None:
    """What a sentence leaves unsaid the one before it has said; two turns do not make one."""
    assert why(note, said, language=language) == ""
    assert why(note, f"> {said}", language=language) == NOWHERE


def test_what_is_turned_away_is_told() -> None:
    """It stands among the notes of the version, and is not in the memory."""
    reading = SmallForm().read(
        ["User has a cat.\nUser is a morning person."],
        old=(),
        session=[Line(speaker=USER, text="I have a cat. I wish I could be a morning person.")],
        language="en",
        limit=20,
    )
    assert [sentence.text for sentence in reading.sentences] == ["User has a cat."]
    assert reading.notes == (f"not kept, {WISHED}: User is a morning person.",)
