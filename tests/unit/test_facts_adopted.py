"""Summaries without facts are read as facts that know what they replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Origin, Sentence, Speaker, Summary, Turn
from omoide.mechanisms.facts.adoption import facts_of_history
from omoide.testing.contracts.making import HOUR, START

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


def test_a_sentence_of_two_sessions_was_learned_from_the_later() -> None:
    """A sentence that rests on turns of two sessions may have words of both, so that it must go
    with either."""
    turns = [
        Turn(
            id=f"t{n}",
            position=n,
            session=n,
            speaker=Speaker.USER,
            text="a",
            time=START,
            language="en",
        )
        for n in (1, 2)
    ]
    version = Summary(
        number=1,
        sentences=(Sentence(text="The user has a cat and a dog.", sources=("t1", "t2")),),
        origin=Origin.DIGEST,
        session=2,
        time=START - HOUR,
        language="en",
    )
    [fact] = facts_of_history([version], turns).added
    assert all(fact.may_come_from(session=turn.session, time=turn.time) for turn in turns)
