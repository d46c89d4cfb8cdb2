"""`kill -9` at random moments, over and over on one database, and what is there afterwards."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide.domain import JobState, Origin
from tests.facts import disagreeing
from tests.torture.outcome import outcome_of
from tests.torture.parts import TENANTS, USER, Endless, noted, remember
from tests.torture.processes import asked, killed
from tests.torture.serving import replay
from tests.torture.victims import VICTIMS, seed_events

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from omoide.engine.memory import Memory
    from omoide.ports import Clock
    from tests.torture.outcome import Outcome
    from tests.torture.places import Place

    Promises = dict[str, dict[str, list[str]]]
    Counts = dict[str, int]

AT_ONCE = 3
"""Processes that use the database at the same time, and are killed together."""
LOOK = 25
"""Kills between two looks at the database."""
PROMISES = 12
"""A server is killed after at most so many, so that all protocols have their turn."""
LEAST = 3
"""Kills that are not given up for want of time."""


def kill(name: str, place: Place, *, kills: int, seconds: float, dice: random.Random) -> Outcome:
    """Kill one kind of victim so many times, or for so long if that is less."""
    began = time.monotonic()
    promises: Promises = {tenant: {} for tenant in TENANTS}
    if name == "consolidate":
        asked(lambda: seed_events(place))
    done = 0
    while done < kills and (done < LEAST or time.monotonic() - began < seconds):
        together = min(AT_ONCE, kills - done)
        works = [partial(VICTIMS[name], place, f"{done + n:04}") for n in range(together)]
        most = PROMISES if name == "serve" else 1
        for tenant, verb, what in killed(*works, dice=dice, most=most):
            promises[tenant].setdefault(verb, []).append(what)
        done += together
        if done // LOOK > (done - together) // LOOK:
            found = asked(lambda: look(place, promises, settle=False))
            if any(found.values()):
                break
    form = "small" if name == "serve" else "paper"
    found = asked(lambda: look(place, promises, settle=True, form=form))
    words = erased(promises)

    async def beside() -> str:
        return place.left_behind(words)

    return outcome_of(
        f"`kill -9` during {name}", done, promises, found, began, beside=asked(beside)
    )


async def touch(place: Place) -> None:
    """Open it once, so that its tables are there."""
    await (await place.open()).close()


async def look(
    place: Place,
    promises: Promises,
    *,
    settle: bool,
    clock: Clock | None = None,
    form: str = "paper",
) -> Counts:
    """What does not hold. With `settle`, work that was interrupted is done first, and must be, in
    the form in which it was begun; work that is to be tried later needs a clock that is ahead."""
    store = await place.open()
    counts = Counter({"lost": 0, "doubled": 0, "emptied": 0, "crossed": 0})
    if place.spool.exists():
        await replay(store, place)
    for tenant in TENANTS:
        writer = Endless(noted) if form == "small" else None
        memory = remember(store, tenant, clock=clock, form=form, iterator=writer)
        told = promises[tenant]
        if settle:
            await memory.end_session(USER)
            while await memory.run_jobs():
                pass
            counts += await _work(memory)
        counts += await _turns(memory, told)
        counts += await _chats(memory, told)
        counts += await _versions(memory)
        counts += await _events(memory, told)
        counts += await _facts(memory, told)
        counts["crossed"] += await crossed(memory)
    await store.close()
    left = place.traces(erased(promises))
    _tell("erased words in the files", [left] if left else [])
    counts["lost"] += left
    return {name: counts[name] for name in ("lost", "doubled", "emptied", "crossed")}


def erased(promises: Promises) -> set[str]:
    """The words that are to be gone."""
    return {word for told in promises.values() for word in told.get("erased", ())}


def _tell(what: str, names: Sequence[object]) -> None:
    """Say on standard error what does not hold, for whoever has to find out why."""
    if names:
        sys.stderr.write(f"{what}: {names}\n")


async def _turns(memory: Memory, told: dict[str, list[str]]) -> Counter[str]:
    turns = await memory.turns(USER)
    ids = Counter(turn.id for turn in turns)
    doomed, erased = set(told.get("erasing", ())), set(told.get("erased", ()))
    lost = [w for w in told.get("said", ()) if w not in doomed and not ids[w]]
    back = [w for w in erased if ids[w]]
    said = Counter(turn.text for turn in turns if turn.id.startswith("code-"))
    places = Counter(turn.position for turn in turns)
    doubled = [n for n in (*ids.values(), *said.values(), *places.values()) if n > 1]
    _tell("lost turns", lost)
    _tell("turns that are back", back)
    return Counter({"lost": len(lost) + len(back), "doubled": len(doubled)})


async def _chats(memory: Memory, told: dict[str, list[str]]) -> Counter[str]:
    """What was said to a server that answered is there once, with the answer. What it was telling
    when it was killed is there once at most."""
    turns = await memory.turns(USER)
    said = Counter(turn.text for turn in turns if turn.text.startswith(("I know ", "You know ")))
    wanted = [text for w in told.get("told", ()) for text in (f"I know {w}.", f"You know {w}.")]
    lost = [text for text in wanted if not said[text]]
    _tell("lost chats", lost)
    return Counter({"lost": len(lost), "doubled": sum(n > 1 for n in said.values())})


async def _versions(memory: Memory) -> Counter[str]:
    history = await memory.history(USER)
    digested = Counter(v.session for v in history if v.origin is Origin.DIGEST)
    numbers = [v.number for v in history]
    return Counter(
        {
            "emptied": sum(
                bool(old.sentences) and not new.sentences for old, new in pairwise(history)
            ),
            "doubled": sum(n > 1 for n in digested.values()),
            "lost": int(numbers != list(range(1, len(numbers) + 1))),
        }
    )


async def _work(memory: Memory) -> Counter[str]:
    """After everything is done: every session was digested, and no work is left over."""
    sessions = [s.number for s in await memory.sessions(USER) if s.turns]
    history = await memory.history(USER)
    digested = {v.session for v in history if v.origin is Origin.DIGEST}
    undone = [job for job in await memory.jobs(USER) if job.state is not JobState.DONE]
    missing = [number for number in sessions if number not in digested]
    _tell("sessions not digested", missing)
    _tell("jobs not done", undone)
    return Counter({"lost": len(missing) + len(undone)})


async def _events(memory: Memory, told: dict[str, list[str]]) -> Counter[str]:
    """Each recall that was promised is counted, and none that was not even tried. Replies recall
    events as well: where there are only those, nobody says which."""
    events = await memory.events(USER)
    kept, tried = Counter(told.get("recalled", ())), Counter(told.get("recalling", ()))
    lost = doubled = 0
    for event in events:
        lost += event.recalls < kept[event.id] or event.consolidation < 1.0
        doubled += bool(tried) and event.recalls > tried[event.id]
    return Counter({"lost": lost, "doubled": doubled})


async def _facts(memory: Memory, told: dict[str, list[str]]) -> Counter[str]:
    """Each fact that was promised is there; what ended it and what it ended agree, so that no
    change was made by half; and one that was erased is not there."""
    facts = {fact.id: fact for fact in await memory.facts(USER, ended=True)}
    doomed, erased = set(told.get("erasing", ())), set(told.get("erased", ()))
    lost = [w for w in told.get("stated", ()) if w not in doomed and w not in facts]
    back = [w for w in erased if w in facts]
    halves = disagreeing(facts.values())
    _tell("lost facts", lost)
    _tell("facts that are back", back)
    _tell("facts changed by half", [repr(fact) for fact in halves])
    return Counter({"lost": len(lost) + len(back) + len(halves)})


async def crossed(memory: Memory) -> int:
    """How many words of another tenant are seen through this one's verbs. What a model said and
    was kept from becoming memory (answers set aside, notes on a version) is left out."""
    (other,) = (tenant for tenant in TENANTS if tenant != memory.tenant)
    records = [record async for record in memory.export(USER)]
    seen = [json.dumps({**r, "notes": ""}) for r in records if r["kind"] != "aside"]
    seen += [repr(await memory.recall(USER, f"My word is code-{other}-0001-0001"))]
    seen += [
        (await memory.summary(USER)).text,
        repr(await memory.jobs()),
        repr(await memory.users()),
    ]
    return sum(text.count(f"code-{other}-") for text in seen)
