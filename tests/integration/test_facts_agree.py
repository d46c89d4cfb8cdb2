"""What ended a fact and what it ended agree, whoever wrote them and in whatever order."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.engine.runtime import Runtime
from omoide.engine.versions import When
from omoide.errors import StaleVersion
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel
from tests.examples import examples
from tests.facts import disagreeing
from tests.unit.conftest import SETTINGS, World
from tests.unit.fact_stories import add, answer, replaced

if TYPE_CHECKING:
    from omoide.ports import Store

PLACES = ("Oslo", "Bergen", "Rome")
FORMS = {
    "paper": SETTINGS,
    "large": replace(SETTINGS, form="small", writer="facts", profile="large"),
    "small": replace(SETTINGS, form="small", writer="facts", profile="small"),
}
STEPS = st.one_of(
    st.tuples(st.sampled_from([*FORMS]), st.sampled_from(PLACES), st.booleans()),
    st.tuples(
        st.sampled_from(["correct", "amend", "roll back", "erase"]),
        st.sampled_from(PLACES),
        st.booleans(),
    ),
)


def world_of(store: Store, form: str, clock: FrozenClock) -> World:
    """A memory with this form, on a store that others use too."""
    replier, iterator = ScriptedModel(name="replier"), ScriptedModel(name="iterator")
    runtime = Runtime(
        FORMS[form],
        store=store,
        model=replier,
        summariser=iterator,
        embedder=HashEmbedder(),
        clock=clock,
        name=form,
    )
    return World(
        runtime=runtime,
        memory=runtime.memory(),
        store=store,
        replier=replier,
        iterator=iterator,
        clock=clock,
    )


async def session(world: World, form: str, place: str, *, instead: bool) -> None:
    """Ana says where she lives; the model writes it, in place of what it knows or beside it."""
    text = f"The user lives in {place}."
    if form == "large":
        known = await world.memory.facts("ana") if instead else ()
        written = answer(replaced(1, text, "she moved") if known else add(text))
    else:
        written = text
    await world.session("ana", f"I live in {place} now.", answers=(written,) * 3)
    world.iterator.answers.clear()


async def edit(world: World, action: str, place: str, *, first: bool) -> None:
    """Ana corrects, amends, rolls back or erases something that there is, if there is any."""
    memory, text = world.memory, f"The user lives in {place} for good."
    facts = await memory.facts("ana", ended=action == "erase")
    sentences = (await memory.summary("ana")).sentences
    if action == "correct" and facts:
        await memory.correct("ana", facts[0 if first else -1].id, text)
    elif action == "amend" and sentences:
        await memory.amend("ana", sentences[0 if first else -1].text, text)
    elif action == "erase" and facts:
        await memory.erase("ana", facts=[facts[0 if first else -1].id])
    elif action == "roll back" and sentences:
        number = (await memory.summary("ana")).number
        await memory.rollback("ana", When(version=1 if first else max(number - 1, 0)))


@settings(max_examples=examples(40))
@given(steps=st.lists(STEPS, min_size=2, max_size=7))
def test_the_two_sides_of_a_change_agree_under_every_form(
    steps: list[tuple[str, str, bool]],
) -> None:
    """Sessions written by the paper's form, for small and for large models, corrections, amended
    sentences, rollbacks and erasures, in any order."""
    asyncio.run(_take(steps))


async def _take(steps: list[tuple[str, str, bool]]) -> None:
    store, clock = await SqliteStore.open(":memory:"), FrozenClock()
    worlds = {form: world_of(store, form, clock) for form in FORMS}
    try:
        for action, place, flag in steps:
            if action in worlds:
                await session(worlds[action], action, place, instead=flag)
            else:
                try:
                    await edit(worlds["large"], action, place, first=flag)
                except StaleVersion:
                    continue  # the sentence was written by another hand meanwhile
            facts = await worlds["large"].memory.facts("ana", ended=True)
            assert disagreeing(facts) == []
    finally:
        await store.close()
