"""What a torture came to, and how it is told."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass

HEAD = (
    "| what is done to it | trials | acknowledged | lost | doubled | memories emptied "
    "| cross-tenant reads | seconds | beside |"
)

KEPT = ("said", "ended", "recalled", "erased", "moved")
"""Verbs of promises."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One row."""

    name: str
    trials: int
    acknowledged: int
    """Turns, ends, recalls and erasures that were promised."""
    lost: int
    """Of these, how many did not hold."""
    doubled: int
    emptied: int
    crossed: int
    """Words of one tenant that were seen in the other's."""
    seconds: float
    beside: str = ""

    @property
    def good(self) -> bool:
        """Whether nothing went wrong."""
        return not (self.lost or self.doubled or self.emptied or self.crossed)

    @property
    def row(self) -> str:
        """As a line of a Markdown table."""
        cells = [f"{v:,}" if isinstance(v, int) else str(v) for v in asdict(self).values()]
        cells[-2] = f"{self.seconds:.0f}"
        return f"| {' | '.join(cells)} |"


def outcome_of(
    name: str,
    trials: int,
    promises: dict[str, dict[str, list[str]]],
    found: dict[str, int],
    began: float,
    *,
    beside: str = "",
) -> Outcome:
    """A row from what was promised and what was found."""
    return Outcome(
        name=name,
        trials=trials,
        acknowledged=sum(len(p.get(verb, ())) for p in promises.values() for verb in KEPT),
        lost=found["lost"],
        doubled=found["doubled"],
        emptied=found["emptied"],
        crossed=found["crossed"],
        seconds=time.monotonic() - began,
        beside=beside,
    )


def table(outcomes: list[Outcome]) -> str:
    """All rows."""
    ruler = "|---" + "|---:" * 7 + "|---|"
    return "\n".join([HEAD, ruler, *(outcome.row for outcome in outcomes)])


# ruff: noqa: E501 - lines of a Markdown file
ABOUT = """# Torture

`make torture` runs real processes on real databases, a file and a PostgreSQL server that it starts, and does to them what happens
in life. `TORTURE_MINUTES=` bounds the time for the kills of each store (15 if it is not said); the rest takes about five
minutes more for each. Two tenants with a user of the same name talk in each. What a process had acknowledged when it was killed must
hold afterwards: turns and ends of sessions are there once, recalls are counted, users who were moved are at the target row by
row, erased words are gone. "Lost" counts what does not, and work that is left undone; "doubled" counts turns, digests, recalls and
rows that are there twice; "cross-tenant reads" counts words of one tenant seen through any verb of the other.

Every row is one database that lives through all its trials (of a migration: one for each move that came to its end). One kill in
five comes within the first tenth of a second after the start; the others up to a fifth of a second after the first promise, or
after any of them if it is a migration.

{tables}
`python -m tests.torture {command}`, {where}, {date}.

## What is done

- **Migrate.** 12 users of two tenants, each with something in every table, are moved from the other kind of store into this one. After
  every kill all rows of all tables of both are read without omoide's code and compared: whoever was said to be moved must be
  there, and nobody in part.
- **Erase.** On SQLite the words are looked for in the bytes of the file and of its write-ahead log. On PostgreSQL they are looked for
  in every row of every table and in the samples that the server keeps of them. What its files still hold then stands beside, and
  is for its keeper to remove ([postgres.md](postgres.md#erasure-honestly)).
- **Disk full.** SQLite gets no more pages, or the kernel refuses the write (`RLIMIT_FSIZE`). To the processes of the PostgreSQL server
  the kernel refuses it as well: at a table, where the statement fails; and every third time at the write-ahead log, where the whole
  server falls, cannot get up, and is started again when there is room. Only a limit on sizes of files was tried on the server, not a
  file system that is full.
- **Locked.** Another process holds the file's write lock, or the table of users, for longer than anyone waits.
- **The server.** Its connections are ended (`pg_terminate_backend`); one of its processes is killed, at which it drops all others and
  recovers; its first process is killed, and it is started again. It runs with `fsync` on, and with `synchronous_commit` off, which would
  lose the last moments at such a fall: the store switches it on (tried without that, 57 of 92 promises were lost). Who talks says again, under the same id, what was refused. The
  role that connects is not above row level security.

What it does not show: a power cut. `kill -9` loses a process, not what the kernel holds; that the store waits for the disk
(`synchronous = FULL`) is set and tested, and a drive that lies about it cannot be found out from here.
"""
TITLES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}


def document(told: dict[str, list[Outcome]], *, command: str, where: str, date: str) -> str:
    """The whole page."""
    tables = ""
    for name, outcomes in told.items():
        kills = sum(o.trials for o in outcomes if o.name.startswith("`kill -9` during"))
        tables += f"## {TITLES[name]}: {kills} programs killed\n\n{table(outcomes)}\n\n"
    return ABOUT.format(tables=tables, command=command, where=where, date=date)
