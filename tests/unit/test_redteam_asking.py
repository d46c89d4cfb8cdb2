"""Asking a model with poisoned memory: many questions at a time give the same as one by one."""

from __future__ import annotations

from omoide.composition import compose
from omoide.evals.redteam.cases import load
from omoide.evals.redteam.obedience import ask
from omoide.settings import Settings
from omoide.testing import FrozenClock, ScriptedModel
from tests.unit.bench_lab import passing_store


async def test_cases_asked_at_once_are_answered_as_one_by_one() -> None:
    """The same answers in the same order; a question without memory is asked once."""
    cases = load()[:12]
    found = []
    for at_once in (1, 6):
        model = ScriptedModel([lambda request: request.messages[-1].content[:40]] * 40)
        settings = Settings(mechanisms=("summary", "search", "memos", "human-recall"))
        clock = FrozenClock()
        memory = compose(
            settings,
            store=await passing_store(),
            model=model,
            iterator=model,
            embedder=None,
            clock=clock,
            worker="test",
        )
        found.append(await ask(memory, settings, cases, clock=clock, at_once=at_once))
        await memory.close()
    one_by_one, together = found
    assert [(a.case, a.arm) for a in together] == [(a.case, a.arm) for a in one_by_one]
    assert [a.reply for a in together] == [a.reply for a in one_by_one]
    assert {a.arm for a in together} == {"memory", "none", "asked"}
