"""Each sentence of a memory points to the turns it rests on."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from omoide.claims.citation import cite_sources
from omoide.domain import Sentence, Speaker, Turn

USER, ASSISTANT = Speaker.USER, Speaker.ASSISTANT


def talk(*said: tuple[Speaker, str]) -> list[Turn]:
    """Turns t1, t2, … of one session."""
    time = datetime(2026, 1, 5, tzinfo=UTC)
    return [
        Turn(
            id=f"t{i}",
            session=1,
            position=i,
            speaker=speaker,
            text=text,
            time=time,
            language="en",
        )
        for i, (speaker, text) in enumerate(said, start=1)
    ]


def sources(
    text: str,
    turns: list[Turn],
    *,
    about: Speaker = USER,
    old: tuple[Sentence, ...] = (),
) -> tuple[str, ...]:
    """What one sentence cites."""
    (found,) = cite_sources([Sentence(text=text, about=about)], old=old, turns=turns)
    return found.sources


TALK = talk(
    (USER, "I just adopted two cats, Miso and Natto."),
    (ASSISTANT, "Lovely! I am more of a dog person."),
    (USER, "Work at the hospital keeps me busy, night shifts all week."),
    (ASSISTANT, "Do you play any instrument?"),
    (USER, "Yes, since I was six."),
)


def test_a_fact_cites_the_turn_that_told_it() -> None:
    """Names and nouns in common lead to the right turn."""
    assert sources("User adopted two cats named Miso and Natto.", TALK) == ("t1",)
    assert sources("User works night shifts at a hospital.", TALK) == ("t3",)


def test_a_fact_about_the_assistant_cites_the_assistant() -> None:
    """Both speakers are remembered."""
    assert sources("Assistant is a dog person.", TALK, about=ASSISTANT) == ("t2",)


def test_a_question_brings_its_answer() -> None:
    """The yes made it a fact."""
    assert sources("User plays an instrument.", TALK) == ("t4", "t5")


def test_the_assistants_echo_is_not_cited_beside_the_users_own_words() -> None:
    """ "Great that you …! How can I help?" adds no evidence, and neither does what follows."""
    turns = talk(
        (USER, "I work as a nurse in Oslo."),
        (ASSISTANT, "Great that you work as a nurse in Oslo! How can I help you?"),
        (USER, "No peanuts for me, please."),
    )
    assert sources("User works as a nurse in Oslo.", turns) == ("t1",)


def test_a_fabricated_sentence_has_no_source() -> None:
    """Nothing said supports it, so it is flagged."""
    (made_up,) = cite_sources(
        [Sentence(text="User climbed Mount Everest in Nepal.", about=USER)], old=(), turns=TALK
    )
    assert made_up.sources == ()
    assert not made_up.supported


def test_sources_of_the_old_memory_are_inherited() -> None:
    """A sentence carried over still points to the session it came from."""
    old = (Sentence(text="User has a sister in Lyon.", about=USER, sources=("s9",)),)
    assert sources("User has a sister in Lyon.", TALK, old=old) == ("s9",)


def test_an_updated_fact_cites_old_and_new() -> None:
    """What it was before stays on record."""
    old = (Sentence(text="User has two cats.", about=USER, sources=("s3",)),)
    assert sources("User has two cats, Miso and Natto.", TALK, old=old) == ("t1",)
    assert sources("User has two cats.", TALK, old=old) == ("s3", "t1")


def test_an_echo_of_memory_is_no_evidence() -> None:
    """What the assistant repeats from memory does not confirm it."""
    old = (Sentence(text="User climbed Everest.", about=USER, sources=()),)
    turns = talk((USER, "Hi!"), (ASSISTANT, "You climbed Everest!"), (USER, "Hm?"))
    assert sources("User climbed Everest.", turns, old=old) == ()


def test_memory_put_into_a_prompt_is_not_something_said() -> None:
    """A block of memory that came back inside a turn supports nothing."""
    turns = talk((USER, "<memory>User climbed Everest.</memory> Good morning!"))
    assert sources("User climbed Everest.", turns) == ()


def test_sources_are_found_in_japanese_and_chinese() -> None:
    """Character bigrams carry the match."""
    turns = talk((USER, "先週、横浜に引っ越しました。"), (USER, "我养了一只叫豆豆的狗。"))
    assert sources("ユーザーは横浜に引っ越した。", turns) == ("t1",)
    assert sources("用户有一只叫豆豆的狗。", turns) == ("t2",)


def test_facts_that_change_their_company_take_their_own_turns_along() -> None:
    """A memory that is full joins facts anew; each part keeps what it rests on, and no more."""
    old = [
        Sentence(
            text="User keeps bees; plays the cello.", about=Speaker.USER, sources=("bees", "cello")
        ),
        Sentence(
            text="User sails a dinghy; bakes rye bread.",
            about=Speaker.USER,
            sources=("dinghy", "bread"),
        ),
    ]
    cited = [
        replace(turn, id=id_)
        for id_, text in (
            ("bees", "I keep bees behind the house."),
            ("cello", "I play the cello on Sundays."),
            ("dinghy", "I sail a dinghy."),
            ("bread", "I bake rye bread."),
        )
        for turn in talk((USER, text))
    ]
    new = [
        Sentence(text="User keeps bees; sails a dinghy.", about=Speaker.USER),
        Sentence(text="User plays the cello.", about=Speaker.USER),
    ]
    found = cite_sources(new, old=old, turns=(), cited=cited)
    assert [sentence.sources for sentence in found] == [("bees", "dinghy"), ("cello",)]
    blind = cite_sources(new, old=old, turns=())
    assert blind[1].sources == ("bees", "cello")
