"""Talks at which little or nothing is told: what counts as noted, as found, and as beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omoide.claims.noted_facts import phrasing
from omoide.domain import Speaker
from omoide.language import LANGUAGES
from omoide.prompts import vocabulary
from omoide.testing import ScriptedModel
from omoide_bench.methods import ALWAYS
from omoide_bench.quiet.talks import found, load
from omoide_bench.running.execute import NOTES_ONLY, execute, methods_of
from omoide_bench.tasks import TASKS
from omoide_tune.written import spoken
from tests.bench.bench_lab import course, job, lab

if TYPE_CHECKING:
    from omoide.ports import Request

TALKS = load()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_talks_with_and_without_something_told(language: str) -> None:
    """And none of them is learnt from."""
    own = [talk for talk in TALKS if talk.language == language]
    assert len(own) >= 10
    assert any(talk.facts for talk in own)
    assert sum(not talk.facts for talk in own) >= 5
    learnt = {text for one in spoken(language) for _, text in one.lines if len(text) > 25}
    assert not learnt & {text for talk in own for _, text in talk.lines}


def test_a_fact_is_found_in_a_note_that_holds_most_of_its_words() -> None:
    """Each once, however many notes hold it."""
    told = ("has two cats.", "lives in Oslo.")
    assert found(told, ["User has two cats.", "User has two old cats."]) == 1
    assert found(told, ["User likes Oslo."]) == 0
    assert found(told, []) == 0


@pytest.mark.parametrize("task", sorted(NOTES_ONLY))
def test_no_baseline_looks_perfect_because_it_notes_nothing(task: str) -> None:
    """Only what writes notes is run, unless a method is named; other tasks keep their baselines."""
    assert not {m.name for m in methods_of(TASKS[task], (), only=False)} & set(ALWAYS)
    assert [m.name for m in methods_of(TASKS[task], ("bm25",), only=False)] == ["bm25"]
    assert set(ALWAYS) < {m.name for m in methods_of(TASKS["friend"], (), only=False)}


@pytest.mark.heavy
async def test_a_model_that_notes_nothing_and_one_that_always_notes() -> None:
    """The first is right where nothing is told and finds nothing; the second the other way."""
    assert await means(_nothing) == {"noted": 0.0, "found": 0.0, "beside": 0.0}
    always = await means(_everything)
    assert always["noted"] > 0.9
    assert always["found"] > 0.5
    assert always["beside"] > 0.5


async def means(answer: object) -> dict[str, float]:
    """The means over the English talks of a model that always answers so."""
    async with lab(ScriptedModel([answer] * 400)) as parts:  # type: ignore[list-item]
        work = job("quiet", languages="en")
        result = await execute(work, lab=parts, course=course(work))
    (method,) = result.methods
    return {a.measure: a.mean for a in method.aggregates if a.group == "en"}


def _nothing(request: Request) -> str:
    del request
    return vocabulary("en")["none"]


def _everything(request: Request) -> str:
    """What was said, as if each message were a fact."""
    said = request.messages[-1].content.partition("\n")[2]
    lines = [line[2:].strip(" .!") for line in said.splitlines() if line.startswith("- ")]
    user = vocabulary("en")["user"] in request.messages[-1].content.splitlines()[0]
    subject = phrasing("en").subject(Speaker.USER if user else Speaker.ASSISTANT)
    texts = [line.replace("I ", "").replace("my ", "their ") for line in lines]
    return "\n".join(f"{subject}{text[:100]}" for text in texts if text) or vocabulary("en")["none"]
