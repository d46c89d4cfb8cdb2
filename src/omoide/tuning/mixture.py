"""How much of what: the tasks by a most for each, languages and sources as even as they can be."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.tuning.examples import TASKS
from omoide.tuning.hard import kinds
from omoide.tuning.thorough import facts, fullest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.tuning.examples import Example

MOST = {
    "notes": 2000,
    "events": 900,
    "iteration": 1000,
    "fused": 500,
    "memos": 500,
    "choice": 600,
    "reply": 1500,
}
"""Examples of each task to learn from: 7,000 in all."""
PAPER = {"memos": 1970, "choice": 1482, "reply": 1977}
"""Paper C's, 5,429 in all; and to be judged by:"""
PAPER_VALID, PAPER_TEST = 40, 150
WEIGHTS = {"en": 2.0}
"""A language's share beside the others'; 1 where nothing is said."""
SINGLE = 0.25
"""Share of the notes that may have a single line."""
FULL = 0.4
"""Share of a language's memories carried along that should be full before the session, as far as
there are any: in all at least a third."""


def parsed(given: Sequence[str]) -> dict[str, int]:
    """`notes=500` and the like as numbers. Raises `BadInput` for what is not like that."""
    found = {}
    for one in given:
        task, _, number = one.partition("=")
        if task not in TASKS or not number.isdigit():
            raise BadInput(f"{one!r} is not TASK=NUMBER with a task out of {', '.join(TASKS)}")
        found[task] = int(number)
    return found


def weighed(given: Sequence[str]) -> dict[str, float]:
    """`msc=3` and the like as weights of sources. Raises `BadInput` for what is not like that."""
    found = {}
    for one in given:
        name, _, number = one.partition("=")
        if not name or not number.isdigit() or not int(number):
            raise BadInput(f"{one!r} is not SOURCE=NUMBER with a number from 1")
        found[name] = float(number)
    return found


def mixed(
    examples: Sequence[Example],
    most: Mapping[str, int],
    *,
    hard: float,
    weights: Mapping[str, float] | None = None,
) -> list[Example]:
    """At most so many of each task (a task that is not named, all), with at least a share `hard`
    of hard cases as far as there are any, in the order they came. `weights` are the sources'
    shares beside one another, 1 where nothing is said."""
    tagged = [replace(example, hard=" ".join(kinds(example))) for example in examples]
    chosen: set[int] = set()
    for task in TASKS:
        own = [i for i, example in enumerate(tagged) if example.task == task]
        count = most.get(task, len(own))
        chosen.update(_chosen(tagged, own, count, hard, weights or {}))
    return [example for i, example in enumerate(tagged) if i in chosen]


def _chosen(
    examples: Sequence[Example],
    own: Sequence[int],
    most: int,
    hard: float,
    weights: Mapping[str, float],
) -> list[int]:
    languages = _grouped(own, [examples[i].language for i in own])
    wanted = level({k: len(v) for k, v in languages.items()}, most, WEIGHTS)
    found: list[int] = []
    for language, members in sorted(languages.items()):
        sources = _grouped(members, [examples[i].source for i in members])
        quotas = level({k: len(v) for k, v in sources.items()}, wanted[language], weights)
        brimming = {k: sum(_full(examples[i]) for i in v) for k, v in sources.items()}
        full = level(brimming, round(FULL * wanted[language]), weights)
        for source, listed in sorted(sources.items()):
            found += _preferred(examples, listed, quotas[source], hard, full[source])
    return found


def level(there: Mapping[str, int], most: int, weights: Mapping[str, float]) -> dict[str, int]:
    """How many of each group, so that all get as much by weight as there is of them, and what one
    leaves goes to the others."""
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
    """Whether a memory is carried along that is full."""
    return example.task == "iteration" and "full" in example.hard.split()


def _preferred(
    examples: Sequence[Example], listed: Sequence[int], most: int, hard: float, full: int
) -> list[int]:
    """Hard cases first up to their share, then as they come; of notes few with a single line, of
    memories carried along so many that are full, and of what is remembered so much as to be
    thorough."""
    if not listed:
        return []
    if examples[listed[0]].task == "choice":
        return list(listed[:most])  # its hard cases are those of NOTO: more would be too many
    first = [i for i in listed if examples[i].hard][: round(hard * most)]
    order = [*first, *(i for i in listed if i not in set(first))]
    if examples[listed[0]].task == "notes":
        few = [i for i in order if "\n" not in examples[i].answer][: round(SINGLE * most)]
        order = [i for i in order if "\n" in examples[i].answer or i in set(few)]
    if examples[listed[0]].task in ("notes", "iteration"):
        told = {i: facts(examples[i]) for i in order}
        brimming = fullest([i for i in order if _full(examples[i])], told, min(full, most))
        rest = [i for i in order if i not in set(brimming)]
        return [*brimming, *fullest(rest, told, most - len(brimming))]
    return order[:most]


def _grouped(members: Sequence[int], names: Sequence[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for member, name in zip(members, names, strict=True):
        found[name].append(member)
    return found
