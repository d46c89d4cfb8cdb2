"""Talks that we wrote about the world and the day: a user asks, gets help, or settles something.

Most of them tell nothing lasting of their speakers, and what they are about stands in a topic and a
summary of their own. Without such talks a model learns that every talk is two people telling of
themselves, and writes of whoever explains metabolism that they are a molecule (docs/LOG.md).
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.language import LANGUAGES
from omoide.memory.transcript import Line
from omoide.tuning.talk import Talk
from omoide.tuning.written import Spoken, spoken

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SILENT = 3
"""Meetings of a chain at which nothing is told, after one at which something is: they leave the
memory as it is."""
SEED = 3
_SPEAKERS = {"U": Speaker.USER, "A": Speaker.ASSISTANT}


def read(folder: Path) -> Iterator[Talk]:
    """Every talk of every language; nothing is read from the folder."""
    del folder
    for language in LANGUAGES:
        order = list(spoken(language))
        random.Random(f"{SEED}/{language}").shuffle(order)  # noqa: S311 - an order, not a secret
        tell = [one for one in order if one.user or one.friend]
        tell_nothing = [one for one in order if one not in tell]
        for number in range(max(len(tell), -(-len(tell_nothing) // SILENT))):
            silent = tell_nothing[SILENT * number :][:SILENT]
            for one in (*tell[number : number + 1], *silent):
                yield _talk(one, f"{language}/{number}")


def _talk(one: Spoken, chain: str) -> Talk:
    return Talk(
        key=one.key,
        chain=chain,
        language=one.language,
        lines=tuple(Line(speaker=_SPEAKERS[who], text=text) for who, text in one.lines),
        known=(
            *((Speaker.USER, text) for text in one.user),
            *((Speaker.ASSISTANT, text) for text in one.friend),
        ),
        complete=True,
        topic=one.topic,
        summary=one.summary,
        later=one.later,
        assisted=not one.scene,
    )
