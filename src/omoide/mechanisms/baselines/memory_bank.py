"""MemoryBank: Zhong et al. 2024 (arXiv 2305.10250).

Turn pairs and daily summaries are retrieved by vector. Each day gets a summary of events and one
of the user's personality; a global one of each is in the prompt. Memories fade by Ebbinghaus'
curve, R = e^(−t/S): t is the days since the last recall; S starts at 1. Each recall adds 1 to S and
resets t to 0. A memory is forgotten if a random draw exceeds R.

Departures: the draw is seeded by the memory and the day, so that the same question on the same day
finds the same memories; a forgotten memory is hidden for that day and never deleted. (The released
code has e^(−t·S/5), by which stronger memories fade faster; and the MemoryBank baseline released
with Wang et al. 2023 has neither retrieval nor forgetting. This follows the paper.)
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from omoide.domain import MemoryKind, Note, Speaker
from omoide.domain.forgetting import retention
from omoide.mechanisms.base import Contribution, PromptPlace
from omoide.mechanisms.baselines.memory_bank_summaries import DAY, GLOBAL, DailySummaries
from omoide.mechanisms.events.human_time import human_time
from omoide.ports import query_vectors
from omoide.prompts.transcript import line, spoken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.domain import Owner, Turn
    from omoide.mechanisms.base import ReplyRequest, SessionToDigest
    from omoide.ports import Embedder, Store

STRENGTH = "bank-strength"
"""Kind of the notes that hold a memory's strength and its last recall."""
DEPTH = 30
"""How many nearest turns are considered."""
RECALLED = 3
"""How many pairs and days are recalled."""


@dataclass(frozen=True, kw_only=True)
class MemoryStrength:
    """S of a memory, and when it was last recalled."""

    strength: float
    last: datetime

    def recalled(self, now: datetime) -> MemoryStrength:
        """The strength after a recall: one more, and fresh."""
        return MemoryStrength(strength=self.strength + 1, last=max(now, self.last))

    def remembered(self, *, now: datetime, id: str, seed: int) -> bool:  # noqa: A002
        """Whether the memory survives the day's draw."""
        kept = retention(elapsed=now - self.last, strength=self.strength)
        return daily_draw(id, now, seed=seed) <= kept


def daily_draw(id: str, now: datetime, *, seed: int) -> float:  # noqa: A002 - the memory's own word
    """A number from 0 to 1 that depends only on the memory, the day and the seed."""
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
        seed: int = 0,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._summaries = summaries
        self._seed = seed

    async def digest(self, to_digest: SessionToDigest) -> None:
        """Rewrite the day's two summaries and the two global ones."""
        await self._summaries(to_digest)

    async def contribute(self, request: ReplyRequest) -> tuple[Contribution, ...]:
        """The global summary and portrait, and the nearest pairs and days that are not
        forgotten."""
        query = await query_vectors(self._embedder, request.text)
        nearest = await self._store.index.nearest(
            request.owner, self._embedder.space, query, k=DEPTH, kind=MemoryKind.TURN
        )
        cosine = {hit.id: hit.score for hit in nearest}
        pairs = await self._pairs(request, list(cosine))
        days = await self._days(request)
        strengths = await self._strengths(request.owner)
        items = [
            (_of_pair(pair, request), max(cosine.get(t.id, -1.0) for t in pair)) for pair in pairs
        ]
        if days:
            vectors = await self._embedder.embed([note.text for note in days])
            items += [
                (_of_day(note, request), float(vectors[i] @ query[0]))
                for i, note in enumerate(days)
            ]
        recalled = []
        for item, similarity in sorted(items, key=lambda pair: -pair[1]):
            known = strengths.get(item.id) or MemoryStrength(strength=1, last=item.time)
            if known.remembered(now=request.now, id=item.id, seed=self._seed):
                recalled.append(_scored(item, similarity, known, request.now))
            if len(recalled) == RECALLED:
                break
        return (*await self._global_notes(request), *recalled)

    async def mark_used(self, request: ReplyRequest, contributions: Sequence[Contribution]) -> None:
        """Strengthen each pair and day that was used by one, and make it fresh."""
        strengths = await self._strengths(request.owner)
        for item in contributions:
            if item.mechanism != self.name or item.place is not PromptPlace.RECALLED:
                continue
            known = strengths.get(item.id) or MemoryStrength(strength=1, last=item.time)
            after = known.recalled(request.now)
            text = json.dumps({"strength": after.strength, "last": after.last.isoformat()})
            note = Note(kind=STRENGTH, key=item.id, text=text, time=request.now)
            await self._store.notes.put(request.owner, note)

    async def _pairs(self, request: ReplyRequest, ids: Sequence[str]) -> list[tuple[Turn, ...]]:
        """The pairs of a user's turn and its reply that contain these turns."""
        here = request.session[-1].session if request.session else None
        hits = [
            turn
            for turn in await self._store.turns.read(request.owner, ids=ids)
            if turn.session != here and turn.time <= request.now
        ]
        pairs: dict[str, tuple[Turn, ...]] = {}
        for session in sorted({turn.session for turn in hits}):
            turns = await self._store.turns.read(request.owner, session=session)
            wanted = {turn.id for turn in hits}
            for i, turn in enumerate(turns):
                if turn.speaker is not Speaker.USER:
                    continue
                after = turns[i + 1 : i + 2]
                pair = (turn, *(t for t in after if t.speaker is Speaker.ASSISTANT))
                if wanted & {t.id for t in pair}:
                    pairs[turn.id] = pair
        return list(pairs.values())

    async def _days(self, request: ReplyRequest) -> list[Note]:
        notes = await self._store.notes.read(request.owner, kind=DAY)
        return [note for note in notes if note.time <= request.now]

    async def _global_notes(self, request: ReplyRequest) -> tuple[Contribution, ...]:
        notes = await self._store.notes.read(request.owner, kind=GLOBAL)
        return tuple(
            Contribution(
                mechanism=self.name,
                place=PromptPlace.MEMORY,
                kind=MemoryKind.SENTENCE,
                id=f"{note.kind}/{note.key}",
                text=note.text,
                value=1.0,
                sources=(),
                time=note.time,
                why=f"global {note.key}",
            )
            for note in notes
            if note.time <= request.now
        )

    async def _strengths(self, owner: Owner) -> Mapping[str, MemoryStrength]:
        notes = await self._store.notes.read(owner, kind=STRENGTH)
        parsed = {note.key: json.loads(note.text) for note in notes}
        return {
            key: MemoryStrength(
                strength=value["strength"], last=datetime.fromisoformat(value["last"])
            )
            for key, value in parsed.items()
        }


def _of_pair(pair: Sequence[Turn], request: ReplyRequest) -> Contribution:
    dialogue = " / ".join(line(turn, request.language) for turn in pair if spoken(turn))
    when = human_time(pair[0].time, request.now, request.language)
    return Contribution(
        mechanism=MemoryBank.name,
        place=PromptPlace.RECALLED,
        kind=MemoryKind.TURN,
        id=pair[0].id,
        text=f"{when}: {dialogue}",
        value=0.0,
        sources=tuple(turn.id for turn in pair),
        time=pair[0].time,
        why="",
    )


def _of_day(note: Note, request: ReplyRequest) -> Contribution:
    return Contribution(
        mechanism=MemoryBank.name,
        place=PromptPlace.RECALLED,
        kind=MemoryKind.SENTENCE,
        id=f"{note.kind}/{note.key}",
        text=f"{human_time(note.time, request.now, request.language)}: {note.text}",
        value=0.0,
        sources=(),
        time=note.time,
        why="",
    )


def _scored(
    item: Contribution, similarity: float, strength: MemoryStrength, now: datetime
) -> Contribution:
    from dataclasses import replace

    kept = retention(elapsed=now - strength.last, strength=strength.strength)
    return replace(
        item,
        value=min(max(similarity, 0.0), 1.0),
        score=similarity,
        why=f"cosine {similarity:.2f}, retention {kept:.2f} at strength {strength.strength:.0f}",
    )
