"""Plays stories through the product, with a model that gives the right answers, and keeps each
request with its answer: training data that is what the product asks, to the letter."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide import Utterance
from omoide.bootstrap import make_embedder, temporary_store
from omoide.domain import Speaker
from omoide.engine import Runtime
from omoide.language import LANGUAGES, estimate_tokens
from omoide.mechanisms.summary import MAX_FACTS
from omoide.ports import Completion, Skill
from omoide.prompts import vocabulary
from omoide.settings import Settings
from omoide_tune.examples import Example
from omoide_tune.stories.reading import QUIET, SPEAKERS, StorySession, drills, stories
from omoide_tune.written import spoken

if TYPE_CHECKING:
    import random
    from collections.abc import AsyncGenerator, Iterator, Sequence
    from pathlib import Path

    from omoide import Memory
    from omoide.ports import Embedder, Request
    from omoide_tune.stories.reading import StoryNote, TrainingStory

STORIES = "stories"
"""The source name of these examples."""
TOLD = "told"
"""The kind of a reply to what is being told."""
ALIKE = 0.6
"""From which likeness a known fact is the one that a note names: its dates were made absolute."""
_BEGIN = time(20, 0)


def examples(folder: Path, dice: random.Random) -> Iterator[Example]:
    """The examples of all stories; nothing is read from the folder."""
    del folder, dice
    yield from asyncio.run(_all())


async def _all() -> list[Example]:
    embedder = make_embedder(Settings())
    try:
        told = [
            example
            for language in LANGUAGES
            for number, story in enumerate(stories(language))
            for example in await play(story, embedder, quiet=quiet(language, number))
        ]
        drilled = [
            example
            for language in LANGUAGES
            for number, drill in enumerate(drills(language))
            for example in await play(drill, None, quiet=between(language, number))
        ]
        return [*told, *(example for example in drilled if _in_bounds(example))]
    finally:
        if embedder is not None:
            await embedder.close()


def _in_bounds(example: Example) -> bool:
    """Whether it teaches facts, and no more of them than the product asks for at once."""
    return example.task == "facts" and len(example.answer.splitlines()) <= MAX_FACTS


def quiet(language: str, number: int) -> StorySession | None:
    """A talk that tells nothing lasting, another one for each story; on no day yet."""
    silent = _silent(language)
    return silent[number % len(silent)] if silent else None


@cache
def _silent(language: str) -> tuple[StorySession, ...]:
    talks = (t for t in spoken(language) if not (t.user or t.friend or t.scene))
    lines = [[(SPEAKERS[who], text) for who, text in talk.lines] for talk in talks]
    written = [one for one in drills(language) if one.key.startswith(QUIET)]
    lines += [session.lines for one in written for session in one.told]
    return tuple(StorySession(day=date.min, lines=list(one)) for one in lines)


def between(language: str, number: int) -> StorySession | None:
    """For every other drill a quiet talk, lest all that know something note something."""
    return quiet(language, number) if number % 2 else None


async def play(
    story: TrainingStory, embedder: Embedder | None, *, quiet: StorySession | None = None
) -> list[Example]:
    """Tell the story to an empty memory, then ask for a reply to each message of the last day. A
    quiet talk the day after the first session teaches that much can be known and nothing new."""
    model = RightAnswers(story)
    clock = _StoryClock(datetime.combine(story.sessions[0].day, _BEGIN, tzinfo=UTC))
    store = await temporary_store()
    settings = replace(
        Settings(), profile="small", reply_form="small", timezone="UTC", layers=("none",)
    )
    runtime = Runtime(
        settings, store=store, clock=clock, model=model, embedder=embedder, owns=[store]
    )
    memory = runtime.memory()
    try:
        for session in _with_quiet_day(story.told, quiet):
            began = datetime.combine(session.day, _BEGIN, tzinfo=UTC)
            said = [
                Utterance(speaker=speaker, text=text, time=began + timedelta(minutes=minute))
                for minute, (speaker, text) in enumerate(session.lines)
            ]
            for place in _taught(session.lines) if session in story.told else ():
                clock.time = began + timedelta(minutes=place)
                before = [
                    {"role": str(who), "content": text} for who, text in session.lines[:place]
                ]
                await _keep_reply(memory, model, before, session.lines[place][1], kind=TOLD)
            clock.time = began + timedelta(minutes=len(said))
            model.notes = session.notes
            await memory.record(story.key, said, session=session.day.isoformat())
            await memory.end_session(story.key, at=clock.time)
            await memory.run_jobs()
        for minute, message in enumerate(story.messages):
            at = datetime.combine(story.last_day, _BEGIN, tzinfo=UTC) + timedelta(minutes=minute)
            clock.time = at
            await _keep_reply(memory, model, message.text, message.reply, kind=message.kind)
    finally:
        await runtime.close()
    return model.examples


def _with_quiet_day(told: Sequence[StorySession], quiet: StorySession | None) -> list[StorySession]:
    if quiet is None:
        return list(told)
    day = replace(quiet, day=told[0].day + timedelta(days=1))
    return [told[0], day, *told[1:]] if len(told) < 2 or day.day < told[1].day else list(told)


def _taught(lines: Sequence[tuple[Speaker, str]]) -> list[int]:
    """Where the assistant answers the first words of a session, and some in its middle."""
    places = [
        place
        for place, (before, line) in enumerate(pairwise(lines), start=1)
        if before[0] is Speaker.USER and line[0] is Speaker.ASSISTANT
    ]
    return sorted({places[0], places[len(places) // 2]}) if places else []


async def _keep_reply(
    memory: Memory,
    model: RightAnswers,
    messages: str | Sequence[dict[str, str]],
    reply: str,
    *,
    kind: str,
) -> None:
    context = await memory.context(model.story.key, messages)
    request = context.request(window=model.window)
    model.keep("reply", request, reply, hard=kind)


class _StoryClock:
    def __init__(self, at: datetime) -> None:
        self.time = at

    def now(self) -> datetime:
        """The story's time."""
        return self.time


class RightAnswers:
    """A model that notes what a story's author noted."""

    name = "story"
    window = 4096

    def __init__(self, story: TrainingStory) -> None:
        self.story = story
        self.notes: Sequence[StoryNote] = ()
        self.examples: list[Example] = []

    def keep(self, task: str, request: Request, answer: str, *, hard: str) -> None:
        """Keep a request with its answer as an example."""
        self.examples.append(
            Example(
                task=task,
                language=self.story.language,
                source=STORIES,
                key=self.story.key,
                messages=request.messages,
                answer=answer,
                hard=hard,
            )
        )

    def author(self, request: Request) -> str:
        """Tuned for facts, so that it is asked as such a model is."""
        return f"{self.name}+{request.skill}" if request.skill is Skill.FACTS else self.name

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """The author's notes, each with the numbers of what it makes untrue."""
        answer = vocabulary(self.story.language)["none"]
        if request.skill is Skill.FACTS and self.notes:
            known = request.messages[-1].content.splitlines()
            answer = "\n".join(_numbered(note, known) for note in self.notes)
        changed = any(note.untrue for note in self.notes)
        hard = "changed" if changed else "" if self.notes else "nothing"
        self.keep("facts", request, answer, hard=hard)
        yield answer
        yield Completion(
            text=answer, prompt_tokens=0, completion_tokens=0, seconds=0.0, finish="stop"
        )

    async def count(self, text: str) -> int:
        """An estimate."""
        return estimate_tokens(text)

    async def close(self) -> None:
        """Nothing to release."""


def _numbered(note: StoryNote, known: Sequence[str]) -> str:
    """The note, with the numbers of the known facts that it names at its end."""
    facts = {
        number: text
        for line in known
        for number, dot, text in [line.partition(". ")]
        if dot and number.isdigit()
    }
    numbers = []
    for old in note.untrue:
        likeness = {n: SequenceMatcher(None, old, text).ratio() for n, text in facts.items()}
        nearest = max(likeness, key=lambda n: likeness[n], default="")
        if nearest and likeness[nearest] >= ALIKE and nearest not in numbers:
            numbers.append(nearest)
    return f"{note.text} ({', '.join(numbers)})" if numbers else note.text
