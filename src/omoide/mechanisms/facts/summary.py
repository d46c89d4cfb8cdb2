"""The summary as a choice of facts: after each session the facts that matter most, at most 20.

It remains what Wang et al. 2023 describe, a short memory in every prompt with one version for each
session. The departure: no model rewrites it. The facts behind it are changed one by one, so that
nothing is lost when it is full, and each sentence names its fact.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import FactKind, Origin, Summary
from omoide.errors import StaleVersion
from omoide.mechanisms.base import MemoryPart
from omoide.mechanisms.facts.choosing import choose, sentence
from omoide.mechanisms.summary.mechanism import NEAR, ShownSentence, SummaryInPrompt, part_of
from omoide.prompts import vocabulary

if TYPE_CHECKING:
    from omoide.domain import Owner
    from omoide.mechanisms.base import ReplyRequest, SessionToDigest
    from omoide.mechanisms.facts.keeper import FactKeeper
    from omoide.mechanisms.facts.writing import FactDigest
    from omoide.ports import Embedder, Store


class FactSummary(SummaryInPrompt):
    """M_N in every prompt; after every session M_{N+1}, chosen from the facts."""

    def __init__(
        self,
        *,
        store: Store,
        keeper: FactKeeper,
        limit: int,
        embedder: Embedder | None,
        near: int = NEAR,
    ) -> None:
        super().__init__(store=store, embedder=embedder, near=near)
        self._keeper = keeper
        self._limit = limit

    async def digest(self, to_digest: SessionToDigest) -> None:
        """Write the session's facts and commit M_i. Raises `BadReply` if the model gave nothing
        usable; then the old memory is kept."""
        owner, number = to_digest.owner, to_digest.session.number
        if await self._digested(owner, number):
            return
        written = await self._keeper.digest(to_digest)
        if await self._store.turns.read(owner, session=number) != to_digest.turns:
            raise StaleVersion(f"session {number} changed while it was digested: turns were erased")
        newest = await self._store.summaries.find(owner)
        facts = await self._keeper.candidates(owner, at=to_digest.at)
        chosen = choose(facts, at=to_digest.at, limit=self._limit)
        summary = Summary(
            number=newest.number + 1 if newest else 1,
            sentences=tuple(map(sentence, chosen)),
            origin=Origin.DIGEST,
            session=number,
            time=to_digest.at,
            language=to_digest.language,
            model=self._author(written),
            prompt=written.prompt,
            prompt_tokens=sum(c.prompt_tokens for c in written.completions),
            completion_tokens=sum(c.completion_tokens for c in written.completions),
            seconds=sum(c.seconds for c in written.completions),
            notes=written.notes,
        )
        await self._store.summaries.commit(owner, summary)

    async def _shown(self, request: ReplyRequest, summary: Summary) -> list[ShownSentence]:
        """The sentences without facts that have expired. A plan whose day has passed is marked as
        such; until then it is open."""
        ids = [s.fact for s in summary.sentences if s.fact]
        facts = {f.id: f for f in await self._store.facts.read(request.owner, ids=ids)}
        passed = vocabulary(request.language)["plan_passed"]
        shown = []
        for number, stated in enumerate(summary.sentences, start=1):
            fact = facts.get(stated.fact)
            if fact is not None and fact.expires is not None and fact.expires <= request.now:
                continue
            overdue = fact is not None and fact.overdue(request.now.date())
            text = f"{stated.text} {passed}" if overdue else stated.text
            planned = fact is not None and fact.kind in (FactKind.PLAN, FactKind.PROMISE)
            part = MemoryPart.OPEN if planned and not overdue else part_of(stated)
            shown.append(ShownSentence(number, replace(stated, text=text), part))
        return shown

    async def _digested(self, owner: Owner, number: int) -> bool:
        """Whether a version was made from the session."""
        found = await self._store.summaries.find(owner, session=number)
        if found is None or found.session != number:
            return False
        if found.origin is Origin.DIGEST:
            return True
        history = await self._store.summaries.history(owner)  # it was rolled back or edited since
        return any(v.session == number and v.origin is Origin.DIGEST for v in history)

    def _author(self, written: FactDigest) -> str:
        by = next((c.by for c in written.completions if c.by), "")
        return by or (self._keeper.model.name if written.completions else "")
