"""Instruction data on disk: what is learnt, what is held out, and a card that tells of it."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from omoide.tuning.building import Tally, build, held_out
from omoide.tuning.examples import TASKS, write
from omoide.tuning.sources import chosen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from omoide.tuning.examples import Example


@dataclass(frozen=True, kw_only=True)
class Made:
    """What was made."""

    examples: tuple[Example, ...]
    card: dict[str, object]
    counts: tuple[tuple[tuple[str, str, str], int], ...]
    facts: tuple[tuple[str, int], ...]
    trained: int
    kept: int

    def sample(self, count: int, *, seed: int = 1) -> list[Example]:
        """So many of each task, by chance."""
        dice = random.Random(seed)  # noqa: S311 - a choice, not a secret
        found: list[Example] = []
        for task in TASKS:
            own = [example for example in self.examples if example.task == task]
            found += dice.sample(own, min(count, len(own)))
        return found


def make(
    data: Path,
    folder: Path,
    *,
    names: tuple[str, ...] = (),
    tasks: Sequence[str] = (),
    most: int = 0,
    seed: int = 1,
    research: bool = False,
) -> Made:
    """Build and write all of it. Raises `BadInput` where data is missing or not allowed."""
    sources = chosen(names, research=research)
    tally = Tally()
    read = [(source, source.read(data)) for source in sources]
    examples = list(build(read, tasks=tasks or TASKS, seed=seed, tally=tally))
    random.Random(seed).shuffle(examples)  # noqa: S311 - an order, not a secret
    if most:
        seen: Counter[tuple[str, str]] = Counter()
        few = []
        for example in examples:
            seen[example.source, example.task] += 1
            if seen[example.source, example.task] <= most:
                few.append(example)
        examples = few
    kept = [example for example in examples if held_out(example)]
    learnt = [example for example in examples if not held_out(example)]
    folder.mkdir(parents=True, exist_ok=True)
    counts = Counter((e.source, e.task, e.language) for e in examples)
    card: dict[str, object] = {
        "sources": {source.name: source.licence for source in sources},
        "shippable": not any(source.research for source in sources),
        "seed": seed,
        "talks": tally.talks,
        "facts": dict(sorted(tally.facts.items())),
        "examples": {"/".join(key): count for key, count in sorted(counts.items())},
        "learnt": write(folder / "train.jsonl", learnt),
        "held_out": write(folder / "held-out.jsonl", kept),
        "characters of a prompt": _mean(sum(len(m.content) for m in e.messages) for e in examples),
        "characters of an answer": _mean(len(e.answer) for e in examples),
    }
    text = json.dumps(card, ensure_ascii=False, indent=1)
    (folder / "card.json").write_text(text, encoding="utf-8")
    return Made(
        examples=tuple(examples),
        card=card,
        counts=tuple(sorted(counts.items())),
        facts=tuple(sorted(tally.facts.items())),
        trained=len(learnt),
        kept=len(kept),
    )


def _mean(numbers: Iterable[int]) -> int:
    listed = list(numbers)
    return round(fmean(listed)) if listed else 0
