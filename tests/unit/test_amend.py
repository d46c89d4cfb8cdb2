"""Putting the memory right: the user's correction is a version, and cites the user."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from omoide.cli.status import memory_status
from omoide.cli.views import version_line
from omoide.domain import Origin, Owner
from omoide.engine import titles
from omoide.errors import BadInput, StaleVersion, StoreFull
from omoide.transfer import to_record
from omoide.transfer.files import JsonElement
from omoide.transfer.restore import read_contents

if TYPE_CHECKING:
    from .conftest import World

ANA = Owner(tenant="default", user="ana")
OSLO = "The user lives in Oslo."
BERGEN = "The user lives in Bergen."


async def remembered(world: World) -> None:
    """A session about Oslo and a cat, digested."""
    await world.session(
        "ana", "I live in Oslo and have a cat.", answers=(f"{OSLO}\nThe user has a cat.",)
    )


async def test_a_correction_is_a_version_that_rests_on_the_users_word(world: World) -> None:
    """In the place of the old sentence; the others stay, and the old version is there."""
    await remembered(world)
    edited = await world.memory.amend("ana", OSLO, BERGEN)
    assert (edited.number, edited.origin) == (2, Origin.EDIT)
    assert edited.text.splitlines() == [BERGEN, "The user has a cat."]
    because = await world.memory.why("ana")
    assert [turn.text for turn in because[0].turns] == [BERGEN]
    assert because[0].turns[0].id.startswith("edit-")
    assert (await world.memory.summary("ana", version=1)).text.startswith(OSLO)
    assert "corrected by the user" in version_line(edited, world.clock.now())


async def test_a_sentence_is_confirmed_by_saying_it_again(world: World) -> None:
    """It then rests on that word, and says the same."""
    await remembered(world)
    edited = await world.memory.amend("ana", OSLO, OSLO)
    assert edited.sentences[0].text == OSLO
    assert [turn.text for turn in (await world.memory.why("ana"))[0].turns] == [OSLO]


async def test_a_correction_asks_no_model(world: World) -> None:
    """Its session is over at once and needs no digesting; the open one goes on."""
    await remembered(world)
    world.replier.answers.append("Hi.")
    await (await world.memory.reply("ana", "Good morning.")).text()
    await world.memory.amend("ana", OSLO, BERGEN)
    await world.memory.run_jobs()
    found = await memory_status(world.memory, "ana")
    assert found.current
    assert [session.number for session in found.open] == [2]


async def test_a_correction_of_what_is_not_there_leaves_nothing(world: World) -> None:
    """Not even the words of it."""
    await remembered(world)
    before = await world.memory.turns("ana")
    with pytest.raises(StaleVersion, match="read the memory again"):
        await world.memory.amend("ana", "The user lives in Rome.", BERGEN)
    with pytest.raises(BadInput, match="one line"):
        await world.memory.amend("ana", OSLO, "The user\nmoved.")
    with pytest.raises(BadInput, match="one line"):
        await world.memory.amend("ana", OSLO, f"{BERGEN}\n")
    assert await world.memory.turns("ana") == before


async def test_of_two_corrections_at_once_the_later_is_told(world: World) -> None:
    """And its words are gone: nobody decided for them."""
    await remembered(world)
    commit = world.store.summaries.commit

    async def meanwhile(owner: object, summary: object) -> None:
        world.store.summaries.commit = commit  # type: ignore[method-assign]
        await world.memory.amend("ana", OSLO, BERGEN)
        await commit(owner, summary)  # type: ignore[arg-type]

    world.store.summaries.commit = meanwhile  # type: ignore[method-assign]
    with pytest.raises(StaleVersion):
        await world.memory.amend("ana", OSLO, "The user lives in Rome.")
    said = [turn.text for turn in await world.memory.turns("ana")]
    assert said[-1] == BERGEN
    assert "The user lives in Rome." not in said


async def test_a_correction_that_comes_too_late_takes_nothing_along(world: World) -> None:
    """Titles and an application's notes stay, and so do sentences and sessions that came
    meanwhile."""
    await remembered(world)
    await world.memory.put_note("ana", kind="app.agent", key="state", text="step 7 of 9")
    await world.memory.rename("ana", 1, "My cat")
    commit = world.store.summaries.commit

    async def meanwhile(owner: object, summary: object) -> None:
        world.store.summaries.commit = commit  # type: ignore[method-assign]
        await world.memory.amend("ana", OSLO, BERGEN)
        await commit(owner, summary)  # type: ignore[arg-type]

    world.store.summaries.commit = meanwhile  # type: ignore[method-assign]
    with pytest.raises(StaleVersion):
        await world.memory.amend("ana", OSLO, "The user lives in Rome.")
    notes = await world.store.notes.read(ANA)
    assert {(note.kind, note.text) for note in notes} >= {
        ("app.agent", "step 7 of 9"),
        (titles.KIND, "My cat"),
    }
    assert all(session.turns for session in await world.memory.sessions("ana"))
    assert not any(session.open for session in await world.memory.sessions("ana"))


async def test_a_correction_that_cannot_be_kept_leaves_nothing(world: World) -> None:
    """Where the version cannot be written, the words of it are taken back."""
    await remembered(world)
    before = await world.memory.turns("ana")

    async def full(owner: object, summary: object) -> None:
        raise StoreFull("no space is left")

    world.store.summaries.commit = full  # type: ignore[method-assign]
    with pytest.raises(StoreFull):
        await world.memory.amend("ana", OSLO, BERGEN)
    assert await world.memory.turns("ana") == before


async def test_a_correction_that_is_cancelled_is_whole_or_not_at_all(world: World) -> None:
    """Once its words are recorded the version is, too."""
    await remembered(world)
    commit, reached = world.store.summaries.commit, asyncio.Event()

    async def slowly(owner: object, summary: object) -> None:
        reached.set()
        await asyncio.sleep(0)
        await commit(owner, summary)  # type: ignore[arg-type]

    world.store.summaries.commit = slowly  # type: ignore[method-assign]
    amending = asyncio.create_task(world.memory.amend("ana", OSLO, BERGEN))
    await reached.wait()
    amending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await amending
    (sentence,) = [s for s in (await world.memory.summary("ana")).sentences if s.text == BERGEN]
    (turn,) = [t for t in await world.memory.turns("ana") if t.id in sentence.sources]
    assert turn.text == BERGEN


async def test_a_correction_survives_the_next_session_and_an_export(world: World) -> None:
    """The next version inherits its source; a restore has nothing to digest."""
    await remembered(world)
    await world.memory.amend("ana", OSLO, BERGEN)
    await world.session("ana", "It rains.", answers=(f"{BERGEN}\nThe user has a cat.",))
    newest = await world.memory.why("ana")
    assert [turn.text for turn in newest[0].turns][:1] == [BERGEN]
    records = [record async for record in world.memory.export("ana")]
    whole = read_contents(
        JsonElement(value=r, where="line", document=0, problem="") for r in records
    )
    assert whole.undigested == []
    assert to_record(whole.versions[1])["origin"] == "edit"
