"""Positions with large gaps: after many erasures, or in an export of somebody else's making."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from omoide import Settings
from omoide.adapters.stores.sql.rows_by_position import RowsByPosition
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.engine.runtime import Runtime
from omoide.errors import BadImport
from omoide.testing import FrozenClock
from omoide.testing.contracts.making import START
from omoide.transfer import read_records
from omoide.transfer.schema import schema

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from omoide.engine.memory import Memory

FAR = 2_000_000_000


@given(st.lists(st.integers(1, 500), min_size=1, unique=True), st.lists(st.integers(0, 600)))
def test_rows_are_the_same_however_far_apart_positions_are(
    given: list[int], asked: list[int]
) -> None:
    """Each position leads to its row, and others to none."""
    expected = [given.index(position) if position in given else -1 for position in asked]
    near = RowsByPosition(np.array(given))(np.array(asked, np.int64))
    far = RowsByPosition(np.array([*given, FAR]))(np.array(asked, np.int64))
    assert near.tolist() == far.tolist() == expected


@pytest.fixture
async def memory() -> AsyncIterator[Memory]:
    """A memory in a database that dies with the test."""
    settings = Settings(mechanisms=("search",))
    store = await SqliteStore.open(":memory:")
    runtime = Runtime(settings, store=store, embedder=None, clock=FrozenClock(START))
    yield runtime.memory()
    await runtime.close()


async def exported(memory: Memory, **changes: int) -> list[dict[str, object]]:
    """Ana's export, with the last turn changed."""
    await memory.record("ana", ["I keep bees in the garden.", "And a goat called Momo."])
    records = [record async for record in memory.export("ana")]
    [*_, last] = (record for record in records if record["kind"] == "turn")
    last.update(changes)
    return records


async def test_a_turn_far_from_the_others_is_restored_and_recalled(memory: Memory) -> None:
    """Memory is needed for the turns that there are, not for the gap between them."""
    await memory.restore("eve", read_records(await exported(memory, position=FAR)))
    found = await memory.recall("eve", "What is the goat called?")
    assert "And a goat called Momo." in [item.text for item in found]
    await memory.record("eve", "The goat is brown.")
    found = await memory.recall("eve", "What colour is the goat?")
    assert {"And a goat called Momo.", "The goat is brown."} <= {item.text for item in found}


@pytest.mark.parametrize("field", ["position", "session"])
async def test_a_place_without_one_after_it_is_refused(memory: Memory, field: str) -> None:
    """The next turn needs a number, too; the error names the field."""
    with pytest.raises(BadImport, match=field):
        read_records(await exported(memory, **{field: 2**53}))


async def test_no_turn_comes_before_the_first_position(memory: Memory) -> None:
    """A search begins after position 0, so that such a turn would be stored and never found. The
    schema says the same."""
    records = await exported(memory, position=0)
    with pytest.raises(BadImport, match="'position' must be a whole number, 1 to"):
        read_records(records)
    turn = [record for record in records if record["kind"] == "turn"][-1]
    assert not Draft202012Validator(schema()).is_valid(turn)
    assert Draft202012Validator(schema()).is_valid({**turn, "position": 1})
    assert not Draft202012Validator(schema()).is_valid({**turn, "position": 2**31})
