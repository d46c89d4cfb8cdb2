"""The summary as a choice of facts: after each session the facts that matter most, at most 20.

It remains what Wang et al. 2023 describe, a short memory in every prompt with one version for each
session. The departure: no model rewrites it. The facts behind it are changed one by one, so that
nothing is lost when it is full, and each sentence names its fact.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import FactFilter, FactKind, MemoryKind, Origin, Summary
from omoide.errors import StaleVersion
from omoide.mechanisms.base import Contribution, MemoryPart, PromptPlace
from omoide.mechanisms.facts.choosing import LASTING, choose, sentence
from omoide.mechanisms.facts.days import as_shown, may_be_over
from omoide.mechanisms.summary.mechanism import NEAR, ShownSentence, SummaryInPrompt, part_of
from omoide.prompts import vocabulary

if TYPE_CHECKING:
    from datetime import date

    from omoide.domain import Fact, Owner
    from omoide.mechanisms.base import ReplyRequest, SessionToDigest
    from omoide.mechanisms.facts.keeper import FactKeeper
    from omoide.mechanisms.facts.writing import FactDigest
    from omoide.ports import Embedder, Store

FURTHER = 0.25
"""The value of a fact that follows the summary: in a small budget, what was recalled for a question
comes first (`fit_budget`)."""


class FactSummary(SummaryInPrompt):
    """M_N in every prompt; after every session M_{N+1}, chosen from the facts."""

    def __init__(
        self,
        *,
        store: Store,
        keeper: FactKeeper,
        limit: int,
        further: int = 0,
        embedder: Embedder | None,
        near: int = NEAR,
        past_verbs: bool = True,
    ) -> None:
        """With `further`, at most so many other facts that hold follow the summary in a prompt.
        With `past_verbs`, a plan whose day has passed is told in the past."""
        super().__init__(store=store, embedder=embedder, near=near)
        self._keeper = keeper
        self._limit = limit
        self._further = further
        self._past_verbs = past_verbs

    async def contribute(self, request: ReplyRequest) -> tuple[Contribution, ...]:
        """The summary, and further facts after it."""
        if not self._further:
            return await super().contribute(request)
        recent = FactFilter(at=request.now, newest=self._limit + 2 * self._further)
        read, owner = self._store.facts.read, request.owner
        stated, holding, lasting = await asyncio.gather(  # one trip to the database
            super().contribute(request),
            read(owner, only=recent),
            read(owner, only=replace(recent, kinds=LASTING)),
        )
        told, today = {contribution.text for contribution in stated}, request.now.date()
        facts = [
            fact
            for fact in (*holding, *lasting)
            if as_shown(fact, fact.text, today) not in told
            and not (fact.overdue(today) or may_be_over(fact, today))
        ]
        chosen = choose(facts, at=request.now, limit=self._further)
        return (*stated, *(self._contribution(fact, today) for fact in chosen)) if stated else ()

    def _contribution(self, fact: Fact, today: date) -> Contribution:
        return Contribution(
            mechanism=self.name,
            place=PromptPlace.MEMORY,
            kind=MemoryKind.FACT,
            id=fact.id,
            text=as_shown(fact, fact.text, today),
            value=FURTHER,
            sources=fact.sources,
            time=fact.said,
            why="a fact that holds, besides those of the summary",
            part=_part(fact),
        )

    async def digest(self, to_digest: SessionToDigest) -> None:
        """Write the session's facts and commit M_i. Raises `BadReply` if the model gave nothing
        usable; then the old memory is kept."""
        owner, number = to_digest.owner, to_digest.session.number
        if await self._digested(owner, number):
            return
        written = await self._keeper.digest(to_digest)
        if not to_digest.is_of(await self._store.turns.read(owner, session=number)):
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
        """The sentences without facts that have expired, or that a plan has ended since. A plan
        whose day has passed is marked as such, and so is what was to hold until then."""
        today = request.now.date()
        ids = [s.fact for s in summary.sentences if s.fact]
        facts = {f.id: f for f in await self._store.facts.read(request.owner, ids=ids)}
        shown = []
        for number, stated in enumerate(summary.sentences, start=1):
            fact = facts.get(stated.fact)
            if fact is not None and fact.gone_from(summary.time, now=request.now):
                continue
            overdue, text = fact is not None and fact.overdue(today), stated.text
            if overdue:
                text = self._past_plan(text, request.language)
            elif fact is not None:
                text = as_shown(fact, text, today)
            part = part_of(stated) if fact is None or overdue else _part(fact)
            shown.append(ShownSentence(number, replace(stated, text=text), part))
        return shown

    def _past_plan(self, text: str, language: str) -> str:
        """A plan whose day has passed, with the mark that says so."""
        told = in_past(text, language) if self._past_verbs else text
        return f"{told} {vocabulary(language)['plan_passed']}"

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


def in_past(text: str, language: str) -> str:
    """A plan with its auxiliary, where a language has one, in the past: a small model goes by the
    verb and not by the mark (docs/experiments/2026-11-18-five-transcripts.md). A large one reads
    the mark, and the first auxiliary need not be the plan's: "User's sister, who is a nurse, …".

    >>> in_past("User is moving to Bergen in May 2026.", "en")
    'User was moving to Bergen in May 2026.'
    """
    pairs = (p.partition(" > ") for p in vocabulary(language)["plan_past"].split(", ") if p)
    past = {now: then for now, _, then in pairs}
    if not past:
        return text
    return re.sub(rf"\b(?:{'|'.join(past)})\b", lambda found: past[found[0]], text, count=1)


def _part(fact: Fact) -> MemoryPart:
    """The part of the memory that a fact belongs to, if it is no plan that is overdue."""
    if fact.kind in (FactKind.PLAN, FactKind.PROMISE):
        return MemoryPart.OPEN
    return part_of(sentence(fact))
