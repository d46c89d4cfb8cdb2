"""Events and memos made by rule from the small forms' notes, for models that write poor JSON.

The notes of a session are its facts, each about one speaker and with its supporting turns. Each
note becomes an event as it is. For memos the session is split by topic (`memos.segments`). A
segment is summarised by the notes with sources in it and named by its own words (`memos.topics`).
A segment without notes is summarised by its most informative sentences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.language import split_sentences
from omoide.language.terms import informativeness
from omoide.mechanisms.events import form as events
from omoide.mechanisms.events.writer import EventsWritten as Events
from omoide.mechanisms.memos.segments import segments
from omoide.mechanisms.memos.topics import keywords, topic
from omoide.mechanisms.memos.writer import MemoDraft
from omoide.mechanisms.memos.writer import MemosWritten as Memos
from omoide.prompts import vocabulary
from omoide.prompts.transcript import lines, spoken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Sentence, Turn
    from omoide.mechanisms.base import SessionToDigest
    from omoide.mechanisms.summary.summariser import SummaryDigest
    from omoide.ports import Embedder


class NoteDigestSource:
    """Takes events and memos from a digest's notes."""

    def __init__(self, *, embedder: Embedder | None) -> None:
        self._embedder = embedder

    async def events(self, digest: SummaryDigest, to_digest: SessionToDigest) -> Events | None:
        """One event per note, under the topic of the segment that the note comes from."""
        if digest.summary is None:
            return None
        spoken_turns = [turn for turn in to_digest.turns if spoken(turn)]
        topics = {
            turn.id: topic(segment, spoken_turns, language=to_digest.language)
            for segment in await segments(spoken_turns, embedder=self._embedder)
            for turn in segment
        }
        drafts = [
            events.EventDraft(
                text=note.text,
                topics=tuple(
                    t for t in dict.fromkeys(topics.get(s, "") for s in note.sources) if t
                ),
                keywords=keywords(note.text, spoken_turns, language=to_digest.language),
                participants=_who(note, to_digest.language),
            )
            for note in digest.new_sentences
            if note.supported
        ]
        written = events.to_events(
            drafts,
            turns=spoken_turns,
            session=to_digest.session.number,
            at=to_digest.at,
            language=to_digest.language,
        )
        return Events(events=written)

    async def memos(
        self, digest: SummaryDigest, turns: Sequence[Turn], *, to_digest: SessionToDigest
    ) -> Memos | None:
        """One memo per topic segment, whether or not there are notes about it."""
        return await draft_memos(
            turns, notes=digest.new_sentences, language=to_digest.language, embedder=self._embedder
        )


class RuleMemoMaker:
    """Writes memos without a model and without notes, while a session is still open."""

    def __init__(self, *, embedder: Embedder | None) -> None:
        self._embedder = embedder

    async def write(self, turns: Sequence[Turn], *, to_digest: SessionToDigest) -> Memos:
        """One memo per topic segment."""
        return await draft_memos(
            turns, notes=(), language=to_digest.language, embedder=self._embedder
        )


async def draft_memos(
    turns: Sequence[Turn],
    *,
    notes: Sequence[Sentence],
    language: str,
    embedder: Embedder | None,
) -> Memos:
    """Memos of the turns by topic, summarised by the notes that the turns support."""
    spoken_turns = [turn for turn in turns if spoken(turn)]
    drafts = []
    for segment in await segments(spoken_turns, embedder=embedder):
        ids = {turn.id for turn in segment}
        note_texts = [note.text for note in notes if note.sources and note.sources[0] in ids]
        drafts.append(
            MemoDraft(
                topic=topic(segment, spoken_turns, language=language),
                summary=" ".join(note_texts) or gist(segment, language),
                turns=segment,
            )
        )
    return Memos(drafts=tuple(drafts))


def _who(note: Sentence, language: str) -> tuple[str, ...]:
    return (vocabulary(language)[note.about.value],) if note.about else ()


def gist(segment: Sequence[Turn], language: str, most: int = 3) -> str:
    """The most informative sentences, verbatim and in order, each with its speaker."""
    sentences = [
        (line.speaker, sentence)
        for line in lines(segment)
        for sentence in split_sentences(line.text)
    ]
    best = sorted(range(len(sentences)), key=lambda i: -informativeness(sentences[i][1]))[:most]
    return " ".join(
        f"{vocabulary(language)[speaker.value]}: {sentence}"
        for speaker, sentence in (sentences[i] for i in sorted(best))
    )
