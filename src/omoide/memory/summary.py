"""The recursive summary as a mechanism: paper A behind the shape that all mechanisms have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Kind, Origin, nothing
from omoide.errors import BadReply, StaleVersion
from omoide.memory.mechanism import Contribution, Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.memory.mechanism import Ended, Moment
    from omoide.memory.recursive_summary import RecursiveSummary
    from omoide.ports import Store


class SummaryMechanism:
    """M_N in every prompt, M_{N+1} after every session."""

    name = "summary"

    def __init__(self, *, store: Store, iterator: RecursiveSummary) -> None:
        self._store = store
        self.iterator = iterator

    async def digest(self, ended: Ended) -> None:
        """Commit M_i, or keep the old memory and lay the answers aside."""
        owner, number = ended.owner, ended.session.number
        history = await self._store.summaries.history(owner)
        if any(v.session == number and v.origin is Origin.DIGEST for v in history):
            return
        result = await self.iterator.digest(
            old=history[-1] if history else nothing(ended.at, ended.language),
            turns=ended.turns,
            at=ended.at,
            ask=ended.ask,
        )
        if await self._store.turns.read(owner, session=number) != ended.turns:
            raise StaleVersion(f"session {number} was erased in part meanwhile")
        for rejected in result.rejected:
            await self._store.summaries.set_aside(owner, rejected)
        if result.summary is None:
            why = " ".join(result.rejected[-1].problems)
            raise BadReply(
                f"{self.iterator.model.name} gave no usable memory of session {number} in "
                f"{len(result.rejected)} tries: {why} The old memory stands."
            )
        await self._store.summaries.commit(owner, result.summary)

    async def contribute(self, moment: Moment) -> tuple[Contribution, ...]:
        """Every sentence of the newest memory that was known at the moment."""
        summary = await self._store.summaries.find(moment.owner, at=moment.now)
        if summary is None:
            return ()
        return tuple(
            Contribution(
                mechanism=self.name,
                place=Place.MEMORY,
                kind=Kind.SENTENCE,
                id=f"{summary.number}.{i}",
                text=sentence.text,
                value=1.0,
                sources=sentence.sources,
                time=summary.time,
                why=f"in memory version {summary.number}",
            )
            for i, sentence in enumerate(summary.sentences, start=1)
        )

    async def used(self, moment: Moment, contributions: Sequence[Contribution]) -> None:
        """A summary is the same whether it was used or not."""
