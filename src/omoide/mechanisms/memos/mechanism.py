"""Memos with compression: paper C (Taniguchi & Minami, NLP 2025), and MemoChat (Lu et al. 2023,
arXiv 2308.08239), which is the same without compression.

A dialogue is split by topic; topic, summary and compressed dialogue are the memo. Related memos go
into the prompt with the user's next message.

Three mechanisms: `compressed-memos` is the paper's, a model's choice among compressed memos;
`memochat` the same uncompressed; `memos` is ours, with search and upkeep.

Departures from both papers:
- memos are also written when a session ends, not only when it grows long;
- line ranges that a model gets wrong are repaired, and dialogue that it fails to summarise is kept
  verbatim (`writer`);
- in `memos`, they are found by search without a model call, and similar memos are merged and old
  ones folded (`upkeep`), which the paper leaves open;
- where a compressor needs an analyser that is not installed, nothing is dropped, and the memo says
  what to install.
"""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.claims.overlap import rarity
from omoide.domain import Memo, MemoryKind
from omoide.domain.time import in_zone
from omoide.errors import MissingExtra
from omoide.language import content_terms, estimate_tokens
from omoide.mechanisms.base import Contribution, PromptPlace
from omoide.mechanisms.events.human_time import human_time
from omoide.mechanisms.flags import keep_flags
from omoide.mechanisms.memos.compression import NoCompression, compress
from omoide.mechanisms.memos.search import covered_by, memo_text, written_by
from omoide.prompts.transcript import spoken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.domain import Turn
    from omoide.mechanisms.base import ReplyRequest, SessionToDigest
    from omoide.mechanisms.memos.compression import Compressor
    from omoide.mechanisms.memos.search import FoundMemo, MemoRetrieval
    from omoide.mechanisms.memos.upkeep import MemoUpkeep
    from omoide.mechanisms.memos.writer import MemoDraft, MemoMaker
    from omoide.ports import Store


log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class MemoTrigger:
    """When an open session has enough turns without memos to write some."""

    turns: int = 20
    tokens: int = 1024
    recent: int = 2
    """How many of the last turns stay out of memos while a session is open."""

    def due(self, turns: Sequence[Turn]) -> bool:
        """Whether there are enough turns or tokens."""
        if len(turns) <= self.recent:
            return False
        tokens = sum(estimate_tokens(spoken(turn)) for turn in turns)
        return len(turns) >= self.turns or tokens >= self.tokens


class CompressedMemos:
    """The mechanism: writes, compresses, merges and finds memos. `room` is how many tokens of the
    current session fit into a prompt; earlier turns of it may be recalled. None if all fit. `k` is
    how many memos go into a prompt at most; None for all that are related."""

    name = "memos"

    def __init__(
        self,
        *,
        store: Store,
        writer: MemoMaker,
        compressor: Compressor,
        retrieval: MemoRetrieval,
        upkeep: MemoUpkeep | None = None,
        trigger: MemoTrigger | None = None,
        k: int | None = 3,
        room: int | None = None,
    ) -> None:
        self._store = store
        self._room = room
        self._writer = writer
        self._compressor = compressor
        self._retrieval = retrieval
        self._upkeep = upkeep
        self._trigger = trigger or MemoTrigger()
        self._k = k

    async def digest(self, to_digest: SessionToDigest) -> None:
        """Write memos for all turns of the session that have none yet."""
        known = await self._own(to_digest)
        await self._write(to_digest, _uncovered(to_digest.turns, known), known)

    async def digest_open(self, to_digest: SessionToDigest) -> tuple[Turn, ...]:
        """Return the recent part of an open session: the turns that no memo covers yet, and at
        least the last ones. Writes memos first if it has grown long enough. Call it between two
        replies; the prompt needs only the turns returned."""
        known = await self._own(to_digest)
        uncovered = _uncovered(to_digest.turns, known)
        if self._trigger.due(uncovered):
            recent = uncovered[-self._trigger.recent :]
            await self._write(to_digest, uncovered[: -self._trigger.recent], known)
            return recent
        if len(uncovered) > self._trigger.recent:
            return uncovered
        return to_digest.turns[-self._trigger.recent :]

    async def contribute(self, request: ReplyRequest) -> tuple[Contribution, ...]:
        """The related memos, without those whose turns are already in the prompt."""
        related = await self._retrieval(request, mechanism=self.name, k=self._k)
        return tuple(
            self._contribution(found, rank, request)
            for rank, found in enumerate(related, start=1)
            if not covered_by(found.memo, request, room=self._room)
        )

    async def mark_used(self, request: ReplyRequest, contributions: Sequence[Contribution]) -> None:
        """Do nothing: use does not change memos."""

    async def _own(self, to_digest: SessionToDigest) -> tuple[Memo, ...]:
        """The owner's memos that this mechanism wrote, including folded ones."""
        memos = await self._store.memos.read(to_digest.owner)
        return tuple(memo for memo in memos if written_by(memo.id, self.name))

    async def _write(
        self, to_digest: SessionToDigest, turns: Sequence[Turn], known: Sequence[Memo]
    ) -> None:
        """Write memos for the turns, store them all at once, then do the upkeep."""
        if turns:
            written = await self._writer.write(turns, to_digest=to_digest)
            for rejected in written.rejected:
                await self._store.summaries.add_rejected(to_digest.owner, rejected)
            await keep_flags(
                self._store, to_digest, f"{self.name}-{turns[0].position}", written.flags
            )
            weight = _weight(turns, known)
            uncovered = {turn.id for turn in _uncovered(turns, await self._own(to_digest))}
            memos = [
                await self._memo(draft, to_digest.language, weight)
                for draft in written.drafts
                if any(turn.id in uncovered for turn in draft.turns)  # another worker may be first
            ]
            await self._store.memos.add(to_digest.owner, memos)
        if self._upkeep is not None:
            await self._upkeep.tidy(to_digest.owner, mechanism=self.name)

    async def _memo(self, draft: MemoDraft, language: str, weight: Mapping[str, float]) -> Memo:
        sources = tuple(turn.id for turn in draft.turns)
        compressed, method = await self._compressed(draft.turns, language, weight)
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
            compressed=compressed,
            method=method,
            whole=draft.whole,
        )

    async def _compressed(
        self, turns: Sequence[Turn], language: str, weight: Mapping[str, float]
    ) -> tuple[str, str]:
        """The compressed dialogue and how it was made; all of it if an analyser is missing."""
        try:
            text = await compress(self._compressor, turns, language=language, weight=weight)
        except MissingExtra as error:
            log.warning("memos are not compressed: %s", error)
            whole = NoCompression()
            text = await compress(whole, turns, language=language, weight=weight)
            return text, f"{whole.name}: {error}"
        return text, self._compressor.name

    def _contribution(self, found: FoundMemo, rank: int, request: ReplyRequest) -> Contribution:
        memo = found.memo
        ago = human_time(memo.time, request.now, request.language)
        head = f"{in_zone(memo.time, request.now.tzinfo):%Y-%m-%d} ({ago})"
        if memo.topic:
            head += f" {memo.topic}"
        summary = memo.summary if memo.whole else ""
        return Contribution(
            mechanism=self.name,
            place=PromptPlace.RECALLED,
            kind=MemoryKind.MEMO,
            id=memo.id,
            text="\n".join(
                part for part in (f"{head}: {summary}".strip(), memo.compressed) if part
            ),
            value=min(1.0, max(0.0, found.likeness)) / rank**0.5,
            sources=memo.sources,
            time=memo.time,
            why=found.why,
            score=found.likeness,
        )


def _uncovered(turns: Sequence[Turn], known: Sequence[Memo]) -> tuple[Turn, ...]:
    """The non-empty turns that no memo covers."""
    covered = {name for memo in known for name in memo.sources}
    return tuple(turn for turn in turns if turn.id not in covered and spoken(turn))


def _weight(turns: Sequence[Turn], known: Sequence[Memo]) -> Mapping[str, float]:
    """The rarity of each term in this user's memos and these turns."""
    texts = [memo_text(memo) for memo in known if memo.folded_into is None]
    return rarity(content_terms(text) for text in (*texts, *(spoken(turn) for turn in turns)))


class ChosenMemos(CompressedMemos):
    """The mechanism of paper C: compressed memos, none merged, and a model chooses any number of
    them or none. The part of the current session that has memos leaves the prompt."""

    name = "compressed-memos"

    def __init__(
        self,
        *,
        store: Store,
        writer: MemoMaker,
        compressor: Compressor,
        choice: MemoRetrieval,
        trigger: MemoTrigger | None = None,
        room: int | None = None,
    ) -> None:
        super().__init__(
            store=store,
            writer=writer,
            compressor=compressor,
            retrieval=choice,
            trigger=trigger,
            k=None,  # as many as the model chooses
            room=room,
        )

    async def current_turns(self, request: ReplyRequest) -> tuple[Turn, ...]:
        """The turns of the session that no memo covers, and at least the last ones."""
        memos = await self._store.memos.read(request.owner)
        own = [
            memo for memo in memos if written_by(memo.id, self.name) and memo.time <= request.now
        ]
        uncovered = {turn.id for turn in _uncovered(request.session, own)}
        recent = {turn.id for turn in request.session[-self._trigger.recent :]}
        return tuple(turn for turn in request.session if turn.id in uncovered | recent)


class MemoChat(ChosenMemos):
    """The baseline: the same without compression.

    The original stored the memo of an unreadable answer where it could not be retrieved; ours can
    be retrieved.
    """

    name = "memochat"

    def __init__(
        self,
        *,
        store: Store,
        writer: MemoMaker,
        choice: MemoRetrieval,
        trigger: MemoTrigger | None = None,
        room: int | None = None,
    ) -> None:
        super().__init__(
            store=store,
            writer=writer,
            compressor=NoCompression(),
            choice=choice,
            trigger=trigger,
            room=room,
        )
