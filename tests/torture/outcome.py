"""What a torture came to, and how it is told."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass

HEAD = (
    "| what is done to it | trials | acknowledged | lost | doubled | memories emptied "
    "| cross-tenant reads | seconds | beside |"
)

KEPT = ("said", "told", "ended", "recalled", "stated", "erased", "moved")
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

`make torture` runs real processes on real databases, a file and a PostgreSQL server that it starts, and subjects them to real-life
failures. `TORTURE_MINUTES=` bounds the time for the kills of each store (default 15); the rest takes about five
more minutes for each, and 20,000 steps of random conversations about ten. Each database has two tenants with a user of the same name. Whatever a process had acknowledged when it was killed must
hold afterwards: turns and ends of sessions are there once, recalls are counted, migrated users are in the target row by
row, erased words are gone. "Lost" counts what does not hold, and jobs left undone; "doubled" counts duplicate turns, digests, recalls and
rows; "cross-tenant reads" counts words of one tenant that any verb of the other returned.

Every row is one database that goes through all its trials (for migrations: one for each move that finished). Three processes use
it at the same time and are killed together. One kill in
five comes within the first tenth of a second after the start; the others up to a fifth of a second after the first acknowledgement of the last of the
three, for a server after one of the first twelve, or,
for a migration, after any of them.

{tables}
`python -m tests.torture {command}`, {where}, {date}.

## What each test does

- **Migrate.** 12 users of two tenants, each with rows in every table, are moved from the other kind of store into this one. After
  every kill all rows of all tables of both are read without omoide's code and compared: every user reported as moved must be
  there, and no user may be there in part.
- **Serve.** A server over each of Chat Completions, Responses, Messages and Ollama's protocol, streamed and not, with an API key for each
  tenant. A quarter of the writes of turns are refused as by a locked database, so that words wait in the spool; sessions are ended and
  their facts written; every seventh user is a guest who is erased at once. What was answered with `yes` or `waiting` is there
  once afterwards, message and reply.
- **Facts.** Each new fact replaces the one before, in one change, and every fourth is erased again. After a kill every fact that was
  acknowledged is there, and what ended a fact and what it ended agree, so that no change was made by half.
- **Erase.** A turn, a session or a user; the latter two so large that they take several transactions. On SQLite the test searches the bytes of the file and of its write-ahead log for the words. On PostgreSQL it searches
  every row of every table and the server's column samples. The last column says what the server's files still hold then; removing that
  is the administrator's job ([postgres.md](postgres.md#erasure-honestly)).
- **Random conversations.** Several conversations of one user through the proxy, as a state machine of Hypothesis: failures, retries, regenerated
  and broken replies, edits, tools, prefills, idempotency keys, ends and erasures. A trial is a step, after which all that is stored is
  compared with what was said.
- **Disk full.** SQLite gets no more pages, or the kernel refuses the write (`RLIMIT_FSIZE`). For the PostgreSQL server
  the kernel refuses the write as well: to a table, where the statement fails; and every third time to the write-ahead log, where the whole
  server crashes, cannot recover, and is restarted when there is room. On the server only a limit on file sizes was tested, not a
  full file system.
- **Locked.** Another process holds the file's write lock, or the table of users, for longer than the lock timeout.
- **The server.** Its connections are ended (`pg_terminate_backend`); one of its processes is killed, upon which it drops all others and
  recovers; its main process is killed, and it is restarted. It runs with `fsync` on, and with `synchronous_commit` off, which would
  lose the last transactions in such a crash: the store switches it on (without that, 57 of 92 acknowledged items were lost). The client repeats refused turns under the same id. The
  connecting role is subject to row level security.

Not covered: a power cut. `kill -9` loses a process, not what the kernel holds. That the store waits for the disk
(`synchronous = FULL`) is set and tested; a drive that lies about it cannot be detected from here.
"""
TITLES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}


def document(told: dict[str, list[Outcome]], *, command: str, where: str, date: str) -> str:
    """The whole page."""
    tables = ""
    for name, outcomes in told.items():
        kills = sum(o.trials for o in outcomes if o.name.startswith("`kill -9` during"))
        tables += f"## {TITLES[name]}: {kills} programs killed\n\n{table(outcomes)}\n\n"
    return ABOUT.format(tables=tables, command=command, where=where, date=date)
