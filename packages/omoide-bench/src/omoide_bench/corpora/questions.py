"""The data that recall is measured on: conversations, and questions with known evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.domain import Speaker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from omoide_bench.data.shapes import DatasetLine, DatasetQuestion, Dialogue


@dataclass(frozen=True, kw_only=True)
class EvidenceQuestion:
    """A question and the turns with its answer."""

    text: str
    category: int
    evidence: frozenset[str]
    at: datetime
    asker: Speaker = Speaker.USER
    """Who "I" is in the question."""


@dataclass(frozen=True, kw_only=True)
class EvidenceConversation:
    """A conversation of two people over many sessions, with questions."""

    name: str
    speakers: tuple[str, str]
    lines: tuple[DatasetLine, ...]
    questions: tuple[EvidenceQuestion, ...]
    """The questions with known evidence."""
    unanswerable: tuple[EvidenceQuestion, ...] = ()
    """Questions about things that were never mentioned."""
    named: bool = False
    """Whether the speakers call each other by these names."""


def conversation(
    dialogue: Dialogue,
    questions: Iterable[EvidenceQuestion],
    *,
    unanswerable: Iterable[EvidenceQuestion] = (),
    name: str = "",
    named: bool = False,
) -> EvidenceConversation:
    """A dialogue with its questions, without empty lines."""
    first, second = dialogue.speakers
    return EvidenceConversation(
        name=name or dialogue.id,
        speakers=(first, second),
        lines=tuple(line for line in dialogue.lines if line.text.strip()),
        questions=tuple(questions),
        unanswerable=tuple(unanswerable),
        named=named,
    )


def with_evidence(
    questions: Iterable[DatasetQuestion], categories: Mapping[str, int]
) -> Iterator[EvidenceQuestion]:
    """The questions of these categories that name their evidence."""
    for q in questions:
        if q.evidence and q.category in categories:
            yield EvidenceQuestion(
                text=q.text, category=categories[q.category], evidence=q.evidence, at=q.at
            )
