"""Memos with compression: paper C (Taniguchi & Minami, NLP 2025), and MemoChat (Lu et al. 2023,
arXiv 2308.08239), which is the same without compression.

A dialogue is cut by topic; topic, summary and compressed dialogue are the memo. Related memos go
into the prompt with the user's next words.

Departures from both papers:
- memos are also written when a session ends, not only when it grows long;
- ranges that a model gets wrong are mended, and what it cannot put into words is kept as it was
  said (`writer`);
- memos are found by search without a model call, unless a model's choice is asked for;
- similar memos are merged and old ones folded (`upkeep`), which the paper leaves open.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.domain import Kind, Memo
from omoide.language import content_terms, estimate_tokens
from omoide.memory.events.human_time import human_time
from omoide.memory.mechanism import Contribution, Place
from omoide.memory.memos.compression import Whole, compress
from omoide.memory.memos.search import own, text_of, within
from omoide.memory.overlap import rarity
from omoide.memory.transcript import spoken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.domain import Turn
    from omoide.memory.mechanism import Ended, Moment
    from omoide.memory.memos.compression import Compressor
    from omoide.memory.memos.search import Found, Retrieval
    from omoide.memory.memos.upkeep import Upkeep
    from omoide.memory.memos.writer import Draft, Scribe
    from omoide.ports import Store


@dataclass(frozen=True, kw_only=True)
class Trigger:
    """When the dialogue that no memo covers yet is long enough for memos."""

    turns: int = 20
    tokens: int = 1024
    recent: int = 2
    """How many of the last utterances stay out of memos while a session goes on."""

    def due(self, turns: Sequence[Turn]) -> bool:
        """Whether it is time, by count or by length."""
        if len(turns) <= self.recent:
            return False
        tokens = sum(estimate_tokens(spoken(turn)) for turn in turns)
        return len(turns) >= self.turns or tokens >= self.tokens


class Memos:
    """The mechanism: memos written, compressed, kept few, and found. `room` is how many tokens of
    the current session a prompt holds: what was said before may be recalled; all, if None."""

    name = "memos"

    def __init__(
        self,
        *,
        store: Store,
        writer: Scribe,
        compressor: Compressor,
        retrieval: Retrieval,
        upkeep: Upkeep | None = None,
        trigger: Trigger | None = None,
        k: int = 3,
        room: int | None = None,
    ) -> None:
        self._store = store
        self._room = room
        self._writer = writer
        self._compressor = compressor
        self._retrieval = retrieval
        self._upkeep = upkeep
        self._trigger = trigger or Trigger()
        self._k = k

    async def digest(self, ended: Ended) -> None:
        """Write memos of all turns of the session that have none yet."""
        known = await self._own(ended)
        await self._write(ended, _uncovered(ended.turns, known), known)

    async def keep_up(self, going: Ended) -> tuple[Turn, ...]:
        """The recent part of a session that goes on: what no memo covers yet, and at least the
        last utterances. Memos are written first if it has grown long enough. To be called
        between two replies; the prompt needs only the turns that come back."""
        known = await self._own(going)
        left = _uncovered(going.turns, known)
        if self._trigger.due(left):
            recent = left[-self._trigger.recent :]
            await self._write(going, left[: -self._trigger.recent], known)
            return recent
        return left if len(left) > self._trigger.recent else going.turns[-self._trigger.recent :]

    async def contribute(self, moment: Moment) -> tuple[Contribution, ...]:
        """The related memos, without those whose turns stand in the prompt anyway."""
        found = await self._retrieval(moment, mechanism=self.name, k=self._k)
        return tuple(
            self._contribution(one, rank, moment)
            for rank, one in enumerate(found, start=1)
            if not within(one.memo, moment, room=self._room)
        )

    async def used(self, moment: Moment, contributions: Sequence[Contribution]) -> None:
        """Memos do not change by being read."""

    async def _own(self, ended: Ended) -> tuple[Memo, ...]:
        """The memos of this owner that this mechanism wrote, the folded ones too."""
        memos = await self._store.memos.read(ended.owner)
        return tuple(memo for memo in memos if own(memo.id, self.name))

    async def _write(self, ended: Ended, turns: Sequence[Turn], known: Sequence[Memo]) -> None:
        """Memos of the turns, stored all at once; then the upkeep."""
        if turns:
            written = await self._writer.write(turns, ended=ended)
            for rejected in written.rejected:
                await self._store.summaries.set_aside(ended.owner, rejected)
            weight = _weight(turns, known)
            left = {turn.id for turn in _uncovered(turns, await self._own(ended))}
            memos = [
                await self._memo(draft, ended.language, weight)
                for draft in written.drafts
                if any(turn.id in left for turn in draft.turns)  # not written by another meanwhile
            ]
            await self._store.memos.add(ended.owner, memos)
        if self._upkeep is not None:
            await self._upkeep.tidy(ended.owner, mechanism=self.name)

    async def _memo(self, draft: Draft, language: str, weight: Mapping[str, float]) -> Memo:
        sources = tuple(turn.id for turn in draft.turns)
        mark = hashlib.blake2s(
            f"{draft.turns[0].session} {sources[0]} {sources[-1]}".encode(), digest_size=8
        )
        return Memo(
            id=f"{self.name}-{mark.hexdigest()}",
            session=draft.turns[0].session,
            topic=draft.topic,
            summary=draft.summary,
            sources=sources,
            time=draft.turns[-1].time,
            compressed=await compress(
                self._compressor, draft.turns, language=language, weight=weight
            ),
            method=self._compressor.name,
            whole=draft.whole,
        )

    def _contribution(self, found: Found, rank: int, moment: Moment) -> Contribution:
        memo = found.memo
        ago = human_time(memo.time, moment.now, moment.language)
        head = f"{memo.time:%Y-%m-%d} ({ago})"
        if memo.topic:
            head += f" {memo.topic}"
        told = memo.summary if memo.whole else ""
        return Contribution(
            mechanism=self.name,
            place=Place.RECALLED,
            kind=Kind.MEMO,
            id=memo.id,
            text="\n".join(part for part in (f"{head}: {told}".strip(), memo.compressed) if part),
            value=min(1.0, max(0.0, found.likeness)) / rank**0.5,
            sources=memo.sources,
            time=memo.time,
            why=found.why,
            score=found.likeness,
        )


def _uncovered(turns: Sequence[Turn], known: Sequence[Memo]) -> tuple[Turn, ...]:
    """The turns in which something was said and that no memo covers."""
    covered = {name for memo in known for name in memo.sources}
    return tuple(turn for turn in turns if turn.id not in covered and spoken(turn))


def _weight(turns: Sequence[Turn], known: Sequence[Memo]) -> Mapping[str, float]:
    """How rare each term is in what this user's memos and these turns say."""
    texts = [text_of(memo) for memo in known if memo.folded_into is None]
    return rarity(content_terms(text) for text in (*texts, *(spoken(turn) for turn in turns)))


class MemoChat(Memos):
    """The baseline: uncompressed, nothing merged, and a model chooses what is related.

    Its memo of an answer that could not be read was stored where nothing could retrieve it; ours
    is retrievable.
    """

    name = "memochat"

    def __init__(
        self,
        *,
        store: Store,
        writer: Scribe,
        choice: Retrieval,
        trigger: Trigger | None = None,
        k: int = 3,
        room: int | None = None,
    ) -> None:
        super().__init__(
            store=store,
            writer=writer,
            compressor=Whole(),
            retrieval=choice,
            trigger=trigger,
            k=k,
            room=room,
        )
