"""MemoryBank's simulated users (Zhong et al. 2024): ten days of chat with an assistant each, with
probing questions, in English and Chinese versions.

The corpus has no gold answers; we labelled the evidence (`data.memorybank`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide_bench.corpora.questions import EvidenceConversation, EvidenceQuestion, conversation
from omoide_bench.data import memorybank

if TYPE_CHECKING:
    from pathlib import Path

FILE = "memory_bank_en.json"
CATEGORIES = {"en": 11, "zh": 12}


def load(folder: Path) -> tuple[EvidenceConversation, ...]:
    """All users of the languages in the folder, with their labelled questions."""
    return tuple(
        conversation(
            user,
            (
                EvidenceQuestion(
                    text=q.text.strip('"'), category=category, evidence=q.evidence, at=q.at
                )
                for q in user.questions
                if q.evidence
            ),
            name=f"{language} {user.id}",
        )
        for language, category in CATEGORIES.items()
        if (folder / FILE.replace("en", memorybank.SUFFIX[language])).exists()
        for user in memorybank.load(folder, language)
    )
