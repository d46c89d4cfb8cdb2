"""What is lost and what is spared if fewer items come along with the best one.

    python benchmarks/recall_cutoff.py DATA/memorybank [DATA/dulemon …] [--items 30] [--each 20]

For each question the best items are recalled; kept are those at most so many log odds behind the
best. Printed for each cut-off: the share of the evidence that is kept, the items a question, and
the share of items that are evidence. The short facts of `recall_noise.py` come last, of their
questions those with an answer. The gate is taken to be open. No model is asked.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from omoide import Settings, Utterance, bootstrap
from omoide.domain import Speaker
from omoide_bench import corpora
from omoide_bench.data.shapes import FIRST_DAY
from omoide_bench.evidence import record
from omoide_bench.unknown import questions
from omoide_bench.unknown.telling import ASKED_AT, told

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from omoide import Memory
    from omoide.domain import RecalledItem
    from omoide_bench.corpora.questions import EvidenceConversation

    Answer = tuple[Sequence[RecalledItem], frozenset[str]]
    """What was recalled, best first, and the ids of the evidence."""

CUTS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 99.0)


async def of_corpus(
    memory: Memory, conversations: Sequence[EvidenceConversation], *, items: int
) -> AsyncIterator[Answer]:
    """The questions of a corpus."""
    for conversation in conversations:
        await record(memory, conversation)
        for asked in conversation.questions:
            found = await memory.recall(
                conversation.name,
                asked.text,
                k=items,
                at=asked.at,
                kinds=("turn",),
                asker=asked.asker,
            )
            yield found, asked.evidence


async def of_facts(memory: Memory, *, items: int) -> AsyncIterator[Answer]:
    """The questions about short facts, of which every second one was told."""
    numbers, known = defaultdict[str, int](int), []
    for question in questions.load():
        numbers[question.language] += 1
        if question.fact and numbers[question.language] % 2:
            text = told(question.fact, question.language)
            fact = Utterance(speaker=Speaker.USER, text=text, id=question.id)
            session = str(numbers[question.language] // 8)
            user = f"facts-{question.language}"
            await memory.record(user, [fact], session=session, at=FIRST_DAY)
            known.append(question)
    await memory.run_jobs()
    for question in known:
        user = f"facts-{question.language}"
        found = await memory.recall(user, question.question, k=items, at=ASKED_AT, kinds=("turn",))
        yield found, frozenset({question.id})


async def curve(name: str, answers: AsyncIterator[Answer]) -> None:
    """Print what each cut-off keeps."""
    kept, shown, count = defaultdict[float, float](float), defaultdict[float, int](int), 0
    hits = defaultdict[float, int](int)
    async for found, evidence in answers:
        count += 1
        for cut in CUTS:
            near = [i.sources[0] for i in found if i.score >= found[0].score - cut]
            right = len(evidence.intersection(near))
            kept[cut] += right / len(evidence)
            shown[cut] += len(near)
            hits[cut] += right
    for cut in CUTS:
        print(
            f"{name} ({count}) at {cut:4}: evidence {100 * kept[cut] / count:5.1f}, "
            f"items {shown[cut] / count:4.1f}, precision {hits[cut] / max(shown[cut], 1):.2f}"
        )


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--embedder", default="multilingual")
    parser.add_argument("--items", type=int, default=6)
    parser.add_argument("--each", type=int, default=1000, help="most conversations of a corpus")
    options = parser.parse_args()
    settings = Settings(db=Path(":memory:"), embedder=options.embedder, model="none")
    async with await bootstrap.open_runtime(settings) as runtime:
        memory = runtime.memory()
        for folder in options.folders:
            conversations = corpora.load(folder)[: options.each]
            await curve(folder.name, of_corpus(memory, conversations, items=options.items))
        await curve("short facts", of_facts(memory, items=options.items))


if __name__ == "__main__":
    asyncio.run(main())
