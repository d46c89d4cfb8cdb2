"""`kill -9` while a large file is cleaned in place after erasures.

    python -m tests.torture.large_file [--kills 60] [--megabytes 64] [--seed 1]

Two processes use one file: one erases turns, sessions and whole users, the other records turns all
the time. Both are killed together. Then, before anything else opens the file, no word of an
acknowledged erasure may be in it or in its log; and after the next opening the file is sound, what
was not erased is complete, row by row, and of every erasure that had begun all is there or nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import NewTurn, Owner, Speaker
from omoide.ports import Space

DIMENSIONS = 512
SPACE = Space(name="random", version="1", dimensions=DIMENSIONS)
START = datetime(2026, 1, 5, tzinfo=UTC)
SESSION = 25
"""Turns of a session."""
USER = 200
"""Turns of a user: more than a transaction of an erasure removes."""
BYTES = 3_300
"""Of a turn in the file, about."""
WORD = re.compile(rb"[Zz]qx(\d{6})x")
"""The word that each turn has for itself."""


def owner_of(turn: int) -> Owner:
    """The user who said it."""
    return Owner(tenant="t", user=f"u{turn // USER}")


def said(turn: int) -> NewTurn:
    """A turn with a word of its own among others."""
    dice = random.Random(turn)
    words = " ".join(f"w{dice.randrange(3000)}" for _ in range(dice.choice((6, 12, 60))))
    return NewTurn(
        id=f"{turn:06}",
        speaker=Speaker.USER,
        text=f"Zqx{turn:06}x {words}",
        time=START + timedelta(minutes=turn),
        language="en",
    )


async def record(store: SqliteStore, turns: range) -> None:
    """Record turns of one session, with vectors."""
    owner, session = owner_of(turns[0]), f"s{turns[0] // SESSION}"
    batch = [said(turn) for turn in turns]
    await store.turns.append(owner, batch, session=session, idle=timedelta(days=9999))
    dice = np.random.default_rng(turns[0])
    vectors = dice.standard_normal((len(batch), DIMENSIONS)).astype(np.float32)
    await store.index.put(owner, SPACE, ids=[turn.id for turn in batch], vectors=vectors)


async def fill(path: Path, turns: int) -> None:
    """Users with sessions in turn, so that their rows lie among those of others."""
    store = await SqliteStore.open(path)
    for part in range(USER // SESSION):
        for user in range(turns // USER):
            first = user * USER + part * SESSION
            await record(store, range(first, first + SESSION))
    await store.close()


def _tell(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def erase(path: Path, seed: int, left: list[int]) -> None:
    """Erase until killed; tells what begins and what is done."""
    store = await SqliteStore.open(path)
    dice = random.Random(seed)
    _tell("open")
    while left:
        turn = dice.choice(left)
        kind = dice.choices(("turn", "session", "user"), (6, 3, 1))[0]
        size = {"turn": 1, "session": SESSION, "user": USER}[kind]
        first = turn // size * size
        doomed = [known for known in left if first <= known < first + size]
        _tell("begin", *doomed)
        if kind == "user":
            await store.archive.erase(owner_of(turn))
        elif kind == "session":
            [found] = await store.turns.read(owner_of(turn), ids=[f"{turn:06}"])
            await store.archive.erase(owner_of(turn), session=found.session)
        else:
            await store.archive.erase(owner_of(turn), turns=[f"{turn:06}"])
        _tell("done", *doomed)
        left = [known for known in left if known not in set(doomed)]


async def write(path: Path, first: int) -> None:
    """Record turns of new users until killed; tells which are stored."""
    store = await SqliteStore.open(path)
    _tell("open")
    while True:
        await record(store, range(first, first + 1))
        _tell("done", first)
        first += 1
        await asyncio.sleep(0.01)


@dataclass
class Trial:
    """The file, and what must be in it."""

    path: Path
    there: set[int]
    """Turns that must be there."""
    gone: set[int] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    acknowledged: int = 0
    interrupted: int = 0
    finished_later: int = 0

    def files(self) -> list[Path]:
        """The file and what lies beside it."""
        return sorted(self.path.parent.glob(f"{self.path.name}*"))

    def words(self) -> set[int]:
        """The turns whose words are anywhere in the files."""
        return {int(number) for file in self.files() for number in WORD.findall(file.read_bytes())}

    def check(self, what: str, *, wrong: object) -> None:
        """Note a problem if there is anything wrong."""
        if wrong:
            self.problems.append(f"{what}: {str(wrong)[:200]}")

    async def kill_once(self, number: int, dice: random.Random) -> None:
        """Let two processes work, kill them, and look."""
        following = max(self.there | self.gone) + 1
        first = -(-following // USER) * USER  # a user of its own, whom nobody erases yet
        left = [turn for turn in self.there if turn < first]
        arguments = [str(self.path), str(number)]
        processes = [
            _started("--erase", *arguments, text=" ".join(map(str, left))),
            _started("--write", str(self.path), str(first)),
        ]
        outputs = [_Output(process) for process in processes]
        for output in outputs:
            await output.wait_for(["open"] if dice.random() < 0.2 else ["begin", "done"])
        await asyncio.sleep(dice.random() ** 2 * 2.0)
        for process in processes:
            os.kill(process.pid, signal.SIGKILL)
        for process, output in zip(processes, outputs, strict=True):
            process.wait()
            await output.end()
        begun = self._look(*outputs)
        await self.reopen(begun, late=max(outputs[1].numbers("done"), default=first - 1) + 1)

    def _look(self, erasing: _Output, writing: _Output) -> set[int]:
        """Note what was acknowledged; returns the turns of the erasure that had begun."""
        erased = erasing.numbers("done")
        begun = erasing.numbers("begin") - erased
        self.acknowledged += len(erasing.lines("done"))
        self.interrupted += bool(begun)
        self.gone |= erased
        self.there = (self.there - erased) | writing.numbers("done")
        self.check("erased words before the opening", wrong=self.words() & self.gone)
        return begun

    async def reopen(self, begun: set[int], late: int) -> None:
        """Open the file as the next process does, and compare every row."""
        store = await SqliteStore.open(self.path)
        await store.close()
        connection = apsw.Connection(str(self.path))
        self.check(
            "integrity",
            wrong=[r for r in connection.execute("PRAGMA integrity_check") if r != ("ok",)],
        )
        rows: list[Any] = connection.execute("SELECT id, text FROM turns").fetchall()
        texts = {int(name): text for name, text in rows}
        if begun:
            left = begun & texts.keys()
            self.check("an erasure by half", wrong=left if left != begun and left else None)
            self.gone |= begun - left
            self.there -= begun - left
            self.finished_later += not left
        extra = texts.keys() - self.there
        self.check("more turns than said", wrong={turn for turn in extra if turn != late})
        self.there |= extra  # stored, and killed before that was told
        self.check("turns lost", wrong=self.there - texts.keys())
        self.check("turns changed", wrong=[n for n, t in texts.items() if t != said(n).text])
        for what, statement in _COMPLETE.items():
            self.check(what, wrong=connection.execute(statement).fetchall())
        connection.close()
        self.check("erased words", wrong=self.words() & self.gone)


_POSTED = "SELECT owner, item, sum(tf) AS terms, max(length) AS length FROM postings GROUP BY 1, 2"
_COMPLETE = {
    "postings": f"SELECT t.id FROM turns t LEFT JOIN ({_POSTED}) p "  # noqa: S608
    "ON p.owner = t.owner AND p.item = t.position WHERE p.terms IS NOT p.length",
    "postings of nothing": f"SELECT item FROM ({_POSTED}) p WHERE NOT EXISTS "  # noqa: S608
    "(SELECT 1 FROM turns t WHERE t.owner = p.owner AND t.position = p.item)",
    "vectors of nothing": "SELECT item FROM vectors v WHERE NOT EXISTS "
    "(SELECT 1 FROM turns t WHERE t.owner = v.owner AND t.position = v.item)",
    "outlines": "SELECT t.id FROM turns t LEFT JOIN outlines o "
    "ON o.owner = t.owner AND o.position = t.position WHERE o.length IS NULL",
    "sessions": "SELECT number FROM sessions s WHERE turns <> (SELECT count(*) FROM turns t "
    "WHERE t.owner = s.owner AND t.session = s.number)",
    "unfinished": "SELECT name FROM meta WHERE name LIKE 'unfinished%' OR name = 'traces'",
}
"""Statements that find rows that do not belong together."""


def _started(*arguments: str, text: str = "") -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.torture.large_file", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(f"{text}\n")
    process.stdin.flush()
    return process


class _Output:
    """What a process tells."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._told: list[list[str]] = []
        self._process = process
        self._reading = asyncio.create_task(asyncio.to_thread(self._read))

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.endswith("\n"):
                self._told.append(line.split())

    async def wait_for(self, verbs: list[str]) -> None:
        """Until it has told one of these."""
        deadline = time.monotonic() + 120
        while not any(line[0] in verbs for line in self._told):
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise RuntimeError(f"nothing came but {self._told}")
            await asyncio.sleep(0.005)

    async def end(self) -> None:
        """Until all is read."""
        await self._reading

    def lines(self, verb: str) -> list[list[str]]:
        """What it told under a verb."""
        return [rest for found, *rest in self._told if found == verb]

    def numbers(self, verb: str) -> set[int]:
        """All turns that it told under a verb."""
        return {int(number) for rest in self.lines(verb) for number in rest}


async def torture(*, kills: int, megabytes: int, seed: int) -> int:
    """Fill a file, kill so often, print what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.db"
        turns = megabytes * 10**6 // BYTES // USER * USER
        await fill(path, turns)
        size, began = path.stat().st_size, time.monotonic()
        trial, dice = Trial(path=path, there=set(range(turns))), random.Random(seed)
        for number in range(kills):
            await trial.kill_once(seed * 1000 + number, dice)
            sys.stderr.write(
                f"{number + 1} kills, {len(trial.gone):,} turns gone, {len(trial.there):,} there, "
                f"{trial.problems or 'nothing wrong'}\n"
            )
            if trial.problems:
                break
        _tell(
            f"{number + 1} kills of two processes on a file of {size / 1e6:.0f} MB "
            f"({path.stat().st_size / 1e6:.0f} at the end), {trial.acknowledged} erasures "
            f"acknowledged, {trial.interrupted} interrupted ({trial.finished_later} of them were "
            f"finished by the next opening), {len(trial.gone):,} turns erased, "
            f"{time.monotonic() - began:.0f} s; wrong: {trial.problems or 'nothing'}"
        )
        return len(trial.problems)


def main() -> None:
    """Torture, or be one of the processes that are killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.large_file")
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--megabytes", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--erase", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.erase:
        path, seed = given.erase
        left = [int(number) for number in sys.stdin.readline().split()]
        asyncio.run(erase(Path(path), int(seed), left))
    elif given.write:
        path, first = given.write
        asyncio.run(write(Path(path), int(first)))
    else:
        sys.exit(
            asyncio.run(torture(kills=given.kills, megabytes=given.megabytes, seed=given.seed))
        )


if __name__ == "__main__":
    main()
