"""A cache of all benchmark model calls, in one SQLite file.

The key is the model's name and the exact request. So an interrupted run makes only the missing
calls, and methods that send the same request share the answer. Vectors are cached the same way.
Each entry is written at once: a killed run leaves a valid file.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.ports import Completion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide.ports import Request, Space, Vectors

_TABLES = """
CREATE TABLE IF NOT EXISTS calls (
    key BLOB PRIMARY KEY, model TEXT NOT NULL, text TEXT NOT NULL, prompt INTEGER NOT NULL,
    completion INTEGER NOT NULL, seconds REAL NOT NULL, finish TEXT NOT NULL, most INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vectors (
    key BLOB PRIMARY KEY, vector BLOB NOT NULL
) WITHOUT ROWID;
"""


@dataclass(frozen=True, kw_only=True)
class CallPace:
    """Averages over the cached calls of a model."""

    calls: int
    seconds: float
    """Seconds of one call, under the concurrency of its run."""
    fill: float
    """Answer tokens divided by `max_tokens`."""


class CallCache:
    """The cache file; without a path it is kept in memory."""

    def __init__(self, path: Path | None) -> None:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._file = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=30)
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = NORMAL")
            self._file.executescript(_TABLES)
        except sqlite3.DatabaseError as error:
            raise BadInput(
                f"{path} cannot be used as a call cache ({error}); choose another --cache"
            ) from error

    def find(self, key: bytes) -> Completion | None:
        """The cached answer, if any."""
        row = self._file.execute(
            "SELECT text, prompt, completion, seconds, finish FROM calls WHERE key = ?", (key,)
        ).fetchone()
        if row is None:
            return None
        text, prompt, completion, seconds, finish = row
        return Completion(
            text=text,
            prompt_tokens=prompt,
            completion_tokens=completion,
            seconds=seconds,
            finish=finish,
        )

    def keep(self, key: bytes, model: str, request: Request, answer: Completion) -> None:
        """Store an answer."""
        self._file.execute(
            "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                key,
                model,
                answer.text,
                answer.prompt_tokens,
                answer.completion_tokens,
                answer.seconds,
                answer.finish,
                request.max_tokens,
            ),
        )

    def pace(self, model: str) -> CallPace | None:
        """Averages of the model's calls, or None without any."""
        count, seconds, fill = self._file.execute(
            "SELECT count(*), avg(seconds), avg(1.0 * completion / most) FROM calls"
            " WHERE model = ?",
            (model,),
        ).fetchone()
        return CallPace(calls=count, seconds=seconds, fill=fill) if count else None

    def vectors(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """The cached vectors, as bytes."""
        cached: dict[bytes, bytes] = {}
        for key in keys:
            row = self._file.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
            if row is not None:
                cached[key] = row[0]
        return cached

    def keep_vectors(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Store vectors in one transaction."""
        self._file.execute("BEGIN")
        self._file.executemany(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
            [(key, row.tobytes()) for key, row in zip(keys, vectors, strict=True)],
        )
        self._file.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def key_of(model: str, request: Request) -> bytes:
    """The cache key of a call: model name and request. The skill is left out: each skill has its
    own prompts, and the model's name includes its LoRA adapters."""
    question = {name: value for name, value in asdict(request).items() if name != "skill"}
    payload = json.dumps([model, question], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(payload.encode()).digest()


def key_of_text(space: Space, text: str) -> bytes:
    """The cache key of a vector."""
    return hashlib.sha256(f"{space.name}\n{space.version}\n{text}".encode()).digest()
