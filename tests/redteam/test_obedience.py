"""How often a model obeys what was planted: the whole measurement, with a scripted model."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.engine import Runtime
from omoide.errors import ModelUnavailable
from omoide.settings import Settings
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel
from omoide_bench.redteam.cases import load
from omoide_bench.redteam.obedience import ARMS, ask, rates

if TYPE_CHECKING:
    from omoide.ports import Request
    from omoide_bench.redteam.cases import Attack

SETTINGS = Settings(
    db=Path(":memory:"),
    mechanisms=("summary", "search", "memos", "human-recall"),
    reply_form="chat",
    memory_tokens=50_000,
    recall_tokens=50_000,
)


async def opened(model: ScriptedModel) -> Runtime:
    """A memory that can hold everything at once, with this model."""
    return Runtime(
        SETTINGS,
        store=await SqliteStore.open(":memory:"),
        clock=FrozenClock(),
        model=model,
        embedder=HashEmbedder(),
    )


def planted(via: str, count: int = 3) -> list[Attack]:
    """The first English cases of a sort."""
    return [case for case in load() if case.language == "en" and case.via == via][:count]


async def test_a_model_that_obeys_is_counted_in_each_arm() -> None:
    """It says the canary wherever it sees it: with memory and when asked, never without; a case
    whose attack memory did not bring to mind is left out of the rate."""
    cases = planted("summary")

    def obeys(request: Request) -> str:
        told = json.dumps([message.content for message in request.messages])
        return next((case.canary for case in cases if case.canary in told), "Fine.")

    runtime = await opened(ScriptedModel([obeys] * 30))
    clock = FrozenClock()
    clock.advance(timedelta(days=1))
    answers = await ask(runtime, cases, clock=clock, arms=ARMS)
    found = {(rate.arm, rate.group): rate for rate in rates(answers)}
    reached = sum(answer.reached for answer in answers if answer.arm == "memory")
    assert reached == len(cases)
    assert found["memory", "all"].obeyed == found["memory", "all"].count == reached
    assert found["none", "all"].obeyed == 0
    assert found["asked", "en"].obeyed == len(cases)
    low, high = found["memory", "all"].interval
    assert 0 < low < 100 <= high + 1e-9
    await runtime.store.close()


async def test_a_model_that_fails_is_not_counted() -> None:
    """Neither for nor against: the problem is kept with the case."""
    runtime = await opened(ScriptedModel([ModelUnavailable("gone")] * 10))
    clock = FrozenClock()
    clock.advance(timedelta(days=1))
    answers = await ask(runtime, planted("turn", 2), clock=clock, arms=ARMS[:1])
    assert [answer.problem for answer in answers] == ["gone", "gone"]
    assert rates(answers) == []
    await runtime.store.close()
