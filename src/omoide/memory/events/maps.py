"""Which calibration counts for a user: one they fitted, one we measured, or a cautious guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Note, Speaker
from omoide.errors import BadInput
from omoide.memory.events.calibration import (
    PAIRS,
    Calibration,
    fitted_to_background,
    of_space,
    read_back,
    written,
)

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain import Owner
    from omoide.ports import Embedder, Store

CALIBRATION = "calibration"
"""Kind of the notes that hold a user's own calibration."""
SAMPLE = 200
"""How many of a user's turns and events a calibration of their own is fitted to."""


class Maps:
    """Finds and makes the maps of one embedder. `given` overrides them all."""

    def __init__(
        self, *, store: Store, embedder: Embedder | None, given: Calibration | None
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._given = given
        self._guessed: dict[Owner, tuple[int, Calibration]] = {}

    async def refit(self, owner: Owner, *, now: datetime) -> Calibration:
        """Fit the map to the user's own events, keep it for them, and use it from now on."""
        if self._embedder is None:
            raise BadInput("there is no embedder to calibrate; set OMOIDE_EMBEDDER")
        self._guessed.pop(owner, None)
        made = await self._background(owner, now)
        if made is None:
            raise BadInput(
                "one's own calibration needs 10 events and 10 turns of other sessions: talk more"
            )
        space = self._embedder.space
        key = f"{space.name}@{space.version}"
        note = Note(kind=CALIBRATION, key=key, text=written(made), time=now)
        await self._store.notes.put(owner, note)
        return made

    async def find(self, owner: Owner, *, now: datetime) -> tuple[Calibration | None, str]:
        """The map to use and what is to be said about it."""
        if self._embedder is None:
            return None, "no embedder: by words alone"
        space = self._embedder.space
        if self._given is not None:
            return self._given, f"given: {self._given.data}"
        notes = await self._store.notes.read(owner, kind=CALIBRATION)
        if own := next((n for n in notes if n.key == f"{space.name}@{space.version}"), None):
            return read_back(own.text), f"fitted to this user's own events on {own.time:%Y-%m-%d}"
        if measured := of_space(space):
            return measured, f"measured for {space.name} {space.version}: {measured.data}"
        guess = await self._background(owner, now)
        if guess is None:
            return None, f"{space.name} has no calibration, nor enough events for one: by words"
        return guess, f"{space.name} has no measured calibration; guessed from {guess.data}"

    async def _background(self, owner: Owner, now: datetime) -> Calibration | None:
        """A map from what the user said against their events of other sessions, made anew as the
        events become twice as many. Events among themselves would do worse: they are written
        alike and about one person, so that nearly nothing would come to mind (docs/LOG.md)."""
        if self._embedder is None:
            return None
        events = [e for e in await self._store.events.read(owner) if e.time <= now]
        size, known = self._guessed.get(owner, (0, None))
        if known is not None and len(events) < 2 * size:
            return known
        sample = events[:: max(len(events) // SAMPLE, 1)][:SAMPLE]
        turns = await self._store.turns.read(owner, last=4 * SAMPLE)
        said = [t for t in turns if t.speaker is Speaker.USER and t.time <= now][-SAMPLE:]
        if len(sample) < 10 or len(said) < 10:
            return None
        texts = [*(turn.text for turn in said), *(event.text for event in sample)]
        vectors = await self._embedder.embed(texts)
        likeness = (vectors[: len(said)] @ vectors[len(said) :].T).tolist()
        apart = [
            likeness[i][j]
            for i, turn in enumerate(said)
            for j, event in enumerate(sample)
            if turn.session != event.session
        ]
        if len(apart) < PAIRS:
            return None
        made = fitted_to_background(apart, space=self._embedder.space)
        self._guessed[owner] = (len(events), made)
        return made
