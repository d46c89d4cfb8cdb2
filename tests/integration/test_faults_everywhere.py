"""The same faults of a model, survived by every mechanism that asks one."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.domain import JobState, Owner, Speaker
from omoide.mechanisms.registry import MECHANISMS
from tests.integration.test_faults import BAD, OUT_OF_REACH, SAID
from tests.lanes import pairs
from tests.unit.conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.domain import Event, Memo, Note
    from omoide.ports import Request
    from tests.unit.conftest import World

OWNER = Owner(tenant="default", user="ana")
ASKING = [name for name, entry in MECHANISMS.items() if not entry.calls.startswith("none")]
WAYS = [
    *((name, "separate", "paper") for name in ASKING),
    ("summary", "separate", "small"),
    *((name, "fused", form) for name in ("summary", "memos", "human-recall") for form in
      ("small", "paper")),
]  # fmt: skip


def title(part: tuple[str, ...] | str) -> str:
    """A way, or a fault, in the name of a test."""
    return part if isinstance(part, str) else "-".join(part)


NOTES = ("bank-day", "bank-day-portrait", "bank-global", "events-digested")


def good(request: Request) -> str:
    """What a good model would answer, whatever is asked."""
    if request.grammar is not None and request.schema is None:
        return "User has a cat called Miso.\nUser lives in Oslo."
    fields = (request.schema or {}).get("properties", {})
    assert isinstance(fields, dict)
    answer: dict[str, object] = {}
    if "memory" in fields:
        answer["memory"] = ["User has a cat called Miso.", "User lives in Oslo."]
    if "memos" in fields:
        summary = "The User has a cat, Miso, and works nights as a nurse in Oslo."
        answer["memos"] = [{"topic": "Miso the cat", "start": 1, "end": 2, "summary": summary}]
    if "events" in fields:
        answer["events"] = [{"text": "User has a cat called Miso in Oslo."}]
    if "ratings" in fields:
        answer["ratings"] = [5]
    if "insights" in fields:
        answer["insights"] = []
    if "numbers" in fields:
        answer["numbers"] = [0]
    if answer:
        return json.dumps(answer)
    return "The user has a cat called Miso. The user lives in Oslo and works nights as a nurse."


async def lived(
    make_world: Callable[..., Awaitable[World]], way: tuple[str, str, str]
) -> tuple[World, Kept]:
    """A user with one session well digested, and all that is known of it."""
    name, writer, form = way
    settings = replace(SETTINGS, mechanisms=(name,), writer=writer, form=form)
    world = await make_world(settings=settings)
    await world.session("ana", SAID, answers=(good,) * 8)
    world.iterator.answers.clear()
    assert await world.memory.jobs("ana", states=[JobState.DEAD, JobState.WAITING]) == ()
    kept = await Kept.of(world)
    assert kept.something, "the good session left nothing, so this test would show nothing"
    return world, kept


class Kept:
    """What is stored of a user."""

    def __init__(
        self,
        *,
        sentences: tuple[str, ...],
        memos: dict[str, Memo],
        events: dict[str, Event],
        notes: dict[tuple[str, str], Note],
        turns: int,
    ) -> None:
        self.sentences = sentences
        self.memos = memos
        self.events = events
        self.notes = notes
        self.turns = turns

    @classmethod
    async def of(cls, world: World) -> Kept:
        """Read all of it."""
        store = world.store
        notes = [n for kind in NOTES for n in await store.notes.read(OWNER, kind=kind)]
        return cls(
            sentences=tuple(s.text for s in (await world.memory.summary("ana")).sentences),
            memos={memo.id: memo for memo in await store.memos.read(OWNER)},
            events={event.id: event for event in await store.events.read(OWNER)},
            notes={(note.kind, note.key): note for note in notes},
            turns=len(await world.memory.turns("ana")),
        )

    @property
    def something(self) -> bool:
        """Whether there is anything to lose."""
        return bool(self.sentences or self.memos or self.events or self.notes)

    def holds(self, before: Kept) -> bool:
        """Whether nothing of what was there is gone."""
        return (
            all("Miso" in " ".join(self.sentences) for s in before.sentences if "Miso" in s)
            and before.memos.keys() <= self.memos.keys()
            and before.events.keys() <= self.events.keys()
            and before.notes.keys() <= self.notes.keys()
            and self.turns >= before.turns
        )


@pytest.mark.parametrize(("way", "fault"), pairs(WAYS, BAD, every=3, ids=title))
async def test_a_bad_answer_loses_nothing_and_is_seen(
    make_world: Callable[..., Awaitable[World]], way: tuple[str, str, str], fault: str
) -> None:
    """However often the model answers so: what was known stands, every turn is there, and either
    something usable came of it or a person can see why not."""
    world, before = await lived(make_world, way)
    world.iterator.answers.extend([BAD[fault]] * 24)
    await world.session("ana", SAID)
    after = await Kept.of(world)
    assert after.holds(before)
    said = [t.text for t in await world.memory.turns("ana") if t.speaker is Speaker.USER]
    assert said == [SAID, SAID]
    dead = await world.memory.jobs("ana", states=[JobState.DEAD])
    aside = await world.memory.rejected("ana")
    grown = (
        (await world.memory.summary("ana")).number > 1
        or len(after.memos) > len(before.memos)
        or len(after.events) > len(before.events)
        or any(note.text for key, note in after.notes.items() if key not in before.notes)
    )
    assert all(job.error for job in dead)
    assert all(rejected.problems for rejected in aside)
    assert dead or aside or grown
    assert await world.memory.jobs("ana", states=[JobState.WAITING]) == ()


@pytest.mark.parametrize(("way", "fault"), pairs(WAYS, OUT_OF_REACH, every=2, ids=title))
async def test_a_model_out_of_reach_is_waited_for(
    make_world: Callable[..., Awaitable[World]], way: tuple[str, str, str], fault: str
) -> None:
    """The reply is made without it; the job says why it waits, and is done in the end."""
    world, before = await lived(make_world, way)
    world.iterator.answers.extend([OUT_OF_REACH[fault]] * 24)
    await world.session("ana", SAID)
    after = await Kept.of(world)
    assert after.holds(before)
    (waiting,) = await world.memory.jobs("ana", states=[JobState.WAITING])
    assert str(OUT_OF_REACH[fault]) in waiting.error
    world.iterator.answers.clear()
    world.iterator.answers.extend([good] * 12)
    world.clock.advance(timedelta(hours=1))
    await world.memory.run_jobs()
    assert await world.memory.jobs("ana", states=[JobState.WAITING, JobState.DEAD]) == ()
    assert (await Kept.of(world)).holds(before)
