"""The contract of `Store` as a whole: opening, closing, sharing, and a model it must agree with."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omoide.errors import ConflictingTurn, StoreError
from tests.contract.conftest import MAKERS
from tests.contract.making import ANN, ANN_ELSEWHERE, BOB, HOUR, START, say, tell, version

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.domain import Owner, Said
    from omoide.ports import Store


async def test_close_again_does_nothing(store: Store) -> None:
    """Closing twice is fine; using a closed store says so."""
    await store.close()
    await store.close()
    with pytest.raises(StoreError, match="closed"):
        await store.turns.read(ANN)


async def test_two_see_each_other(stores: tuple[Store, Store]) -> None:
    """What one process records, the other reads at once, and both can write."""
    one, two = stores
    await tell(one, ANN, "a")
    assert [t.text for t in await two.turns.read(ANN)] == ["a"]
    await tell(two, ANN, "b")
    assert [t.position for t in await one.turns.read(ANN)] == [1, 2]
    await one.summaries.commit(ANN, version(1))
    assert await two.summaries.find(ANN) == version(1)


async def test_two_write_at_once(stores: tuple[Store, Store]) -> None:
    """Many writes of two processes at once are all kept, each at its own position."""
    await asyncio.gather(
        *(tell(stores[i % 2], ANN, f"a{i}", f"b{i}") for i in range(30)),
        *(tell(stores[i % 2], BOB, "same") for i in range(10)),
    )
    assert [t.position for t in await stores[0].turns.read(ANN)] == list(range(1, 61))
    assert len(await stores[1].turns.read(BOB)) == 1


@dataclass
class Model:
    """What a store of turns must amount to."""

    turns: dict[Owner, list[Said]] = field(default_factory=dict)
    sessions: dict[Owner, list[int]] = field(default_factory=dict)

    def append(self, owner: Owner, said: list[Said]) -> bool:
        """Record a batch; False if it conflicts."""
        turns = list(self.turns.get(owner, []))
        sessions = list(self.sessions.get(owner, []))
        for words in said:
            known = [t for t in turns if t.id == words.id]
            if known and (known[0].text, known[0].speaker) != (words.text, words.speaker):
                return False
            if known:
                continue
            if not turns:
                sessions.append(1)
            else:
                here = [t.time for t, s in zip(turns, sessions, strict=True) if s == sessions[-1]]
                sessions.append(sessions[-1] + (words.time - max(here) > HOUR))
            turns.append(words)
        self.turns[owner], self.sessions[owner] = turns, sessions
        return True


words = st.builds(
    lambda number, text, minutes: say(text, id=f"id{number}", at=START + minutes * HOUR / 60),
    st.integers(0, 7),
    st.sampled_from(["green tea", "green tea", "green tea", "東京"]),
    st.integers(0, 300),
)
batches = st.lists(
    st.tuples(st.sampled_from([ANN, BOB, ANN_ELSEWHERE]), st.lists(words, max_size=4)), max_size=12
)


@pytest.mark.parametrize("maker", list(MAKERS))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(batches=batches)
def test_like_a_simple_model(
    maker: str, batches: list[tuple[Owner, list[Said]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever is appended in whatever order, with ids repeated, equals a simple model."""
    asyncio.run(_compare(maker, batches, tmp_path_factory.mktemp("model")))


async def _compare(maker: str, batches: list[tuple[Owner, list[Said]]], folder: Path) -> None:
    store, model = await MAKERS[maker](folder), Model()
    try:
        for owner, said in batches:
            before = {t.id for t in model.turns.get(owner, [])}
            try:
                turns = await store.turns.append(owner, said, session=None, idle=HOUR)
            except ConflictingTurn:
                assert not model.append(owner, said)
            else:
                assert model.append(owner, said)
                assert [t.id for t in turns] == [s.id for s in said]
                assert turns.new == {s.id for s in said} - before
        for owner in (ANN, BOB, ANN_ELSEWHERE):
            expected = model.turns.get(owner, [])
            found = await store.turns.read(owner)
            assert [(t.id, t.text, t.time) for t in found] == [
                (s.id, s.text, s.time) for s in expected
            ]
            assert [t.position for t in found] == list(range(1, len(expected) + 1))
            assert [t.session for t in found] == model.sessions.get(owner, [])
            hits = await store.index.words(owner, ["green"], k=100)
            assert {h.id for h in hits} == {s.id for s in expected if "green" in s.text}
    finally:
        await store.close()
