"""Memories that are full: what a model learns to do with them."""

from __future__ import annotations

import random
from itertools import groupby
from typing import TYPE_CHECKING

import pytest

from omoide.claims.noted_facts import phrasing, read_facts
from omoide.language import LANGUAGES, estimate_tokens
from omoide.mechanisms.summary.forms import PaperForm
from omoide_tune.acceptance import LIMIT
from omoide_tune.chains import carried, known_after
from omoide_tune.checked_talks import CheckedTalk, DataTally, told
from omoide_tune.own.meetings import talks
from omoide_tune.tasks.fused import fused
from omoide_tune.tasks.iteration import iteration

if TYPE_CHECKING:
    from omoide.claims.noted_facts import NotedFact
    from omoide.domain import Sentence

_CHAINS: dict[str, list[list[CheckedTalk]]] = {}


def lasting(language: str) -> list[list[CheckedTalk]]:
    """Three pairs of people who meet five to eight times."""
    if language not in _CHAINS:
        meetings = [told(one, "own", DataTally()) for one in talks(language, chains=0, lasting=3)]
        _CHAINS[language] = [list(own) for _, own in groupby(meetings, key=lambda m: m.chain)]
    return _CHAINS[language]


@pytest.mark.parametrize("language", LANGUAGES)
def test_people_who_meet_often_fill_a_memory_that_loses_nothing(language: str) -> None:
    """It stays within its limit, sentences are joined, what changed is replaced, and all else is
    what the list of facts alone would have."""
    sizes = []
    for chain in lasting(language):
        assert 5 <= len(chain) <= 8
        facts: list[NotedFact] = []
        memory: tuple[Sentence, ...] = ()
        for meeting in chain:
            memory = carried(memory, meeting, limit=LIMIT)
            facts = known_after(facts, meeting)
            held = [fact for s in memory for fact in read_facts(s.text, language)]
            assert sorted(f.text for f in held) == sorted(f.text for f in facts)
            assert {f.text: f.about for f in held} == {f.text: f.about for f in facts}
            assert len(memory) <= LIMIT
        sizes.append((len(facts), len(memory)))
    assert any(count > LIMIT == sentences for count, sentences in sizes)


@pytest.mark.parametrize("language", LANGUAGES)
def test_full_memories_are_learnt_from(language: str) -> None:
    """With joined sentences in old memory and answer, within what the request allows."""
    made = [e for chain in lasting(language) for e in iteration(chain, [], random.Random(1))]
    full = [one for one in made if "full" in one.hard.split()]
    assert len(full) >= 4
    join = phrasing(language).join
    assert any(join in e.answer and join in e.messages[-1].content for e in full)
    (asked,) = PaperForm().ask(old=(), session=(), language=language, limit=LIMIT)
    for one in full:
        assert len(one.answer.splitlines()) <= LIMIT
        assert estimate_tokens(one.answer) < asked.request.max_tokens


def test_the_fused_writer_carries_full_memories_along_too() -> None:
    """The same memory as by the paper's form, as a list."""
    made = [example for chain in lasting("en") for example in fused(chain, [])]
    assert any('"memory": ["' in one.answer and "; " in one.answer for one in made)
