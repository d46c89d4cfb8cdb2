"""Whether memory can tell that it has no answer: `Support` on unanswerable questions.

There are two kinds: questions about another conversation with this one's names put in, and LoCoMo's
category 5, true stories attributed to the wrong person.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.domain import Owner, empty_summary
from omoide_bench.corpora.locomo import TUNED_ON
from omoide_bench.evidence import record
from omoide_bench.statistics import auc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omoide import Memory
    from omoide.mechanisms.search import Recall
    from omoide.ports import Progress
    from omoide_bench.corpora.questions import EvidenceConversation, EvidenceQuestion

__all__ = ["CUTS", "JudgedQuestion", "Refusal", "auc", "judge", "refusals"]

CUTS = (0.5, 0.35, 0.2)
_OTHER = 3
"""Offset of the conversation that foreign questions are taken from."""


@dataclass(frozen=True, kw_only=True)
class JudgedQuestion:
    """A question and memory's support for it."""

    sort: str
    """`answerable`, `foreign` or `category 5`."""
    held_out: bool
    known: float
    mismatch: float


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """The effect of refusing below a probability, on the held-out half."""

    against: str
    cut: float
    precision: float
    recall: float
    refused: float
    """Share of answerable questions that would be refused."""
    base_rate: float


async def judge(
    memory: Memory,
    recall: Recall,
    conversations: Sequence[EvidenceConversation],
    *,
    progress: Progress = lambda done, total, what: None,
) -> list[JudgedQuestion]:
    """Ask all answerable and all unanswerable questions."""
    judged = []
    for index, conversation in enumerate(conversations):
        progress(index, len(conversations), conversation.name)
        await record(memory, conversation)
        for sort, question in _asked(conversations, index):
            recalled = await recall(
                Owner(tenant=memory.tenant, user=conversation.name),
                question.text,
                summary=empty_summary(question.at),
                at=conversation.questions[0].at,
                k=1,
            )
            judged.append(
                JudgedQuestion(
                    sort=sort,
                    held_out=index >= TUNED_ON,
                    known=recalled.support.known,
                    mismatch=recalled.support.mismatch,
                )
            )
    progress(len(conversations), len(conversations), "abstention")
    return judged


def _asked(
    conversations: Sequence[EvidenceConversation], index: int
) -> Iterator[tuple[str, EvidenceQuestion]]:
    own = conversations[index]
    for question in own.questions:
        yield "answerable", question
    for question in own.unanswerable:
        yield "category 5", question
    other = conversations[(index + _OTHER) % len(conversations)]
    for question in other.questions[::2]:
        text = question.text
        for theirs, ours in zip(other.speakers, own.speakers, strict=True):
            text = text.replace(theirs, ours)
        yield "foreign", replace(question, text=text)


def refusals(judged: Sequence[JudgedQuestion], against: str) -> list[Refusal]:
    """Precision and recall of refusing, for each threshold."""
    held_out = [j for j in judged if j.held_out]
    good = [j.known for j in held_out if j.sort == "answerable"]
    bad = [j.known for j in held_out if j.sort == against]
    rows = []
    for cut in CUTS:
        right, wrong = sum(k < cut for k in bad), sum(k < cut for k in good)
        rows.append(
            Refusal(
                against=against,
                cut=cut,
                precision=right / max(right + wrong, 1),
                recall=right / max(len(bad), 1),
                refused=wrong / max(len(good), 1),
                base_rate=len(bad) / max(len(bad) + len(good), 1),
            )
        )
    return rows
