"""How often recall brings anything into a prompt, and how much of it is wanted.

    python benchmarks/recall_noise.py [--embedder none] [--profile large] [--msc DATA/msc]

- facts: short facts in five languages (`omoide_bench.unknown`), every second one told to a user.
  The others have no answer. Precision and recall of what `Memory.context` brings, and the
  share of unanswerable questions on which it is silent.
- quiet: what users say in talks about the world (`omoide_bench.quiet`), to the same memories:
  nothing should come.
- MSC: the last session of a dialogue over the earlier ones: chat, mostly with nothing to recall.
"""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from omoide import Settings, Utterance, bootstrap
from omoide.domain import Speaker
from omoide_bench.data import msc
from omoide_bench.quiet import talks
from omoide_bench.unknown import questions
from omoide_bench.unknown.telling import told

if TYPE_CHECKING:
    from omoide import Memory

START = datetime(2024, 5, 1, tzinfo=UTC)
LATER = START + timedelta(days=99)


@dataclass
class Tally:
    """Counts over the messages of one set."""

    messages: int = 0
    silent: int = 0
    items: int = 0
    wanted: int = 0
    found: int = 0
    unanswerable: int = 0
    silent_rightly: int = 0

    def line(self, name: str) -> str:
        """The counts as one line."""
        parts = [f"{name}: {self.messages} messages, {1 - self.silent / self.messages:.0%} get any"]
        if self.wanted:
            parts.append(f"recall {self.found / self.wanted:.2f}")
            parts.append(f"precision {self.found / max(self.items, 1):.2f}")
        if self.unanswerable:
            share = self.silent_rightly / self.unanswerable
            parts.append(f"silent on {share:.0%} of {self.unanswerable} without an answer")
        return ", ".join(parts)


async def brought(memory: Memory, user: str, said: str) -> list[str]:
    """The turns that a prompt for this message gets."""
    context = await memory.context(user, said, at=LATER)
    return [contribution.sources[0] for contribution in context.recalled]


async def facts(memory: Memory) -> Tally:
    """Questions about facts of which every second one was told."""
    tally, numbers = Tally(), dict[str, int]()
    asked = []
    for question in questions.load():
        number = numbers[question.language] = numbers.get(question.language, -1) + 1
        user, known = f"facts-{question.language}", number % 2 == 0 and bool(question.fact)
        if known:
            fact = Utterance(
                speaker=Speaker.USER, text=told(question.fact, question.language), id=question.id
            )
            await memory.record(user, [fact], session=str(number // 8), at=START)
        asked.append((user, question, known))
    await memory.run_jobs()
    for user, question, known in asked:
        ids = await brought(memory, user, question.question)
        tally.messages += 1
        tally.silent += not ids
        tally.items += len(ids)
        tally.wanted += known
        tally.found += known and question.id in ids
        tally.unanswerable += not known
        tally.silent_rightly += not known and not ids
    return tally


async def quiet(memory: Memory) -> Tally:
    """What is said in talks about the world."""
    tally = Tally()
    for talk in talks.load():
        for text in [text for who, text in talk.lines if who == "U"][:2]:
            ids = await brought(memory, f"facts-{talk.language}", text)
            tally.messages += 1
            tally.silent += not ids
            tally.items += len(ids)
    return tally


async def chat(memory: Memory, folder: Path, *, dialogues: int) -> Tally:
    """What people say in the last session of a dialogue."""
    tally = Tally()
    for dialogue in msc.load(folder, limit=dialogues):
        last = max(line.session for line in dialogue.lines)
        for number in range(1, last):
            turns = [
                Utterance(
                    speaker=Speaker.USER
                    if line.speaker == dialogue.speakers[0]
                    else Speaker.ASSISTANT,
                    text=line.text,
                )
                for line in dialogue.lines
                if line.session == number
            ]
            at = START + timedelta(days=number)
            await memory.record(dialogue.id, turns, session=str(number), at=at)
        await memory.run_jobs()
        for line in dialogue.lines:
            if line.session == last and line.speaker == dialogue.speakers[0]:
                ids = await brought(memory, dialogue.id, line.text)
                tally.messages += 1
                tally.silent += not ids
                tally.items += len(ids)
    return tally


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="multilingual")
    parser.add_argument("--msc", type=Path)
    parser.add_argument("--dialogues", type=int, default=20)
    parser.add_argument("--profile", choices=("small", "large"), default="small")
    given = parser.parse_args()
    settings = Settings(
        db=Path(":memory:"),
        mechanisms=("search",),
        embedder=given.embedder,
        model="none",
        profile=given.profile,
    )
    async with await bootstrap.open_runtime(settings) as runtime:
        memory = runtime.memory()
        print((await facts(memory)).line("facts"))
        print((await quiet(memory)).line("quiet"))
        if given.msc:
            print((await chat(memory, given.msc, dialogues=given.dialogues)).line("MSC"))


if __name__ == "__main__":
    asyncio.run(main())
