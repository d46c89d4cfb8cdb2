"""Asking a model with poisoned memory: many questions at a time give the same as one by one."""

from __future__ import annotations

from omoide.engine import Runtime
from omoide.settings import Settings
from omoide.testing import FrozenClock, ScriptedModel
from omoide_bench.redteam.cases import load
from omoide_bench.redteam.obedience import ask
from tests.bench.bench_lab import temporary_store


async def test_cases_asked_at_once_are_answered_as_one_by_one() -> None:
    """The same answers in the same order; a question without memory is asked once."""
    cases = load()[:12]
    found = []
    for at_once in (1, 6):
        model = ScriptedModel([lambda request: request.messages[-1].content[:40]] * 80)
        settings = Settings(mechanisms=("summary", "search", "memos", "human-recall"))
        clock = FrozenClock()
        store = await temporary_store()
        runtime = Runtime(settings, store=store, clock=clock, model=model)
        found.append(await ask(runtime, cases, clock=clock, at_once=at_once))
        await store.close()
    one_by_one, together = found
    assert [(a.case, a.arm) for a in together] == [(a.case, a.arm) for a in one_by_one]
    assert [a.reply for a in together] == [a.reply for a in one_by_one]
    assert {a.arm for a in together} == {"memory", "none", "asked"}
