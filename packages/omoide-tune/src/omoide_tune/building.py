"""Turns talks into examples that use exactly the prompts that the mechanisms send.

Each task has its own file in `tasks`. Training and held-out talks are separated from the start:
joined stretches, decoys and history come from the same side as the example.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from typing import TYPE_CHECKING

from omoide.language import estimate_tokens
from omoide.mechanisms.summary import MAX_FACTS
from omoide_tune.chains import alternatives, chains, contradicted, joined
from omoide_tune.checked_talks import DataTally, told
from omoide_tune.examples import TASKS
from omoide_tune.hard_cases import long_sessions, with_planted_order
from omoide_tune.tasks.asked import ASKED, from_questions
from omoide_tune.tasks.choice import choices
from omoide_tune.tasks.events import events
from omoide_tune.tasks.facts import facts
from omoide_tune.tasks.fused import fused
from omoide_tune.tasks.iteration import iteration
from omoide_tune.tasks.memos import memos
from omoide_tune.tasks.naming import stretch
from omoide_tune.tasks.notes import notes
from omoide_tune.tasks.replies import SCENES, from_scenes, replies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from omoide.claims import NotedFact
    from omoide_tune.checked_talks import CheckedTalk
    from omoide_tune.examples import Example
    from omoide_tune.sources import TrainingSource
    from omoide_tune.talk import TrainingTalk

SHARE = 0.05
"""Share of the talks that is held out."""
MAX_EXAMPLE_TOKENS = 2000
"""Maximum estimated tokens of an example; the recipe's limit is 2,048."""
CONTRADICTED = 0.8
"""Share of the chains whose memory starts with something that they later contradict."""


def build(
    sources: Iterable[tuple[TrainingSource, Iterable[TrainingTalk]]],
    *,
    data: Path | None = None,
    tasks: Sequence[str] = TASKS,
    seed: int,
    tally: DataTally,
    order: float = 0.1,
    lengthy: float = 0.02,
    share: float = SHARE,
    most: int = 0,
    scenes: bool = True,
    paper: bool = False,
) -> Iterator[Example]:
    """All examples from the talks, the same for the same seed. `order` is the share with a planted
    instruction, `lengthy` the number of very long sessions per talk, `share` the held-out share,
    `most` the number of talks read per source and language (0 for all), `scenes` whether the
    replies include our own scenes and questions; `data` is the folder for data sets whose examples
    are not talks; `paper` makes the three tasks as paper C does."""
    for source, talks in sources:
        dice = random.Random(f"{seed}/{source.name}")  # noqa: S311 - an order, not a secret
        read = []
        for talk in sample_talks(talks, most, seed):
            tally.talks += 1
            read.append(told(talk, source.name, tally))
        for side in (False, True):
            for language in sorted({one.language for one in read}):
                one_side = [
                    one
                    for one in read
                    if one.language == language
                    and is_held_out(source.name, one.key, share=share) is side
                ]
                made = _examples(
                    one_side, tasks, dice, order=order, lengthy=lengthy, paper=paper,
                    rounds=source.rounds,
                )  # fmt: skip
                yield from tally.counted(_short(made))
        if source.made and data:
            found = (e for e in source.made(data, dice) if e.task in tasks)
            yield from tally.counted(_short(found))
    if "reply" in tasks and scenes and not paper:
        dice = random.Random(f"{seed}/{SCENES}")  # noqa: S311
        yield from tally.counted(_short(from_scenes(dice, times=2, order=order)))
        dice = random.Random(f"{seed}/{ASKED}")  # noqa: S311
        yield from tally.counted(_short(from_questions(dice, times=1)))


def held_out(example: Example, *, share: float = SHARE) -> bool:
    """Whether an example is held out. This depends on its source and key, so that no talk is on
    both sides."""
    return is_held_out(example.source, example.key, share=share)


def is_held_out(source: str, key: str, *, share: float = SHARE) -> bool:
    """Whether the talk with this key is held out."""
    digest = hashlib.sha256(f"{source}/{key}".encode()).digest()
    return int.from_bytes(digest[:4], "big") < share * 2**32


def sample_talks(talks: Iterable[TrainingTalk], most: int, seed: int) -> Iterator[TrainingTalk]:
    """About `most` talks of each language: whole chains, selected by the seed, in order."""
    if not most:
        yield from talks
        return
    every = list(talks)
    sizes = Counter((talk.language, talk.chain or talk.key) for talk in every)
    left: Counter[str] = Counter(dict.fromkeys({talk.language for talk in every}, most))
    taken = set()
    for name in sorted(sizes, key=lambda n: hashlib.sha256(f"{seed}/{n}".encode()).digest()):
        if left[name[0]] > 0:
            left[name[0]] -= sizes[name]
            taken.add(name)
    yield from (talk for talk in every if (talk.language, talk.chain or talk.key) in taken)


def _examples(
    talks: Sequence[CheckedTalk],
    tasks: Sequence[str],
    dice: random.Random,
    *,
    order: float,
    lengthy: float,
    paper: bool,
    rounds: int,
) -> Iterator[Example]:
    """The examples of one side of a source in one language."""
    if {"notes", "events"} & set(tasks):
        for one in (*talks, *long_sessions(talks, dice, share=lengthy)):
            talk = with_planted_order(one, dice) if dice.random() < order else one
            if "notes" in tasks:
                yield from notes(talk, dice)
            if "events" in tasks:
                yield from events(talk)
    if "notes" in tasks:
        for one in joined(talks, MAX_FACTS):
            yield from notes(one, dice)
    stretches = [part for one in talks for part in stretch(one, dice)]
    if "memos" in tasks:
        yield from memos(stretches, dice, paper=paper, rounds=rounds)
    if "choice" in tasks:
        yield from choices(stretches, dice, paper=paper, rounds=rounds)
    if {"iteration", "fused", "facts"} & set(tasks):
        yield from _chained(talks, tasks, dice, order=order)
    if "reply" in tasks:
        with_facts = [one for one in talks if one.facts]
        for one in (one for one in talks if one.facts or one.assisted):
            yield from replies(one, with_facts, dice, order=order, paper=paper)


def _chained(
    talks: Sequence[CheckedTalk], tasks: Sequence[str], dice: random.Random, *, order: float
) -> Iterator[Example]:
    others = alternatives(talks)
    for linked in chains(talks, dice):
        known: list[NotedFact] = []
        chain = linked
        if not any(one.changed for one in linked) and dice.random() < CONTRADICTED:
            known, chain = contradicted(linked, others, dice)
        meetings = [
            with_planted_order(one, dice) if dice.random() < order else one for one in chain
        ]
        if "iteration" in tasks:
            yield from iteration(meetings, known, dice)
        if "fused" in tasks:
            yield from fused(meetings, known)
        if "facts" in tasks:
            yield from facts(meetings, known)


def _short(examples: Iterable[Example]) -> Iterator[Example]:
    """The examples within the recipe's token limit."""
    for example in examples:
        text = "\n".join((*(m.content for m in example.messages), example.answer))
        if estimate_tokens(text) <= MAX_EXAMPLE_TOKENS:
            yield example
