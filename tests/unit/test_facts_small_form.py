"""The facts form for small models: one call, known facts by number, nothing lost."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.claims import Partner
from omoide.domain import Fact, Speaker, Turn, applied
from omoide.language import LANGUAGES
from omoide.mechanisms.facts import PROFILES, SHOWN, TunedFactForm
from omoide.mechanisms.facts.applying import apply_operations
from omoide.mechanisms.facts.operations import Action, FormAnswer
from omoide.mechanisms.facts.small_form import ENDS_A_NAME
from omoide.ports import Request, Skill
from omoide.prompts import vocabulary
from omoide.prompts.transcript import Line
from omoide.testing import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Sequence

DAY = datetime(2026, 5, 20, 9, tzinfo=UTC)
KNOWN = ("User lives in Leeds.", "User has a cat called Miso.", "User goes rowing on Sundays.")


def facts(texts: Sequence[str], language: str = "en") -> list[Fact]:
    """Known facts with the ids f1, f2, …"""
    return [
        Fact(id=f"f{i}", about="user", text=text, said=DAY, learned=DAY, language=language)
        for i, text in enumerate(texts, 1)
    ]


def said(*texts: str) -> list[Line]:
    """Lines of the user."""
    return [Line(speaker=Speaker.USER, text=text, turn=f"t{i}") for i, text in enumerate(texts)]


def read(
    answer: str, *texts: str, known: Sequence[str] = KNOWN, language: str = "en"
) -> FormAnswer:
    """Read an answer about these lines."""
    form = TunedFactForm()
    listed = facts(known, language)
    return form.read(answer, known=listed, session=said(*texts), language=language)


def test_the_model_sees_the_known_facts_by_number() -> None:
    """At most `SHOWN`, and the grammar allows no other number."""
    known = facts([f"User likes the river number {i}." for i in range(SHOWN + 5)])
    asked = TunedFactForm().ask(known=known, session=said("I bought a boat."), language="en")
    assert asked is not None
    request = asked.request
    assert request.skill is Skill.FACTS
    assert f"\n{SHOWN}. {known[SHOWN - 1].text}" in request.messages[-1].content
    assert known[SHOWN].text not in request.messages[-1].content
    assert request.grammar is not None
    assert f'"{SHOWN}"' in request.grammar
    assert f'"{SHOWN + 1}"' not in request.grammar


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_asks_and_names_nothing_known_with_a_dash(language: str) -> None:
    """The prompt of each language is complete, and an empty memory has no numbers."""
    asked = TunedFactForm().ask(
        known=(), session=said("My boat is called Ida, 2026."), language=language
    )
    assert asked is not None
    assert "$" not in "".join(message.content for message in asked.request.messages)
    assert "\n-\n" in asked.request.messages[-1].content
    assert "numbers ::=" not in str(asked.request.grammar)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_worked_examples_are_the_same_for_everybody(language: str) -> None:
    """So that a model may keep what it computed for them: all but the last message."""
    asked = TunedFactForm().ask(
        known=facts(KNOWN, language), session=said("My boat is called Ida."), language=language
    )
    assert asked is not None
    request = asked.request
    assert request.fixed == len(request.messages) - 1 >= 3
    shared = "".join(message.content for message in request.messages[: request.fixed])
    assert "Ida" not in shared
    assert not any(text in shared for text in KNOWN[1:])


def test_a_number_ends_a_fact_that_no_rule_connects() -> None:
    """Rowing ends with a bad shoulder only for whoever understands it."""
    answer = read("User sold the boat. (3)", "I sold the boat, my shoulder is done for.")
    (operation,) = answer.operations
    assert (operation.action, operation.facts) == (Action.REPLACE, ("f3",))
    assert operation.text == "User sold the boat."


@pytest.mark.parametrize("ending", ["(1, 3)", "（1、3）", "(1,3).", "(3, 1, 1)"])
def test_several_numbers_in_any_writing(ending: str) -> None:
    """Each named fact ends once."""
    answer = read(f"User moved abroad. {ending}", "I moved abroad.")
    assert set(answer.operations[0].facts) == {"f1", "f3"}
    assert "(" not in answer.operations[0].text


def test_a_number_that_was_not_shown_ends_nothing() -> None:
    """The note is kept without it."""
    answer = read("User sold the boat. (9)", "I sold the boat.")
    assert [(o.action, o.facts) for o in answer.operations] == [(Action.ADD, ())]


MOVES = {
    "en": ("User lives in Oslo.", "User will move to Bergen next week."),
    "zh": ("用户住在上海。", "用户下个月搬到南京。"),
    "ja": ("ユーザーは札幌に住んでいる。", "ユーザーは来月、仙台に引っ越す。"),
    "ko": ("사용자는 대구에 산다.", "사용자는 다음 달에 부산으로 이사한다."),
    "vi": ("Người dùng sống ở Huế.", "Người dùng tháng sau chuyển vào Đà Nẵng."),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_planned_move_ends_the_home_when_its_days_are_over(language: str) -> None:
    """Known before or told beside it: nobody says in August that they no longer live in Oslo."""
    home, move = MOVES[language]
    turns = [
        Turn(
            id=line.turn,
            session=2,
            position=number,
            speaker=Speaker.USER,
            text=line.text,
            time=DAY,
            language=language,
        )
        for number, line in enumerate(said(home, move))
    ]
    for known, answer in (([home], move), ([], f"{home}\n{move}")):
        got = read(answer, home, move, known=known, language=language)
        listed = facts(known, language)
        changes = apply_operations(
            got.operations, known=listed, turns=turns, session=2, at=DAY, language=language
        ).changes
        result = applied(changes, {fact.id: fact for fact in listed})
        held = {fact.text: fact for fact in (*result.changed, *result.added)}
        assert held[home].holds(DAY)
        assert not held[home].holds(DAY + timedelta(days=60))
        assert got.aside == ()


def test_another_place_is_not_always_another_home() -> None:
    """A relative's home, and where somebody was on holiday, end nothing."""
    for text in ("User has a brother called Ben who lives in York.", "User was in York last week."):
        answer = read(text, f"{text} I said so.", known=("User lives in Leeds.",))
        assert [o.action for o in answer.operations] == [Action.ADD]


def test_what_the_model_ends_is_not_divided_by_rule() -> None:
    """The clause that is left of "has a boyfriend, called Shota" would name the user."""
    known = ("ユーザーは彼氏がいて、翔太という名前だ。",)
    text = "ユーザーは翔太と別れた。"
    for answer in (f"{text} (1)", text):
        got = read(answer, "翔太と別れた", known=known, language="ja")
        assert "ユーザーは翔太という名前だ。" not in [o.text for o in got.operations]


LINES = (
    "User sold the boat.",
    "User sold the boat. (3)",
    "User lives in Leeds.",
    "User is called Ana. (1, 2)",
    "Assistant likes jazz.",
    "The weather is fine.",
    "User: hello",
    vocabulary("en")["none"],
)


@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=8))
def test_every_line_becomes_an_operation_or_is_set_aside(lines: list[str]) -> None:
    """None vanishes, and no operation comes from nowhere."""
    nothing = vocabulary("en")["none"]
    written = [line for line in lines if line != nothing]
    if written and all(not line.startswith(("User ", "Assistant ")) for line in written):
        return  # refused as a whole, and asked for again
    answer = read("\n".join(lines), "I sold the boat, and I live in Leeds.")
    own = [operation for operation in answer.operations if not operation.by_rule]
    assert len(own) + len(answer.aside) == len(written)


class _Model(ScriptedModel):
    """A model whose adapter claims some skills."""

    skills: frozenset[Skill] = frozenset()

    def author(self, request: Request) -> str:
        """The adapter's name after a plus where it answers."""
        return f"{self.name}+notes-r8" if request.skill in self.skills else self.name


@pytest.mark.parametrize(
    ("skills", "shown"), [((), False), ((Skill.NOTES,), False), ((Skill.FACTS,), True)]
)
def test_only_a_model_tuned_for_facts_is_shown_what_is_known(
    skills: tuple[Skill, ...], *, shown: bool
) -> None:
    """An untuned one notes half as much if it is."""
    model = _Model()
    model.skills = frozenset(skills)
    form = PROFILES["small"].form_for(model, Partner(person=False))
    asked = form.ask(known=facts(KNOWN), session=said("I bought a boat."), language="en")
    assert asked is not None
    assert ("1. User lives in Leeds." in asked.request.messages[-1].content) is shown


def test_the_word_for_nothing_after_a_note_is_left_out() -> None:
    """A model that does not end says it again and again."""
    answer = read("User sold the boat. (none) (none).", "I sold the boat.")
    assert [operation.text for operation in answer.operations] == ["User sold the boat."]
    assert not answer.aside


def test_a_row_of_numbers_ends_nothing() -> None:
    """A model that goes on counting is not believed, and its numbers are no part of the note."""
    known = facts([*KNOWN, "User is a nurse.", "User plays chess."])
    session = said("I sold the boat last week.")
    row = "User sold the boat last week. (1) (2) (3) (4) (5)"
    (kept,) = TunedFactForm().read(row, known=known, session=session, language="en").operations
    assert (kept.action, kept.facts) == (Action.ADD, ())
    assert kept.text == "User sold the boat last week."
    one = "User sold the boat last week. (1)"
    (ends,) = TunedFactForm().read(one, known=known, session=session, language="en").operations
    assert (ends.action, ends.facts) == (Action.REPLACE, ("f1",))


NAMES = {
    "en": (
        "User is called Ana.",
        "I left the bank.",
        "User left the bank.",
        "User is called Anna.",
    ),
    "zh": ("用户叫林晓。", "我从银行辞职了。", "用户从银行辞职了。", "用户叫林小。"),
    "ja": (
        "ユーザーの名前は健太だ。",
        "銀行を辞めました。",
        "ユーザーは銀行を辞めた。",
        "ユーザーの名前は健一だ。",
    ),
    "ko": (
        "사용자의 이름은 수빈이다.",
        "은행을 그만뒀어요.",
        "사용자는 은행을 그만뒀다.",
        "사용자의 이름은 수민이다.",
    ),
    "vi": (
        "Người dùng tên là Tuấn.",
        "Tôi đã nghỉ việc ở ngân hàng.",
        "Người dùng đã nghỉ việc ở ngân hàng.",
        "Người dùng tên là Toàn.",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_only_another_name_ends_a_name(language: str) -> None:
    """A model that calls the name untrue beside the news of a job is not believed, and the note is
    kept with a flag that says so; one that notes another name is."""
    name, told, news, other = NAMES[language]
    known = facts([name], language)
    taken = TunedFactForm().read
    (kept,) = taken(f"{news} (1)", known=known, session=said(told), language=language).operations
    assert (kept.action, kept.facts, kept.text) == (Action.ADD, (), news)
    assert kept.flags == (ENDS_A_NAME,)
    answer = taken(f"{other} (1)", known=known, session=said(other), language=language)
    assert [(o.action, o.facts, o.flags) for o in answer.operations] == [
        (Action.REPLACE, ("f1",), ())
    ]


BESIDE_A_NAME = {
    "en": ("User is called Ana and works at a bank.", "User is called Ana."),
    "zh": ("用户姓林，在银行上班。", "用户姓林。"),
    "ja": ("ユーザーの名前は健太で、銀行で働いている。", "ユーザーの名前は健太だ。"),
    "ko": ("사용자의 이름은 수빈이고, 은행에서 일한다.", "사용자의 이름은 수빈이다."),
    "vi": ("Người dùng tên là Tuấn, làm ở ngân hàng.", "Người dùng tên là Tuấn."),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_name_survives_what_was_noted_beside_it(language: str) -> None:
    """The fact of both ends with the job, and the name is left as a fact of its own."""
    both, name = BESIDE_A_NAME[language]
    _, told, news, _ = NAMES[language]
    answer = TunedFactForm().read(
        f"{news} (1)", known=facts([both], language), session=said(told), language=language
    )
    changed, left = answer.operations
    assert (changed.action, changed.facts, changed.text) == (Action.REPLACE, ("f1",), news)
    assert (left.action, left.facts, left.text) == (Action.ADD, ("f1",), name)
    assert answer.entries == 1


@pytest.mark.parametrize(
    ("language", "line", "note"),
    [
        ("en", "Hey, Ana here, off to work", "User's name is Ana."),
        ("ko", "저는 수빈이에요, 반가워요", "사용자의 이름은 수빈이다."),
        ("ja", "どうも、健太っす", "ユーザーの名前は健太だ。"),
    ],
)
def test_a_name_in_the_possessive_is_kept(language: str, line: str, note: str) -> None:
    """However the note is worded, a name that was said needs no other words."""
    answer = TunedFactForm().read(note, known=(), session=said(line), language=language)
    assert answer.aside == ()
    assert any("Ana" in o.text or "수빈" in o.text or "健太" in o.text for o in answer.operations)


def test_an_assistants_question_stands_before_the_answer() -> None:
    """Of an assistant's lines only its questions are shown, so that an answer makes sense."""
    asked = "What a view that must be! Where did you move to?"
    session = [
        *said("I moved!"),
        Line(speaker=Speaker.ASSISTANT, text=asked, turn="t8"),
        *said("Bergen, last week."),
    ]
    form = TunedFactForm(Partner(person=False)).ask(known=(), session=session, language="en")
    assert form is not None
    chat = form.request.messages[-1].content.partition("Chat:")[2]
    shown = "User: I moved!\nAssistant: Where did you move to?\nUser: Bergen, last week."
    assert chat.strip().startswith(shown)


BOTH_TELL = {
    "en": ("I live in Leeds with my sister.", "I work as a nurse in York."),
    "zh": ("我和姐姐一起住在苏州。", "我在南京的医院当护士。"),
    "ja": ("私は姉と横浜に住んでいます。", "私は名古屋の病院で看護師をしています。"),
    "ko": ("저는 언니와 함께 수원에 살아요.", "저는 부산 병원에서 간호사로 일해요."),
    "vi": ("Tôi sống ở Huế với chị gái.", "Tôi làm y tá ở bệnh viện Đà Nẵng."),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_nobody_who_told_nothing_must_be_written_about(language: str) -> None:
    """Where both speak there may be notes about both, about either alone, or none."""
    session = [
        Line(speaker=speaker, text=text, turn=speaker.value)
        for speaker, text in zip(Speaker, BOTH_TELL[language], strict=True)
    ]
    asked = TunedFactForm(Partner()).ask(known=[], session=session, language=language)
    assert asked is not None
    assert asked.request.grammar is not None
    root = asked.request.grammar.splitlines()[0].removeprefix("root ::= ")
    subjects = [re.findall(r"\b(user|assistant) \(", way) for way in root.split(" | ")]
    assert subjects == [[], ["user", "assistant"], ["user"], ["assistant"]]


OWNED = {
    "en": ("My sister Nora is a vet in Galway.", "User's sister Nora is a vet in Galway."),
    "zh": ("我姐姐诺拉在昆明当兽医。", "用户的姐姐诺拉在昆明当兽医。"),
    "ja": ("姉の典子は函館で獣医をしている。", "ユーザーの姉の典子は函館で獣医をしている。"),
    "ko": ("언니 노라는 목포에서 수의사로 일해.", "사용자의 언니 노라는 목포에서 수의사로 일한다."),
    "vi": ("Chị Nga của tôi là bác sĩ thú y.", "Chị Nga của người dùng là bác sĩ thú y."),
}
"""What was said, and a note about what is the user's."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_note_may_begin_with_what_is_the_users(language: str) -> None:
    """It is a fact as it was written."""
    told, note = OWNED[language]
    answer = read(note, told, known=(), language=language)
    assert [(op.action, op.text) for op in answer.operations] == [(Action.ADD, note)]
    assert not answer.aside


@pytest.mark.parametrize("language", ["en", "ja", "ko"])
def test_the_grammar_lets_it_begin_so(language: str) -> None:
    """Held to "User is …", a model that was taught "User's sister …" writes what nobody says."""
    told, note = OWNED[language]
    asked = TunedFactForm().ask(known=[], session=said(told), language=language)
    assert asked is not None
    start = re.search(r"^user-start ::= (.*)$", str(asked.request.grammar), re.MULTILINE)
    assert start is not None
    openings = re.findall(r'"([^"]+)" ', start[1])
    assert any(note.startswith(opening) for opening in openings)


@pytest.mark.parametrize(
    ("language", "told", "short", "right"),
    [
        ("en", "Hi, I'm Annabel.", "User is called Anna.", "User is called Annabel."),
        ("zh", "我叫林晓梅。", "用户叫林晓。", "用户叫林晓梅。"),
        ("ja", "小川誠一と申します。", "ユーザーは小川誠という名前だ。", "小川誠一"),
        ("ko", "저는 송미란이고 미용사예요.", "사용자는 이름이 송미이다.", "송미란"),
        ("vi", "Mình tên là Thuận.", "Người dùng tên là Thu.", "Thuận"),
    ],
)
def test_a_name_is_not_cut_short(language: str, told: str, short: str, right: str) -> None:
    """What the user said counts where a model copied half of it; nothing else is added."""
    answer = read(short, told, known=(), language=language)
    assert [right in op.text for op in answer.operations] == [True]


def test_a_fuller_name_than_the_introduction_stays() -> None:
    """The user gave the family name later."""
    answer = read("User is called Ana Souza.", "I'm Ana, or Ana Souza in full.", known=())
    assert [op.text for op in answer.operations] == ["User is called Ana Souza."]
