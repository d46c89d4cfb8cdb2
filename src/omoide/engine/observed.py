"""The store as the engine uses it: model calls are reported, and facts expire if they are to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.engine.retention import ExpiringFacts

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from omoide.domain import ModelCall, Owner
    from omoide.ports import (
        Archive,
        EventStore,
        FactStore,
        JobStore,
        Ledger,
        MemoStore,
        NoteStore,
        SearchIndex,
        Store,
        SummaryStore,
        TurnStore,
    )

    OnCall = Callable[[ModelCall], None]


class ObservedStore:
    """A store whose ledger is observed, and whose new facts expire after `retention` if it is more
    than nothing."""

    def __init__(self, store: Store, on_call: OnCall, *, retention: timedelta) -> None:
        self._store = store
        self.turns: TurnStore = store.turns
        self.summaries: SummaryStore = store.summaries
        self.events: EventStore = store.events
        self.memos: MemoStore = store.memos
        self.facts: FactStore = store.facts
        if retention:
            self.facts = ExpiringFacts(store.facts, retention=retention)
        self.notes: NoteStore = store.notes
        self.jobs: JobStore = store.jobs
        self.ledger: Ledger = ObservedLedger(store.ledger, on_call)
        self.index: SearchIndex = store.index
        self.archive: Archive = store.archive

    async def close(self) -> None:
        """See `Store.close`."""
        await self._store.close()


class ObservedLedger:
    """A ledger that calls `on_call` for each call that is added."""

    def __init__(self, ledger: Ledger, on_call: OnCall) -> None:
        self._ledger = ledger
        self._on_call = on_call

    async def add(self, owner: Owner, call: ModelCall) -> None:
        """See `Ledger.add`."""
        self._on_call(call)
        await self._ledger.add(owner, call)

    async def calls(self, owner: Owner) -> tuple[ModelCall, ...]:
        """See `Ledger.calls`."""
        return await self._ledger.calls(owner)
