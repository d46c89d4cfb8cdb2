"""Another library's memory as a method: our model and embedder, its own prompts and search.

Facts carry no message ids, so the measure `evidence` is 0 by construction: compare by
`answer words` and by answers.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from omoide.domain import MemoryKind
from omoide.errors import BadReply
from omoide.mechanisms import Contribution, PromptPlace
from omoide.prompts import vocabulary
from omoide_bench.rivals.bridge import Bridge, in_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omoide.domain import Turn
    from omoide.mechanisms import ReplyRequest, SessionToDigest
    from omoide.ports import Embedder


class RivalClient(Protocol):
    """What a library has to offer, in the form of `mem0.Memory`."""

    def add(
        self, messages: list[dict[str, str]], *, user_id: str, metadata: dict[str, str], infer: bool
    ) -> object:
        """Store messages, or facts extracted from them."""

    def search(self, query: str, *, top_k: int, filters: dict[str, str]) -> dict[str, Any]:
        """The best memories, under `results`."""


class Rival:
    """A library behind the interface of our mechanisms."""

    def __init__(
        self,
        name: str,
        *,
        open_client: Callable[[Bridge, int], RivalClient],
        embedder: Embedder,
        items: int,
        infer: bool = True,
    ) -> None:
        self.name = name
        self._open = open_client
        self._embedder = embedder
        self._items = items
        self._infer = infer
        """Whether the library has the model write facts; otherwise it keeps the messages."""
        self._bridge: Bridge | None = None
        self._client: RivalClient | None = None
        self._lock = asyncio.Lock()
        self._digested: set[tuple[str, int]] = set()

    async def digest(self, to_digest: SessionToDigest) -> None:
        """Hand the session over, once. Raises `BadReply` if the library itself fails on it."""
        key = (to_digest.owner.user, to_digest.session.number)
        async with self._lock:
            if key in self._digested:
                return
            client, bridge = await self._opened()
            bridge.ask = to_digest.ask
            try:
                await in_thread(lambda: self._add(client, to_digest))
            except Exception as error:
                bridge.raise_error()
                raise BadReply(f"{self.name} failed: {type(error).__name__}: {error}") from error
            finally:
                bridge.ask = None
            bridge.raise_error()
            self._digested.add(key)

    def _add(self, client: RivalClient, to_digest: SessionToDigest) -> None:
        user = to_digest.owner.user
        if self._infer:
            messages = [_message(turn) for turn in to_digest.turns]
            metadata = {"at": to_digest.at.isoformat()}
            client.add(messages, user_id=user, metadata=metadata, infer=True)
            return
        for turn in to_digest.turns:  # one by one, so that each keeps its id and time
            metadata = {"at": turn.time.isoformat(), "turn": turn.id, "who": turn.speaker.value}
            client.add([_message(turn)], user_id=user, metadata=metadata, infer=False)

    async def contribute(self, request: ReplyRequest) -> tuple[Contribution, ...]:
        """What the library finds for the user's message, in its order."""
        async with self._lock:
            client, bridge = await self._opened()
            filters = {"user_id": request.owner.user}
            found = await in_thread(
                lambda: client.search(request.text, top_k=self._items, filters=filters)
            )
            bridge.raise_error()
        return tuple(
            self._contribution(hit, rank, request)
            for rank, hit in enumerate(found["results"], start=1)
        )

    def _contribution(self, hit: dict[str, Any], rank: int, request: ReplyRequest) -> Contribution:
        about = hit.get("metadata") or {}
        turn, text = about.get("turn"), str(hit["memory"])
        who = vocabulary(request.language)[about["who"]] if "who" in about else ""
        return Contribution(
            mechanism=self.name,
            place=PromptPlace.RECALLED,
            kind=MemoryKind.TURN if turn else MemoryKind.EVENT,
            id=str(turn or hit["id"]),
            text=f"{who}: {text}" if who else text,
            value=1 / (rank + 1),
            sources=(turn,) if turn else (),
            time=datetime.fromisoformat(about["at"]) if "at" in about else request.now,
            why=f"{self.name} rank {rank}",
            score=float(hit.get("score") or 0.0),
        )

    async def mark_used(self, request: ReplyRequest, contributions: Sequence[Contribution]) -> None:
        """Do nothing: the libraries do not learn from use."""

    async def _opened(self) -> tuple[RivalClient, Bridge]:
        if self._client is None or self._bridge is None:
            self._bridge = bridge = Bridge(self._embedder)
            dimensions = self._embedder.space.dimensions
            self._client = await in_thread(lambda: self._open(bridge, dimensions))
        return self._client, self._bridge


def _message(turn: Turn) -> dict[str, str]:
    return {"role": turn.speaker.value, "content": turn.text}
