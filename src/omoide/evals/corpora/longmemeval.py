"""LongMemEval (Wu et al. 2024): one question over some fifty sessions with an assistant.

The turns that hold the answer are marked in the corpus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.evals.corpora.asking import Asked, Conversation, conversation
from omoide.evals.data import longmemeval

if TYPE_CHECKING:
    from pathlib import Path

FILE = "one_item_of_longmemeval_s.json.gz"
CATEGORY = 13


def load(folder: Path) -> tuple[Conversation, ...]:
    """The one item that there is."""
    return tuple(
        conversation(
            dialogue,
            (
                Asked(text=q.text, category=CATEGORY, evidence=q.evidence, at=q.at)
                for q in dialogue.questions
            ),
        )
        for dialogue in longmemeval.load(folder, FILE.removesuffix(".gz"))
    )
