"""mem0 (mem0ai 2.x): `mem0` extracts facts with the model, `mem0:raw` keeps messages.

Each memory has its own vector store in this process (Qdrant's local mode). mem0 gets our model and
embedder in place of its own; its prompts, its search and its thresholds stay as they are. Its
prompt contains today's date, so cached calls hold for a day.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

from omoide.errors import MissingExtra

if TYPE_CHECKING:
    from omoide_bench.rivals.bridge import Bridge
    from omoide_bench.rivals.method import RivalClient


def open_mem0(bridge: Bridge, dimensions: int) -> RivalClient:
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
    client: RivalClient = memory
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
