"""What else goes wrong in a life: a full disk, a clock that goes back, models that stall or lie,
many at once, and a database that another holds."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.engine.messages import Utterance
from omoide.errors import ModelStalled, OmoideError, StoreError
from tests.torture.kills import look, touch
from tests.torture.outcome import Outcome, outcome_of
from tests.torture.parts import (
    TENANTS,
    USER,
    Endless,
    noted,
    remember,
    summarise,
)
from tests.torture.processes import PATIENCE, Running, asked
from tests.torture.victims import word

if TYPE_CHECKING:
    import random
    from collections.abc import AsyncGenerator, Callable

    from omoide.ports import Completion, Request
    from tests.torture.kills import Promises
    from tests.torture.places import Place
    from tests.torture.processes import Promise, Work

CONVERSATIONS = 64


def disk_full(place: Place, *, trials: int) -> Outcome:
    """There is no room to write any further. What was acknowledged before is there, and with room
    again it goes on."""
    began = time.monotonic()
    promises: Promises = {tenant: {} for tenant in TENANTS}
    refused = 0
    asked(lambda: touch(place))
    for trial in range(trials):

        async def fill(promise: Promise, trial: int = trial) -> None:
            try:
                store = await place.cramped(trial)
            except StoreError:
                promise("acme refused -")
                os._exit(0)
            memories = [remember(store, tenant) for tenant in TENANTS]
            for number in range(10_000):
                for memory in memories:
                    w = word(memory.tenant, f"full{trial}", number)
                    said = Utterance(speaker=Speaker.USER, text=f"{w} {_bulk(number)}", id=w)
                    try:
                        if number == 0:
                            for ended in await memory.end_session(USER):
                                promise(f"{memory.tenant} ended {ended.number}")
                        await memory.record(USER, [said])
                    except StoreError:
                        promise(f"{memory.tenant} refused {w}")
                        os._exit(0)
                    promise(f"{memory.tenant} said {w}")

        heard = Running(fill).finished()
        place.relieve()
        for tenant, verb, what in heard:
            promises[tenant].setdefault(verb, []).append(what)
            refused += verb == "refused"
    found = asked(lambda: look(place, promises, settle=True))
    return outcome_of("disk full", trials, promises, found, began, beside=f"{refused} refused")


def _bulk(number: int) -> str:
    """Many words, each of which is a term, and so much longer in the index than it is."""
    letters = "bcdfghjklmnpqrtv"
    return " ".join(
        "".join(letters[(number * 7919 + i * 104_729) >> shift & 15] for shift in (0, 4, 8, 12))
        for i in range(300)
    )


def clock_back(place: Place, *, trials: int, dice: random.Random) -> Outcome:
    """The clock jumps by up to a year, mostly back, between any two things."""
    began = time.monotonic()
    promises: Promises = {tenant: {} for tenant in TENANTS}

    class Jumping:
        """A clock nobody should trust."""

        def now(self) -> datetime:
            """Some time."""
            return datetime(2026, 6, 1, tzinfo=UTC) + timedelta(days=dice.uniform(-365, 30))

    async def live(promise: Promise) -> None:
        store = await place.open()
        memories = [remember(store, tenant, clock=Jumping()) for tenant in TENANTS]
        for number in range(trials):
            for memory in memories:
                w = word(memory.tenant, "back", number)
                await (await memory.reply(USER, f"My word is {w}.", id=w)).text()
                promise(f"{memory.tenant} said {w}")
                if number % 3 == 2:
                    for ended in await memory.end_session(USER):
                        promise(f"{memory.tenant} ended {ended.number}")
                    await memory.run_jobs()
        await store.close()

    for tenant, verb, what in Running(live).finished():
        promises[tenant].setdefault(verb, []).append(what)
    found = asked(lambda: look(place, promises, settle=True))
    return outcome_of("clock going back", trials, promises, found, began)


class Faulty(Endless):
    """A model that stalls, lies, or says what belongs to another tenant."""

    def __init__(self, other: str, *, form: str, dice: random.Random) -> None:
        super().__init__(summarise, pause=0.0)
        self._other = other
        self._right = summarise if form == "paper" else noted
        self._dice = dice

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """Sometimes right, mostly not."""
        fault = self._dice.choice(["right", "stall", "empty", "echo", "noise", "other", "other"])
        if fault == "stall":
            yield "The user"
            raise ModelStalled("no token for a long time")
        answers: dict[str, str | Callable[[Request], str]] = {
            "right": self._right,
            "empty": "",
            "echo": lambda r: r.messages[-1].content,
            "noise": "\x00 {{{ ]]] 0 0 0 0 0 0",
            "other": f"User keeps a parrot, Kiko, at home in Lisbon, code-{self._other}-parrot.\n"
            f"User plays the cello in an orchestra every Friday, code-{self._other}-cello.",
        }
        self._answer = answers[fault]
        async for piece in super().stream(request):
            yield piece


def bad_model(place: Place, *, form: str, trials: int, dice: random.Random) -> Outcome:
    """Nothing that a model says empties a memory, or brings in words of another tenant. Its answers
    that were set aside stay where a person can look at them; they are no memory."""
    began = time.monotonic()
    promises: Promises = {tenant: {} for tenant in TENANTS}

    async def live(promise: Promise) -> None:
        store = await place.open()
        # What a model replies is recorded as what it replied: here the memory's model is wrong.
        memories = [
            remember(store, tenant, form=form, iterator=Faulty(other, form=form, dice=dice))
            for tenant, other in (TENANTS, TENANTS[::-1])
        ]
        for number in range(trials):
            for memory in memories:
                w = word(memory.tenant, "model", number)
                with suppress(OmoideError):
                    await (await memory.reply(USER, f"My word is {w}.", id=w)).text()
                promise(f"{memory.tenant} said {w}")
                for ended in await memory.end_session(USER):
                    promise(f"{memory.tenant} ended {ended.number}")
                await memory.run_jobs()
        await store.close()

    for tenant, verb, what in Running(live).finished():
        promises[tenant].setdefault(verb, []).append(what)
    found = asked(lambda: look(place, promises, settle=False))
    aside = asked(lambda: _aside(place))
    return outcome_of(
        f"model that stalls, lies, or gives another's words (form `{form}`)",
        trials,
        promises,
        found,
        began,
        beside=f"{aside} answers set aside",
    )


def many_at_once(place: Place, *, processes: int = 4, turns: int = 5) -> Outcome:
    """64 conversations in several processes, of which one is killed in the middle."""
    began = time.monotonic()
    each = CONVERSATIONS // processes

    def talking(process: int) -> Work:
        async def talk(promise: Promise) -> None:
            store = await place.open(patience=60.0)
            memories = [remember(store, tenant) for tenant in TENANTS]

            async def converse(number: int) -> None:
                memory = memories[number % 2]
                for turn in range(turns):
                    w = word(memory.tenant, f"p{process}c{number}", turn)
                    answer = await memory.reply(f"user {process}.{number}", f"I am {w}.", id=w)
                    promise(f"{memory.tenant} user {process}.{number} said {w}")
                    await answer.text()

            await asyncio.gather(*(converse(number) for number in range(each)))
            await store.close()

        return talk

    running = [Running(talking(process)) for process in range(processes)]
    running[0].listen(PATIENCE, until=" said ")
    running[0].listen(0.3)
    running[0].interrupt()
    heard = [line for process in running for line in process.finished()]

    async def check() -> dict[str, int]:
        store = await place.open()
        counts = Counter({"lost": 0, "doubled": 0, "crossed": 0})
        memories = {tenant: remember(store, tenant) for tenant in TENANTS}
        kept: dict[tuple[str, str], list[str]] = {}
        for tenant, _, user, _, w in heard:
            kept.setdefault((tenant, f"user {user}"), []).append(w)
        for (tenant, user), words in kept.items():
            found = [t for t in await memories[tenant].turns(user) if t.speaker is Speaker.USER]
            ids = Counter(turn.id for turn in found)
            counts["lost"] += sum(not ids[w] for w in words)
            counts["doubled"] += sum(n > 1 for n in ids.values())
            mark = words[0].rsplit("-", 1)[0]
            counts["crossed"] += sum(not turn.id.startswith(mark) for turn in found)
        await store.close()
        return dict(counts)

    found = asked(check)
    return Outcome(
        name=f"{CONVERSATIONS} conversations at once, {processes} processes, one killed",
        trials=CONVERSATIONS,
        acknowledged=len(heard),
        lost=found["lost"],
        doubled=found["doubled"],
        emptied=0,
        crossed=found["crossed"],
        seconds=time.monotonic() - began,
    )


def locked(place: Place, *, seconds: float, dice: random.Random) -> Outcome:
    """Another process holds the database for longer than anyone waits, again and again."""
    began = time.monotonic()
    promises: Promises = {tenant: {} for tenant in TENANTS}
    asked(lambda: touch(place))

    async def hold(promise: Promise) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            with place.held():
                await asyncio.sleep(dice.uniform(0.0, 0.4))
            await asyncio.sleep(dice.uniform(0.0, 0.1))
        promise("acme held -")

    async def write(promise: Promise) -> None:
        store = await place.open(patience=0.1)
        memories = [remember(store, tenant) for tenant in TENANTS]
        until, number = time.monotonic() + seconds, 0
        while time.monotonic() < until:
            for memory in memories:
                w = word(memory.tenant, "lock", number)
                said = Utterance(speaker=Speaker.USER, text=f"My word is {w}.", id=w)
                try:
                    await memory.record(USER, [said])
                except StoreError:
                    promise(f"{memory.tenant} refused {w}")
                else:
                    promise(f"{memory.tenant} said {w}")
            number += 1
        await store.close()

    running = [Running(hold), Running(write)]
    refused = 0
    for tenant, verb, what in (line for process in running for line in process.finished()):
        promises[tenant].setdefault(verb, []).append(what)
        refused += verb == "refused"
    found = asked(lambda: look(place, promises, settle=True))
    said = sum(len(p.get("said", ())) for p in promises.values())
    return outcome_of(
        "database locked", said + refused, promises, found, began, beside=f"{refused} refused"
    )


async def _aside(place: Place) -> int:
    store = await place.open()
    count = sum([len(await remember(store, tenant).rejected(USER)) for tenant in TENANTS])
    await store.close()
    return count
