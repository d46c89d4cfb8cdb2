"""A conversation on a store of documents, one an owner: as on a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.documents import DocumentStore, MemoryDocuments

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import World


async def test_a_talk_is_recorded_and_recalled(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """Each message and its reply, in their order, and the next session knows of them."""
    world = await make_world(store=DocumentStore(MemoryDocuments()))
    world.replier.answers += ["How lovely!", "Miso."]
    for text in ("I adopted a cat called Miso.", "What is my cat called?"):
        await (await world.memory.reply("ana", text)).text()
    turns = await world.memory.turns("ana")
    assert [turn.text for turn in turns] == [
        "I adopted a cat called Miso.",
        "How lovely!",
        "What is my cat called?",
        "Miso.",
    ]
    found = await world.memory.recall("ana", "cat Miso")
    assert found[0].text == "I adopted a cat called Miso."
