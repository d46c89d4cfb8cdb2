"""Events and memos that are written from a session's facts, but do not add to prompts by
themselves: search gives a large model the topics that fit a question.

The facts of a session already hold what events and memos are made of, so writing them costs no call
of the model. They give every user forgetting curves and topics to look at, and either mechanism can
later be used on a memory that has always had its data. Prompts stay as `Settings.mechanisms` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import MemoryKind
from omoide.errors import BadReply
from omoide.mechanisms.base import PromptPlace
from omoide.mechanisms.events.human_recall import HumanRecall, consolidate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.mechanisms.base import Contribution, Mechanism, ReplyRequest, SessionToDigest
    from omoide.ports import Store

KINDS = {"human-recall": MemoryKind.EVENT, "memos": MemoryKind.MEMO}


def usual_kinds(layers: Sequence[Mechanism]) -> frozenset[MemoryKind]:
    """What recall looks for if no kinds are named: all but what the layers write, which says again
    what facts and turns say."""
    return frozenset(MemoryKind) - {KINDS[layer.name] for layer in layers if layer.name in KINDS}


class FactLayer:
    """A mechanism that only writes."""

    def __init__(self, mechanism: Mechanism, *, store: Store) -> None:
        self.mechanism = mechanism
        self._store = store

    async def digest(self, to_digest: SessionToDigest) -> None:
        """Let the mechanism digest the session. If the model gave nothing usable, the summary,
        which is written from the same answer, has said so."""
        try:
            await self.mechanism.digest(to_digest)
        except BadReply:
            return

    @property
    def marks(self) -> bool:
        """Whether `mark_used` ever changes anything."""
        return isinstance(self.mechanism, HumanRecall)

    async def may_mark(self, request: ReplyRequest) -> bool:
        """Whether `mark_used` might change anything after the reply. Asked with what else is read
        for the prompt, this takes no round trip of its own, as `mark_used` does."""
        return isinstance(self.mechanism, HumanRecall) and await self.mechanism.may_recall(request)

    async def mark_used(self, request: ReplyRequest, contributions: Sequence[Contribution]) -> None:
        """Consolidate the events that the message brings to mind by Hou et al. and that the reply
        was given: what was recalled for the prompt rests on the same turns."""
        given = {
            source
            for contribution in contributions
            if contribution.place is PromptPlace.RECALLED
            and contribution.kind is not MemoryKind.MEMO  # a topic rests on all of its turns
            for source in contribution.sources
        }
        if not given or not isinstance(self.mechanism, HumanRecall):
            return
        recalled = await self.mechanism.contribute(request)
        ids = [event.id for event in recalled if not given.isdisjoint(event.sources)]
        spacing = self.mechanism.knobs.spacing
        await consolidate(
            self._store,
            request.owner,
            ids,
            lambda event: event.recalled(request.now, unit=spacing),
        )
