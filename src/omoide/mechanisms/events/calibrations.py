"""Chooses a user's calibration: one they fitted, one we measured, or a cautious estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Note, Speaker
from omoide.errors import BadInput
from omoide.mechanisms.events.calibration import (
    PAIRS,
    Calibration,
    calibration_for,
    fit_to_background,
    from_json_object,
    to_json_object,
)

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain import Owner
    from omoide.ports import Embedder, Store

CALIBRATION = "calibration"
"""Kind of the notes that hold a user's own calibration."""
SAMPLE = 200
"""Maximum number of a user's turns, and of their events, that a calibration is fitted to."""


class Calibrations:
    """Finds and fits the calibrations of one embedder. `given` overrides them all."""

    def __init__(
        self, *, store: Store, embedder: Embedder | None, given: Calibration | None
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._given = given
        self._guessed: dict[Owner, tuple[int, Calibration]] = {}

    async def refit(self, owner: Owner, *, now: datetime) -> Calibration:
        """Fit the map to the user's own events, store it, and use it from now on."""
        if self._embedder is None:
            raise BadInput("there is no embedder to calibrate; set OMOIDE_EMBEDDER")
        self._guessed.pop(owner, None)
        fitted = await self._background(owner, now)
        if fitted is None:
            raise BadInput(
                "a calibration of your own needs 10 events and 10 turns of other sessions; "
                "try again after more sessions"
            )
        space = self._embedder.space
        key = f"{space.name}@{space.version}"
        note = Note(kind=CALIBRATION, key=key, text=to_json_object(fitted), time=now)
        await self._store.notes.put(owner, note)
        return fitted

    async def find(self, owner: Owner, *, now: datetime) -> tuple[Calibration | None, str]:
        """The map to use, and a description of it for people."""
        if self._embedder is None:
            return None, "no embedder: by words only"
        space = self._embedder.space
        if self._given is not None:
            return self._given, f"given: {self._given.data}"
        notes = await self._store.notes.read(owner, kind=CALIBRATION)
        if note := next((n for n in notes if n.key == f"{space.name}@{space.version}"), None):
            return from_json_object(
                note.text
            ), f"fitted to this user's own events on {note.time:%Y-%m-%d}"
        if measured := calibration_for(space):
            return measured, f"measured for {space.name} {space.version}: {measured.data}"
        guess = await self._background(owner, now)
        if guess is None:
            return None, (
                f"{space.name} has no calibration and there are not enough events for one: "
                "by words only"
            )
        return guess, f"{space.name} has no measured calibration; estimated from {guess.data}"

    async def _background(self, owner: Owner, now: datetime) -> Calibration | None:
        """A map from the user's turns against their events of other sessions, fitted again each
        time the number of events doubles. Comparing events with each other would be worse: they
        are all similar in style and about one person, so that almost nothing would be recalled
        (docs/experiments/*-human-like-recall.md)."""
        if self._embedder is None:
            return None
        events = [e for e in await self._store.events.read(owner) if e.time <= now]
        size, known = self._guessed.get(owner, (0, None))
        if known is not None and len(events) < 2 * size:
            return known
        sample = events[:: max(len(events) // SAMPLE, 1)][:SAMPLE]
        turns = await self._store.turns.read(owner, last=4 * SAMPLE)
        recent = [t for t in turns if t.speaker is Speaker.USER and t.time <= now][-SAMPLE:]
        if len(sample) < 10 or len(recent) < 10:
            return None
        texts = [*(turn.text for turn in recent), *(event.text for event in sample)]
        vectors = await self._embedder.embed(texts)
        cosines = (vectors[: len(recent)] @ vectors[len(recent) :].T).tolist()
        unrelated = [
            cosines[i][j]
            for i, turn in enumerate(recent)
            for j, event in enumerate(sample)
            if turn.session != event.session
        ]
        if len(unrelated) < PAIRS:
            return None
        fitted = fit_to_background(unrelated, space=self._embedder.space)
        self._guessed[owner] = (len(events), fitted)
        return fitted
