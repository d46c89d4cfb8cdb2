"""What a paper's preset remembers is durable and versioned on every store that can be reopened."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omoide import Utterance
from omoide.adapters.analysers import analyser_for
from omoide.domain import Speaker
from omoide.engine import Runtime
from omoide.engine.versions import When
from omoide.mechanisms.memos import TextTools
from omoide.settings import Settings
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel
from tests.lanes import some
from tests.unit.preset_requests import PAPERS, START, TALKS, answers

from .stores import SHARED

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from omoide import Memory
    from omoide.ports import Request

LIGHT = ("sqlite-file", "documents")
"""The stores that `make test` tries."""
TALK = TALKS["en"]
KNOWN = answers(TALK, 1)
NOTES = ("bank-day", "bank-day-portrait", "bank-global", "importance", "flagged")


def answer(request: Request) -> str:
    """JSON if a schema asks for it, prose otherwise."""
    asked = (request.schema or {}).get("properties")
    return (
        json.dumps({name: KNOWN[name] for name in asked}) if isinstance(asked, dict) else TALK.prose
    )


class Reopened:
    """A memory that is closed and opened again, each time by another process as it were."""

    def __init__(self, preset: str, store: str, folder: Path) -> None:
        self.preset, self.store, self.folder = preset, store, folder
        self.model = ScriptedModel([answer] * 60)
        self.clock = FrozenClock()

    @asynccontextmanager
    async def memory(self) -> AsyncIterator[Memory]:
        """Open, and close at the end."""
        store = await SHARED[self.store](self.folder)
        runtime = Runtime(
            Settings.of(self.preset, timezone="UTC"),
            store=store,
            clock=self.clock,
            model=self.model,
            embedder=HashEmbedder(name="use-multilingual", version="3"),
            text_tools=TextTools(analyser=analyser_for),
            owns=[store],
        )
        async with runtime:
            yield runtime.memory()

    async def session(self, number: int) -> None:
        """One session, said and digested."""
        said, replied = TALK.sessions[number]
        self.clock.time = START + timedelta(days=number)
        talk = [
            Utterance(speaker=Speaker.USER, text=said, id=f"user-{number}"),
            Utterance(speaker=Speaker.ASSISTANT, text=replied, id=f"assistant-{number}"),
        ]
        async with self.memory() as memory:
            await memory.record("ana", talk, session=str(number))
            await memory.end_session("ana")
            await memory.run_jobs()
            assert [job.error for job in await memory.jobs("ana") if job.error] == []


async def kept(memory: Memory) -> dict[str, object]:
    """All that a preset has written about a user."""
    return {
        "versions": await memory.history("ana"),
        "memos": await memory.memos("ana"),
        "events": await memory.events("ana"),
        **{kind: await memory.notes("ana", kind=kind) for kind in NOTES},
    }


@pytest.mark.parametrize("store", some(SHARED, LIGHT))
@pytest.mark.parametrize("preset", PAPERS)
async def test_a_presets_memory_is_there_when_it_is_opened_again(
    tmp_path: Path, preset: str, store: str
) -> None:
    """The same values, none lost and none written twice, and the next prompt has them."""
    reopened = Reopened(preset, store, tmp_path)
    await reopened.session(0)
    async with reopened.memory() as memory:
        first = await kept(memory)
        await memory.run_jobs()  # nothing is left to do
        assert await kept(memory) == first
    assert any(first.values())
    await reopened.session(1)
    async with reopened.memory() as memory:
        second = await kept(memory)
        for kind in ("versions", "memos", "events"):
            before, after = first[kind], second[kind]
            assert isinstance(before, tuple)
            assert isinstance(after, tuple)
            assert [b for b in before if b in after] == list(before)
        context = await memory.context("ana", TALK.asked)
        assert context.contributions


@pytest.mark.parametrize("store", some(SHARED, LIGHT))
async def test_a_papers_summary_has_versions(tmp_path: Path, store: str) -> None:
    """Each session makes one from the one before, and an old one can be brought back."""
    reopened = Reopened("wang2023", store, tmp_path)
    for number in (0, 1):
        await reopened.session(number)
    assert f"Previous memory:\n{TALK.prose.replace('. ', '.' + chr(10), 1)}" in (
        reopened.model.requests[-1].messages[-1].content
    )
    async with reopened.memory() as memory:
        assert [version.number for version in await memory.history("ana")] == [1, 2]
        await memory.rollback("ana", When(version=1))
    async with reopened.memory() as memory:
        assert [version.number for version in await memory.history("ana")] == [1, 2, 3]
        assert (await memory.summary("ana")).text == (await memory.summary("ana", version=1)).text


@pytest.mark.parametrize("store", some(SHARED, LIGHT))
async def test_a_users_choice_is_there_when_it_is_opened_again(tmp_path: Path, store: str) -> None:
    """A session that was said before the restart is digested by the chosen preset after it."""
    reopened = Reopened("omoide", store, tmp_path)
    async with reopened.memory() as memory:
        await memory.choose_preset("ana", "wang2023")
    await reopened.session(0)
    assert "You maintain the long-term memory" in reopened.model.requests[-1].messages[0].content
    async with reopened.memory() as memory:
        assert await memory.preset("ana") == "wang2023"
        assert await memory.preset("bob") == "omoide"
