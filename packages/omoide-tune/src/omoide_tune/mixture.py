"""The mixture: a maximum for each task, with languages and sources as balanced as possible."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide_tune.annotated import ANNOTATED
from omoide_tune.examples import TASKS
from omoide_tune.hard_cases import kinds
from omoide_tune.stories.playing import STORIES
from omoide_tune.tasks.asked import ASKED, SHARES
from omoide_tune.thoroughness import facts, fullest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide_tune.examples import Example

MAX_EXAMPLES = {
    "notes": 1000,
    "events": 600,
    "iteration": 600,
    "fused": 400,
    "facts": 2600,
    "memos": 800,
    "choice": 800,
    "reply": 2400,
}
"""Training examples of each task: 9,200 in all."""
PAPER = {"memos": 1970, "choice": 1482, "reply": 1977}
"""Paper C's counts, 5,429 in all. Of each task 40 are for validation and 150 for the test:"""
PAPER_VALID, PAPER_TEST = 40, 150
PAPER_TRAIN = {task: count - PAPER_VALID - PAPER_TEST for task, count in PAPER.items()}
"""What is left for training: 4,859."""
WEIGHTS = {"en": 2.0}
"""A language's weight relative to the others; default 1."""
SOURCES = {ASKED: 1.5, STORIES: 8.0, ANNOTATED: 8.0}
"""A source's relative weight: a quarter of the replies are questions about the user, and every
story and every annotated chat is used."""
SINGLE = 0.25
"""Maximum share of notes with a single line."""
BRIEF = frozenset({"everyday"})
"""Sources whose talks contain few facts, all of them listed: short lists are right there."""
SILENT = 0.2
"""Share of a source's notes from talks without facts; up to a half if it has too few
others."""
FULL = 0.4
"""Share of a language's `iteration` examples that should start with a full memory, as far as
there are any: at least a third in all."""


def parsed(given: Sequence[str]) -> dict[str, int]:
    """Parse `notes=500` and the like. Raises `BadInput` for anything else."""
    found = {}
    for one in given:
        task, _, number = one.partition("=")
        if task not in TASKS or not number.isdigit():
            raise BadInput(f"{one!r}: wanted TASK=NUMBER, with a task of {', '.join(TASKS)}")
        found[task] = int(number)
    return found


def weighed(given: Sequence[str]) -> dict[str, float]:
    """Parse weights of sources, such as `msc=3`. Raises `BadInput` for anything else."""
    found = {}
    for one in given:
        name, _, number = one.partition("=")
        if not name or not number.isdigit() or not int(number):
            raise BadInput(f"{one!r}: wanted SOURCE=NUMBER, with a number of at least 1")
        found[name] = float(number)
    return found


def mixed(
    examples: Sequence[Example],
    most: Mapping[str, int],
    *,
    hard: float,
    weights: Mapping[str, float] | None = None,
) -> list[Example]:
    """At most the given number of each task (all examples of a task without one), with at least a
    share `hard` of hard cases as far as there are any, in their original order. `weights` are the
    relative weights of sources; the default is `SOURCES`, else 1."""
    tagged = [replace(example, hard=" ".join(kinds(example))) for example in examples]
    chosen: set[int] = set()
    for task in TASKS:
        own = [i for i, example in enumerate(tagged) if example.task == task]
        count = most.get(task, len(own))
        chosen.update(_chosen(tagged, own, count, hard, {**SOURCES, **(weights or {})}))
    return [example for i, example in enumerate(tagged) if i in chosen]


def _chosen(
    examples: Sequence[Example],
    own: Sequence[int],
    most: int,
    hard: float,
    weights: Mapping[str, float],
) -> list[int]:
    languages = _grouped(own, [examples[i].language for i in own])
    wanted = even_counts({k: len(v) for k, v in languages.items()}, most, WEIGHTS)
    found: list[int] = []
    for language, members in sorted(languages.items()):
        sources = _grouped(members, [examples[i].source for i in members])
        quotas = even_counts({k: len(v) for k, v in sources.items()}, wanted[language], weights)
        brimming = {k: sum(_full(examples[i]) for i in v) for k, v in sources.items()}
        full = even_counts(brimming, round(FULL * wanted[language]), weights)
        for source, listed in sorted(sources.items()):
            found += _preferred(examples, listed, quotas[source], hard, full[source])
    return found


def even_counts(
    there: Mapping[str, int], most: int, weights: Mapping[str, float]
) -> dict[str, int]:
    """How many of each group to take: shares by weight, and what one group cannot fill goes to
    the others."""
    found = dict.fromkeys(there, 0)
    left = min(most, sum(there.values()))
    while left > 0:
        open_ = {k: weights.get(k, 1.0) for k in sorted(there) if found[k] < there[k]}
        part = left / sum(open_.values())
        given = {k: min(there[k] - found[k], max(int(part * w), 0)) for k, w in open_.items()}
        if not any(given.values()):
            given = dict.fromkeys(list(open_)[:left], 1)
        for group, count in given.items():
            found[group] += count
        left -= sum(given.values())
    return found


def _full(example: Example) -> bool:
    """Whether the example starts with a full memory."""
    return example.task == "iteration" and "full" in example.hard.split()


def _preferred(
    examples: Sequence[Example], listed: Sequence[int], most: int, hard: float, full: int
) -> list[int]:
    """Hard cases first up to their share, then in order. Limits notes with a single line, takes
    the wanted share of full memories, and keeps the average number of facts
    thorough."""
    if not listed:
        return []
    if examples[listed[0]].source == ASKED:
        return _twinned(examples, listed, most)
    if examples[listed[0]].task == "choice":
        return list(listed[:most])  # its hard cases are those of NOTO; more would be too many
    first = [i for i in listed if examples[i].hard][: round(hard * most)]
    order = [*first, *(i for i in listed if i not in set(first))]
    if examples[listed[0]].task == "notes":
        silent = [i for i in order if "nothing" in examples[i].hard.split()]
        order = [i for i in order if i not in set(silent)]
        silent = silent[: max(round(SILENT * most), min(most - len(order), len(order)))]
        if examples[listed[0]].source in BRIEF:
            return [*silent, *order[: most - len(silent)]]
        few = [i for i in order if "\n" not in examples[i].answer][: round(SINGLE * most)]
        order = [i for i in order if "\n" in examples[i].answer or i in set(few)]
        return [*silent, *fullest(order, facts_of(order, examples), most - len(silent))]
    if examples[listed[0]].task == "iteration":
        fact_counts = facts_of(order, examples)
        brimming = fullest([i for i in order if _full(examples[i])], fact_counts, min(full, most))
        rest = [i for i in order if i not in set(brimming)]
        return [*brimming, *fullest(rest, fact_counts, most - len(brimming))]
    return order[:most]


def facts_of(order: Sequence[int], examples: Sequence[Example]) -> dict[int, float]:
    """Facts per speaker of each of these examples."""
    return {i: facts(examples[i]) for i in order}


def _twinned(examples: Sequence[Example], listed: Sequence[int], most: int) -> list[int]:
    """As many answerable as unanswerable examples of the same questions."""

    def turn(i: int) -> bytes:
        example = examples[i]
        question = example.messages[-1].content.partition("\n")[0]
        return hashlib.sha256(f"{example.key}/{question}".encode()).digest()

    order = sorted(listed, key=turn)
    sorts = _grouped(order, [examples[i].hard.split()[0] for i in order])
    quotas = even_counts({k: len(v) for k, v in sorts.items()}, most, SHARES)
    return [i for sort, members in sorted(sorts.items()) for i in members[: quotas[sort]]]


def _grouped(members: Sequence[int], names: Sequence[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for member, name in zip(members, names, strict=True):
        found[name].append(member)
    return found
