"""Whether memory knows when it has no answer: `Support` against questions without one.

Two sorts have none: questions about another conversation, with the names of this one put in, and
LoCoMo's category 5, true stories told of the wrong person.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.domain import Owner, nothing
from omoide.evals.agreement import auc
from omoide.evals.corpora.locomo import TUNED_ON
from omoide.evals.evidence import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omoide.engine import Memory
    from omoide.evals.corpora.asking import Asked, Conversation
    from omoide.memory.search.recall import Recall
    from omoide.ports import Progress

__all__ = ["CUTS", "Judged", "Refusal", "auc", "judge", "refusals"]

CUTS = (0.5, 0.35, 0.2)
_OTHER = 3
"""How far away the conversation is whose questions are foreign."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A question and what memory thinks of it."""

    sort: str
    """`answerable`, `foreign` or `category 5`."""
    held_out: bool
    known: float
    mismatch: float


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """What refusing below a probability would do, on the held-out half."""

    against: str
    cut: float
    precision: float
    recall: float
    refused: float
    """The share of answerable questions that would be refused."""
    base_rate: float


async def judge(
    memory: Memory,
    recall: Recall,
    conversations: Sequence[Conversation],
    *,
    progress: Progress = lambda done, total, what: None,
) -> list[Judged]:
    """Ask everything there is an answer to, and much there is none to."""
    judged = []
    for place, conversation in enumerate(conversations):
        progress(place, len(conversations), conversation.name)
        await record(memory, conversation)
        for sort, asked in _asked(conversations, place):
            found = await recall(
                Owner(tenant=memory.tenant, user=conversation.name),
                asked.text,
                summary=nothing(asked.at),
                at=conversation.questions[0].at,
                k=1,
            )
            judged.append(
                Judged(
                    sort=sort,
                    held_out=place >= TUNED_ON,
                    known=found.support.known,
                    mismatch=found.support.mismatch,
                )
            )
    progress(len(conversations), len(conversations), "abstention")
    return judged


def _asked(conversations: Sequence[Conversation], place: int) -> Iterator[tuple[str, Asked]]:
    own = conversations[place]
    for asked in own.questions:
        yield "answerable", asked
    for asked in own.unanswerable:
        yield "category 5", asked
    other = conversations[(place + _OTHER) % len(conversations)]
    for asked in other.questions[::2]:
        text = asked.text
        for theirs, ours in zip(other.speakers, own.speakers, strict=True):
            text = text.replace(theirs, ours)
        yield "foreign", replace(asked, text=text)


def refusals(judged: Sequence[Judged], against: str) -> list[Refusal]:
    """Precision and recall of refusing, for each cut."""
    held = [j for j in judged if j.held_out]
    good = [j.known for j in held if j.sort == "answerable"]
    bad = [j.known for j in held if j.sort == against]
    found = []
    for cut in CUTS:
        right, wrong = sum(k < cut for k in bad), sum(k < cut for k in good)
        found.append(
            Refusal(
                against=against,
                cut=cut,
                precision=right / max(right + wrong, 1),
                recall=right / max(len(bad), 1),
                refused=wrong / max(len(good), 1),
                base_rate=len(bad) / max(len(bad) + len(good), 1),
            )
        )
    return found
