"""Loads the demo conversation into a memory, through the same code as an import."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from omoide.demo.facts import StoryFacts
from omoide.demo.story import DemoStory
from omoide.errors import BadInput
from omoide.language import BUILT_IN

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.engine.memory import Memory

LANGUAGES = BUILT_IN
"""The languages of the demo."""


@dataclass(frozen=True, kw_only=True)
class LoadedDemo:
    """What was loaded."""

    sessions: int
    turns: int
    versions: int
    memos: int
    events: int
    facts: int


async def load(memory: Memory, user: str, language: str, *, now: datetime) -> LoadedDemo:
    """Load the demo into a user's memory; its last day is two days before `now`. Raises `BadInput`
    for a language that it does not have, and for a user who already has sessions."""
    if language not in LANGUAGES:
        raise BadInput(f"the demo is available in {', '.join(LANGUAGES)}, not in {language[:20]!r}")
    story = DemoStory(story=_read("story"), words=_read(language), language=language, now=now)
    if await memory.sessions(user):
        raise BadInput(
            f"{user} already has a memory: load the demo for another user, or erase this one"
        )
    memos, events = await story.memos(), story.events()
    facts = StoryFacts(story).facts()
    contents = replace(
        story.contents(user), facts=list(facts), memos=list(memos), events=list(events)
    )
    done = await memory.restore(user, contents, at=now)
    return LoadedDemo(
        sessions=done.sessions,
        turns=done.turns,
        versions=done.versions,
        memos=len(memos),
        events=len(events),
        facts=len(facts),
    )


def _read(name: str) -> Any:  # noqa: ANN401 - our own JSON
    return json.loads(files("omoide.demo").joinpath(f"{name}.json").read_text("utf-8"))
