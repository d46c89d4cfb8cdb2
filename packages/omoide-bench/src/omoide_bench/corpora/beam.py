"""BEAM (Tavakoli et al. 2026): a user and an assistant; nine of its ten kinds of questions name the
messages that they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide_bench.corpora.questions import (
    EvidenceConversation,
    EvidenceQuestion,
    conversation,
    with_evidence,
)
from omoide_bench.data import beam

if TYPE_CHECKING:
    from pathlib import Path

FILE = "500k_1.json.gz"
KINDS = (
    "contradiction_resolution", "event_ordering", "information_extraction",
    "instruction_following", "knowledge_update", "multi_session_reasoning",
    "preference_following", "summarization", "temporal_reasoning",
)  # fmt: skip
CATEGORIES = {kind: 20 + n for n, kind in enumerate(KINDS)}
UNANSWERABLE = "abstention"


def load(folder: Path) -> tuple[EvidenceConversation, ...]:
    """All chats; a question without evidence is asked only if it is one of `UNANSWERABLE`."""
    return tuple(
        conversation(
            dialogue,
            with_evidence(dialogue.questions, CATEGORIES),
            unanswerable=(
                EvidenceQuestion(text=q.text, category=0, evidence=frozenset(), at=q.at)
                for q in dialogue.questions
                if q.category == UNANSWERABLE
            ),
        )
        for dialogue in beam.load(folder)
    )
