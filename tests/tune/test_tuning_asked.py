"""Questions about oneself to learn from: answered where it was told, admitted where it was not."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import replace

import pytest

from omoide.language import detect_language
from omoide_bench.unknown.admitting import admits
from omoide_bench.unknown.questions import load
from omoide_tune.building import held_out
from omoide_tune.mixture import mixed
from omoide_tune.tasks.asked import ASKED, KEPT, UNTOLD, WORLD, from_questions
from omoide_tune.written import LANGUAGES
from omoide_tune.written.asked import asked

MADE = tuple(from_questions(random.Random(1), times=2))


def prompt(text: str) -> list[str]:
    """The notes of a message."""
    return [line for line in text.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_as_much(language: str) -> None:
    """27 sorts with four questions each, more than six ways not to know, 40 facts of the world; a
    sort's phrases tell one value."""
    book = asked(language)
    assert len(book.sorts) == 27
    assert len(set(book.unknown)) >= 6
    assert all("{what}" in frame for frame in book.unknown)
    assert sum(len(world.pairs) for world in book.worlds) == 40
    assert [s.name for s in book.sorts] == [s.name for s in asked("en").sorts]
    for sort in book.sorts:
        assert len(set(sort.ask)) == 4
        assert len(set(sort.near)) == 3
        assert len(set(sort.known)) * len(set(book.known)) >= 4
        assert len(set(sort.fact)) == 2
        (gap,) = set(re.findall(r"\{(\w+)", sort.fact[0]))
        for phrase in (*sort.fact, sort.told, *sort.known):
            assert set(re.findall(r"\{(\w+)", phrase)) == {gap}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_gap_is_left_and_all_is_in_its_language(language: str) -> None:
    """Neither slots nor particles; a longer answer is told to be in the language."""
    for example in MADE:
        if example.language == language:
            said = example.messages[-1].content + example.answer
            assert not re.search(r"[{}]|\[|a\(n\)", said)
            if len(example.answer) > 12 and example.hard == UNTOLD:
                assert detect_language(example.answer, default=language) == language


def test_a_question_comes_with_the_fact_and_without_it() -> None:
    """The same words, on the same day; the notes of the one without are among those of the other,
    and the value that is the answer is nowhere in it."""
    about_self = [e for e in MADE if e.hard != WORLD]
    for one, other in zip(about_self[::2], about_self[1::2], strict=True):
        assert (one.hard, other.hard) == (KEPT, UNTOLD)
        assert one.key == other.key
        texts = [e.messages[-1].content for e in (one, other)]
        assert texts[0].partition("\n")[0] == texts[1].partition("\n")[0]
        assert set(prompt(texts[1])) <= set(prompt(texts[0]))
        heads = [set(e.messages[0].content.splitlines()) for e in (one, other)]
        assert len(heads[1] - heads[0]) <= 2  # "(none)", and by what name the user goes
        assert one.messages != other.messages


def test_who_was_not_told_says_so_and_names_no_note() -> None:
    """And who was told, or is asked about the world, does not."""
    for example in MADE:
        assert admits(example.answer, example.language) is (example.hard == UNTOLD)
        if example.hard == UNTOLD:
            book = asked(example.language)
            (sort,) = (s for s in book.sorts if example.key.endswith(f"/{s.name}"))
            (gap,) = set(re.findall(r"\{(\w+)", sort.fact[0]))
            values = {part for value in book.book.slots[gap] for part in value.split("|")}
            words = set(re.findall(r"[\w' -]+", example.answer))
            assert not words & values


def test_answers_do_not_begin_alike() -> None:
    """No beginning has more than a sixth of a language's admissions."""
    for language in LANGUAGES:
        begun = Counter(e.answer[:10] for e in MADE if e.language == language and e.hard == UNTOLD)
        assert max(begun.values()) <= sum(begun.values()) / 6


def test_notes_are_shown_in_every_number() -> None:
    """From none to a handful, in the memory and beside the question; some are the user's own
    words with their day."""
    counts = Counter(len(prompt(e.messages[-1].content)) for e in MADE)
    assert set(counts) >= {0, 1, 2, 3, 4}
    assert any(re.search(r"- 20\d\d-\d\d-\d\d User: ", e.messages[-1].content) for e in MADE)
    assert any(len(e.messages) > min(len(m.messages) for m in MADE) for e in MADE)


def test_a_choice_keeps_the_twins_together() -> None:
    """As many with the fact as without, of the same questions, and some of the world."""
    found = mixed(MADE, {"reply": 240}, hard=0.4)
    kinds = Counter(e.hard.split()[0] for e in found)
    assert sum(kinds.values()) == 240
    assert abs(kinds[KEPT] - kinds[UNTOLD]) <= 5
    assert kinds[WORLD] >= 30
    asked_of = {
        kind: {
            (e.key, e.messages[-1].content.partition("\n")[0])
            for e in found
            if e.hard.startswith(kind)
        }
        for kind in (KEPT, UNTOLD)
    }
    assert len(asked_of[KEPT] ^ asked_of[UNTOLD]) <= 10


def test_whole_sorts_are_held_out() -> None:
    """By source and key, as elsewhere: no sort of a language is on both sides."""
    sides = {True: set[str](), False: set[str]()}
    for example in MADE:
        assert example.source == ASKED
        sides[held_out(example)].add(example.key)
    assert sides[True].isdisjoint(sides[False])
    assert 3 <= len(sides[True]) <= 40
    assert held_out(replace(MADE[0], answer="x")) is held_out(MADE[0])


def test_no_question_of_the_exam_is_learnt() -> None:
    """Neither one about oneself nor one about the world, nor its fact."""
    learnt = "\n".join(m.content for e in MADE for m in e.messages)
    written = {phrase for code in LANGUAGES for sort in asked(code).sorts for phrase in sort.ask}
    for question in load():
        assert question.question not in written
        assert question.question not in learnt
        assert not question.fact or question.fact not in learnt
