"""What happens to a server while programs use it: its processes are ended and killed. Whoever talks
meanwhile says again what was refused, under the same id."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from omoide.domain import Speaker
from omoide.engine.messages import Utterance
from omoide.errors import StoreError
from tests.torture.kills import look, touch
from tests.torture.outcome import outcome_of
from tests.torture.parts import TENANTS, USER, runtime_over, worked
from tests.torture.places_postgres import fell, terminated
from tests.torture.processes import PATIENCE, Running, asked
from tests.torture.victims import word

if TYPE_CHECKING:
    import random
    from collections.abc import Awaitable, Callable

    from tests.torture.kills import Promises
    from tests.torture.outcome import Outcome
    from tests.torture.places_postgres import PostgresPlace
    from tests.torture.processes import Promise

T = TypeVar("T")

FALLS: dict[str, Callable[[PostgresPlace, int], object]] = {
    "connections ended by the server": lambda place, _: terminated(place),
    "`kill -9` of a process of the server": lambda place, which: fell(place, which=which),
    "`kill -9` of the server, started again": lambda place, _: place.server.crash(),
}
"""What is done, by what it is called."""
TRIALS = dict(zip(FALLS, (60, 20, 20), strict=True))


class Tomorrow:
    """A clock that is ahead: work that is to be tried later is due."""

    def now(self) -> datetime:
        """In a day."""
        return datetime.now(UTC) + timedelta(days=1)


def falling(name: str, place: PostgresPlace, *, trials: int, dice: random.Random) -> Outcome:
    """Do it so many times, each some time after a promise, while someone talks."""
    began = time.monotonic()
    asked(lambda: touch(place))
    talking = Running(partial(_talk, place))
    done = 0
    while done < trials:
        if not talking.listen(PATIENCE, until=" said "):
            break
        talking.listen(dice.uniform(0.0, 0.3))
        FALLS[name](place, dice.randrange(100))
        done += 1
    talking.listen(PATIENCE, until=" said ")
    promises: Promises = {tenant: {} for tenant in TENANTS}
    for tenant, verb, what in talking.kill():
        promises[tenant].setdefault(verb, []).append(what)
    place.server.start()  # it may not have got up from the last fall
    found = asked(lambda: look(place, promises, settle=True, clock=Tomorrow()))
    refused = sum(len(told.get("refused", ())) for told in promises.values())
    beside = f"{refused} refused, and said again"
    return outcome_of(name, done, promises, found, began, beside=beside)


async def _talk(place: PostgresPlace, promise: Promise) -> None:
    """Turns, replies and ends of sessions, and a worker beside."""
    store = await place.open()
    runtimes = [runtime_over(store, tenant) for tenant in TENANTS]
    memories = [runtime.memory() for runtime in runtimes]
    workers = [asyncio.create_task(worked(runtime, every=0.05)) for runtime in runtimes]
    number = 0
    while True:
        for memory in memories:
            w = word(memory.tenant, "fall", number)
            refused = partial(promise, f"{memory.tenant} refused {w}")
            said = Utterance(speaker=Speaker.USER, text=f"My word is {w}.", id=w)
            if number % 2:
                answer = await _insisted(partial(memory.reply, USER, said.text, id=w), refused)
            else:
                await _insisted(partial(memory.record, USER, [said]), refused)
            promise(f"{memory.tenant} said {w}")
            if number % 2:
                try:
                    await answer.text()
                except StoreError:
                    refused()
            if number % 4 == 3:
                for ended in await _insisted(partial(memory.end_session, USER), refused):
                    promise(f"{memory.tenant} ended {ended.number}")
        number += 1
        for worker in workers:
            if worker.done():
                worker.result()


async def _insisted(ask: Callable[[], Awaitable[T]], refused: Callable[[], None]) -> T:
    """Ask until there is an answer."""
    while True:
        try:
            return await ask()
        except StoreError:
            refused()
            await asyncio.sleep(0.02)
