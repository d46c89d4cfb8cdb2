"""Recall on MemoryBank's probing questions, in English and Chinese."""

from __future__ import annotations

from pathlib import Path

import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.engine.runtime import Runtime
from omoide.settings import Settings
from omoide.testing import FrozenClock, ScriptedModel
from omoide_bench import evidence
from omoide_bench.corpora import memorybank

DATA = Path(__file__).parents[3] / "shared" / "data" / "memorybank"
FLOOR = {"English": 0.93, "Chinese": 0.91}
"""A little below what was measured when this was written (.961 and .949)."""


@pytest.mark.data
@pytest.mark.skipif(
    not (DATA / memorybank.FILE).exists(),
    reason=f"MemoryBank is not at {DATA}; get {memorybank.FILE} from its authors to run this",
)
async def test_floor_in_two_languages() -> None:
    """By words alone, nearly all of the evidence of 178 questions is among the first ten turns."""
    runtime = Runtime(
        Settings(mechanisms=("search",)),
        store=await SqliteStore.open(":memory:"),
        model=ScriptedModel(),
        summariser=ScriptedModel(),
        embedder=None,
        clock=FrozenClock(),
        name="test",
    )
    memory = runtime.memory()
    conversations = memorybank.load(DATA)
    outcomes = await evidence.measure(memory, conversations, {"recall": evidence.product(memory)})
    await runtime.store.close()
    found = {line.questions: line.recall[10] for line in evidence.summarise(outcomes)}
    assert found["all"].count == 178
    for language, floor in FLOOR.items():
        assert found[language].mean >= floor
