"""mem0 (mem0ai 2.x) as a method: `mem0` extracts facts with the model, `mem0:raw` keeps messages.

Each memory has its own vector store in this process (Qdrant's local mode). mem0 gets our model and
embedder in place of its own; its prompts, its search and its thresholds stay as they are. Its
prompt contains today's date, so cached calls hold for a day. Facts carry no message ids, so the
measure `evidence` is 0 for `mem0` by construction: compare by `answer words` and by answers.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from omoide.domain import MemoryKind
from omoide.errors import BadReply, MissingExtra
from omoide.mechanisms import Contribution, PromptPlace
from omoide.prompts import vocabulary
from omoide_bench.rivals.bridge import Bridge, in_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omoide.domain import Turn
    from omoide.mechanisms import ReplyRequest, SessionToDigest
    from omoide.ports import Embedder


class Mem0Client(Protocol):
    """What is used of `mem0.Memory`."""

    def add(
        self, messages: list[dict[str, str]], *, user_id: str, metadata: dict[str, str], infer: bool
    ) -> object:
        """Store messages, or facts extracted from them."""

    def search(self, query: str, *, top_k: int, filters: dict[str, str]) -> dict[str, Any]:
        """The best memories, under `results`."""


class Mem0:
    """mem0 behind the interface of our mechanisms."""

    def __init__(
        self,
        *,
        embedder: Embedder,
        infer: bool,
        items: int,
        open_client: Callable[[Bridge, int], Mem0Client] | None = None,
    ) -> None:
        self.name = "mem0" if infer else "mem0:raw"
        self._embedder = embedder
        self._infer = infer
        self._items = items
        self._open = open_client or open_mem0
        self._bridge: Bridge | None = None
        self._client: Mem0Client | None = None
        self._lock = asyncio.Lock()
        self._digested: set[tuple[str, int]] = set()

    async def digest(self, to_digest: SessionToDigest) -> None:
        """Hand the session to mem0, once. Raises `BadReply` if mem0 itself fails on it."""
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
                raise BadReply(f"mem0 failed: {type(error).__name__}: {error}") from error
            finally:
                bridge.ask = None
            bridge.raise_error()
            self._digested.add(key)

    def _add(self, client: Mem0Client, to_digest: SessionToDigest) -> None:
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
        """What mem0 finds for the user's message, in its order."""
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
        """Do nothing: mem0 does not learn from use."""

    async def _opened(self) -> tuple[Mem0Client, Bridge]:
        if self._client is None or self._bridge is None:
            self._bridge = bridge = Bridge(self._embedder)
            dimensions = self._embedder.space.dimensions
            self._client = await in_thread(lambda: self._open(bridge, dimensions))
        return self._client, self._bridge


def _message(turn: Turn) -> dict[str, str]:
    return {"role": turn.speaker.value, "content": turn.text}


def open_mem0(bridge: Bridge, dimensions: int) -> Mem0Client:
    """An empty mem0 memory over the bridge's model and embedder. Raises `MissingExtra`."""
    os.environ.setdefault("MEM0_TELEMETRY", "False")  # read when mem0 is imported
    os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="omoide-mem0-"))
    try:
        from mem0 import Memory
        from mem0.configs.base import MemoryConfig
        from qdrant_client import QdrantClient
    except ImportError as error:
        raise MissingExtra("mem0 is not installed: pip install 'omoide-bench[rivals]'") from error
    config = MemoryConfig(
        vector_store={
            "provider": "qdrant",
            "config": {
                "client": QdrantClient(":memory:"),
                "collection_name": "memories",
                "embedding_model_dims": dimensions,
            },
        },
        llm={"provider": "openai", "config": {"api_key": "unused"}},
        embedder={"provider": "openai", "config": {"api_key": "unused"}},
        history_db_path=":memory:",
    )
    memory = Memory(config)
    memory.llm = _Model(bridge)
    memory.embedding_model = _Vectors(bridge)
    client: Mem0Client = memory
    return client


class _Model:
    """The bridge's model as mem0's `llm`."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    def generate_response(self, messages: list[dict[str, str]], **options: object) -> str:
        """The answer's text; mem0 parses it."""
        del options
        return self._bridge.answer(messages)


class _Vectors:
    """The bridge's embedder as mem0's `embedding_model`."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    def embed(self, text: str, memory_action: str = "add") -> list[float]:
        """The vector of a text."""
        del memory_action
        return self._bridge.embed([text])[0]

    def embed_batch(self, texts: list[str], memory_action: str = "add") -> list[list[float]]:
        """The vectors of texts."""
        del memory_action
        return self._bridge.embed(texts)
