"""What a memory puts into prompts that need nothing from it.

A user tells every second fact of our own questions. Questions for told facts show that the memory
works; questions for the others, and messages about the world, should bring nothing. No model is
asked, except by methods that write with one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from omoide.language import estimate_tokens
from omoide_bench.concurrency import gather_all
from omoide_bench.data.shapes import FIRST_DAY
from omoide_bench.quiet import talks
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

TOLD, NOT_TOLD, WORLD = "told", "not told", "the world"
FACTS_A_SESSION = 6
WORLD_MESSAGES = 2
"""Messages of each talk about the world."""


@dataclass(frozen=True, kw_only=True)
class NoiseCase:
    """What one user tells, and what is said later."""

    id: str
    language: str
    told: tuple[UnknownQuestion, ...]
    not_told: tuple[UnknownQuestion, ...]
    world: tuple[str, ...]

    def sessions(self) -> list[list[Utterance]]:
        """The sessions in which the facts are told."""
        return [
            session(self.told[start : start + FACTS_A_SESSION], day=start)
            for start in range(0, len(self.told), FACTS_A_SESSION)
        ]


class NoiseTask:
    """Our own facts and messages in five languages."""

    name = "noise"
    about = "what memory puts into prompts that need nothing from it; our own facts, five languages"
    source: DatasetSource | None = None
    default_methods: tuple[str, ...] = ("search",)
    alternatives: tuple[str, ...] = ()
    measures = (
        Measure(name="found", about="the answer is in what memory adds to the prompt"),
        Measure(name="precise", about="share of what memory adds that has the answer"),
        Measure(name="spoke up", about="memory added something to the prompt", better=0),
        Measure(name="tokens", about="what memory added, in tokens", percent=False, better=-1),
    )
    options: Mapping[str, str] = {"languages": "such as en,ja (default all five)"}

    def cases(self, data: Path | None, sample: Sample) -> tuple[NoiseCase, ...]:
        """One user a language."""
        del data
        asked = [question for question in questions.load() if question.fact]
        by_language = {
            language: tuple(group) for language, group in groupby(asked, lambda q: q.language)
        }
        wanted = sample.option("languages", ",".join(by_language)).split(",")
        world = {
            language: tuple(
                text
                for talk in talks.load()
                if talk.language == language
                for text in [text for who, text in talk.lines if who == "U"][:WORLD_MESSAGES]
            )
            for language in wanted
        }
        return sample.draw(
            [
                NoiseCase(
                    id=f"noise-{language}",
                    language=language,
                    told=by_language[language][::2],
                    not_told=by_language[language][1::2],
                    world=world[language],
                )
                for language in wanted
            ]
        )

    async def run(self, case: NoiseCase, trial: Trial) -> list[ScoredItem]:
        """Tell the facts in sessions, then see what each message brings."""
        sessions = case.sessions()
        asked = [
            *((TOLD, one.id, one.question, one.answer) for one in case.told),
            *((NOT_TOLD, one.id, one.question, "") for one in case.not_told),
            *((WORLD, f"{n}", text, "") for n, text in enumerate(case.world, 1)),
        ]
        async with trial.new_memory(
            user=case.id, began=FIRST_DAY, partner="assistant"
        ) as under_test:
            said = [one.text for part in sessions for one in part]
            await trial.prefetch_embeddings([*said, *(text for _, _, text, _ in asked)])
            await under_test.replay(sessions)
            return await gather_all(
                _item(case, under_test, group=group, name=name, text=text, answer=answer)
                for group, name, text, answer in asked
            )

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """No corpus-level measures."""
        del items
        return {}


async def _item(
    case: NoiseCase, under_test: MemoryUnderTest, *, group: str, name: str, text: str, answer: str
) -> ScoredItem:
    brought = [c.text for c in await under_test.recall_for(text, at=ASKED_AT)]
    scores = {
        "spoke up": float(bool(brought)),
        "tokens": float(sum(map(estimate_tokens, brought))),
    }
    if answer:
        hits = [bool(re.search(answer, one, re.IGNORECASE)) for one in brought]
        scores["found"] = float(any(hits))
        if hits:
            scores["precise"] = sum(hits) / len(hits)
    return ScoredItem(
        id=f"{case.id}/{group}/{name}",
        cluster=case.id,
        group=group,
        scores=scores,
        texts={"message": text, "brought": "\n".join(brought)},
    )
