"""A memory that runs over is made to fit, and nothing of it is lost."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.claims.noted_facts import NotedFact, phrasing, read_facts
from omoide.domain import Origin, Sentence, Speaker, Summary, Turn
from omoide.engine import complete
from omoide.language import LANGUAGES, estimate_tokens
from omoide.mechanisms.summary.forms import PaperForm
from omoide.mechanisms.summary.shortening import shortened
from omoide.mechanisms.summary.summariser import RecursiveSummary
from omoide.testing import ScriptedModel

NOW = datetime(2026, 1, 5, tzinfo=UTC)
THINGS = (
    "cat dog kite piano lamp garden brother violin bakery canoe wallet mirror ladder candle "
    "basket hammer pillow ribbon saddle teapot umbrella anchor bottle carpet drawer engine"
).split()


def note(thing: str, language: str = "en", about: Speaker = Speaker.USER) -> Sentence:
    """That somebody has something, with a source of its own."""
    text = NotedFact(about=about, text=f"has a {thing}").sentence(language)
    return Sentence(text=text, about=about, sources=(thing,))


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_over_the_limit_is_joined_and_rests_on_the_same(language: str) -> None:
    """Every fact is still there, with every source."""
    long = [note(thing, language) for thing in THINGS]
    short = shortened(long, language, limit=20)
    assert len(short) == 20
    before, after = (
        [fact.text for s in memory for fact in read_facts(s.text, language)]
        for memory in (long, short)
    )
    assert sorted(after) == sorted(before)
    assert sorted(source for s in short for source in s.sources) == sorted(THINGS)
    assert all(s.text.endswith(phrasing(language).stop) for s in short)


def test_what_need_not_be_joined_stays_as_it_is() -> None:
    """A memory within the limit whole, of another as many sentences as can be, in their order."""
    memory = [note("red cat"), note("kite"), note("grey cat"), note("piano")]
    assert shortened(memory, "en", limit=4) == tuple(memory)
    assert [s.text for s in shortened(memory, "en", limit=3)] == [
        "User has a red cat; has a grey cat.",
        "User has a kite.",
        "User has a piano.",
    ]


def test_two_people_share_no_sentence_and_a_name_has_its_own() -> None:
    """Whatever they have in common."""
    memory = [
        Sentence(text="User is called Ana.", about=Speaker.USER),
        note("cat"),
        note("cat", about=Speaker.ASSISTANT),
        note("kite"),
    ]
    assert [s.text for s in shortened(memory, "en", limit=3)] == [
        "User is called Ana.",
        "User has a cat; has a kite.",
        "Assistant has a cat.",
    ]
    assert shortened(memory, "en", limit=2) == tuple(memory)


def test_what_cannot_be_joined_comes_back_as_it_is() -> None:
    """Prose without a subject, sentences that are too long, or far too many."""
    prose = [Sentence(text=f"There is a {thing}.", about=None) for thing in THINGS]
    assert shortened(prose, "en", limit=20) == tuple(prose)
    wordy = [note(f"{thing} {'very ' * 30}big") for thing in THINGS]
    assert shortened(wordy, "en", limit=20) == tuple(wordy)
    many = [note(thing) for thing in THINGS]
    assert shortened(many, "en", limit=12) == tuple(many)


@given(st.lists(st.sampled_from(THINGS), unique=True), st.integers(1, 30))
def test_no_fact_is_ever_lost(things: list[str], limit: int) -> None:
    """Whatever the limit is."""
    found = shortened([note(thing) for thing in things], "en", limit=limit)
    told = re.findall(r"has a (\w+)", " ".join(s.text for s in found))
    assert sorted(told) == sorted(things)


def full(count: int) -> Summary:
    """A memory of so many sentences."""
    sentences = tuple(note(thing) for thing in THINGS[:count])
    return Summary(
        number=1, sentences=sentences, origin=Origin.DIGEST, session=1, time=NOW, language="en"
    )


async def test_an_answer_that_runs_over_becomes_the_memory() -> None:
    """A full memory carried along word for word and three new facts: none of it is turned away."""
    new = ["violet scarf", "wooden flute", "tiny boat"]
    turns = [
        Turn(id=f"t{i}", session=2, position=i, speaker=Speaker.USER,
             text=f"I have a {thing}, you know.", time=NOW, language="en")
        for i, thing in enumerate(new, start=1)
    ]  # fmt: skip
    old = full(20)
    answer = "\n".join([s.text for s in old.sentences] + [f"User has a {thing}." for thing in new])
    model = ScriptedModel([answer], window=8192)
    iterator = RecursiveSummary(model=model, form=PaperForm())
    result = await iterator.digest(old=old, turns=turns, at=NOW, ask=partial(complete, model))
    assert not result.rejected
    assert result.summary is not None
    assert len(result.summary.sentences) == 20
    text = " ".join(s.text for s in result.summary.sentences)
    assert all(thing in text for thing in [*THINGS[:20], *new])
    assert "joined 3 sentence(s) with others to fit" in result.summary.notes
    cited = {source for s in result.summary.sentences for source in s.sources}
    assert {"t1", "t2", "t3", *THINGS[:20]} <= cited


def test_the_answer_may_be_as_long_as_the_memory_it_carries_along() -> None:
    """A full memory in a language of many tokens would be cut short otherwise."""
    old = [Sentence(text="ユーザーは" + "猫が好きだ；" * 30 + "。") for _ in range(20)]
    (asked,) = PaperForm().ask(old=old, session=(), language="ja", limit=20)
    assert asked.request.max_tokens > estimate_tokens("\n".join(s.text for s in old))
    (asked,) = PaperForm().ask(old=(), session=(), language="ja", limit=20)
    assert asked.request.max_tokens == 800
