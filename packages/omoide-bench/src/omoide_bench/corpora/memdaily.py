"""MemDaily (Zhang et al. 2024), Chinese: questions that name the messages they rest on.

Taken are the `hybrid` files, whose trajectories are the longest: still only some 8 to 16 messages,
so recall at 20 and more says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide_bench.corpora.questions import EvidenceConversation, conversation, with_evidence
from omoide_bench.data import memdaily

if TYPE_CHECKING:
    from pathlib import Path

FILE = "01_simple_hybrid.json.gz"
KINDS = (
    "01_simple_hybrid", "02_conditional_hybrid", "03_comparative_hybrid",
    "05_post_processing_hybrid", "06_noisy_hybrid",
)  # fmt: skip
"""Not the aggregative ones, whose questions rest on nearly everything."""
CATEGORIES = {kind: 30 + n for n, kind in enumerate(KINDS)}


def load(folder: Path) -> tuple[EvidenceConversation, ...]:
    """Every trajectory, each an owner."""
    return tuple(
        conversation(
            dialogue,
            with_evidence(dialogue.questions, CATEGORIES),
        )
        for dialogue in memdaily.load(folder, kinds=KINDS)
    )
