"""Talks become examples, in the very prompts that the mechanisms send.

Each task has a file of its own in `tasks`. The two sides are kept apart from the start: stretches
that are joined, decoys and history come from the example's own side.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from typing import TYPE_CHECKING

from omoide.language import estimate_tokens
from omoide.memory.summary.small_form import MOST
from omoide.tuning.chains import alternatives, chains, contradicted, joined
from omoide.tuning.examples import TASKS
from omoide.tuning.hard import long, ordered
from omoide.tuning.tasks.asked import ASKED, from_questions
from omoide.tuning.tasks.choice import choices
from omoide.tuning.tasks.events import events
from omoide.tuning.tasks.fused import fused
from omoide.tuning.tasks.iteration import iteration
from omoide.tuning.tasks.memos import memos
from omoide.tuning.tasks.naming import stretch
from omoide.tuning.tasks.notes import notes
from omoide.tuning.tasks.replies import SCENES, from_scenes, replies
from omoide.tuning.told import Tally, told

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from omoide.memory.summary.facts import Fact
    from omoide.tuning.examples import Example
    from omoide.tuning.sources import Source
    from omoide.tuning.talk import Talk
    from omoide.tuning.told import Told

SHARE = 0.05
"""How much is held out."""
LONGEST = 2000
"""Tokens of an example, by estimate: the recipe has 2,048."""
CONTRADICTED = 0.8
"""Share of the chains whose memory begins with something that they then tell otherwise."""


def build(
    sources: Iterable[tuple[Source, Iterable[Talk]]],
    *,
    data: Path | None = None,
    tasks: Sequence[str] = TASKS,
    seed: int,
    tally: Tally,
    order: float = 0.1,
    lengthy: float = 0.02,
    share: float = SHARE,
    most: int = 0,
    scenes: bool = True,
    paper: bool = False,
) -> Iterator[Example]:
    """All examples that the talks give, the same for the same seed. `order` is the share with an
    order planted in it, `lengthy` how many very long sessions there are to a talk, `share` what is
    held out, `most` how many talks of a source and language are read (all if 0), `scenes` whether
    our own scenes and questions are among the replies; `data` is the folder for sets whose
    examples are no talks; `paper` makes the three tasks as paper C does."""
    for source, talks in sources:
        dice = random.Random(f"{seed}/{source.name}")  # noqa: S311 - an order, not a secret
        read = []
        for talk in some(talks, most, seed):
            tally.talks += 1
            read.append(told(talk, source.name, tally))
        for side in (False, True):
            for language in sorted({one.language for one in read}):
                own = [
                    one
                    for one in read
                    if one.language == language and apart(source.name, one.key, share=share) is side
                ]
                made = _made(
                    own, tasks, dice, order=order, lengthy=lengthy, paper=paper,
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
    """Whether an example is kept from training: by its source and key, so that no talk is on both
    sides."""
    return apart(example.source, example.key, share=share)


def apart(source: str, key: str, *, share: float = SHARE) -> bool:
    """Whether what has this key is held out."""
    digest = hashlib.sha256(f"{source}/{key}".encode()).digest()
    return int.from_bytes(digest[:4], "big") < share * 2**32


def some(talks: Iterable[Talk], most: int, seed: int) -> Iterator[Talk]:
    """About so many talks of each language, whole chains, chosen by the seed, in order."""
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


def _made(
    talks: Sequence[Told],
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
        for one in (*talks, *long(talks, dice, share=lengthy)):
            shown = ordered(one, dice) if dice.random() < order else one
            if "notes" in tasks:
                yield from notes(shown, dice)
            if "events" in tasks:
                yield from events(shown)
    if "notes" in tasks:
        for one in joined(talks, MOST):
            yield from notes(one, dice)
    stretches = [part for one in talks for part in stretch(one, dice)]
    if "memos" in tasks:
        yield from memos(stretches, dice, paper=paper, rounds=rounds)
    if "choice" in tasks:
        yield from choices(stretches, dice, paper=paper, rounds=rounds)
    if {"iteration", "fused"} & set(tasks):
        yield from _chained(talks, tasks, dice, order=order)
    if "reply" in tasks:
        told_some = [one for one in talks if one.facts]
        for one in (one for one in talks if one.facts or one.assisted):
            yield from replies(one, told_some, dice, order=order, paper=paper)


def _chained(
    talks: Sequence[Told], tasks: Sequence[str], dice: random.Random, *, order: float
) -> Iterator[Example]:
    others = alternatives(talks)
    for linked in chains(talks, dice):
        known: list[Fact] = []
        chain = linked
        if not any(one.changed for one in linked) and dice.random() < CONTRADICTED:
            known, chain = contradicted(linked, others, dice)
        shown = [ordered(one, dice) if dice.random() < order else one for one in chain]
        if "iteration" in tasks:
            yield from iteration(shown, known, dice)
        if "fused" in tasks:
            yield from fused(shown, known)


def _short(examples: Iterable[Example]) -> Iterator[Example]:
    """Those that the recipe's length holds."""
    for example in examples:
        text = "\n".join((*(m.content for m in example.messages), example.answer))
        if estimate_tokens(text) <= LONGEST:
            yield example
