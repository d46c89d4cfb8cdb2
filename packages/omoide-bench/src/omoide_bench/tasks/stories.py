"""Stories told over three sessions: is every fact there at the end, dated, and the old one ended?

Only writing is examined: the assistant's replies are given. Scored without a judge.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omoide import Utterance
from omoide.domain import Speaker
from omoide_bench.running.items import ScoredItem
from omoide_bench.stories.reading import load_all
from omoide_bench.stories.scoring import StoryMemory, rotting, scores, stale, was_set_aside
from omoide_bench.tasks.base import Measure
from omoide_bench.tasks.memory_parts import COST, digest_cost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.data.source import DatasetSource
    from omoide_bench.running.memory_under_test import MemoryUnderTest
    from omoide_bench.stories.reading import Story
    from omoide_bench.tasks.base import Sample, Trial

_SPEAKERS = {"U": Speaker.USER, "A": Speaker.ASSISTANT}
_COUNT = re.compile(r"(\d+) ([a-z ]+)")


class StoriesTask:
    """Our own stories in five languages."""

    name = "stories"
    about = "are told facts kept, dated and ended when they change? Our own stories, five languages"
    source: DatasetSource | None = None
    default_methods: tuple[str, ...] = ("summary@facts",)
    alternatives: tuple[str, ...] = ()
    measures = (
        Measure(name="present", about="told facts that are in a fact that holds at the end"),
        Measure(name="changed", about="changed facts with the new one held and the old one ended"),
        Measure(name="dated", about="plans and events whose days are inside the true ones"),
        Measure(name="present before", about="what changed later, known at some time"),
        Measure(name="aside", about="told facts that are missing and were set aside", better=-1),
        Measure(name="rotting", about="facts with words such as 'next week'", better=-1),
        Measure(name="counts", about="entries of answers that are facts, changes or set aside"),
        Measure(name="failed", about="sessions without a usable answer", percent=False, better=-1),
        *COST,
    )
    options: Mapping[str, str] = {
        "languages": "such as en,ja (default all five)",
        "each": "at most so many stories a language",
    }

    def cases(self, data: Path | None, sample: Sample) -> tuple[Story, ...]:
        """The stories in the wanted languages."""
        del data
        loaded = load_all()
        wanted = sample.option("languages", ",".join({s.language: "" for s in loaded})).split(",")
        each = int(sample.option("each", str(len(loaded))))
        chosen = [
            story
            for story in loaded
            if story.language in wanted and int(story.id.partition("-")[2]) <= each
        ]
        return sample.draw(chosen)

    async def run(self, case: Story, trial: Trial) -> list[ScoredItem]:
        """Digest the sessions, each at its own time, then look at the facts."""
        sessions = [
            [
                Utterance(speaker=_SPEAKERS[who], text=text, time=at)
                for who, text, at in session.timed()
            ]
            for session in case.sessions
        ]
        began = next(case.sessions[0].timed())[2]
        async with trial.new_memory(user=case.id, began=began, partner="assistant") as under_test:
            await under_test.replay(sessions)
            memory = await _memory(under_test)
            costs = await digest_cost(under_test)
            counts = await _counts(under_test)
            failed = len(under_test.failed)
        items = [
            ScoredItem(
                id=f"{case.id} {told.name}",
                cluster=case.id,
                group=case.language,
                scores=scores(told, memory, ended=case.ended),
            )
            for told in case.facts
        ]
        whole = {"counts": counts, "failed": float(failed), **costs}
        if memory.facts:
            whole["rotting"] = len(rotting(case, memory.facts)) / len(memory.facts)
        return [
            *items,
            ScoredItem(
                id=case.id,
                cluster=case.id,
                group=case.language,
                scores=whole,
                texts=_texts(case, memory),
            ),
        ]

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """No corpus-level measures."""
        del items
        return {}


async def _memory(under_test: MemoryUnderTest) -> StoryMemory:
    """The facts, ended ones too, and what was set aside."""
    memory, user = under_test.memory, under_test.user
    return StoryMemory(
        facts=await memory.facts(user, ended=True),
        aside=await memory.rejected(user),
        at=under_test.runtime.clock.now(),
    )


async def _counts(under_test: MemoryUnderTest) -> float:
    """Share of the sessions of whose answer all that was added, replaced or set aside is in the
    store."""
    memory, user = under_test.memory, under_test.user
    facts, aside = await memory.facts(user, ended=True), await memory.rejected(user)
    right = []
    for version in await under_test.store.summaries.history(under_test.owner):
        counted = {name: int(n) for n, name in _COUNT.findall(" ".join(version.notes))}
        new = sum(fact.session == version.session for fact in facts)
        kept = sum(entry.session == version.session for entry in aside)
        right.append(
            new >= counted.get("added", 0) + counted.get("replaced", 0)
            and kept >= counted.get("set aside", 0)
        )
    return sum(right) / max(len(right), 1)


def _texts(story: Story, memory: StoryMemory) -> dict[str, str]:
    """What a reader wants to see: the facts, and what is wrong with them."""
    wrong = []
    for told in story.facts:
        got = scores(told, memory, ended=story.ended)
        if not got["present"]:
            why = " (set aside)" if was_set_aside(told, memory) else ""
            wrong.append(f"missing: {told.name}{why}")
        wrong += [
            f"still holds: {told.name}: {fact.text}"
            for fact in stale(told, memory, ended=story.ended)
        ]
        if got.get("dated") == 0.0:
            wrong.append(f"not dated: {told.name}, {told.first} to {told.last}")
    wrong += [f"relative: {fact.text}" for fact in rotting(story, memory.facts)]
    return {
        "title": story.title,
        "wrong": "\n".join(wrong),
        "facts": "\n".join(
            f"{'' if fact.holds(memory.at) else 'ENDED '}{fact.kind} "
            f"[{fact.since or ''}..{fact.until or ''}] {fact.text}"
            for fact in memory.facts
        ),
        "aside": "\n".join(f"{entry.text} ({'; '.join(entry.problems)})" for entry in memory.aside),
    }
