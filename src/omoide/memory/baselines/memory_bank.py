"""MemoryBank: Zhong et al. 2024 (arXiv 2305.10250).

Turn pairs and daily summaries are found by vector; a summary of each day and of the user's
personality that day, and a global one of each, stand in the prompt. Memories fade by Ebbinghaus'
curve, R = e^(−t/S): t in days since the last recall, S from 1 and one more at each recall, t back
to 0. A memory is forgotten when a draw exceeds R.

Departures: the draw is seeded by the memory and the day, so that the same question on the same day
finds the same; what is forgotten is hidden for that day and never deleted. (The released code has
e^(−t·S/5), by which stronger memories fade faster; and the MemoryBank baseline released with Wang
et al. 2023 has neither retrieval nor forgetting. This is the paper's.)
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from omoide.domain import Kind, Note, Speaker
from omoide.domain.forgetting import retention
from omoide.memory.baselines.memory_bank_summaries import DAY, GLOBAL, DailySummaries
from omoide.memory.events.human_time import human_time
from omoide.memory.mechanism import Contribution, Place
from omoide.memory.transcript import line, spoken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.domain import Owner, Turn
    from omoide.memory.mechanism import Ended, Moment
    from omoide.ports import Embedder, Store

STRENGTH = "bank-strength"
"""Kind of the notes that hold how often a memory was recalled, and when last."""
DEPTH = 30


@dataclass(frozen=True, kw_only=True)
class Strength:
    """S of a memory, and when it was last recalled."""

    strength: float
    last: datetime

    def recalled(self, now: datetime) -> Strength:
        """One stronger, and fresh."""
        return Strength(strength=self.strength + 1, last=max(now, self.last))

    def remembered(self, *, now: datetime, id: str, seed: int) -> bool:  # noqa: A002
        """Whether the day's draw leaves it in mind."""
        kept = retention(elapsed=now - self.last, strength=self.strength)
        return draw(id, now, seed=seed) <= kept


def draw(id: str, now: datetime, *, seed: int) -> float:  # noqa: A002 - the memory's own word
    """A number from 0 to 1 that depends on the memory, the day and the seed alone."""
    digest = hashlib.sha256(f"{seed}\n{id}\n{now:%Y-%m-%d}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


class MemoryBank:
    """The mechanism: four model calls a session, none a reply."""

    name = "memory-bank"

    def __init__(
        self,
        *,
        store: Store,
        embedder: Embedder,
        summaries: DailySummaries,
        k: int = 3,
        seed: int = 0,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._summaries = summaries
        self._k = k
        self._seed = seed

    async def digest(self, ended: Ended) -> None:
        """Rewrite the day's two summaries and the two global ones."""
        await self._summaries(ended)

    async def contribute(self, moment: Moment) -> tuple[Contribution, ...]:
        """The global summary and portrait, and the nearest pairs and days not forgotten."""
        query = await self._embedder.embed([moment.text])
        near = await self._store.index.nearest(
            moment.owner, self._embedder.space, query, k=DEPTH, kind=Kind.TURN
        )
        cosine = {hit.id: hit.score for hit in near}
        pairs = await self._pairs(moment, list(cosine))
        days = await self._days(moment)
        strengths = await self._strengths(moment.owner)
        items = [
            (_of_pair(pair, moment), max(cosine.get(t.id, -1.0) for t in pair)) for pair in pairs
        ]
        if days:
            vectors = await self._embedder.embed([note.text for note in days])
            items += [
                (_of_day(note, moment), float(vectors[i] @ query[0])) for i, note in enumerate(days)
            ]
        found = []
        for item, likeness in sorted(items, key=lambda pair: -pair[1]):
            known = strengths.get(item.id) or Strength(strength=1, last=item.time)
            if known.remembered(now=moment.now, id=item.id, seed=self._seed):
                found.append(_scored(item, likeness, known, moment.now))
            if len(found) == self._k:
                break
        return (*await self._standing(moment), *found)

    async def used(self, moment: Moment, contributions: Sequence[Contribution]) -> None:
        """Each pair and day that went in is one stronger and fresh again."""
        strengths = await self._strengths(moment.owner)
        for item in contributions:
            if item.mechanism != self.name or item.place is not Place.RECALLED:
                continue
            known = strengths.get(item.id) or Strength(strength=1, last=item.time)
            now = known.recalled(moment.now)
            text = json.dumps({"strength": now.strength, "last": now.last.isoformat()})
            note = Note(kind=STRENGTH, key=item.id, text=text, time=moment.now)
            await self._store.notes.put(moment.owner, note)

    async def _pairs(self, moment: Moment, ids: Sequence[str]) -> list[tuple[Turn, ...]]:
        """The turn pairs that hold these turns: what the user said and what was answered."""
        here = moment.session[-1].session if moment.session else None
        hits = [
            turn
            for turn in await self._store.turns.read(moment.owner, ids=ids)
            if turn.session != here and turn.time <= moment.now
        ]
        found: dict[str, tuple[Turn, ...]] = {}
        for session in sorted({turn.session for turn in hits}):
            turns = await self._store.turns.read(moment.owner, session=session)
            wanted = {turn.id for turn in hits}
            for i, turn in enumerate(turns):
                if turn.speaker is not Speaker.USER:
                    continue
                after = turns[i + 1 : i + 2]
                pair = (turn, *(t for t in after if t.speaker is Speaker.ASSISTANT))
                if wanted & {t.id for t in pair}:
                    found[turn.id] = pair
        return list(found.values())

    async def _days(self, moment: Moment) -> list[Note]:
        notes = await self._store.notes.read(moment.owner, kind=DAY)
        return [note for note in notes if note.time <= moment.now]

    async def _standing(self, moment: Moment) -> tuple[Contribution, ...]:
        notes = await self._store.notes.read(moment.owner, kind=GLOBAL)
        return tuple(
            Contribution(
                mechanism=self.name,
                place=Place.MEMORY,
                kind=Kind.SENTENCE,
                id=f"{note.kind}/{note.key}",
                text=note.text,
                value=1.0,
                sources=(),
                time=note.time,
                why=f"global {note.key}",
            )
            for note in notes
            if note.time <= moment.now
        )

    async def _strengths(self, owner: Owner) -> Mapping[str, Strength]:
        notes = await self._store.notes.read(owner, kind=STRENGTH)
        held = {note.key: json.loads(note.text) for note in notes}
        return {
            key: Strength(strength=value["strength"], last=datetime.fromisoformat(value["last"]))
            for key, value in held.items()
        }


def _of_pair(pair: Sequence[Turn], moment: Moment) -> Contribution:
    said = " / ".join(line(turn, moment.language) for turn in pair if spoken(turn))
    when = human_time(pair[0].time, moment.now, moment.language)
    return Contribution(
        mechanism=MemoryBank.name,
        place=Place.RECALLED,
        kind=Kind.TURN,
        id=pair[0].id,
        text=f"{when}: {said}",
        value=0.0,
        sources=tuple(turn.id for turn in pair),
        time=pair[0].time,
        why="",
    )


def _of_day(note: Note, moment: Moment) -> Contribution:
    return Contribution(
        mechanism=MemoryBank.name,
        place=Place.RECALLED,
        kind=Kind.SENTENCE,
        id=f"{note.kind}/{note.key}",
        text=f"{human_time(note.time, moment.now, moment.language)}: {note.text}",
        value=0.0,
        sources=(),
        time=note.time,
        why="",
    )


def _scored(item: Contribution, likeness: float, strength: Strength, now: datetime) -> Contribution:
    from dataclasses import replace

    kept = retention(elapsed=now - strength.last, strength=strength.strength)
    return replace(
        item,
        value=min(max(likeness, 0.0), 1.0),
        score=likeness,
        why=f"cosine {likeness:.2f}, retention {kept:.2f} at strength {strength.strength:.0f}",
    )
