"""Measures storage per turn, and the CPU time to record and to embed a turn.

    OPENBLAS_NUM_THREADS=1 python benchmarks/footprint.py --data ../shared/data

LoCoMo's ten conversations are recorded as ten users, session by session, into one new file; the
multilingual embedder embeds each turn. Bytes are SQLite's pages by table (`dbstat`),
after a checkpoint; CPU is that of the whole process. Texts stay in the temporary file.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from datetime import timedelta
from itertools import groupby
from pathlib import Path

import apsw

from omoide.bootstrap import make_embedder, open_store
from omoide.domain import NewTurn, Owner, Speaker
from omoide.language import detect_language
from omoide.settings import Settings
from omoide_bench.corpora.locomo import load

SAMPLE = 1000
"""Turns to embed: enough for a mean."""


async def measured(data: Path, folder: Path) -> dict[str, object]:
    """Measure all figures."""
    conversations = load(data)
    path = folder / "memory.sqlite"
    store = await open_store(path)
    turns = sessions = characters = 0
    began = time.process_time()
    for conversation in conversations:
        owner = Owner(tenant="t", user=conversation.name)
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
            for one in said:  # each turn in its own transaction, as in production
                await store.turns.append(owner, [one], session=str(number), idle=timedelta(hours=1))
            turns += len(said)
            sessions += 1
            characters += sum(len(one.text.encode()) for one in said)
    recording = time.process_time() - began
    embedder = make_embedder(Settings())
    assert embedder is not None
    texts = [line.text for c in conversations for line in c.lines][:SAMPLE]
    await embedder.embed(texts[:10])
    began = time.process_time()
    for text in texts:
        await embedder.embed([text])
    embedding = time.process_time() - began
    for conversation in conversations:
        owner = Owner(tenant="t", user=conversation.name)
        while items := await store.index.without_vector(owner, embedder.space, limit=64):
            vectors = await embedder.embed([item.text for item in items])
            ids = [item.id for item in items]
            await store.index.put(owner, embedder.space, ids=ids, vectors=vectors)
    await embedder.close()
    await store.close()
    connection = apsw.Connection(str(path))
    rows = connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name").fetchall()
    [(whole,)] = connection.execute("SELECT sum(pgsize) FROM dbstat")
    connection.close()
    by_table = {str(name): round(int(size) / turns, 1) for name, size in rows if int(size) > turns}
    return {
        "users": len(conversations),
        "sessions": sessions,
        "turns": turns,
        "bytes of text a turn": round(characters / turns, 1),
        "bytes of file a turn": round(whole / turns, 1),
        "bytes of file a turn, by table": by_table,
        "CPU ms to record a turn": round(1000 * recording / turns, 2),
        "CPU ms to embed a turn": round(1000 * embedding / len(texts), 2),
        "dimensions": embedder.space.dimensions,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asyncio.run(measured(args.data, Path(folder))), indent=1))


main()
