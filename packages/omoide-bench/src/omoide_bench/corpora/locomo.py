"""LoCoMo (Maharana et al. 2024): its questions name their evidence turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide_bench.corpora.questions import EvidenceConversation, EvidenceQuestion, conversation
from omoide_bench.data import locomo

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_bench.data.shapes import Dialogue

FILE = "locomo10.json.gz"
TUNED_ON = 5
"""Number of conversations, from the first, that recall's weights were fitted on."""
_CODES = {name: code for code, name in locomo.CATEGORIES.items()}
_ADVERSARIAL = 5


def load(data: Path | None) -> tuple[EvidenceConversation, ...]:
    """All conversations, in file order."""
    return tuple(map(_conversation, locomo.load(data)))


def _conversation(dialogue: Dialogue) -> EvidenceConversation:
    questions = [
        EvidenceQuestion(
            text=question.text,
            category=_CODES.get(question.category, _ADVERSARIAL),
            evidence=question.evidence,
            at=question.at,
        )
        for question in dialogue.questions
    ]
    return conversation(
        dialogue,
        (
            question
            for question in questions
            if question.category != _ADVERSARIAL and question.evidence
        ),
        unanswerable=(question for question in questions if question.category == _ADVERSARIAL),
        named=True,
    )
