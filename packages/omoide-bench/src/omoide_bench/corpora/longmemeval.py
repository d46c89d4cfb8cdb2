"""LongMemEval (Wu et al. 2024): one question about some fifty sessions with an assistant.

The corpus marks the turns with the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide_bench.corpora.questions import EvidenceConversation, EvidenceQuestion, conversation
from omoide_bench.data import longmemeval

if TYPE_CHECKING:
    from pathlib import Path

FILE = "one_item_of_longmemeval_s.json.gz"
CATEGORY = 13


def load(folder: Path) -> tuple[EvidenceConversation, ...]:
    """The single item of the file."""
    return tuple(
        conversation(
            dialogue,
            (
                EvidenceQuestion(text=q.text, category=CATEGORY, evidence=q.evidence, at=q.at)
                for q in dialogue.questions
            ),
        )
        for dialogue in longmemeval.load(folder, FILE.removesuffix(".gz"))
    )
