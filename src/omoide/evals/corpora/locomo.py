"""LoCoMo (Maharana et al. 2024): its questions name the turns that answer them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.evals.corpora.asking import Asked, Conversation, conversation
from omoide.evals.data import locomo

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.evals.data.shapes import Dialogue

FILE = "locomo10.json.gz"
TUNED_ON = 5
"""The weights of recall were fitted on the first so many conversations."""
_CODES = {name: code for code, name in locomo.CATEGORIES.items()}
_ADVERSARIAL = 5


def load(data: Path | None) -> tuple[Conversation, ...]:
    """All conversations, in the order of the file."""
    return tuple(map(_conversation, locomo.load(data)))


def _conversation(dialogue: Dialogue) -> Conversation:
    asked = [
        Asked(
            text=question.text,
            category=_CODES.get(question.category, _ADVERSARIAL),
            evidence=question.evidence,
            at=question.at,
        )
        for question in dialogue.questions
    ]
    return conversation(
        dialogue,
        (one for one in asked if one.category != _ADVERSARIAL and one.evidence),
        unanswerable=(one for one in asked if one.category == _ADVERSARIAL),
        named=True,
    )
