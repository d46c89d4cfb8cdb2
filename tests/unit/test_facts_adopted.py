"""Summaries without facts are read as facts that know what they replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .conftest import World


async def test_what_ended_a_fact_and_what_it_replaced_agree(world: World) -> None:
    """A later version that says something else in its place ends it, and names it."""
    await world.session("ana", "I live in Oslo.", answers=("The user lives in Oslo.",))
    await world.session("ana", "I live in Bergen now.", answers=("The user lives in Bergen.",))
    facts = {fact.text: fact for fact in await world.memory.facts("ana", ended=True)}
    old, new = facts["The user lives in Oslo."], facts["The user lives in Bergen."]
    assert (old.ended_by, new.supersedes) == (new.id, (old.id,))
    assert "version 2" in old.end_reason
    assert new.reason == old.end_reason
