"""The form for small models: notes about each speaker, joined by code so that nothing is lost."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.claims.attribution import speaker_lines
from omoide.claims.contradiction import retire
from omoide.claims.noted_facts import NotedFact, merge, pack, phrasing, read_facts
from omoide.domain import Origin, Sentence, Speaker, Summary, Turn, empty_summary
from omoide.engine import complete
from omoide.errors import BadReply
from omoide.language import LANGUAGES
from omoide.mechanisms.summary.small_form import SmallForm, grammar
from omoide.mechanisms.summary.summariser import RecursiveSummary
from omoide.prompts import render, vocabulary
from omoide.prompts.transcript import Line
from omoide.testing import ScriptedModel

if TYPE_CHECKING:
    from omoide.mechanisms.summary.forms import FormReading

USER, ASSISTANT = Speaker.USER, Speaker.ASSISTANT


def user(text: str) -> NotedFact:
    """A fact about the user."""
    return NotedFact(about=USER, text=text)


def told(*texts: str, speaker: Speaker = USER) -> list[Line]:
    """What a speaker said."""
    return [Line(speaker=speaker, text=text) for text in texts]


def read(
    *answers: str, session: list[Line], old: tuple[str, ...] = (), language: str = "en"
) -> FormReading:
    """The new memory out of answers."""
    return SmallForm().read(
        answers,
        old=[Sentence(text=text) for text in old],
        session=session,
        language=language,
        limit=20,
    )


def texts(reading: FormReading) -> list[str]:
    """The sentences of a memory."""
    return [sentence.text for sentence in reading.sentences]


def test_each_speaker_is_asked_about_by_their_own_words() -> None:
    """One question for each, which shows nothing of what the other said."""
    session = [*told("I have a cat."), *told("I bake bread. Do you?", speaker=ASSISTANT)]
    for_user, for_assistant = SmallForm().ask(old=(), session=session, language="en", limit=20)
    asked = for_user.request.messages[-1].content
    assert "I have a cat." in asked
    assert "bread" not in asked
    asked = for_assistant.request.messages[-1].content
    assert "I bake bread." in asked
    assert "Do you?" not in asked


def test_a_speaker_who_only_asked_is_not_asked_about() -> None:
    """A question tells nothing of who asks it, so no call is spent on it."""
    session = [*told("I have a cat."), *told("Oh? What is it called?", speaker=ASSISTANT)]
    assert len(SmallForm().ask(old=(), session=session, language="en", limit=20)) == 1
    assert speaker_lines(session, ASSISTANT, "en") == ""


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Great to hear that you adopted a cat! Baking needs a hot oven."),
        ("en", "If you have any allergies, feel free to let me know."),
        ("en", "I'm sorry, I can't assist with that."),
        ("ja", "申し訳ありませんが、私は人間ではありません。"),
        ("zh", "听说你养了一只猫，真好。"),
        ("ja", "あなたが猫を飼い始めたのは素敵です。"),
        ("ko", "당신이 고양이를 입양했다니 좋네요."),
        ("vi", "Thật vui khi bạn nhận nuôi một con mèo."),
    ],
)
def test_what_an_assistant_says_of_the_user_is_not_taken_for_its_own_life(
    language: str, said: str
) -> None:
    """The user's cat does not become the assistant's, in any language."""
    assert speaker_lines(told(said, speaker=ASSISTANT), ASSISTANT, language) == ""


def test_what_both_say_of_themselves_is_kept_of_both() -> None:
    """People have things in common; who is no person is held to its persona alone (`Partner`)."""
    session = [
        *told("I work in a bookshop in Leeds."),
        *told("Me too, I work in a bookshop. I collect stamps.", speaker=ASSISTANT),
    ]
    reading = read(
        "User works in a bookshop in Leeds.",
        "Assistant works in a bookshop.\nAssistant collects stamps.",
        session=session,
    )
    assert texts(reading) == [
        "User works in a bookshop in Leeds.",
        "Assistant works in a bookshop.",
        "Assistant collects stamps.",
    ]


def test_new_facts_join_the_old_and_changed_ones_replace_them() -> None:
    """The user moved: Oslo goes, the cat and the tea stay."""
    reading = read(
        "User moved to Bergen.\nUser has a cat called Miso.",
        session=told("I moved to Bergen with my cat, the one called Miso."),
        old=("User lives in Oslo; likes tea.", "Assistant bakes bread."),
    )
    assert texts(reading) == [
        "User likes tea.",
        "User moved to Bergen.",
        "User has a cat called Miso.",
        "Assistant bakes bread.",
    ]
    assert "no longer true: User lives in Oslo." in reading.notes


def test_what_nobody_said_is_turned_away_and_told() -> None:
    """The worked example of the prompt cannot become somebody's memory."""
    reading = read("User has a cat.\nUser is a nurse.", session=told("I have a cat, he is lovely."))
    assert texts(reading) == ["User has a cat."]
    assert reading.notes == ("not kept, nothing said supports it: User is a nurse.",)


@pytest.mark.parametrize(
    ("language", "line", "said"),
    [
        ("en", "User says I love my cat.", "I love my cat."),
        ("zh", "用户我喜欢猫。", "我喜欢猫。"),
        ("ja", "ユーザーは猫を見てください。", "猫を見てください。"),
        ("ko", "사용자는 고양이를 좋아하네요.", "고양이를 좋아하네요."),
        ("vi", "Người dùng nói tôi thích mèo.", "tôi thích mèo."),
    ],
)
def test_talk_is_not_a_note(language: str, line: str, said: str) -> None:
    """The first person and the endings of chat are turned away in every language."""
    reading = read(line, session=told(said), language=language)
    assert texts(reading) == []
    assert len(reading.notes) == 1


def test_an_answer_without_any_line_about_a_speaker_is_unreadable() -> None:
    """Prose is asked for again, not taken for an empty memory."""
    with pytest.raises(BadReply, match="wanted lines about a speaker"):
        read("Sure! Here is what I found.", session=told("I have a cat."))


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_may_be_nothing_to_note(language: str) -> None:
    """The word for it leaves the old memory as it is; it is no answer that must be asked again."""
    subject, none = phrasing(language).subject(USER), vocabulary(language)["none"]
    known = f"{subject}{NORTH[language]}"
    before = Sentence(text=f"{known}{phrasing(language).stop}", about=USER)
    said = told("How many moons has Jupiter? Thanks, that was quick.")
    (asked,) = SmallForm().ask(old=(), session=said, language=language, limit=20)
    assert none in asked.request.messages[0].content
    reading = read(none, old=(before.text,), session=said, language=language)
    assert texts(reading) == [before.text]
    assert reading.notes == ("the model found nothing to note",)
    assert reading.nothing
    assert not reading.new_sentences


@pytest.mark.parametrize(
    ("language", "old", "new", "rest"),
    [
        ("en", "lives in Leeds and has two cats", "moved to York", ["has two cats"]),
        ("en", "is single", "is engaged to Tom", []),
        ("en", "smokes cigarettes", "quit cigarettes", []),
        ("zh", "单身，住在杭州", "订婚了", ["住在杭州"]),
        ("ja", "札幌に住んでいる", "東京に引っ越した", []),
        ("ko", "서울에 살고 있다", "부산으로 이사했다", []),
        ("vi", "sống ở Huế", "chuyển đến Đà Nẵng", []),
        ("en", "likes tea", "moved to York", ["likes tea"]),
    ],
)
def test_what_a_newer_fact_makes_untrue_is_retired(
    language: str, old: str, new: str, rest: list[str]
) -> None:
    """Homes, statuses and ended habits go, clause by clause; all else stays."""
    holding, untrue = retire([user(old)], [user(new)], language, said={})
    assert [fact.text for fact in holding] == rest
    assert bool(untrue) == (rest != [old])


@pytest.mark.parametrize(
    ("language", "old", "new", "said"),
    [
        ("en", "works as a nurse", "works at a café", "I quit. I work at a café."),
        ("zh", "在一家书店上班", "在一家咖啡店工作", "我现在在一家咖啡店工作。"),
        ("ja", "本屋で働いている", "カフェで働いている", "今はカフェで働いています。"),
        ("ko", "서점에서 일한다", "카페에서 일한다", "지금은 카페에서 일해요."),
        ("vi", "làm việc ở nhà sách", "làm việc ở quán cà phê", "Giờ mình làm ở quán cà phê."),
    ],
)
def test_new_work_replaces_the_old_when_the_session_tells_of_a_change(
    language: str, old: str, new: str, said: str
) -> None:
    """Two jobs may be held at once; a word of change says that they are not."""
    told_so = {USER: said}
    assert retire([user(old)], [user(new)], language, said=told_so)[0] == []
    assert retire([user(old)], [user(new)], language, said={})[0] == [user(old)]


def test_one_speakers_change_does_not_touch_the_other() -> None:
    """The assistant's home is not the user's."""
    theirs = NotedFact(about=ASSISTANT, text="lives in Leeds")
    holding, _ = retire([theirs], [user("moved to York")], "en", said={})
    assert holding == [theirs]


def test_a_near_repetition_takes_the_place_of_the_old_fact() -> None:
    """The richer wording stays, and counts as told just now."""
    merged = merge([user("has two cats"), user("likes tea")], [user("has two old cats")])
    assert merged == [user("likes tea"), user("has two old cats")]


def test_packing_joins_before_it_leaves_out() -> None:
    """Thirty short facts fit into twenty sentences and come back whole."""
    facts = [user(f"owns thing number {n}") for n in range(30)]
    packed = pack(facts, "en", limit=20)
    assert len(packed.sentences) <= 20
    assert packed.left_out == ()
    assert set(read_facts("\n".join(s.text for s in packed.sentences), "en")) == set(facts)


def test_what_does_not_fit_is_the_least_recently_told_and_is_named() -> None:
    """Nothing is dropped silently."""
    facts = [user(f"x{n} " + "y" * 150) for n in range(25)]
    packed = pack(facts, "en", limit=20)
    assert len(packed.sentences) == 20
    assert [fact.text[:2] for fact in packed.left_out] == ["x0", "x1", "x2", "x3", "x4"]


@given(st.lists(st.from_regex(r"[a-z]{3,8}( [a-z]{3,8}){0,4}", fullmatch=True), max_size=40))
def test_merging_and_packing_lose_nothing_unnamed(predicates: list[str]) -> None:
    """Every merged fact is in a sentence or in what was left out."""
    facts = merge([], [user(p) for p in predicates])
    packed = pack(facts, "en", limit=20)
    shown = set(read_facts("\n".join(s.text for s in packed.sentences), "en"))
    assert shown | set(packed.left_out) == set(facts)
    assert len(packed.sentences) <= 20


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("speaker", Speaker)
def test_there_is_a_grammar_for_each_speaker_in_each_language(
    language: str, speaker: Speaker
) -> None:
    """Each names its subject and bounds its lines; there may be nothing to note."""
    rules = grammar(speaker, language=language)
    none = vocabulary(language)["none"]
    assert rules.startswith(f'root ::= "{none}" | {speaker.value}')
    assert "{3,160}" in rules


async def test_the_iterator_runs_on_it_and_each_sentence_has_its_source() -> None:
    """Two calls a session; the old memory's sources are inherited."""
    said = ["I moved to Bergen last week.", "I love baking bread."]
    turns = [
        Turn(
            id=f"t{i}",
            session=2,
            position=i,
            speaker=USER if i == 1 else ASSISTANT,
            text=text,
            time=datetime(2026, 1, 5, tzinfo=UTC),
            language="en",
        )
        for i, text in enumerate(said, start=1)
    ]
    model = ScriptedModel(["User moved to Bergen.", "Assistant loves baking bread."])
    old = Summary(
        number=1,
        sentences=(
            Sentence(text="User likes tea.", about=USER, sources=("s1",)),
            Sentence(text="User lives in Oslo.", about=USER, sources=("s2",)),
        ),
        origin=Origin.DIGEST,
        session=1,
        time=turns[0].time,
        language="en",
    )
    iterator = RecursiveSummary(model=model, form=SmallForm())
    result = await iterator.digest(
        old=old, turns=turns, at=turns[0].time, ask=partial(complete, model)
    )
    assert result.summary is not None
    assert {s.text: s.sources for s in result.summary.sentences} == {
        "User likes tea.": ("s1",),
        "User moved to Bergen.": ("t1",),
        "Assistant loves baking bread.": ("t2",),
    }
    assert "no longer true: User lives in Oslo." in result.summary.notes
    assert len(model.requests) == 2


async def test_a_life_that_changed_in_most_ways_is_rewritten_in_most_ways() -> None:
    """What newer facts replaced is gone with cause: the guard against forgetting lets it go."""
    time = datetime(2026, 1, 5, tzinfo=UTC)
    turn = Turn(
        id="t1",
        session=2,
        position=1,
        speaker=USER,
        text="I moved to York last week, and I got engaged to Mia!",
        time=time,
        language="en",
    )
    known = ("User lives in Leeds.", "User is single.", "User plays the violin.")
    old = Summary(
        number=1,
        sentences=tuple(Sentence(text=t, about=USER, sources=("s",)) for t in known),
        origin=Origin.DIGEST,
        session=1,
        time=time,
        language="en",
    )
    model = ScriptedModel(["User moved to York.\nUser got engaged to Mia."])
    iterator = RecursiveSummary(model=model, form=SmallForm())
    result = await iterator.digest(old=old, turns=[turn], at=time, ask=partial(complete, model))
    assert result.summary is not None
    assert [s.text for s in result.summary.sentences] == [
        "User plays the violin.",
        "User moved to York.",
        "User got engaged to Mia.",
    ]


async def test_a_session_of_greetings_costs_a_call_and_changes_nothing() -> None:
    """Where nothing is worth noting, the old memory goes on."""
    time = datetime(2026, 1, 5, tzinfo=UTC)
    hello = Turn(id="t", session=1, position=1, speaker=USER, text="Hi!", time=time, language="en")
    model = ScriptedModel(["User says hi."])
    iterator = RecursiveSummary(model=model, form=SmallForm())
    result = await iterator.digest(
        old=empty_summary(time), turns=[hello], at=time, ask=partial(complete, model)
    )
    assert result.summary is not None
    assert [s.text for s in result.summary.sentences] in ([], ["User says hi."])


async def test_nothing_to_note_of_somebody_new_is_taken_at_the_first_try() -> None:
    """An empty memory stays empty, and the version says why; it is not asked again and again."""
    time = datetime(2026, 1, 5, tzinfo=UTC)
    said = "Say it in Spanish: the boiler has been broken since Tuesday, send somebody by Friday."
    turn = Turn(id="t", session=1, position=1, speaker=USER, text=said, time=time, language="en")
    model = ScriptedModel([vocabulary("en")["none"]])
    iterator = RecursiveSummary(model=model, form=SmallForm())
    result = await iterator.digest(
        old=empty_summary(time), turns=[turn], at=time, ask=partial(complete, model)
    )
    assert result.summary is not None
    assert result.summary.sentences == ()
    assert not result.rejected
    assert len(model.requests) == 1


NORTH = {
    "en": "moved up here to the far north",
    "zh": "搬到了北方的城市",
    "ja": "北の町に引っ越した",
    "ko": "북쪽 도시로 이사했다",
    "vi": "đã chuyển ra miền bắc",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_of_the_worked_example_do_not_leak(language: str) -> None:
    """Each name that is guarded against stands in an example, and a note with one that nobody
    said is turned away, however well the rest is supported."""
    asked = (
        render("memory_small", language, session="", subject="", name="", limit="", none=""),
        render(
            "memory_both", language, session="", other="", first="", second="", user="",
            assistant="", limit="", none="",
        ),
    )  # fmt: skip
    shown = "".join(prompt.messages[1].content for prompt in asked)
    names = vocabulary(language)["example_names"].split(", ")
    assert all(name in shown for name in names)
    session, subject = told(NORTH[language]), phrasing(language).subject(USER)
    clean = read(f"{subject}{NORTH[language]}", session=session, language=language)
    assert len(texts(clean)) == 1
    leak = read(f"{subject}{NORTH[language]} {names[0]}", session=session, language=language)
    assert texts(leak) == []
    assert len(leak.notes) == 1


def test_a_japanese_chain_is_shown_clause_by_clause() -> None:
    """So that each becomes a note of its own."""
    session = told("東京に住んでて、猫を飼ってるんだ。")
    assert speaker_lines(session, USER, "ja") == "- 東京に住んでて\n- 猫を飼ってるんだ。"
