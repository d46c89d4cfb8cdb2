"""Conversations that the server keeps for its clients, with the user's memory: stored responses and
conversations of OpenAI's Responses protocol, threads of Anthropic's Messages.

A thread is a conversation, or a response and those that continue it. Its parts are notes of one
kind (`response:THREAD`), so one read gives the whole thread. Every id names its thread:
`resp_THREAD…`, `conv_THREAD`, `msg_THREAD…`. Being notes of the user, they are exported and
restored with the rest, and erased with it: `Archive.erase` removes all notes of a user who loses
any turn, since a note may quote it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omoide.domain import Note, Owner
from omoide.errors import OmoideError
from omoide.server.endpoint import in_time
from omoide.server.problems import HttpProblem, encoded, slug_of

if TYPE_CHECKING:
    from omoide.engine.asking import Exchange
    from omoide.ports import Clock, Store
    from omoide.server.endpoint import RouteCall

log = logging.getLogger(__name__)

_ID = re.compile(r"(resp|conv|msg|fc)_([0-9a-f]{24})([0-9a-f]{24})?")
_HEAD = "000000"
"""The key of the note that makes a thread a conversation."""

Item = dict[str, Any]


def new_thread() -> str:
    """The id of a new thread, without a prefix."""
    return secrets.token_hex(12)


def new_id(prefix: str, thread: str) -> str:
    """A new id of something in a thread."""
    return f"{prefix}_{thread}{secrets.token_hex(12)}"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One stored part of a thread: a response with its input, or items that were added."""

    key: str
    input: list[Item]
    response: dict[str, Any] = field(default_factory=dict)
    """The response as it was answered; empty where items were added without one."""
    about: dict[str, Any] = field(default_factory=dict)
    """The conversation, in its first entry."""

    @property
    def id(self) -> str:
        """The id of the response; empty if there is none."""
        return str(self.response.get("id", ""))

    @property
    def items(self) -> list[Item]:
        """The input and what was answered."""
        return [*self.input, *self.response.get("output", ())]


@dataclass(frozen=True, kw_only=True)
class Thread:
    """A thread as stored, oldest entry first."""

    id: str
    entries: tuple[Entry, ...]

    @property
    def conversation(self) -> dict[str, Any] | None:
        """What a conversation says about itself; None if the thread is not one."""
        return self.entries[0].about or None if self.entries else None

    @property
    def items(self) -> list[Item]:
        """All items of a conversation, in order."""
        return [item for entry in self.entries for item in entry.items]

    def find(self, response: str) -> Entry | None:
        """The entry of a response."""
        return next((entry for entry in self.entries if entry.id == response), None)

    def until(self, entry: Entry) -> list[Item]:
        """The items up to the end of an entry: of the whole conversation, or of the chain of
        responses that the entry continues, which may have branches beside it."""
        if self.conversation is not None:
            place = self.entries.index(entry)
            return [item for e in self.entries[: place + 1] for item in e.items]
        chain: list[Entry] = []
        current: Entry | None = entry
        while current is not None and current not in chain:
            chain.append(current)
            current = self.find(str(current.response.get("previous_response_id") or ""))
        return [item for e in reversed(chain) for item in e.items]


class Threads:
    """The threads of one user, for one request."""

    def __init__(self, store: Store, owner: Owner, clock: Clock, *, patience: float) -> None:
        self._store = store
        self._notes = store.notes
        self._owner = owner
        self._clock = clock
        self._patience = patience
        self._exchange: Exchange | None = None
        self._mark: str | None = None
        """The user's erasure mark before anything was read."""

    async def begin(self, exchange: Exchange | None) -> None:
        """Note the exchange whose messages and reply are to be kept."""
        self._exchange = exchange
        if exchange is not None and not exchange.asking.incoming.words:
            try:  # nothing is recorded, so the exchange does not know the mark
                await self._remember_mark()
            except OmoideError as error:
                log.warning("a thread will not be stored", extra={"reason": slug_of(error)})

    async def response(self, id_: str, *, param: str | None = None) -> tuple[Thread, Entry]:
        """A stored response. Raises `HttpProblem` if this user has none of that id."""
        thread = await self._thread(id_, "resp")
        entry = thread.find(id_) if thread else None
        if thread is None or entry is None:
            code = "previous-response-not-found" if param else "response-not-found"
            raise self._missing(f"response {id_[:80]!r}", code, param)
        return thread, entry

    async def conversation(self, id_: str, *, param: str | None = None) -> Thread:
        """A stored conversation. Raises `HttpProblem` if this user has none of that id."""
        thread = await self._thread(id_, "conv")
        if thread is None or thread.conversation is None:
            raise self._missing(f"conversation {id_[:80]!r}", "conversation-not-found", param)
        return thread

    async def of_message(self, id_: str) -> Thread | None:
        """The conversation that an answer of that id belongs to; None if this user has none."""
        thread = await self._thread(id_, "msg")
        return thread if thread and thread.conversation and thread.find(id_) else None

    async def item(self, id_: str, *, param: str) -> Item:
        """A stored item, for a request that refers to it."""
        thread = await self._thread(id_, "msg", "fc")
        found = [item for item in (thread.items if thread else ()) if item.get("id") == id_]
        if not found:
            raise self._missing(f"item {id_[:80]!r}", "item-not-found", param)
        return found[0]

    async def keep(
        self,
        thread: str,
        *,
        after: Thread | None,
        input: list[Item],  # noqa: A002 - the protocol's word
        response: dict[str, Any],
        about: dict[str, Any] | None = None,
    ) -> bool:
        """Store what was said in a chat, which neither fails because of it nor waits longer than
        its patience. Returns whether it is stored. Nothing is that the user erased meanwhile."""
        mark = self._mark
        if mark is None:
            mark = self._exchange.turns.mark if self._exchange is not None else ""
        if not mark:
            log.warning("thread not stored: its messages are not")
            return False
        late = False

        async def work() -> bool:
            try:
                key = await self.add(
                    thread, after=after, input=input, response=response, about=about, mark=mark
                )
                if late:  # the client was told that it is not stored
                    await self._notes.remove(self._owner, kind=_kind(thread), keys=[key])
            except OmoideError as error:  # the chat is worth more than its copy
                log.warning("thread not stored", extra={"reason": slug_of(error)})
                return False
            return True

        task = asyncio.ensure_future(work())
        if (await asyncio.wait({task}, timeout=self._patience))[0]:
            return task.result()
        late = True
        log.warning("thread not stored", extra={"reason": "timeout"})
        return False

    async def add(
        self,
        thread: str,
        *,
        after: Thread | None,
        input: list[Item],  # noqa: A002 - the protocol's word
        response: dict[str, Any] | None = None,
        about: dict[str, Any] | None = None,
        mark: str | None = None,
    ) -> str:
        """Store an entry at the end of a thread, and return its key; durable on return. Raises
        `StaleVersion` if the user erased anything since the thread was read, or since `mark`."""
        last = after.entries[-1].key if after and after.entries else _HEAD
        number = int(last[: len(_HEAD)]) + 1  # not their count: some may have been removed
        key = _HEAD if about else f"{number:06d}-{secrets.token_hex(4)}"
        value = {"input": input, "response": response or {}, "about": about or {}}
        note = Note(
            kind=_kind(thread),
            key=key,
            text=encoded(value).decode(),
            time=self._clock.now(),
        )
        await self._notes.put(self._owner, note, mark=mark if mark is not None else self._mark)
        return key

    async def remove(self, thread: Thread, entry: Entry | None = None) -> None:
        """Remove a whole thread, or one entry of it."""
        keys = None if entry is None else [entry.key]
        await self._notes.remove(self._owner, kind=_kind(thread.id), keys=keys)

    async def _thread(self, id_: str, *prefixes: str) -> Thread | None:
        match = _ID.fullmatch(id_)
        if match is None or match.group(1) not in prefixes:
            return None
        thread = match.group(2)
        await self._remember_mark()
        reading = self._notes.read(self._owner, kind=_kind(thread))
        notes = await in_time(reading, patience=self._patience)
        return Thread(id=thread, entries=tuple(_entry(note) for note in notes))

    async def _remember_mark(self) -> None:
        if self._mark is None:
            reading = self._store.archive.erasure_mark(self._owner)
            self._mark = await in_time(reading, patience=self._patience)

    def _missing(self, what: str, code: str, param: str | None) -> HttpProblem:
        where = f"{param}: " if param else ""
        return HttpProblem(
            400 if param else 404,
            code,
            f"{where}{what} is not stored for user {self._owner.user!r}: it was never stored "
            "(store: false), was deleted or erased, or belongs to another user",
            param=param,
        )


def threads_of(call: RouteCall) -> Threads:
    """The threads of a call's user."""
    runtime = call.context.runtime
    owner = Owner(tenant=call.caller.tenant, user=call.user)
    return Threads(runtime.store, owner, runtime.clock, patience=call.context.patience)


def _kind(thread: str) -> str:
    return f"response:{thread}"


def _entry(note: Note) -> Entry:
    value = json.loads(note.text)
    return Entry(
        key=note.key, input=value["input"], response=value["response"], about=value["about"]
    )
