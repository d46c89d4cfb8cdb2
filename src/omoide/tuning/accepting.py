"""Whether the product would take an answer: its own readers, its own guards, nothing mended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.errors import BadReply
from omoide.memory.guards import check, without_echoes, without_repeats
from omoide.memory.sources import attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Sentence, Turn
    from omoide.memory.summary.forms import Form
    from omoide.memory.transcript import Line

LIMIT = 20
"""Sentences of a memory, as the recursive summary has it."""


def accepted(
    form: Form,
    answer: str,
    *,
    old: Sequence[Sentence],
    lines: Sequence[Line],
    turns: Sequence[Turn],
    language: str,
) -> bool:
    """Whether the iterator would commit the memory in this answer at the first try, with every
    sentence of it kept."""
    try:
        reading = form.read([answer], old=old, session=lines, language=language, limit=LIMIT)
    except BadReply:
        return False
    distinct = without_repeats(reading.sentences)
    resting = [_resting(sentence, i) for i, sentence in enumerate(old)]
    cleaned = attribute(
        without_echoes(distinct, turns, language=language), old=resting, turns=turns
    )
    standing = [s for s in old if not any(part in s.text for part in reading.replaced)]
    problems = check(
        reading.sentences,
        cleaned=cleaned,
        old=standing,
        turns=turns,
        instructions="",
        language=language,
        limit=LIMIT,
    )
    return not problems and len(cleaned) == len(reading.sentences)


def _resting(sentence: Sentence, number: int) -> Sentence:
    """An old sentence with a turn to rest on, as it has in a store."""
    from dataclasses import replace

    return replace(sentence, sources=(f"before{number}",))
