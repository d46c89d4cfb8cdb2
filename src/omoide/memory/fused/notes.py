"""Events and memos out of the notes of the small forms, by code: for models that write poor JSON.

The notes of a session are its facts, each about one speaker and with the turns it rests on. Each
is an event as it stands. For memos the session is cut by topic (`memos.segments`); a stretch is
told by the notes whose sources lie in it, and named by its own words (`memos.topics`). A stretch
without notes is told by what was said in it, shortened to the sentences that tell most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.language import split_sentences
from omoide.language.terms import telling
from omoide.memory.events import form as events
from omoide.memory.events.writer import Written as Events
from omoide.memory.memos.segments import segments
from omoide.memory.memos.topics import keywords, topic
from omoide.memory.memos.writer import Draft
from omoide.memory.memos.writer import Written as Memos
from omoide.memory.transcript import lines, spoken
from omoide.prompts import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Sentence, Turn
    from omoide.memory.mechanism import Ended
    from omoide.memory.summary.iterator import Digest
    from omoide.ports import Embedder


class Notes:
    """Takes events and memos from a digest's notes."""

    def __init__(self, *, embedder: Embedder | None) -> None:
        self._embedder = embedder

    async def events(self, digest: Digest, ended: Ended) -> Events | None:
        """A note each, under the topic of the stretch it was told in."""
        if digest.summary is None:
            return None
        said = [turn for turn in ended.turns if spoken(turn)]
        cut = await segments(said, embedder=self._embedder)
        named = {
            turn.id: topic(stretch, said, language=ended.language)
            for stretch in cut
            for turn in stretch
        }
        drafts = [
            events.Draft(
                text=note.text,
                topics=tuple(t for t in dict.fromkeys(named.get(s, "") for s in note.sources) if t),
                keywords=keywords(note.text, said, language=ended.language),
                participants=_who(note, ended.language),
            )
            for note in digest.told
            if note.supported
        ]
        settled = events.settled(
            drafts,
            turns=said,
            session=ended.session.number,
            at=ended.at,
            language=ended.language,
        )
        return Events(events=settled)

    async def memos(self, digest: Digest, turns: Sequence[Turn], *, ended: Ended) -> Memos | None:
        """A memo for each stretch of one topic, whether or not there are notes about it."""
        return await drafted(
            turns, notes=digest.told, language=ended.language, embedder=self._embedder
        )


class CodeScribe:
    """Writes memos without any model and without notes: while a session still goes on."""

    def __init__(self, *, embedder: Embedder | None) -> None:
        self._embedder = embedder

    async def write(self, turns: Sequence[Turn], *, ended: Ended) -> Memos:
        """A memo for each stretch of one topic."""
        return await drafted(turns, notes=(), language=ended.language, embedder=self._embedder)


async def drafted(
    turns: Sequence[Turn],
    *,
    notes: Sequence[Sentence],
    language: str,
    embedder: Embedder | None,
) -> Memos:
    """Memos of the turns by topic, told by the notes that rest on them."""
    said = [turn for turn in turns if spoken(turn)]
    drafts = []
    for stretch in await segments(said, embedder=embedder):
        ids = {turn.id for turn in stretch}
        told = [note.text for note in notes if note.sources and note.sources[0] in ids]
        drafts.append(
            Draft(
                topic=topic(stretch, said, language=language),
                summary=" ".join(told) or gist(stretch, language),
                turns=stretch,
            )
        )
    return Memos(drafts=tuple(drafts))


def _who(note: Sentence, language: str) -> tuple[str, ...]:
    return (words(language)[note.about.value],) if note.about else ()


def gist(stretch: Sequence[Turn], language: str, most: int = 3) -> str:
    """The sentences that tell most, as they were said, in order, with who said them."""
    said = [
        (line.speaker, sentence)
        for line in lines(stretch)
        for sentence in split_sentences(line.text)
    ]
    best = sorted(range(len(said)), key=lambda i: -telling(said[i][1]))[:most]
    return " ".join(
        f"{words(language)[speaker.value]}: {sentence}"
        for speaker, sentence in (said[i] for i in sorted(best))
    )
