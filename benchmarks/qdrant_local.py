"""Compares search with vectors in Qdrant and in the database: results, time and storage.

    OPENBLAS_NUM_THREADS=1 python benchmarks/qdrant_local.py --data ../shared/data

One conversation of LoCoMo is recorded three times, with the multilingual embedder's vectors in
SQLite, in PostgreSQL (pgvector), and in Qdrant beside SQLite; every question is then asked of each.
Qdrant is the client's local mode, in this process and in Python: the results are
representative, the times say nothing about a server. Texts stay in the temporary folder.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
from qdrant_client import QdrantClient

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.postgres import running

from omoide.bootstrap import join_vectors, make_embedder, open_store
from omoide.domain import NewTurn, Origin, Owner, Speaker, Summary
from omoide.language import detect_language
from omoide.mechanisms.search import Recall
from omoide.settings import Address, Settings
from omoide_bench.corpora.locomo import load
from omoide_qdrant.points import Points

if TYPE_CHECKING:
    from omoide.ports import Embedder, Store, Vectors
    from omoide_bench.corpora.questions import EvidenceConversation

OWNER = Owner(tenant="t", user="u")
K = 10


async def fill(store: Store, conversation: EvidenceConversation) -> None:
    """Record the conversation."""
    for number, lines in groupby(conversation.lines, key=lambda line: line.session):
        said = [
            NewTurn(
                speaker=Speaker.USER
                if line.speaker == conversation.speakers[0]
                else Speaker.ASSISTANT,
                text=line.text,
                time=line.time,
                id=line.id,
                language=detect_language(line.text),
            )
            for line in lines
        ]
        await store.turns.append(OWNER, said, session=str(number), idle=timedelta(hours=1))


async def embed(store: Store, embedder: Embedder, known: dict[str, Vectors]) -> None:
    """Embed each turn, once for all stores."""
    while items := await store.index.without_vector(OWNER, embedder.space, limit=64):
        import numpy as np

        for item in items:
            if item.id not in known:
                known[item.id] = (await embedder.embed([item.text]))[0]
        rows = np.stack([known[item.id] for item in items])
        ids = [item.id for item in items]
        await store.index.put(OWNER, embedder.space, ids=ids, vectors=rows)


async def measured(data: Path, place: int, folder: Path, url: str) -> dict[str, object]:
    """Measure all figures."""
    conversation = load(data)[place]
    embedder = make_embedder(Settings())
    assert embedder is not None
    local = Points(QdrantClient(":memory:"), where="local mode", alone=True)
    stores: dict[str, Store] = {
        "SQLite": await open_store(folder / "a.sqlite"),
        "PostgreSQL": await open_store(Address(url), partitions=2),
        "SQLite and Qdrant's local mode": await join_vectors(
            await open_store(folder / "b.sqlite"), local
        ),
    }
    known: dict[str, Vectors] = {}
    for store in stores.values():
        await fill(store, conversation)
        await embed(store, embedder, known)
    at = conversation.lines[-1].time
    summary = Summary(
        number=0, sentences=(), origin=Origin.DIGEST, session=None, time=at, language="en"
    )
    questions = [question.text for question in conversation.questions]
    queries = [await embedder.embed([question]) for question in questions]
    nearest: dict[str, list[list[str]]] = {name: [] for name in stores}
    recalled: dict[str, list[list[str]]] = {name: [] for name in stores}
    times: dict[str, list[float]] = {name: [] for name in stores}
    worst = 0.0
    for question, query in zip(questions, queries, strict=True):
        cosines = {}
        for name, store in stores.items():
            began = time.perf_counter()
            hits = await store.index.nearest(OWNER, embedder.space, query, k=K)
            times[name].append(time.perf_counter() - began)
            nearest[name].append([hit.id for hit in hits])
            cosines[name] = [hit.score for hit in hits]
            found = await Recall(store=store, embedder=embedder)(
                OWNER, question, summary=summary, at=at, k=K
            )
            recalled[name].append([item.sources[0] for item in found])
        for other in cosines.values():
            pairs = zip(cosines["SQLite"], other, strict=True)
            worst = max(worst, *(abs(a - b) for a, b in pairs))
    for store in stores.values():
        await store.close()
    await embedder.close()
    first = "SQLite"
    return {
        "turns": len(conversation.lines),
        "questions": len(questions),
        "the same ten nearest in the same order": _same(nearest, first),
        "the same ten recalled in the same order": _same(recalled, first),
        "largest difference of a cosine": worst,
        "ms for the nearest, median": {
            name: round(1000 * statistics.median(spent), 2) for name, spent in times.items()
        },
        "bytes a turn of the file": {
            name: round(_size(folder / file) / len(conversation.lines))
            for name, file in (("SQLite", "a.sqlite"), ("SQLite and Qdrant", "b.sqlite"))
        },
    }


def _same(found: dict[str, list[list[str]]], first: str) -> dict[str, int]:
    return {
        name: sum(a == b for a, b in zip(found[first], lists, strict=True))
        for name, lists in found.items()
        if name != first
    }


def _size(path: Path) -> int:
    connection = apsw.Connection(str(path))
    [(whole,)] = connection.execute("SELECT sum(pgsize) FROM dbstat").fetchall()
    connection.close()
    return int(whole)


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--conversation", type=int, default=0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running() as server:
        figures = asyncio.run(measured(args.data, args.conversation, Path(folder), server.url()))
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
