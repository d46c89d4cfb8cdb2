"""The programs that are killed. Each runs until then, and writes a line when something is promised:
`said ID`, `told ID`, `ended N`, `recalled ID`, `stated ID`, `erasing ID`, `erased ID`; the
tenant stands before."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from omoide.domain import Event, Fact, FactChanges, FactEnd, MemoryKind, Owner, Speaker
from omoide.engine.messages import Utterance
from tests.torture.parts import TENANTS, USER, insisted, remember, runtime_over, worked
from tests.torture.serving import serve

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.engine.memory import Memory
    from tests.torture.places import Place
    from tests.torture.processes import Promise

    Victim = Callable[[Place, str, Promise], Awaitable[None]]

MANY = 50
"""Turns of what is erased in several transactions."""
EVENTS = 20
BEFORE = 1_000_000
"""The session they are said to be of: not the one that is talked in, where nothing needs recall."""


def word(tenant: str, run: str, number: int) -> str:
    """A word that only this tenant says, and only once."""
    return f"code-{tenant}-{run}-{number:04}"


async def record(place: Place, run: str, promise: Promise) -> None:
    """Batches of three turns, for both tenants in turn."""
    store = await place.open(patience=60.0)
    memories = [remember(store, tenant) for tenant in TENANTS]
    number = 0
    while True:
        for memory in memories:
            words = [word(memory.tenant, run, number + i) for i in range(3)]
            said = [
                Utterance(speaker=Speaker.USER, text=f"My word is {w}. " + "So it is. " * 9, id=w)
                for w in words
            ]
            await memory.record(USER, said)
            for w in words:
                promise(f"{memory.tenant} said {w}")
        number += 3


async def reply(place: Place, run: str, promise: Promise) -> None:
    """A chat: what the user said is promised before the model answers."""
    store = await place.open(patience=60.0)
    memories = [remember(store, tenant) for tenant in TENANTS]
    number = 0
    while True:
        for memory in memories:
            w = word(memory.tenant, run, number)
            answer = await memory.reply(USER, f"My word is {w}.", id=w)
            promise(f"{memory.tenant} said {w}")
            await answer.text()
        number += 1


async def digest(place: Place, run: str, promise: Promise) -> None:
    """Short sessions that end, and a worker that digests them meanwhile."""
    store = await place.open(patience=60.0)
    runtimes = [runtime_over(store, tenant) for tenant in TENANTS]
    memories = [runtime.memory() for runtime in runtimes]
    workers = [asyncio.create_task(worked(runtime, every=0.01)) for runtime in runtimes]
    number = 0
    while True:
        for memory in memories:
            w = word(memory.tenant, run, number)
            said = Utterance(speaker=Speaker.USER, text=f"My word is {w}.", id=w)
            await memory.record(USER, [said])
            promise(f"{memory.tenant} said {w}")
            for ended in await memory.end_session(USER):  # unless another process has done it
                promise(f"{memory.tenant} ended {ended.number}")
        number += 1
        await asyncio.sleep(0.005)
        for worker in workers:
            if worker.done():
                worker.result()


async def seed_events(place: Place) -> None:
    """What `consolidate` recalls: events that are told before the first kill."""
    store = await place.open(patience=60.0)
    told = datetime.now(UTC)
    for tenant in TENANTS:
        owner = Owner(tenant=tenant, user=USER)
        events = [
            Event(
                id=f"{tenant}-{i}",
                session=BEFORE,
                text=f"User planted tree number {i} in garden code-{tenant}-{i}.",
                time=told,
                sources=(),
                last_recalled=told,
            )
            for i in range(EVENTS)
        ]
        await store.events.add(owner, events)
    await store.close()


async def consolidate(place: Place, run: str, promise: Promise) -> None:
    """Replies that bring events to mind; each recall is to be counted once."""
    store = await place.open(patience=60.0)
    memories = [remember(store, tenant, mechanisms=("human-recall",)) for tenant in TENANTS]
    number = int(run) * 7
    while True:
        for memory in memories:
            name = f"code-{memory.tenant}-{number % EVENTS}"
            asked = f"I planted tree number {number % EVENTS} in garden {name}."
            answer = await memory.reply(USER, asked)
            came = [c.id for c in answer.recalled if c.kind is MemoryKind.EVENT]
            for event in came:
                promise(f"{memory.tenant} recalling {event}")
            await answer.text()
            for event in came:
                promise(f"{memory.tenant} recalled {event}")
        number += 1


async def facts(place: Place, run: str, promise: Promise) -> None:
    """Facts of which each replaces the one before; every fourth is erased again."""
    store = await place.open(patience=60.0)
    memories = [remember(store, tenant) for tenant in TENANTS]
    newest = dict.fromkeys(TENANTS, "")
    number = 0
    while True:
        for memory in memories:
            tenant, now = memory.tenant, datetime.now(UTC)
            w, old = word(tenant, run, number), newest[tenant]
            text = f"The user's word is {w}."
            replaced = (old,) if old else ()
            new = Fact(id=w, about="user", text=text, said=now, learned=now, supersedes=replaced)
            ended = tuple(FactEnd(id=name, at=now, by=w, reason=text) for name in replaced)
            owner = Owner(tenant=tenant, user=USER)
            await store.facts.apply(owner, FactChanges(added=(new,), ended=ended))
            promise(f"{tenant} stated {w}")
            if number % 4 == 3:
                promise(f"{tenant} erasing {w}")
                await insisted(partial(memory.erase, USER, facts=[w]))
                promise(f"{tenant} erased {w}")
            else:
                newest[tenant] = w
        number += 1


async def erase(place: Place, run: str, promise: Promise) -> None:
    """Three turns of which the second is erased; now and then a session, or a whole user, so large
    that it takes several transactions."""
    store = await place.open(patience=60.0)
    memories = [remember(store, tenant) for tenant in TENANTS]
    number = 4 * (int(run) % 3)  # the processes begin with a turn, a session and a user
    while True:
        for memory in memories:
            await _erase_one(memory, run, number, promise)
        number += 4


def _many(word: str) -> list[Utterance]:
    """More turns than one transaction of an erasure removes."""
    return [
        Utterance(speaker=Speaker.USER, text=f"{word}, part {part}.", id=f"{word}-{part}")
        for part in range(MANY)
    ]


async def _erase_one(memory: Memory, run: str, number: int, promise: Promise) -> None:
    tenant = memory.tenant
    words = [word(tenant, run, number + i) for i in range(4)]
    said = [Utterance(speaker=Speaker.USER, text=f"My word is {w}.", id=w) for w in words]
    await memory.record(USER, said[:3], session=f"{run}-{number}")
    for w in words[:3]:
        promise(f"{tenant} said {w}")
    if number % 12 == 8:
        guest = f"guest-{run}-{number}"
        promise(f"{tenant} erasing {words[3]}")
        await memory.record(guest, [*said[3:], *_many(words[3])])
        await insisted(partial(memory.erase, guest))
        promise(f"{tenant} erased {words[3]}")
    elif number % 12 == 4:
        for w in words[:3]:
            promise(f"{tenant} erasing {w}")
        await memory.record(USER, _many(words[2]), session=f"{run}-{number}")
        [own] = [s for s in await memory.sessions(USER) if s.key == f"{run}-{number}"]
        await insisted(partial(memory.erase, USER, session=own.number))
        for w in words[:3]:
            promise(f"{tenant} erased {w}")
    else:
        promise(f"{tenant} erasing {words[1]}")
        await insisted(partial(memory.erase, USER, turns=[words[1]]))
        promise(f"{tenant} erased {words[1]}")


VICTIMS: dict[str, Victim] = {
    "serve": serve,
    "record": record,
    "reply": reply,
    "digest": digest,
    "consolidate": consolidate,
    "facts": facts,
    "erase": erase,
}
