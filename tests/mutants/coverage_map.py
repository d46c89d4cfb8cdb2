"""Which test runs which line, and how long each test takes: found once, kept in a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import coverage
import pytest

from tests.mutants.areas import ROOT, SOURCES

if TYPE_CHECKING:
    from collections.abc import Collection, Generator

OPTIONS = (
    *"-q --no-header --durations=0 -p no:cacheprovider -p no:schemathesis -p no:anyio".split(),
    "--hypothesis-profile=quick",
)
WANTED = "not heavy and not model and not data"


@dataclass(frozen=True)
class CoverageMap:
    """Tests by the lines they run."""

    seconds: dict[str, float]
    """By test."""
    lines: dict[str, dict[int, tuple[str, ...]]]
    """By file and line."""

    def covering(self, path: str, lines: Collection[int]) -> set[str]:
        """The tests that run one of the lines."""
        known = self.lines.get(path, {})
        return {test for line in lines for test in known.get(line, ())}


def coverage_map(file: Path, tests: list[Path], *, processes: int) -> CoverageMap:
    """The map of these tests, from the file if it is there; else they are run."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        parts = [file.with_suffix(f".{number}") for number in range(processes)]
        running = [_watched(part, tests[n::processes]) for n, part in enumerate(parts)]
        for process in running:
            process.wait()
        file.write_text(json.dumps(_merged(parts)), "utf-8")
    kept = json.loads(file.read_text("utf-8"))
    names = list(kept["seconds"])
    lines = {
        path: {int(line): tuple(names[number] for number in found) for line, found in known.items()}
        for path, known in kept["lines"].items()
    }
    return CoverageMap(kept["seconds"], lines)


def _watched(part: Path, tests: list[Path]) -> subprocess.Popen[bytes]:
    """Run these tests, and have the map written there."""
    command = [sys.executable, "-m", "pytest", *OPTIONS, "-m", WANTED]
    command += ["-p", "tests.mutants.coverage_map", *map(str, tests)]
    environment = {**os.environ, "MUTANTS_MAP": str(part)}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=sys.stderr)


def _merged(parts: list[Path]) -> dict[str, Any]:
    """One map of several, which are removed. Tests are numbered in their order."""
    seconds: dict[str, float] = {}
    lines: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for part in parts:
        kept = json.loads(part.read_text("utf-8"))
        for path, known in kept["lines"].items():
            for line, found in known.items():
                lines[path][line] += [len(seconds) + number for number in found]
        seconds |= kept["seconds"]
        part.unlink()
    return {"seconds": seconds, "lines": lines}


class _Watch:
    """A plug-in of pytest that notes the lines of each test that passes."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._coverage = coverage.Coverage(data_file=None, source=[str(SOURCES)], config_file=False)
        self._coverage.start()
        self._seconds: dict[str, float] = {}
        self._failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Everything from the fixtures to their end counts as the test's own."""
        self._coverage.switch_context(item.nodeid)
        began = time.monotonic()
        try:
            return (yield)
        finally:
            self._seconds[item.nodeid] = round(time.monotonic() - began, 3)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that does not pass shows nothing."""
        if not report.passed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write it down."""
        self._coverage.stop()
        data = self._coverage.get_data()
        seconds = {n: taken for n, taken in self._seconds.items() if n not in self._failed}
        numbers = {name: number for number, name in enumerate(seconds)}
        lines: dict[str, dict[int, list[int]]] = defaultdict(dict)
        for measured in data.measured_files():
            path = Path(measured).relative_to(SOURCES).as_posix()
            for line, contexts in data.contexts_by_lineno(measured).items():
                lines[path][line] = [numbers[name] for name in contexts if name in numbers]
        self._file.write_text(json.dumps({"seconds": seconds, "lines": lines}), "utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to watch, if this run is to make a map."""
    if file := os.environ.get("MUTANTS_MAP"):
        config.pluginmanager.register(_Watch(Path(file)))
