"""Hand-written talks about the world and everyday matters: a user asks, gets help, or arranges
something.

Most of them say nothing lasting about their speakers. Each has its own topic and
summary. Without such talks a model learns that in every talk two people tell about
themselves, and writes of a user who explains metabolism that they are a molecule
(docs/experiments/*-nothing-told.md).
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.language import LANGUAGES
from omoide.mechanisms import Line
from omoide_tune.talk import TrainingTalk
from omoide_tune.written import WrittenTalk, spoken

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SILENT = 3
"""Meetings of a chain without facts, after one with some: they leave the memory as it is."""
SEED = 3
_SPEAKERS = {"U": Speaker.USER, "A": Speaker.ASSISTANT}


def read(folder: Path) -> Iterator[TrainingTalk]:
    """Every talk of every language; nothing is read from the folder."""
    del folder
    for language in LANGUAGES:
        order = list(spoken(language))
        random.Random(f"{SEED}/{language}").shuffle(order)  # noqa: S311 - an order, not a secret
        with_facts = [one for one in order if one.user or one.friend]
        without_facts = [one for one in order if one not in with_facts]
        for number in range(max(len(with_facts), -(-len(without_facts) // SILENT))):
            silent = without_facts[SILENT * number :][:SILENT]
            for one in (*with_facts[number : number + 1], *silent):
                yield _talk(one, f"{language}/{number}")


def _talk(one: WrittenTalk, chain: str) -> TrainingTalk:
    return TrainingTalk(
        key=one.key,
        chain=chain,
        language=one.language,
        lines=tuple(Line(speaker=_SPEAKERS[who], text=text) for who, text in one.lines),
        known=(
            *((Speaker.USER, text) for text in one.user),
            *((Speaker.ASSISTANT, text) for text in one.friend),
        ),
        complete=True,
        topic=one.topic if one.summary else "",
        summary=one.summary,
        later=one.later,
        assisted=not one.scene,
    )
