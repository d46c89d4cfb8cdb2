"""mem0's side of the comparison; runs in an interpreter that has `mem0ai` and its vector store.

    python mem0_side.py STORE FOLDER TURNS SECONDS

STORE is `qdrant`, mem0's default, in local mode, or `faiss`. Turns are added one exchange per call
with `infer=False`, so that no language model is called, and searched with the same queries; the
embedder is replaced by random vectors, whose time is excluded. Adding stops after SECONDS; what
is left goes straight into faiss (`fill_up`), and is left out with Qdrant.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ["MEM0_TELEMETRY"] = "False"
os.environ["OPENAI_API_KEY"] = "not used"

from corpus import DIMENSIONS, lines, queries, vectors  # after the environment
from measure import Stopwatch, peak_mb, report, resident_mb, size_mb

USER, QUERIES = "u0", 30


class RandomEmbedder:
    """Random vectors, with the time that they took."""

    def __init__(self) -> None:
        self.spent = 0.0
        self._seed = 0

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """A different vector each time."""
        began = time.process_time()
        self._seed += 1
        [row] = vectors(self._seed, 1)
        numbers: list[float] = row.tolist()
        self.spent += time.process_time() - began
        return numbers

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        """One by one."""
        return [self.embed(text) for text in texts]


def opened(store: str, folder: Path, embedder: RandomEmbedder) -> Any:  # noqa: ANN401 - foreign
    """A memory of mem0 with everything on disk in the folder."""
    from mem0 import Memory

    place: dict[str, object] = {
        "collection_name": "turns",
        "path": str(folder / store),
        "embedding_model_dims": DIMENSIONS,
    }
    if store == "qdrant":
        place["on_disk"] = True
    memory = Memory.from_config(
        {
            "vector_store": {"provider": store, "config": place},
            "history_db_path": str(folder / "history.db"),
        }
    )
    memory.embedding_model = embedder
    return memory


def fill_up(memory: Any, embedder: RandomEmbedder, first: int, turns: int) -> int:  # noqa: ANN401
    """Put the remaining turns straight into the vector store, many at a time, so that its search is
    measured at the full size. Returns how many there are then."""
    for start in range(first, turns, 5000):
        batch = lines(start, min(5000, turns - start))
        memory.vector_store.insert(
            vectors=[embedder.embed(line.text) for line in batch],
            ids=[line.id for line in batch],
            payloads=[
                {
                    "user_id": USER,
                    "role": "user" if line.user else "assistant",
                    "data": line.text,
                    "hash": line.id,
                    "created_at": line.time.isoformat(),
                    "updated_at": line.time.isoformat(),
                }
                for line in batch
            ],
        )
    return turns


def main() -> None:
    """Add, search, and print the cost."""
    store, folder, turns, seconds = sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:5])
    os.environ["MEM0_DIR"] = str(folder)
    logging.disable(logging.WARNING)
    embedder, opening = RandomEmbedder(), Stopwatch()
    with opening:
        memory = opened(store, folder, embedder)
    adding, asking = (Stopwatch(lambda: embedder.spent) for _ in range(2))
    added, until = 0, time.monotonic() + seconds
    while added < turns and time.monotonic() < until:
        messages = [
            {"role": "user" if line.user else "assistant", "content": line.text}
            for line in lines(added, 2)
        ]
        with adding:
            memory.add(messages, user_id=USER, infer=False)
        added += 2
    recorded = added
    if store == "faiss" and added < turns:
        added = fill_up(memory, embedder, added, turns)
    for query in queries(QUERIES):
        with asking:
            found = memory.search(query, filters={"user_id": USER}, top_k=10, threshold=0.0)
    report(
        {
            "turns": added,
            "recorded": recorded,
            "found": len(found["results"]),
            "exchange_cpu": sum(adding.cpu) / recorded,
            "last_exchanges_cpu": sum(adding.cpu[-50:]) / (2 * len(adding.cpu[-50:])),
            "recall": asking.figures(),
            "open_ms": opening.wall[0],
            "resident_mb": resident_mb(),
            "peak_mb": peak_mb(),
            "file_mb": size_mb(folder.rglob("*")),
        }
    )


if __name__ == "__main__":
    main()
