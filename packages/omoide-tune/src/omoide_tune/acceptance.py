"""Checks whether the product would accept an answer: its own parsers and guards, no repairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.claims import check_summary, cite_sources, without_echoes, without_repeats
from omoide.errors import BadReply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Sentence, Turn
    from omoide.mechanisms import Line
    from omoide.mechanisms.summary import SummaryForm

LIMIT = 20
"""Maximum sentences of a memory, as in the recursive summary."""


def accepted(
    form: SummaryForm,
    answer: str,
    *,
    old: Sequence[Sentence],
    lines: Sequence[Line],
    turns: Sequence[Turn],
    language: str,
) -> bool:
    """Whether the summariser would commit the memory in this answer at the first try and keep every
    sentence of it."""
    try:
        reading = form.read([answer], old=old, session=lines, language=language, limit=LIMIT)
    except BadReply:
        return False
    distinct = without_repeats(reading.sentences)
    supported = [_with_source(sentence, i) for i, sentence in enumerate(old)]
    cleaned = cite_sources(
        without_echoes(distinct, turns, language=language), old=supported, turns=turns
    )
    remaining = [s for s in old if not any(part in s.text for part in reading.replaced)]
    problems = check_summary(
        reading.sentences,
        cleaned=cleaned,
        old=remaining,
        turns=turns,
        instructions="",
        language=language,
        limit=LIMIT,
    )
    return not problems and len(cleaned) == len(reading.sentences)


def _with_source(sentence: Sentence, number: int) -> Sentence:
    """An old sentence with a supporting turn, as it has in a store."""
    from dataclasses import replace

    return replace(sentence, sources=(f"before{number}",))
