"""The questions of the task `dmr-like`: MSC's annotations turned into questions by templates, each
with the one turn that has its answer (`omoide_bench.data.msc_questions`).

The turn was found by the words of the *answer*; the question has none of them. Both splits are
taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide_bench.corpora.questions import EvidenceConversation, conversation, with_evidence
from omoide_bench.data import msc_questions

if TYPE_CHECKING:
    from pathlib import Path

CATEGORIES = {f"told in session {n}": 50 + n for n in range(1, 6)}


def load(folder: Path) -> tuple[EvidenceConversation, ...]:
    """Every dialogue with questions, each an owner."""
    return tuple(
        conversation(
            dialogue,
            with_evidence(dialogue.questions, CATEGORIES),
        )
        for split in ("test", "valid")
        for dialogue in msc_questions.load(folder, split)
    )
