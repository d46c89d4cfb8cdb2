"""The contract of `omoide.mechanisms.Mechanism`."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.domain import NewTurn, Owner, Speaker
from omoide.mechanisms import PromptPlace, ReplyRequest, SessionToDigest
from omoide.testing import FrozenClock, InMemoryStore, ScriptedModel, asking, parts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omoide.mechanisms import Contribution, Mechanism, MechanismEntry
    from omoide.mechanisms.parts import MechanismParts
    from omoide.ports import ChatModel

ANN = Owner(tenant="acme", user="ann")
BOB = Owner(tenant="acme", user="bob")
SAID = ("My cat is called Miso.", "I moved to Lisbon in May.", "I work as a baker.")
ASKED = "What is my cat called, and where did I move?"


class MechanismContract:
    """The contract of every mechanism. A subclass sets its `entry` and `name`, and the answers of
    its model if it asks one."""

    pytestmark = pytest.mark.asyncio
    entry: MechanismEntry
    name: str
    """Its name in the settings: the name of the entry point."""

    def answers(self) -> Iterable[str]:
        """The model's answers for one session of `SAID` in English: at least as many as the
        mechanism asks for."""
        return ()

    def model(self) -> ChatModel:
        """A model that gives these answers for each digest."""
        return ScriptedModel(list(self.answers()) * 4)

    def parts(self) -> MechanismParts:
        """The parts the mechanism is built from."""
        return parts(store=InMemoryStore(), model=self.model(), clock=FrozenClock())

    async def test_it_has_its_name(self) -> None:
        """The name is that of the entry point, and the entry describes it and its calls."""
        assert self.entry.make(self.parts()).name == self.name
        assert self.entry.about
        assert self.entry.calls

    async def test_nothing_is_known_of_a_stranger(self) -> None:
        """It contributes nothing for an owner without earlier turns."""
        parts = self.parts()
        mechanism = self.entry.make(parts)
        assert await mechanism.contribute(await _request(parts, BOB)) == ()

    async def test_contributions_can_be_used(self) -> None:
        """Each names its mechanism, has a value from 0 to 1, a text and sources that exist."""
        parts = self.parts()
        mechanism = self.entry.make(parts)
        await _digest_session(parts, mechanism, ANN)
        request = await _request(parts, ANN)
        contributions = await mechanism.contribute(request)
        known = {turn.id for turn in await parts.store.turns.read(ANN)}
        for contribution in contributions:
            assert contribution.mechanism == self.name
            assert contribution.place in tuple(PromptPlace)
            assert 0 <= contribution.value <= 1
            assert contribution.text.strip()
            assert contribution.id
            assert set(contribution.sources) <= known
        await mechanism.mark_used(request, contributions)

    async def test_contributing_changes_nothing(self) -> None:
        """The same request gets the same contributions every time."""
        parts = self.parts()
        mechanism = self.entry.make(parts)
        await _digest_session(parts, mechanism, ANN)
        request = await _request(parts, ANN)
        first = _texts(await mechanism.contribute(request))
        assert _texts(await mechanism.contribute(request)) == first

    async def test_digesting_again_does_nothing(self) -> None:
        """Repeating a digest, as after a crash, adds nothing."""
        parts = self.parts()
        mechanism = self.entry.make(parts)
        ended = await _digest_session(parts, mechanism, ANN)
        before = _texts(await mechanism.contribute(await _request(parts, ANN)))
        await mechanism.digest(ended)
        assert _texts(await mechanism.contribute(await _request(parts, ANN))) == before

    async def test_each_owner_has_their_own(self) -> None:
        """What one owner said is never contributed to another's reply."""
        parts = self.parts()
        mechanism = self.entry.make(parts)
        await _digest_session(parts, mechanism, ANN)
        assert await mechanism.contribute(await _request(parts, BOB)) == ()

    async def test_what_was_erased_is_gone(self) -> None:
        """After an owner is erased, the mechanism contributes nothing about them."""
        parts = self.parts()
        mechanism = self.entry.make(parts)
        await _digest_session(parts, mechanism, ANN)
        await parts.store.archive.erase(ANN)
        assert await mechanism.contribute(await _request(parts, ANN)) == ()


async def _digest_session(
    parts: MechanismParts, mechanism: Mechanism, owner: Owner
) -> SessionToDigest:
    """Record a session of `SAID`, end it, and let the mechanism digest it."""
    start = parts.clock.now() - timedelta(days=2)
    said = [
        NewTurn(
            speaker=Speaker.USER,
            text=text,
            time=start + i * timedelta(minutes=1),
            id=f"{owner.user}-{i}",
            language="en",
        )
        for i, text in enumerate(SAID)
    ]
    await parts.store.turns.append(owner, said, session=None, idle=timedelta(hours=1))
    [session] = await parts.store.turns.end(owner, at=start + timedelta(hours=1))
    ended = SessionToDigest(
        owner=owner,
        session=session,
        turns=await parts.store.turns.read(owner, session=session.number),
        language="en",
        ask=asking(parts.iterator),
    )
    await mechanism.digest(ended)
    return ended


async def _request(parts: MechanismParts, owner: Owner) -> ReplyRequest:
    """A request in which the owner asks about earlier turns, in a new session. Asking again records
    nothing."""
    now = parts.clock.now()
    question = NewTurn(speaker=Speaker.USER, text=ASKED, time=now, id="asked", language="en")
    [turn] = await parts.store.turns.append(
        owner, [question], session="now", idle=timedelta(hours=1)
    )
    return ReplyRequest(owner=owner, text=ASKED, session=(turn,), now=now, language="en")


def _texts(contributions: Iterable[Contribution]) -> list[tuple[str, str]]:
    return [(c.id, c.text) for c in contributions]
