"""MemoryBank's simulated users (Zhong et al. 2024): ten days of chat with an assistant each, and
probing questions, in English and the same in Chinese.

The corpus has no gold answers; the evidence was labelled for this (`data.memorybank`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.evals.corpora.asking import Asked, Conversation, conversation
from omoide.evals.data import memorybank

if TYPE_CHECKING:
    from pathlib import Path

FILE = "memory_bank_en.json"
CATEGORIES = {"en": 11, "zh": 12}


def load(folder: Path) -> tuple[Conversation, ...]:
    """All users of the languages that are there, with the questions that have a label."""
    return tuple(
        conversation(
            user,
            (
                Asked(text=q.text.strip('"'), category=category, evidence=q.evidence, at=q.at)
                for q in user.questions
                if q.evidence
            ),
            name=f"{language} {user.id}",
        )
        for language, category in CATEGORIES.items()
        if (folder / FILE.replace("en", memorybank.SUFFIX[language])).exists()
        for user in memorybank.load(folder, language)
    )
