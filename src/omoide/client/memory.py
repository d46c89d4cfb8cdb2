"""The methods of a server's memory. Signatures and meanings are those of `omoide.Memory`."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from omoide.client.connection import lines, make_connection, problem_error
from omoide.client.decoding import decode, decode_all
from omoide.client.encoding import (
    UNLIMITED,
    as_messages,
    decoded_context,
    iso,
    sent_contribution,
    sent_messages,
    sent_turn,
)
from omoide.client.exchange import RemoteExchange
from omoide.client.importer import RemoteImporter
from omoide.client.reader import stored_user
from omoide.domain import (
    RecalledItem,
    RecallResult,
    RecordedTurns,
    Session,
    Speaker,
    Support,
    Turn,
)
from omoide.domain.text import checked_text, several
from omoide.engine import FileVersion, Reply, utterances
from omoide.engine.forgetting import Forgetting
from omoide.engine.recalling import (
    checked_budget,
    checked_count,
    checked_recall_kinds,
    checked_speaker,
)
from omoide.errors import (
    AccessDenied,
    BadCommand,
    BadInput,
    OmoideError,
    ServerUnavailable,
)
from omoide.mechanisms.base import Contribution
from omoide.ports import Erased

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        AsyncIterator,
        Collection,
        Mapping,
        Sequence,
    )
    from datetime import datetime

    import httpx

    from omoide.client.exchange import RemoteContext
    from omoide.domain import MemoryKind, Receipt
    from omoide.engine import Answer
    from omoide.engine.memory import Messages
    from omoide.engine.messages import Words

BATCH = 1000
"""Turns of one request."""
FOREVER = 0.0
"""No timeout: for a request that waits for work."""


class RemoteMemory(RemoteImporter, Forgetting):
    """Long-term memory on a server, for the users of the tenant that the key opens. Made by
    `omoide.connect_async`."""

    # ── Talking ─────────────────────────────────────────────────────────────────────────────

    async def record(
        self,
        user: str,
        turns: Words | Sequence[Words],
        *,
        session: str | None = None,
        at: datetime | None = None,
    ) -> RecordedTurns:
        """Record turns; durable on return. More than 1,000 are sent in several requests."""
        said = [sent_turn(utterance) for utterance in utterances(turns)]
        recorded: list[Turn] = []
        new: set[str] = set()
        for i in range(0, len(said), BATCH):
            body = {"turns": said[i : i + BATCH], "session": session, "at": iso(at, "at")}
            answer = await self._post("/api/turns", user, body)
            recorded += decode_all(Turn, answer["turns"])
            new |= set(answer["new"])
        return RecordedTurns(recorded, new=frozenset(new))

    @asynccontextmanager
    async def exchange(
        self,
        user: str,
        messages: Messages,
        *,
        session: str | None = None,
        at: datetime | None = None,
        budget: int | None = None,
        tolerant: bool = False,
    ) -> AsyncIterator[RemoteExchange]:
        """One message and its reply, with a model of your own. See `omoide.Memory.exchange`. A
        tolerant exchange also goes on if the server cannot be reached."""
        yield await self.begin(
            user, messages, session=session, at=at, budget=budget, tolerant=tolerant
        )

    async def begin(
        self,
        user: str,
        messages: Messages,
        *,
        session: str | None = None,
        at: datetime | None = None,
        budget: int | None = None,
        tolerant: bool = False,
        patience: float | None = None,
    ) -> RemoteExchange:
        """Begin an exchange without a `with` block: call its `finish`."""
        said = sent_messages(messages)
        spoken = said.pop("time", None)  # both turns of the exchange are of then
        when = iso(at, "at") or spoken

        async def finish(exchange: RemoteExchange, answer: Answer, record: bool) -> RecordedTurns:
            body = {
                "turn": exchange.turn.id,
                "text": answer.text,
                "session": session,
                "at": when,
                "used": [sent_contribution(c) for c in exchange.why],
                "once": answer.once,
                "complete": answer.complete,
                "record": record,
                "repeated": exchange.repeated,
            }
            ended = await self._post("/api/exchanges/finish", user, body, wait=patience)
            return _recorded(ended)

        given = as_messages(messages)
        exchange = RemoteExchange(given=given, end=finish, tolerant=tolerant)
        body = said | {"session": session, "budget": checked_budget(budget), "at": when}
        try:
            begun = await self._post("/api/exchanges", user, body, wait=patience)
        except OmoideError as error:
            if not tolerant:
                raise
            exchange.problems.append(error)
            return exchange
        exchange.turns = _recorded(begun)
        exchange.context = decoded_context(begun)
        exchange.version = begun["version"]
        exchange.repeated = begun["repeated"]
        exchange.changes = begun["changes"]
        return exchange

    async def context(
        self,
        user: str,
        messages: Messages,
        *,
        at: datetime | None = None,
        budget: int | None = None,
    ) -> RemoteContext:
        """What memory adds to the prompt of the reply to these messages. Nothing is recorded."""
        body = sent_messages(messages) | {"at": iso(at, "at"), "budget": checked_budget(budget)}
        wanted = {name: body.get(name) for name in ("text", "messages", "at", "budget")}
        return decoded_context(await self._post("/api/context", user, wanted))

    async def reply(
        self,
        user: str,
        text: str,
        *,
        session: str | None = None,
        at: datetime | None = None,
        id: str | None = None,  # noqa: A002 - the same word as in `record`
        again: bool = False,
        replaces: str | None = None,
    ) -> Reply:
        """Record the user's message, and stream a reply of the server's model that uses the
        memory. See `omoide.Memory.reply`."""
        given = {
            "session": session,
            "at": iso(at, "at"),
            "id": id,
            "again": again or None,
            "replaces": replaces,
        }
        body: dict[str, Any] = {"text": checked_text(text, max_chars=UNLIMITED), "stream": True}
        body |= {name: value for name, value in given.items() if value is not None}
        pieces = self._pieces(user, body)
        begun = await anext(pieces)
        assert isinstance(begun, dict)  # noqa: S101 - the first event is `begin`, or it raised
        return Reply(
            turn=decode(Turn, begun["turn"]),
            contributions=decode_all(Contribution, begun["contributions"]),
            pieces=cast("AsyncGenerator[str, None]", pieces),  # after the first event, texts
        )

    async def recall(
        self,
        user: str,
        query: str,
        *,
        at: datetime | None = None,
        k: int = 10,
        budget: int | None = None,
        asker: Speaker = Speaker.USER,
        kinds: Collection[MemoryKind | str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        speaker: Speaker | str | None = None,
        about: str | None = None,
        tags: Collection[str] = (),
    ) -> RecallResult:
        """What is relevant to `query`, best first, without a model call. See
        `omoide.Memory.recall`."""
        body = {
            "query": checked_text(query, max_chars=UNLIMITED),
            "k": checked_count(k),
            "budget": checked_budget(budget),
            "at": iso(at, "at"),
            "asker": checked_speaker(asker, "asker"),
            "kinds": sorted(checked_recall_kinds(kinds)) or None,
            "since": iso(since, "since"),
            "until": iso(until, "until"),
            "speaker": None if speaker is None else checked_speaker(speaker, "speaker"),
            "about": about,
            "tags": several(tags) or None,
        }
        found = await self._post("/api/recall", user, body)
        return RecallResult(
            decode_all(RecalledItem, found["items"]),
            support=decode(Support, found["support"]),
            degraded=found["degraded"],
        )

    async def end_session(
        self, user: str, *, session: int | None = None, at: datetime | None = None
    ) -> tuple[Session, ...]:
        """End the user's open sessions, or one of them. The server digests them."""
        body = {"session": session, "at": iso(at, "at")}
        return decode_all(Session, (await self._post("/api/sessions/end", user, body))["sessions"])

    async def end_idle(self, *, at: datetime | None = None) -> int:
        """End the sessions of all users that were idle for long. Returns how many. The server does
        it by itself from time to time."""
        ended = await self._connection.post("/api/sessions/end-idle", {"at": iso(at, "at")})
        return int(ended["ended"])

    async def run_jobs(self) -> int:
        """Run all jobs that are due, on the server, and wait for them."""
        ran = await self._connection.post("/api/jobs/run", {}, wait=FOREVER)
        return int(ran["started"])

    # ── Forgetting ──────────────────────────────────────────────────────────────────────────

    async def erase(
        self,
        user: str,
        *,
        session: int | None = None,
        turns: Sequence[str] | None = None,
        sentences: Sequence[str] | None = None,
        facts: Sequence[str] | None = None,
    ) -> Erased:
        """Remove for good: the user, or what is named. See `omoide.Memory.erase`."""
        named = {"session": session, "turns": turns, "sentences": sentences, "facts": facts}
        given = {
            name: value if isinstance(value, int) else several(value)
            for name, value in named.items()
            if value is not None
        }
        body: dict[str, Any] = {"several": given} if given else {"all": True}
        return decode(Erased, await self._post("/api/erase", user, body))

    async def is_genuine(self, receipt: Receipt) -> bool:
        """Whether a receipt was signed by the server's database for this tenant, and not changed
        since."""
        body = json.loads(receipt.to_json())
        checked = await self._connection.post("/api/receipts/check", body)
        return bool(checked["genuine"])

    async def memory_tool(self, user: str, command: Mapping[str, Any], *, by: str = "") -> str:
        """Do a command of Anthropic's memory tool in the user's folder."""
        _check_unnamed(by)
        done = await self._post("/api/memory/tool", user, dict(command))
        if done["is_error"]:
            raise BadCommand(done["result"])
        return str(done["result"])

    async def file_versions(self, user: str, path: str | None = None) -> tuple[FileVersion, ...]:
        """The versions of one file of the memory tool, or of all, oldest first."""
        found = await self._connection.pages("/api/memory/files", user=stored_user(user), path=path)
        return decode_all(FileVersion, found)

    async def restore_file(
        self, user: str, path: str, version: int, *, by: str = ""
    ) -> FileVersion:
        """Give a file of the memory tool the text of one of its versions again."""
        _check_unnamed(by)
        body = {"path": path, "version": version}
        return decode(FileVersion, await self._post("/api/memory/files/restore", user, body))

    # ── Internal ────────────────────────────────────────────────────────────────────────────

    async def _pieces(
        self, user: str, body: Mapping[str, Any]
    ) -> AsyncGenerator[dict[str, Any] | str]:
        """The data of the event `begin`, then the pieces of the reply."""
        name = ""
        place = self._connection.stream("POST", "/api/reply", user=stored_user(user), body=body)
        async with place as response:
            async for line in lines(response):
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    data = json.loads(value)
                    if name == "error":
                        slug = data["type"].rpartition(":")[2]
                        raise problem_error(slug, data["detail"], status=data["status"])
                    if name != "end":
                        yield data if name == "begin" else data["text"]
        if name != "end":
            raise ServerUnavailable("the reply broke off: the connection to the server was lost")


def _recorded(answer: Mapping[str, Any]) -> RecordedTurns:
    return RecordedTurns(decode_all(Turn, answer["turns"]), new=frozenset(answer["new"]))


def _check_unnamed(by: str) -> None:
    if by:
        raise BadInput(f"the server names the API key as who wrote it: leave out by={by!r:.40}")


@asynccontextmanager
async def open_remote(
    url: str,
    *,
    key: str = "",
    timeout: float = 60.0,  # noqa: ASYNC109 - of each request
    retries: int = 2,
    transport: httpx.AsyncBaseTransport | None = None,
) -> AsyncIterator[RemoteMemory]:
    """See `omoide.connect_async`. Asks the server what it is, so that a wrong address or key is
    noticed at once."""
    connection = make_connection(
        url, key=key, timeout=timeout, retries=retries, transport=transport
    )
    try:
        try:
            about = await connection.get("/api/about")
        except AccessDenied as error:
            if "lacks the scope" not in str(error):
                raise
            about = None  # a key that may only write
        yield RemoteMemory(connection, about)
    finally:
        await connection.close()
