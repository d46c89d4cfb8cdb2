"""How often a prompt shows what is no longer true as if it still were. No model is asked.

    python benchmarks/stale_turns.py [--profile large] [--embedder none]

The stories of `omoide_tune` are played with their authors' notes, so that memory is right: what
changed has ended, and the new fact has replaced it. Then each message of the last day that asks for
something that changed gets its prompt. A recalled turn is stale if a fact that it supports has
ended; its line is marked if it holds the day until which it was true.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING

from omoide import Settings, Utterance
from omoide.bootstrap import make_embedder, temporary_store
from omoide.engine import Runtime
from omoide.language import LANGUAGES
from omoide_tune.stories.playing import RightAnswers
from omoide_tune.stories.reading import stories

if TYPE_CHECKING:
    from omoide import Memory
    from omoide.domain import Fact
    from omoide.ports import Embedder
    from omoide_tune.stories.reading import TrainingStory

EVENING = time(20, 0, tzinfo=UTC)


class StoryClock:
    """The time of the story."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        """The time that was set last."""
        return self.at


async def tell(memory: Memory, model: RightAnswers, clock: StoryClock) -> None:
    """Tell a story's sessions, each digested with its author's notes."""
    story = model.story
    for session in story.told:
        began = datetime.combine(session.day, EVENING)
        said = [
            Utterance(speaker=speaker, text=text, time=began + timedelta(minutes=minute))
            for minute, (speaker, text) in enumerate(session.lines)
        ]
        clock.at, model.notes = began + timedelta(minutes=len(said)), session.notes
        await memory.record(story.key, said, session=session.day.isoformat())
        await memory.end_session(story.key, at=clock.at)
        await memory.run_jobs()


async def measure(
    story: TrainingStory, settings: Settings, embedder: Embedder | None
) -> Counter[str]:
    """Counts over the prompts of one story's messages, by kind of message."""
    clock = StoryClock(datetime.combine(story.sessions[0].day, EVENING))
    store, model = await temporary_store(), RightAnswers(story)
    runtime = Runtime(
        replace(settings, profile="small", reply_form="small"),  # the notes are in its form
        store=store,
        clock=clock,
        model=model,
        embedder=embedder,
        owns=[store],
    )
    asked = Runtime(settings, store=store, clock=clock, model=model, embedder=embedder)
    memory, counts = asked.memory(), Counter[str]()
    try:
        await tell(runtime.memory(), model, clock)
        facts = {fact.id: fact for fact in await memory.facts(story.key, ended=True)}
        clock.at = datetime.combine(story.last_day, EVENING)
        for message in story.messages:
            context = await memory.context(story.key, message.text)
            lines = {c.sources[0]: c.text for c in context.recalled if c.kind == "turn"}
            counts += _judged(lines, facts, "changed" if message.kind == "changed" else "others")
    finally:
        await asked.close()
        await runtime.close()
    return counts


def _judged(lines: dict[str, str], facts: dict[str, Fact], kind: str) -> Counter[str]:
    """What the recalled lines of one prompt are."""
    counts = Counter({f"{kind}: prompts": 1, f"{kind}: lines": len(lines)})
    unmarked = 0
    for turn, line in lines.items():
        over = [f for f in facts.values() if turn in f.sources and f.ended is not None]
        if not over:
            continue
        counts[f"{kind}: stale lines"] += 1
        holds = any(turn in f.sources and f.ended is None for f in facts.values())
        counts[f"{kind}: stale lines, of which some holds"] += holds
        mark = line.rpartition("[")[2]
        unmarked += not any(day in mark for f in over for day in _days(f))
    counts[f"{kind}: stale lines, unmarked"] += unmarked
    counts[f"{kind}: prompts with an unmarked stale line"] += bool(unmarked)
    return counts


def _days(fact: Fact) -> tuple[str, ...]:
    """The days that a mark may give as the last one."""
    days = (fact.until, fact.ended.date() if fact.ended else None)
    return tuple(f"{day.isoformat()}" for day in days if day is not None)


async def main() -> None:
    """Play all stories and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", choices=("small", "large"), default="small")
    parser.add_argument("--embedder", default=Settings().embedder)
    parser.add_argument("--each", type=int, default=1000, help="most stories a language")
    options = parser.parse_args()
    settings = replace(
        Settings(),
        profile=options.profile,
        reply_form="small" if options.profile == "small" else "chat",
        timezone="UTC",
        layers=("none",),
        embedder=options.embedder,
    )
    embedder = make_embedder(settings)
    total = Counter[str]()
    try:
        for language in LANGUAGES:
            counts = Counter[str]()
            for story in stories(language)[: options.each]:
                counts += await measure(story, settings, embedder)
            share = counts["changed: prompts with an unmarked stale line"]
            print(f"{language}: {share} of {counts['changed: prompts']} prompts for what changed")
            total += counts
    finally:
        if embedder is not None:
            await embedder.close()
    for name, count in total.items():
        print(f"{name}: {count}")


if __name__ == "__main__":
    asyncio.run(main())
