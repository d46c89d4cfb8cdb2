"""The whole torture, bounded in time, and the table it gives."""

from __future__ import annotations

import argparse
import logging
import os
import platform
import random
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: threads do not survive a fork

from tests.torture import faults
from tests.torture.kills import kill
from tests.torture.outcome import Outcome, table
from tests.torture.victims import VICTIMS

# ruff: noqa: E501 - lines of a Markdown file
ABOUT = """# Torture

`make torture` ({seconds:.0f} s at most for the kills; `TORTURE_SECONDS=` changes it) runs real processes
on a real database and does to them what happens in life. Two tenants with a user of the same name talk in each. What a
process had acknowledged when it was killed must hold afterwards: turns and ends of sessions are there once, recalls are
counted, erased words are in no file. "Lost" counts what does not, and work that is left undone; "doubled" counts turns,
digests and recalls that happened twice; "cross-tenant reads" counts words of one tenant seen through any verb of the other.

Every row is one database that lives through all its trials. One kill in five comes within the first tenth of a second
after the start, the others up to a fifth of a second after a promise.

{table}

{kills} kills, store `{store}`, Python {python} on {system}, seed {seed}, {date}.

What it does not show: a power cut. `kill -9` loses a process, not what the kernel holds; that the store waits for the disk
(`synchronous = FULL`) is set and tested, and a drive that lies about it cannot be found out from here.
"""


def main() -> int:
    """Run it; 1 if anything was lost, doubled, emptied or crossed."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture")
    parser.add_argument("--seconds", type=float, default=600.0, help="for the kills together")
    parser.add_argument("--kills", type=int, default=520, help="how many, all victims together")
    parser.add_argument("--seed", type=int, default=20260105)
    parser.add_argument("--store", default="sqlite:", help="sqlite:[FOLDER]")
    parser.add_argument("--out", type=Path, help="write the table into this Markdown file")
    parser.add_argument("--small", action="store_true", help="a little of everything")
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    dice = random.Random(given.seed)
    with TemporaryDirectory(dir=given.store.partition(":")[2] or None) as folder:
        outcomes = _run(given, Path(folder), dice)
    sys.stdout.write(table(outcomes) + "\n")
    if given.out:
        kills = sum(o.trials for o in outcomes if o.name.startswith("`kill"))
        text = ABOUT.format(
            seconds=given.seconds,
            table=table(outcomes),
            kills=kills,
            store="sqlite",
            python=platform.python_version(),
            system=platform.system(),
            seed=given.seed,
            date=time.strftime("%B %Y"),
        )
        given.out.write_text(text, encoding="utf-8")
    return 0 if all(outcome.good for outcome in outcomes) else 1


def _run(given: argparse.Namespace, folder: Path, dice: random.Random) -> list[Outcome]:
    def url(name: str) -> str:
        return f"sqlite:{folder / f'{name}.sqlite'}"

    outcomes = []

    def done(outcome: Outcome) -> None:
        outcomes.append(outcome)
        sys.stderr.write(f"{outcome.row}\n")

    until, left = time.monotonic() + given.seconds, given.kills
    for number, name in enumerate(VICTIMS):  # what one leaves of kills and time the next ones get
        share = len(VICTIMS) - number
        seconds = (until - time.monotonic()) / share
        outcome = kill(name, url(name), kills=-(-left // share), seconds=seconds, dice=dice)
        left -= outcome.trials
        done(outcome)
    share = 5 if given.small else 1
    done(faults.disk_full(url("full"), trials=20 // share))
    done(faults.clock_back(url("back"), trials=150 // share, dice=dice))
    for form in ("paper", "small"):
        done(faults.bad_model(url(form), form=form, trials=100 // share, dice=dice))
    done(faults.many_at_once(url("many"), turns=2 if given.small else 5))
    done(faults.locked(url("locked"), seconds=30.0 / share, dice=dice))
    return outcomes


if __name__ == "__main__":
    sys.exit(main())
