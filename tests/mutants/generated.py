"""Change random places of the code, one at a time: how many changes do the tests notice?

    python -m tests.mutants.generated --out docs/mutants.md
    python -m tests.mutants.generated --area jobs --each 5 --seed 7
    python -m tests.mutants.generated --each 50 --minutes 20 --seed 9

Which test runs which line is found out first, with coverage, and kept in `.cache/mutants`, and so
are the outcomes: with `--again` only those that were left and
are not explained are tried. Remove that folder when the
sources changed much. A survivor is explained in `explained.toml`, by the
name that is printed, in its table `equal` if no caller could tell the change: those are counted
apart. It fails if 15 % or more survive, or one that is not explained. With `--out`, what a file
says of earlier seeds (from its first heading `## Seed`) is kept below.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import tomllib
from collections import Counter
from dataclasses import replace
from itertools import islice, zip_longest
from math import inf, sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from tests.mutants.areas import AREAS, ROOT, SOURCES
from tests.mutants.coverage_map import coverage_map
from tests.mutants.mutations import compiles, mutants_of
from tests.mutants.trying import Verdict, all_tried, check_unchanged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.mutants.areas import Area
    from tests.mutants.mutations import Mutant

ALLOWED = 0.15
NOTICED = ("noticed", "hung")
LEFT = ("survived", "not run", "unclear")
OUTCOMES = (*NOTICED, *LEFT, "equal", "not started")
"""The last two say nothing about the tests, so they are no part of the share that is left."""
EARLIER = "\n## Seed "
EXPLAINED = Path(__file__).with_name("explained.toml")


def main() -> int:
    """Draw a sample, try it, and tell; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.generated")
    names = [area.name for area in AREAS]
    parser.add_argument("--area", action="append", choices=names, help="by default all")
    parser.add_argument("--each", type=int, default=22, help="mutants of each area")
    parser.add_argument(
        "--again", action="store_true", help="try only those that were left and are not explained"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, help="begin no further round after so long")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--maps", type=Path, default=ROOT / ".cache" / "mutants")
    parser.add_argument("--out", type=Path, help="write the tables into this Markdown file")
    given = parser.parse_args()
    began = time.monotonic()
    areas = [area for area in AREAS if area.name in (given.area or names)]
    tests = sorted({file for area in areas for file in area.test_files()})
    known = coverage_map(given.maps / "map.json", tests, processes=given.processes)
    explained = tomllib.loads(EXPLAINED.read_text("utf-8"))
    equal: dict[str, str] = explained.pop("equal")
    explained |= equal
    before = given.maps / "verdicts.json"
    kept: dict[str, str] = json.loads(before.read_text("utf-8")) if before.exists() else {}
    verdicts: dict[str, list[Verdict]] = {area.name: [] for area in areas}
    check_unchanged(known)
    until = time.monotonic() + 60 * given.minutes if given.minutes else inf
    samples = [sampled(area, each=given.each, seed=given.seed) for area in areas]
    for row in zip_longest(*samples):  # areas take turns, so that all have as many in the end
        if time.monotonic() > until:
            break
        drawn = {m.name: area.name for area, m in zip(areas, row, strict=True) if m is not None}
        present = [mutant for mutant in row if mutant is not None]
        done = [
            m
            for m in present
            if given.again and m.name in kept and (kept[m.name] in NOTICED or m.name in explained)
        ]
        for mutant in done:
            verdicts[drawn[mutant.name]].append(Verdict(mutant, kept[mutant.name]))
        rest = [mutant for mutant in present if mutant not in done]
        for verdict in all_tried(rest, known, processes=given.processes):
            if verdict.outcome in LEFT and verdict.mutant.name in equal:
                verdict = replace(verdict, outcome="equal")
            verdicts[drawn[verdict.mutant.name]].append(verdict)
            kept[verdict.mutant.name] = verdict.outcome
            before.write_text(json.dumps(kept), "utf-8")
            sys.stderr.write(f"{verdict.outcome:8} {verdict.mutant.name}\n")
    command = f"python -m tests.mutants.generated --each {given.each} --seed {given.seed}"
    minutes = (time.monotonic() - began) / 60
    everything = [v for found in verdicts.values() for v in found]
    left = [v.mutant.name for v in everything if v.outcome in LEFT]
    text = document(
        verdicts, explained, command=f"{command}`, {minutes:.0f} minutes. {share(everything)}"
    )
    sys.stdout.write(text)
    if given.out:
        before_it = given.out.read_text("utf-8") if given.out.exists() else ""
        start = before_it.find(EARLIER)
        given.out.write_text(text + (before_it[start:] if start >= 0 else ""), "utf-8")
    total = sum(v.outcome in (*NOTICED, *LEFT) for v in everything)
    return int(len(left) >= ALLOWED * total or any(name not in explained for name in left))


def share(verdicts: Sequence[Verdict]) -> str:
    """How many were left, in words."""
    counts = Counter(v.outcome for v in verdicts)
    left = sum(counts[name] for name in LEFT)
    total = left + sum(counts[name] for name in NOTICED)
    low, high = interval(left, total)
    text = f"Left: {left} of {total}, {left / max(total, 1):.0%}, 95 % {low:.0%} to {high:.0%}"
    with_equal, of = left + counts["equal"], total + counts["equal"]
    return f"{text}; with those that are equal {with_equal} of {of}, {with_equal / max(of, 1):.0%}"


def sampled(area: Area, *, each: int, seed: int) -> list[Mutant]:
    """As many mutants of the area, drawn at random."""
    files = area.files()
    found = [m for file in files for m in mutants_of(file, file.relative_to(SOURCES).as_posix())]
    drawn = sorted(found, key=lambda mutant: mutant.rank(seed))
    sound = (m for m in drawn if compiles(m, (SOURCES / m.path).read_bytes()))
    return list(islice(sound, each))


def interval(part: int, whole: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    if not whole:
        return 0.0, 1.0
    z = 1.96
    middle, spread = part + z * z / 2, z * sqrt(part * (whole - part) / whole + z * z / 4)
    return (middle - spread) / (whole + z * z), (middle + spread) / (whole + z * z)


def document(verdicts: dict[str, list[Verdict]], explained: dict[str, str], *, command: str) -> str:
    """The page."""
    rows = []
    for area, found in [
        *verdicts.items(),
        ("all", [v for all_ in verdicts.values() for v in all_]),
    ]:
        counts = Counter(v.outcome for v in found)
        left = sum(counts[name] for name in LEFT)
        total = left + sum(counts[name] for name in NOTICED)
        cells = [area, len(found), *(counts[name] for name in OUTCOMES)]
        rows.append(f"| {' | '.join(map(str, cells))} | {left / max(total, 1):.0%} |")
    survivors = [
        f"| {_cell(v.mutant.name)} | {v.outcome} | {explained.get(v.mutant.name, '**not explained**')} |"
        for found in verdicts.values()
        for v in found
        if v.outcome not in (*NOTICED, "not started")
    ]
    return ABOUT.format(
        rows="\n".join(rows), survivors="\n".join(survivors) or "| none | | |", command=command
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


# ruff: noqa: E501 - lines of a Markdown file
ABOUT = """# Mutants

Would the tests notice a slip? `make mutants` puts the kept faults of `tests/mutants/faults.py` into the code, each of which must be noticed. `make mutants-random` changes random places: a comparison, `and` and `or`, a sign, a number (small ones by one, others tenfold), a condition turned round, a result that is `None`, a call left out, a comparison in SQL. Each change is tried alone, against tests that run the line (found with `coverage`), among the test files that `tests/mutants/areas.py` names: as many as about half a minute allows, from every file some, so that others might notice more. What no test could notice is not drawn: annotations, docstrings and `__repr__`, texts, whatever a call that only writes a log is given, a strict `zip` made lax (it checks what always holds), and a result that is a number or a truth made `None` (its value is changed instead). A change with which the tests cannot even be imported says nothing about them, and is counted apart (`not started`); so is one that turned out to change nothing that a caller could tell (`equal`, each with its reason). Only a test that fails notices: `hung` and `not started` count only if the same tests pass without the change, and are `unclear` otherwise. The adapter for PostgreSQL is not in the sample: its tests need a server.

| area | mutants | noticed | hung, so noticed | survived | no test runs it | unclear | equal | not started | left |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
{rows}

`{command}.

## What was left

| place and change | | why |
|---|---|---|
{survivors}
"""


if __name__ == "__main__":
    sys.exit(main())
