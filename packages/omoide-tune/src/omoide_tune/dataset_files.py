"""Instruction data on disk: training and held-out examples, and a card that describes them."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from omoide.language import estimate_tokens
from omoide_tune.building import SHARE, build, held_out
from omoide_tune.checked_talks import DataTally
from omoide_tune.contrast import contrasted
from omoide_tune.examples import TASKS, write
from omoide_tune.lessons import lessons, with_lessons
from omoide_tune.mixture import (
    MAX_EXAMPLES,
    PAPER,
    PAPER_TEST,
    PAPER_TRAIN,
    PAPER_VALID,
    mixed,
)
from omoide_tune.sources import SOURCES, select_sources
from omoide_tune.tasks.asked import ASKED
from omoide_tune.tasks.replies import SCENES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from omoide_tune.examples import Example


@dataclass(frozen=True, kw_only=True)
class MadeDataset:
    """The examples and counts of a data set that was written."""

    examples: tuple[Example, ...]
    card: dict[str, object]
    counts: tuple[tuple[tuple[str, str, str], int], ...]
    facts: tuple[tuple[str, int], ...]
    trained: int
    kept: int

    def sample(self, count: int, *, seed: int = 1) -> list[Example]:
        """`count` random examples of each task."""
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
    languages: Sequence[str] = (),
    most: Mapping[str, int] | None = None,
    hard: float = 0.4,
    order: float = 0.1,
    talks: int | None = None,
    seed: int = 1,
    research: bool = False,
    paper: bool = False,
    taught: Sequence[Path] = (),
    weights: Mapping[str, float] | None = None,
    contrast: int = 0,
) -> MadeDataset:
    """Build and write the data set, in all languages if none is named. `most` overrides the counts
    of tasks; `hard` is the minimum share of hard cases, `order` that of planted instructions,
    `talks` how many are read per source and language (0 for all; default 450, with `paper` all).
    `paper` makes paper C's three tasks with its counts and splits: of each, 40 are for validation
    (held-out.jsonl), 150 for the test (test.jsonl) and the rest for training.
    `taught` are files with facts that models found in the talks (`omoide tune teach`).
    `weights` are the relative weights of sources. With `contrast` lessons of facts that change
    something are added in so many other orders of what is known, and without some of what they end.
    Raises `BadInput` if data is missing or not allowed."""
    sources = select_sources(names, research=research)
    tasks = tuple(PAPER) if paper else tuple(tasks) or TASKS
    share = 4 * SHARE if paper else SHARE
    talks = (0 if paper else 450) if talks is None else talks
    tally = DataTally()
    given = [lesson for path in taught for lesson in lessons(path)]
    read = [
        (source, with_lessons(source.talks(data, languages), source.name, given))
        for source in sources
    ]
    found = list(
        build(
            read, data=data, tasks=tasks, seed=seed, tally=tally, order=0.0 if paper else order,
            share=share, most=talks,
            scenes=not names or "own" in names, paper=paper,
        )
    )  # fmt: skip
    found = [e for e in found if not languages or e.language in languages]
    random.Random(seed).shuffle(found)  # noqa: S311 - an order, not a secret
    wanted = {**(PAPER_TRAIN if paper else MAX_EXAMPLES), **(most or {})}
    training = mixed(
        [e for e in found if not held_out(e, share=share)], wanted, hard=hard, weights=weights
    )
    if contrast:
        training = contrasted(training, random.Random(seed), orders=contrast)  # noqa: S311
    evaluation = [e for e in found if held_out(e, share=share)]
    tested: list[Example] = []
    if paper:
        tested = mixed(
            [e for e in evaluation if not _validates(e)], dict.fromkeys(PAPER, PAPER_TEST), hard=0.0
        )
        evaluation = [e for e in evaluation if _validates(e)]
    few = {
        task: PAPER_VALID if paper else max(round(count * SHARE), 1)
        for task, count in wanted.items()
    }
    kept = mixed(evaluation, few, hard=hard, weights=weights)
    examples = [*training, *kept, *tested]
    folder.mkdir(parents=True, exist_ok=True)
    counts = Counter((e.source, e.task, e.language) for e in examples)
    used = {e.source for e in examples}
    licences = {source.name: source.licence for source in sources}
    card: dict[str, object] = {
        "sources": licences | {own: "made by us" for own in (SCENES, ASKED) if own in used},
        "left out by licence": {
            source.name: source.licence
            for source in SOURCES
            if source.research and source not in sources
        },
        "shippable": not any(source.research for source in sources)
        and all(lesson.model for lesson in given),  # without a name the licence is unknown
        "seed": seed,
        **({"further orders of what is known": contrast} if contrast else {}),
        "talks": tally.talks,
        "facts": dict(sorted(tally.facts.items())),
        **({"taught by": dict(sorted(tally.taught.items()))} if taught else {}),
        "examples": {"/".join(key): count for key, count in sorted(counts.items())},
        "most": {task: wanted[task] for task in tasks},
        "hard cases": dict(
            sorted(Counter(kind for e in examples for kind in e.hard.split()).items())
        ),
        "learnt": write(folder / "train.jsonl", training),
        "held_out": write(folder / "held-out.jsonl", kept),
        **({"tested": write(folder / "test.jsonl", tested)} if paper else {}),
        "characters of a prompt": _mean(sum(len(m.content) for m in e.messages) for e in examples),
        "tokens of a prompt, by estimate": _mean(
            sum(estimate_tokens(m.content) for m in e.messages) for e in examples
        ),
        "characters of an answer": _mean(len(e.answer) for e in examples),
    }
    text = json.dumps(card, ensure_ascii=False, indent=1)
    (folder / "card.json").write_text(text, encoding="utf-8")
    return MadeDataset(
        examples=tuple(examples),
        card=card,
        counts=tuple(sorted(counts.items())),
        facts=tuple(sorted(tally.facts.items())),
        trained=len(training),
        kept=len(kept),
    )


def _validates(example: Example) -> bool:
    """Whether a held-out example of paper C's setting is for validation; depends on its key."""
    digest = hashlib.sha256(f"valid/{example.source}/{example.key}".encode()).digest()
    return digest[0] < 64


def _mean(numbers: Iterable[int]) -> int:
    listed = list(numbers)
    return round(fmean(listed)) if listed else 0
