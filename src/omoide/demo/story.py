"""The demo's story in one language: its turns, versions, memos and events, with their dates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from omoide.claims.overlap import rarity
from omoide.domain import (
    CallPurpose,
    Event,
    Memo,
    ModelCall,
    Origin,
    Sentence,
    Session,
    Speaker,
    Summary,
    Turn,
)
from omoide.language import content_terms, estimate_tokens
from omoide.language.dates import with_absolute_dates
from omoide.mechanisms.memos.compression import compress
from omoide.mechanisms.memos.compression_budget import BudgetCompressor
from omoide.transfer import ExportContents

if TYPE_CHECKING:
    from datetime import datetime


PACE = timedelta(seconds=40)
"""Time between two turns."""
MODEL = "demo"
"""Recorded as the model of the summaries: no model was called."""


@dataclass(frozen=True, kw_only=True)
class DemoStory:
    """The story in one language, with its dates."""

    story: Any
    words: Any
    language: str
    now: datetime

    @cached_property
    def starts(self) -> tuple[datetime, ...]:
        """When each session began."""
        return tuple(
            (self.now - timedelta(days=s["days"])).replace(
                hour=s["hour"], minute=s["minute"], second=0, microsecond=0
            )
            for s in self.story["sessions"]
        )

    @cached_property
    def sessions(self) -> tuple[tuple[Turn, ...], ...]:
        """The turns of each session."""
        sessions, position = [], 0
        for number, texts in enumerate(self.words["turns"], start=1):
            turns = []
            for i, text in enumerate(texts):
                position += 1
                turn = Turn(
                    id=f"demo-{number}-{i + 1}",
                    session=number,
                    position=position,
                    speaker=Speaker.ASSISTANT if i % 2 else Speaker.USER,
                    text=text,
                    time=self.starts[number - 1] + i * PACE,
                    language=self.language,
                )
                turns.append(turn)
            sessions.append(tuple(turns))
        return tuple(sessions)

    def ended(self, number: int) -> datetime:
        """When a session ended."""
        return self.sessions[number - 1][-1].time + timedelta(minutes=1)

    def contents(self, user: str) -> ExportContents:
        """The story as the contents of an export."""
        sessions = {
            turns[0].session: Session(
                number=turns[0].session,
                started=turns[0].time,
                last=turns[-1].time,
                ended=self.ended(turns[0].session),
                turns=len(turns),
            )
            for turns in self.sessions
        }
        return ExportContents(
            user=user,
            sessions=sessions,
            turns=[turn for turns in self.sessions for turn in turns],
            versions=[self._version(number) for number in sessions],
            aside=[],
            calls=[call for number in sessions for call in self._calls(number)],
            facts=[],
            events=[],
            memos=[],
            notes=[],
            jobs=[],
        )

    def learned(self, name: str) -> int:
        """The session from which a sentence was learned: the first whose memory holds it."""
        return next(
            number
            for number, session in enumerate(self.story["sessions"], start=1)
            if name in session["memory"]
        )

    def sentence(self, name: str) -> str:
        """A sentence, with the dates that its days are."""
        day = self.starts[self.learned(name) - 1].date()
        text = self.words["sentences"][name]
        return with_absolute_dates(text, day=day, language=self.language).text

    def _version(self, number: int) -> Summary:
        known = self.story["sentences"]
        names = self.story["sessions"][number - 1]["memory"]
        sentences = tuple(
            Sentence(
                text=self.sentence(name),
                about=Speaker(known[name]["about"]),
                sources=tuple(f"demo-{source}" for source in known[name]["sources"]),
                fact=f"demo-{name}",
            )
            for name in names
        )
        return Summary(
            number=number,
            sentences=sentences,
            origin=Origin.DIGEST,
            session=number,
            time=self.ended(number),
            language=self.language,
            model=MODEL,
            prompt_tokens=self._prompt_tokens(number),
            completion_tokens=sum(estimate_tokens(s.text) for s in sentences),
        )

    def _prompt_tokens(self, number: int) -> int:
        return 180 + sum(estimate_tokens(turn.text) for turn in self.sessions[number - 1])

    def _calls(self, number: int) -> list[ModelCall]:
        """The model calls that such a conversation would have made: tokens are estimated, seconds
        are 0."""
        turns = self.sessions[number - 1]
        replies = [
            ModelCall(
                purpose=CallPurpose.REPLY,
                model=MODEL,
                session=number,
                prompt_tokens=120 * number + sum(estimate_tokens(t.text) for t in turns[: i + 1]),
                completion_tokens=estimate_tokens(turns[i + 1].text),
                seconds=0.0,
                time=turns[i + 1].time,
            )
            for i in range(0, len(turns) - 1, 2)
        ]
        version = self._version(number)
        digest = ModelCall(
            purpose=CallPurpose.DIGEST,
            model=MODEL,
            session=number,
            prompt_tokens=version.prompt_tokens,
            completion_tokens=version.completion_tokens,
            seconds=0.0,
            time=version.time,
        )
        return [*replies, digest]

    async def memos(self) -> tuple[Memo, ...]:
        """The memos, compressed by the mechanism's own code."""
        by_id = {turn.id: turn for turns in self.sessions for turn in turns}
        weight = rarity(content_terms(turn.text) for turn in by_id.values())
        compressor = BudgetCompressor(share=0.5)
        memos = []
        for name, sources in self.story["memos"].items():
            turns = [by_id[f"demo-{source}"] for source in sources]
            compressed = await compress(compressor, turns, language=self.language, weight=weight)
            words = self.words["memos"][name]
            memo = Memo(
                id=f"demo-{name}",
                session=turns[0].session,
                topic=words["topic"],
                summary=words["summary"],
                sources=tuple(turn.id for turn in turns),
                time=turns[-1].time,
                compressed=compressed,
                method=compressor.name,
            )
            memos.append(memo)
        return tuple(memos)

    def events(self) -> tuple[Event, ...]:
        """The events, consolidated by their recalls in later sessions."""
        return tuple(self._event(name, known) for name, known in self.story["events"].items())

    def _event(self, name: str, known: Any) -> Event:  # noqa: ANN401 - our own JSON
        turns = {turn.id: turn for session in self.sessions for turn in session}
        first_turn = turns[f"demo-{known['sources'][0]}"]
        newer = known.get("superseded_by")
        event = Event(
            id=f"demo-{name}",
            session=first_turn.session,
            text=self.words["events"][name],
            time=first_turn.time,
            sources=tuple(f"demo-{source}" for source in known["sources"]),
            feeling=known["feeling"],
            last_recalled=first_turn.time,
            superseded_by=f"demo-{newer}" if newer else None,
            fact=f"demo-{known['fact']}",
        )
        for recall in known["recalled"]:
            event = event.recalled(turns[f"demo-{recall}"].time)
        return event
