"""Faults at every step of memory in a request, over all protocols: the chat is answered, the
response says what became of the words, and in the end both sides are stored once."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from omoide.adapters.spool import FileSpool
from omoide.errors import StoreFull
from omoide.server.options import Options
from omoide.testing.endpoint import stream
from tests.server.serving import serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from tests.server.serving import Bench

ANA = {"X-Omoide-User": "ana"}
HI = [{"role": "user", "content": "Hi there"}]
PROTOCOLS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": HI},
    "/v1/responses": {"input": "Hi there"},
    "/v1/completions": {"prompt": "Hi there"},
    "/v1/messages": {"messages": HI, "max_tokens": 9},
    "/api/chat": {"messages": HI},
    "/api/generate": {"prompt": "Hi there"},
}
FAULTS = ("raise", "hang", "wrong type")
WAYS = [(kind, streamed) for kind in FAULTS for streamed in ("whole", "streamed")]


@dataclass
class Fault:
    """A function that fails in one way until it is lifted."""

    kind: str
    real: Callable[..., Any]
    calls: range = range(1_000_000)
    """The calls that fail, counted from 0."""
    lifted: asyncio.Event = field(default_factory=asyncio.Event)
    count: int = 0
    hit: bool = False

    async def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - any function
        """Fail, or do what the real one does."""
        number, self.count = self.count, self.count + 1
        if not self.lifted.is_set() and number in self.calls:
            self.hit = True
            if self.kind == "raise":
                raise StoreFull("no space left")
            if self.kind == "wrong type":
                return object()
            await self.lifted.wait()
        return await self.real(*args, **kwargs)


def on(part: Callable[[Bench], Any], name: str, bench: Bench, kind: str, **more: Any) -> Fault:  # noqa: ANN401
    """Put a fault in the place of a part's function."""
    owner = part(bench)
    fault = Fault(kind, getattr(owner, name), **more)
    object.__setattr__(owner, name, fault)
    return fault


def turns(bench: Bench) -> Any:  # noqa: ANN401 - a part of the store
    """The store of turns."""
    return bench.server.runtime.store.turns


def contexts(bench: Bench) -> Any:  # noqa: ANN401 - a part of the engine
    """What builds contexts."""
    return bench.server.runtime.methods.usual.contexts


STEPS: dict[str, Callable[..., Fault]] = {
    "record the message": partial(on, turns, "append", calls=range(1)),
    "record anything": partial(on, turns, "append"),
    "record the reply": partial(on, turns, "append", calls=range(1, 9)),
    "read the chosen method": partial(on, lambda bench: bench.server.runtime.methods, "of"),
    "build the context": partial(on, contexts, "for_turn"),
    "read the summary": partial(on, lambda bench: bench.server.runtime.store.summaries, "find"),
    "ask the summary": partial(on, lambda bench: bench.server.runtime.mechanisms[0], "contribute"),
    "recall": partial(on, lambda bench: bench.server.runtime.mechanisms[1], "contribute"),
    "mark as used": partial(on, contexts, "mark_used"),
    "write the cost": partial(on, lambda bench: bench.server.runtime.store.ledger, "add"),
    "wake the worker": partial(on, lambda bench: bench.server.runtime.store.jobs, "enqueue"),
}
NOT_HERE = {"wake the worker"}
"""Steps that this request may not come to."""


PATIENCE = (0.1, 1.0, 10.0, 100.0)
"""Seconds to wait for what hangs, in turn: on a busy machine a step before it may take longer than
the first ones, so that the request never comes to the fault."""


@asynccontextmanager
async def patient(folder: Path, kind: str, patience: float) -> AsyncIterator[Bench]:
    """A server that waits for memory for a moment only, if it is to hang."""
    options = Options(patience=patience if kind == "hang" else 600.0, work=False)
    async with serving(folder, options=options, spool=FileSpool(folder / "spool")) as bench:
        bench.server.runtime.exchanges.waiting.patience = 600.0
        yield bench


@pytest.mark.parametrize(
    ("path", "step", "kind", "form"),
    [
        pytest.param(path, step, *way, marks=() if (i + j - k) % 6 == 0 else pytest.mark.heavy)
        for i, step in enumerate(STEPS)
        for j, way in enumerate(WAYS)
        for k, path in enumerate(PROTOCOLS)
    ],
)
async def test_a_fault_of_memory_never_stops_a_chat(
    tmp_path: Path, path: str, step: str, kind: str, form: str
) -> None:
    """Whatever fails, and however: in `make test` every fault of every step over one protocol, each
    time another."""
    for number, patience in enumerate(PATIENCE if kind == "hang" else PATIENCE[:1]):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with patient(folder, kind, patience) as bench:
            fault = STEPS[step](bench, kind)
            await goes_on(bench, fault, path=path, step=step, streamed=form == "streamed")
        if fault.hit or step in NOT_HERE:
            return
    pytest.fail(f"the request never came to {step!r}")


async def goes_on(bench: Bench, fault: Fault, *, path: str, step: str, streamed: bool) -> None:
    """A chat with that fault is answered, told the truth, and stored once in the end."""
    if streamed:
        bench.upstairs.answers.append(stream("I ", "see."))
    response = await bench.client.post(
        path, json={"model": "m", **PROTOCOLS[path], "stream": streamed}, headers=ANA
    )
    assert response.status_code == 200
    assert "see." in response.text
    told = response.headers["x-omoide-stored"]
    assert told in ("yes", "waiting")
    if step == "record anything" and not streamed:
        assert told == "waiting"
        assert response.headers["x-omoide-status"].startswith("degraded")
    fault.lifted.set()
    runtime = bench.server.runtime
    await runtime.exchanges.settled()
    await runtime.exchanges.waiting.replay()
    assert await bench.said() == ["Hi there", "I see."]
    assert runtime.spool is not None
    assert (await runtime.spool.status()).exchanges == 0


@pytest.mark.parametrize("kind", FAULTS[:2])
@pytest.mark.parametrize("path", PROTOCOLS)
async def test_words_that_can_neither_be_stored_nor_kept_are_reported_lost(
    tmp_path: Path, path: str, kind: str
) -> None:
    """The chat goes on, and the response does not promise anything."""
    async with patient(tmp_path, kind, 0.1) as bench:
        bench.server.runtime.exchanges.waiting.patience = 0.1 if kind == "hang" else 600.0
        faults = [
            STEPS["record anything"](bench, kind),
            on(lambda bench: bench.server.runtime.spool, "keep", bench, kind),
        ]
        response = await bench.client.post(
            path, json={"model": "m", **PROTOCOLS[path], "stream": False}, headers=ANA
        )
        assert response.status_code == 200
        assert response.headers["x-omoide-stored"] == "no"
        for fault in faults:
            assert fault.hit
            fault.lifted.set()
        await bench.server.runtime.exchanges.settled()
