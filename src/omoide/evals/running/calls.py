"""Every call of a model that was ever made for a benchmark, in one file.

The key is the model's name and the exact request, so that a run which was interrupted asks only
what is missing, and methods that ask the same share the answer. Vectors are kept in the same way.
Each entry is written as it comes: a run that is killed leaves a whole file behind.
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
class Pace:
    """What the calls of a model took so far, on average."""

    calls: int
    seconds: float
    """One call, while as many others were under way as were then allowed."""
    fill: float
    """How much of the tokens that an answer may have it does have."""


class CallCache:
    """The file. `None` for a path keeps it in memory."""

    def __init__(self, path: Path | None) -> None:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._file = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=30)
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = NORMAL")
            self._file.executescript(_TABLES)
        except sqlite3.DatabaseError as error:
            raise BadInput(f"{path} cannot be used as a cache of calls ({error})") from error

    def find(self, key: bytes) -> Completion | None:
        """The answer that was given before."""
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
        """Write an answer down."""
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

    def pace(self, model: str) -> Pace | None:
        """How the model did so far, or None if it was never asked."""
        count, seconds, fill = self._file.execute(
            "SELECT count(*), avg(seconds), avg(1.0 * completion / most) FROM calls"
            " WHERE model = ?",
            (model,),
        ).fetchone()
        return Pace(calls=count, seconds=seconds, fill=fill) if count else None

    def vectors(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """The vectors that are known, as bytes."""
        found: dict[bytes, bytes] = {}
        for key in keys:
            row = self._file.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
            if row is not None:
                found[key] = row[0]
        return found

    def keep_vectors(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Write vectors down, all at once."""
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
    """What tells one call from another: the model and all that it is asked. The skill is no part
    of the question: each has prompts of its own, and the model's name tells its adapters."""
    question = {name: value for name, value in asdict(request).items() if name != "skill"}
    asked = json.dumps([model, question], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(asked.encode()).digest()


def key_of_text(space: Space, text: str) -> bytes:
    """What tells one vector from another."""
    return hashlib.sha256(f"{space.name}\n{space.version}\n{text}".encode()).digest()
