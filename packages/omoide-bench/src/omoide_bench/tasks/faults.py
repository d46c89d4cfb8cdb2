"""Five faults of a model while a session is written down: what is left of what the user told?

The user tells six facts while the model misbehaves, and six more when it works again. Our job queue
is around every method: what failed visibly is tried again when the model works.
The model is a stub (`rivals.note_taker`), so no model is measured.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from omoide.domain import JobState
from omoide.errors import ModelUnavailable
from omoide_bench.data.shapes import FIRST_DAY
from omoide_bench.rivals.note_taker import FAULTS, FaultyNoteTaker
from omoide_bench.running.cached_model import MethodModel, SharedModel
from omoide_bench.running.calls import CallCache
from omoide_bench.running.items import ScoredItem
from omoide_bench.tasks.base import Measure
from omoide_bench.unknown import questions
from omoide_bench.unknown.telling import ASKED_AT, session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide import Utterance
    from omoide_bench.data.source import DatasetSource
    from omoide_bench.running.memory_under_test import MemoryUnderTest
    from omoide_bench.tasks.base import Sample, Trial
    from omoide_bench.unknown.questions import UnknownQuestion

FACTS_A_SESSION = 6


@dataclass(frozen=True, kw_only=True)
class FaultCase:
    """A fault, what is told during it, and what is told afterwards."""

    id: str
    language: str
    fault: str
    during: tuple[UnknownQuestion, ...]
    after: tuple[UnknownQuestion, ...]


class FaultsTask:
    """Our own facts in five languages, and a stub that misbehaves."""

    name = "faults"
    about = "what is left of a session that was written down by a model that misbehaved"
    source: DatasetSource | None = None
    default_methods: tuple[str, ...] = ("search", "summary+search")
    alternatives: tuple[str, ...] = ()
    measures = (
        Measure(name="kept", about="facts told during the fault that a question brings back"),
        Measure(name="kept after", about="the same of facts told when the model worked again"),
        Measure(name="reported", about="the failure can be seen: an error, or a failed job"),
    )
    options: Mapping[str, str] = {"languages": "such as en,ja (default all five)"}

    def cases(self, data: Path | None, sample: Sample) -> tuple[FaultCase, ...]:
        """Every fault with two users a language."""
        del data
        asked = [question for question in questions.load() if question.fact]
        by_language = {
            language: tuple(group) for language, group in groupby(asked, lambda q: q.language)
        }
        wanted = sample.option("languages", ",".join(by_language)).split(",")
        return sample.draw(
            [
                FaultCase(
                    id=f"faults-{language}-{start}-{number}",
                    language=language,
                    fault=fault,
                    during=facts[start : start + FACTS_A_SESSION],
                    after=facts[start + FACTS_A_SESSION : start + 2 * FACTS_A_SESSION],
                )
                for language in wanted
                for facts in (by_language[language],)
                for start in range(0, len(facts), 2 * FACTS_A_SESSION)
                for number, fault in enumerate(FAULTS, 1)
            ]
        )

    async def run(self, case: FaultCase, trial: Trial) -> list[ScoredItem]:
        """Tell facts during the fault and after it, then ask for all of them."""
        talks = [session(case.during, day=0), session(case.after, day=3)]
        stub = FaultyNoteTaker([[one.text for one in talk] for talk in talks])
        cache = CallCache(None)
        model = MethodModel(SharedModel(stub, cache, concurrency=1))
        try:
            async with trial.lab.new_memory(
                trial.method, user=case.id, began=FIRST_DAY, model=model, partner="assistant"
            ) as under_test:
                stub.fault = case.fault
                reported = await _reported(under_test, talks[:1])
                stub.fault = ""
                await _retry(under_test)
                await under_test.replay(talks[1:])
                during = [await _found(under_test, one) for one in case.during]
                after = [await _found(under_test, one) for one in case.after]
        finally:
            cache.close()
        scores = {
            "kept": sum(during) / len(during),
            "kept after": sum(after) / len(after),
            "reported": float(reported),
        }
        return [ScoredItem(id=case.id, cluster=case.id, group=case.fault, scores=scores)]

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """No corpus-level measures."""
        del items
        return {}


async def _reported(under_test: MemoryUnderTest, talks: Sequence[Sequence[Utterance]]) -> bool:
    """Replay the talks. Returns whether anybody could see that writing them down failed."""
    try:
        await under_test.replay(talks)
    except ModelUnavailable:
        return True
    jobs = await under_test.memory.jobs(under_test.user, states=(JobState.DEAD,))
    rejected = await under_test.memory.rejected(under_test.user)
    return bool(jobs or rejected)


async def _retry(under_test: MemoryUnderTest) -> None:
    """Try again what failed, as a person would who saw it."""
    await under_test.memory.retry(under_test.user)
    await under_test.memory.run_jobs()


async def _found(under_test: MemoryUnderTest, question: UnknownQuestion) -> bool:
    """Whether the answer is in what memory adds to the prompt of the question."""
    brought = await under_test.recall_for(question.question, at=ASKED_AT)
    return any(re.search(question.answer, one.text, re.IGNORECASE) for one in brought)
