"""The demo conversation, put into a store through the same doors as an import."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from omoide.domain import (
    Call,
    Event,
    Memo,
    Origin,
    Purpose,
    Sentence,
    Session,
    Speaker,
    Summary,
    Turn,
)
from omoide.errors import BadInput
from omoide.language import content_terms, estimate_tokens
from omoide.memory.memos.compression import compress
from omoide.memory.memos.compression_budget import Budget
from omoide.memory.overlap import rarity
from omoide.transfer import Contents, restore

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain import Owner
    from omoide.ports import Store

LANGUAGES = ("en", "zh", "ja", "ko", "vi")
PACE = timedelta(seconds=40)
"""Between two turns."""
MODEL = "demo"
"""Who is said to have made the memory: no model was asked."""


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """What was put into the store."""

    sessions: int
    turns: int
    versions: int
    memos: int
    events: int


async def load(store: Store, owner: Owner, language: str, *, now: datetime) -> Loaded:
    """Tell the story to the owner's memory, its last day two days before `now`. Raises `BadInput`
    for a language it is not told in, and for an owner of whom anything else is stored."""
    if language not in LANGUAGES:
        raise BadInput(f"the demo is told in {', '.join(LANGUAGES)}, not in {language[:20]!r}")
    told = Telling(story=_read("story"), words=_read(language), language=language, now=now)
    if await store.turns.sessions(owner):
        raise BadInput(
            f"{owner.user} has a memory already: load the demo into another user, or erase this one"
        )
    memos, events = await told.memos(), told.events()
    contents = replace(told.contents(owner.user), memos=list(memos), events=list(events))
    done = await restore(store, owner, contents, at=now)
    return Loaded(
        sessions=done.sessions,
        turns=done.turns,
        versions=done.versions,
        memos=len(memos),
        events=len(events),
    )


def _read(name: str) -> Any:  # noqa: ANN401 - our own JSON
    return json.loads(files("omoide.demo").joinpath(f"{name}.json").read_text("utf-8"))


@dataclass(frozen=True, kw_only=True)
class Telling:
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
        """What was said, session by session."""
        found, position = [], 0
        for number, texts in enumerate(self.words["turns"], start=1):
            said = []
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
                said.append(turn)
            found.append(tuple(said))
        return tuple(found)

    def ended(self, number: int) -> datetime:
        """When a session was over."""
        return self.sessions[number - 1][-1].time + timedelta(minutes=1)

    def contents(self, user: str) -> Contents:
        """The story as an export of ours would hold it."""
        sessions = {
            said[0].session: Session(
                number=said[0].session,
                started=said[0].time,
                last=said[-1].time,
                ended=self.ended(said[0].session),
                turns=len(said),
            )
            for said in self.sessions
        }
        return Contents(
            user=user,
            sessions=sessions,
            turns=[turn for said in self.sessions for turn in said],
            versions=[self._version(number) for number in sessions],
            aside=[],
            calls=[call for number in sessions for call in self._calls(number)],
            events=[],
            memos=[],
            notes=[],
            jobs=[],
        )

    def _version(self, number: int) -> Summary:
        rests = self.story["sentences"]
        names = self.story["sessions"][number - 1]["memory"]
        sentences = tuple(
            Sentence(
                text=self.words["sentences"][name],
                about=Speaker(rests[name]["about"]),
                sources=tuple(f"demo-{place}" for place in rests[name]["sources"]),
            )
            for name in names
        )
        spent = self._spent(number)
        return Summary(
            number=number,
            sentences=sentences,
            origin=Origin.DIGEST,
            session=number,
            time=self.ended(number),
            language=self.language,
            model=MODEL,
            prompt_tokens=spent,
            completion_tokens=sum(estimate_tokens(s.text) for s in sentences),
        )

    def _spent(self, number: int) -> int:
        return 180 + sum(estimate_tokens(turn.text) for turn in self.sessions[number - 1])

    def _calls(self, number: int) -> list[Call]:
        """What such a conversation would have cost: tokens counted, time not."""
        said = self.sessions[number - 1]
        replies = [
            Call(
                purpose=Purpose.REPLY,
                model=MODEL,
                session=number,
                prompt_tokens=120 * number + sum(estimate_tokens(t.text) for t in said[: i + 1]),
                completion_tokens=estimate_tokens(said[i + 1].text),
                seconds=0.0,
                time=said[i + 1].time,
            )
            for i in range(0, len(said) - 1, 2)
        ]
        version = self._version(number)
        digest = Call(
            purpose=Purpose.DIGEST,
            model=MODEL,
            session=number,
            prompt_tokens=version.prompt_tokens,
            completion_tokens=version.completion_tokens,
            seconds=0.0,
            time=version.time,
        )
        return [*replies, digest]

    async def memos(self) -> tuple[Memo, ...]:
        """The memos, compressed as the mechanism compresses them."""
        by_id = {turn.id: turn for said in self.sessions for turn in said}
        weight = rarity(content_terms(turn.text) for turn in by_id.values())
        compressor = Budget(share=0.5)
        found = []
        for name, place in self.story["memos"].items():
            turns = [by_id[f"demo-{source}"] for source in place]
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
            found.append(memo)
        return tuple(found)

    def events(self) -> tuple[Event, ...]:
        """The events, each as its recalls in later sessions have left it."""
        return tuple(self._event(name, known) for name, known in self.story["events"].items())

    def _event(self, name: str, known: Any) -> Event:  # noqa: ANN401 - our own JSON
        turns = {turn.id: turn for said in self.sessions for turn in said}
        told = turns[f"demo-{known['sources'][0]}"]
        newer = known.get("superseded_by")
        event = Event(
            id=f"demo-{name}",
            session=told.session,
            text=self.words["events"][name],
            time=told.time,
            sources=tuple(f"demo-{place}" for place in known["sources"]),
            feeling=known["feeling"],
            last_recalled=told.time,
            superseded_by=f"demo-{newer}" if newer else None,
        )
        for place in known["recalled"]:
            event = event.recalled(turns[f"demo-{place}"].time)
        return event
