"""What must not become memory."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from omoide.claims.answers import Flaw, Problem, check, without_echoes, without_repeats
from omoide.domain import Sentence, Speaker, Turn
from omoide.language import LANGUAGES

TIME = datetime(2026, 1, 5, tzinfo=UTC)


def turn(text: str, speaker: Speaker = Speaker.USER, position: int = 1) -> Turn:
    """A turn of session 1."""
    return Turn(
        id=f"t{position}",
        session=1,
        position=position,
        speaker=speaker,
        text=text,
        time=TIME,
        language="en",
    )


def facts(*texts: str, sources: tuple[str, ...] = ("t1",)) -> tuple[Sentence, ...]:
    """Sentences about the user."""
    return tuple(Sentence(text=text, about=Speaker.USER, sources=sources) for text in texts)


def flaws(
    answer: tuple[Sentence, ...],
    *,
    old: tuple[Sentence, ...] = (),
    said: tuple[Turn, ...] = (),
    language: str = "en",
    instructions: str = "",
) -> set[Flaw]:
    """What `check` finds, after cleaning as the iterator does."""
    cleaned = without_echoes(without_repeats(answer), said, language=language)
    problems = check(
        answer,
        cleaned=cleaned,
        old=old,
        turns=said,
        instructions=instructions,
        language=language,
        limit=20,
    )
    return {problem.flaw for problem in problems}


OLD = facts("User has a dog named Rex.", "User works as a nurse.", "User lives in Oslo.")
SAID = (
    turn("I moved to Bergen last week, what a change!"),
    turn("How do you like it there so far?", Speaker.ASSISTANT, 2),
)


def test_a_real_memory_passes() -> None:
    """Old facts kept, one changed: nothing to object to."""
    new = facts("User has a dog named Rex.", "User works as a nurse.", "User lives in Bergen.")
    assert flaws(new, old=OLD, said=SAID) == set()


def test_an_empty_answer_never_replaces_a_memory() -> None:
    """The worst that a rewrite can do is refused."""
    assert flaws((), old=OLD, said=SAID) == {Flaw.EMPTY}


def test_nothing_new_over_nothing_old_is_no_flaw() -> None:
    """A session of pleasantries may leave an empty memory empty."""
    assert flaws((), said=(turn("Hello!"),)) == set()


def test_who_only_asks_has_told_nothing() -> None:
    """A session of questions may leave an empty memory empty, in any language."""
    asked = (
        turn("What is the fastest train from Bergen to Oslo on a Sunday in winter, do you know?"),
        turn("大阪から京都まで、いちばん安くて速い行き方は何ですか？"),
    )
    assert flaws((), said=asked) == set()


def test_an_empty_memory_of_a_real_session_is_a_flaw() -> None:
    """A model that answers with nothing has failed, not found nothing."""
    said = (turn("I moved to Bergen, adopted a cat called Miso and work nights as a nurse."),)
    assert flaws((), said=said) == {Flaw.EMPTY}


def test_a_memory_that_nothing_supports_is_refused() -> None:
    """Chatter in place of an answer has no source in what was said."""
    chatter = facts("Happy to help you with that.", "Let us begin.", sources=())
    assert flaws(chatter, said=SAID) == {Flaw.UNSUPPORTED}


def test_copied_lines_are_an_echo() -> None:
    """Dialogue in place of facts is refused."""
    copied = facts(
        "I moved to Bergen last week, what a change!", "How do you like it there so far?"
    )
    assert Flaw.ECHO_DIALOGUE in flaws(copied, said=SAID)


def test_a_copied_question_is_an_echo_even_with_a_subject() -> None:
    """`Assistant: How do you like it?` states nothing."""
    copied = facts("Assistant: How do you like it there so far?")
    assert without_echoes(copied, SAID, language="en") == ()


def test_one_copied_line_among_facts_is_left_out_and_the_rest_kept() -> None:
    """A single slip does not cost the whole answer."""
    mixed = facts("User lives in Bergen.", "User is a nurse.", "How do you like it there so far?")
    kept = without_echoes(mixed, SAID, language="en")
    assert [s.text for s in kept] == ["User lives in Bergen.", "User is a nurse."]
    assert flaws(mixed, said=SAID) == set()


def test_japanese_may_use_the_speakers_own_words_after_the_subject() -> None:
    """A language that drops the subject repeats the predicate word for word."""
    said = (turn("来週の金曜日に京都へ旅行に行きます。"),)
    memory = facts("ユーザーは来週の金曜日に京都へ旅行に行きます。")
    assert without_echoes(memory, said, language="ja") == memory
    bare = facts("来週の金曜日に京都へ旅行に行きます。")
    assert without_echoes(bare, said, language="ja") == ()


def test_the_prompts_own_words_are_no_memory() -> None:
    """A model that recites its instructions is refused."""
    told = "Read the old memory and write the facts about both speakers, one on each line."
    assert Flaw.ECHO_PROMPT in flaws(facts(told), instructions=told)


def test_a_loop_is_refused() -> None:
    """One sentence over and over is not a memory."""
    assert Flaw.REPEATS in flaws(facts(*["User likes tea."] * 9))


def test_one_repetition_is_simply_dropped() -> None:
    """Losing a duplicate loses nothing."""
    assert len(without_repeats(facts("User likes tea.", "The user likes tea."))) == 1


def test_more_sentences_than_allowed_are_refused() -> None:
    """The paper's limit holds."""
    many = facts(*(f"User owns book number {n} of shelf {n * 7}." for n in range(21)))
    assert flaws(many) == {Flaw.TOO_MANY}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("zh", "User lives in Beijing and likes tea."),
        ("ja", "用户住在北京，喜欢喝茶。"),
        ("ko", "The user lives in Seoul."),
        ("vi", "The user lives in Hue."),
        ("en", "用户住在北京。"),
    ],
)
def test_a_memory_in_another_language_is_refused(language: str, text: str) -> None:
    """Memory is kept in the language the user speaks."""
    assert Flaw.WRONG_LANGUAGE in flaws(facts(text), language=language)


def test_dropping_most_of_the_memory_without_cause_is_refused_with_what_is_missing() -> None:
    """A rewrite that forgets is told which facts it forgot."""
    new = facts("User lives in Bergen.")
    cleaned = without_echoes(new, SAID, language="en")
    (problem,) = check(
        new, cleaned=cleaned, old=OLD, turns=SAID, instructions="", language="en", limit=20
    )
    assert problem.flaw is Flaw.DROPS_OLD
    assert "Rex" in problem.detail
    assert "nurse" in problem.detail
    assert "Rex" in problem.message("en")


def test_what_the_session_changed_may_go() -> None:
    """A fact that was talked about may be replaced."""
    said = (turn("Rex my dog died, and I quit being a nurse. Oslo is behind me."),)
    assert flaws(facts("User moved on from everything."), old=OLD, said=said) == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_flaw_can_be_told_in_every_language(language: str) -> None:
    """A person and the model's second try are told what was wrong."""
    for flaw in Flaw:
        assert Problem(flaw=flaw, detail="X").message(language).strip()
