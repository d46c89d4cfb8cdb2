"""The whole torture, bounded in time, and the tables it gives."""

from __future__ import annotations

import argparse
import logging
import os
import platform
import random
import signal
import sys
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: threads do not survive a fork

from tests.postgres import running
from tests.torture import faults
from tests.torture.conversations import converse
from tests.torture.kills import kill
from tests.torture.moves import kill_moves
from tests.torture.outcome import document, table
from tests.torture.places import SqlitePlaces
from tests.torture.places_postgres import MADE_WITH, SETTINGS, PostgresPlace, PostgresPlaces
from tests.torture.servers import TRIALS, falling
from tests.torture.victims import VICTIMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.torture.outcome import Outcome
    from tests.torture.places import Places

STORES = ("sqlite", "postgres")
VICTIMS_AND_MOVES = (*VICTIMS, "migrate")
SERVER = ("connections", "process", "server")
ROWS = (
    *VICTIMS_AND_MOVES,
    *"full clock model-paper model-small many locked conversations".split(),
    *SERVER,
)
WITHOUT_KEY = ("migrate", "conversations")
"""Rows that open files by themselves."""


def main() -> int:
    """Run it; 1 if anything was lost, doubled, emptied or crossed."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture")
    parser.add_argument("--minutes", type=float, default=15.0, help="for each store's kills")
    parser.add_argument(
        "--kills", type=int, default=1040, help="of each store, all victims together"
    )
    parser.add_argument("--steps", type=int, default=20_000, help="of random conversations")
    parser.add_argument("--seed", type=int, default=20260105)
    parser.add_argument(
        "--store",
        action="append",
        choices=STORES,
        help="by default both; SQLite alone needs no server",
    )
    parser.add_argument("--only", action="append", choices=ROWS, help="these rows of the tables")
    parser.add_argument(
        "--key", default="", help=f"encrypt SQLite's files; leaves out {', '.join(WITHOUT_KEY)}"
    )
    parser.add_argument("--folder", type=Path, help="where the files are to be made")
    parser.add_argument("--out", type=Path, help="write the tables into this Markdown file")
    parser.add_argument("--small", action="store_true", help="a little of everything")
    given = parser.parse_args()
    given.only = set(given.only or ROWS) - (set(WITHOUT_KEY) if given.key else set())
    logging.disable(logging.WARNING)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and leave nothing behind
    told: dict[str, list[Outcome]] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(dir=given.folder)))
        names = given.store or STORES
        kinds: dict[str, Places] = {"sqlite": SqlitePlaces(folder, key=given.key)}
        if "postgres" in names:
            server = stack.enter_context(running(SETTINGS, made_with=MADE_WITH))
            kinds["postgres"] = PostgresPlaces(server)
        for name in names:
            others = [kind for kind in kinds.values() if kind.name != name]
            told[name] = []
            for outcome in _run(given, kinds[name], *(others or kinds.values())):
                told[name].append(outcome)
                sys.stderr.write(f"{name}: {outcome.row}\n")
            sys.stdout.write(f"{name}\n{table(told[name])}\n")
    if given.out:
        text = document(
            told,
            command=f"--minutes {given.minutes:g} --kills {given.kills} --seed {given.seed}",
            where=f"Python {platform.python_version()} on {platform.system()}",
            date=time.strftime("%B %Y"),
        )
        given.out.write_text(text, encoding="utf-8")
    return 0 if all(outcome.good for outcomes in told.values() for outcome in outcomes) else 1


def _run(given: argparse.Namespace, places: Places, other: Places) -> Iterator[Outcome]:
    dice = random.Random(given.seed)
    until, left = time.monotonic() + given.minutes * 60, given.kills
    victims = [name for name in VICTIMS_AND_MOVES if name in given.only]
    for number, name in enumerate(victims):  # what one leaves of kills and time the next ones get
        share = len(victims) - number
        seconds, kills = (until - time.monotonic()) / share, -(-left // share)
        if name == "migrate":
            source = other.create(f"before-{places.name}")
            outcome = kill_moves(source, places, kills=kills, seconds=seconds, dice=dice)
        else:
            outcome = kill(name, places.create(name), kills=kills, seconds=seconds, dice=dice)
        left -= outcome.trials
        yield outcome
    share = 10 if given.small else 1
    for name, inflict in _faults(share, places, dice, steps=given.steps // share**2).items():
        if name in given.only:
            yield inflict()


def _faults(
    share: int, places: Places, dice: random.Random, *, steps: int
) -> dict[str, Callable[[], Outcome]]:
    """What else is done, or only a share of it."""
    at = places.create

    def lying(form: str) -> Outcome:
        return faults.bad_model(at(form), form=form, trials=100 // share, dice=dice)

    def fall(name: str, trials: int) -> Outcome:
        place = at(f"fall{len(name)}")
        assert isinstance(place, PostgresPlace)
        return falling(name, place, trials=trials // share, dice=dice)

    rows: dict[str, Callable[[], Outcome]] = {
        "full": lambda: faults.disk_full(at("full"), trials=20 // share),
        "clock": lambda: faults.clock_back(at("back"), trials=150 // share, dice=dice),
        "model-paper": lambda: lying("paper"),
        "model-small": lambda: lying("small"),
        "many": lambda: faults.many_at_once(at("many"), turns=max(5 // share, 1)),
        "locked": lambda: faults.locked(at("locked"), seconds=30.0 / share, dice=dice),
    }
    if places.name == "sqlite":
        rows["conversations"] = lambda: converse(steps=steps)
    if places.name == "postgres":
        for row, (name, trials) in zip(SERVER, TRIALS.items(), strict=True):
            rows[row] = partial(fall, name, trials)
    return rows


if __name__ == "__main__":
    sys.exit(main())
