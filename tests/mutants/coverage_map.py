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
from typing import TYPE_CHECKING

import coverage
import pytest

if TYPE_CHECKING:
    from collections.abc import Collection, Generator

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "omoide"
LANES = ("tests/unit", "tests/contract", "tests/integration", "tests/redteam")
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


def coverage_map(file: Path, lanes: tuple[str, ...] = LANES) -> CoverageMap:
    """The map, from the file if it is there; else the tests are run, which takes minutes."""
    if not file.exists():
        environment = {**os.environ, "MUTANTS_MAP": str(file)}
        command = [sys.executable, "-m", "pytest", *OPTIONS, "-m", WANTED]
        command += ["-p", "tests.mutants.coverage_map", *lanes]
        subprocess.run(command, cwd=ROOT, env=environment, check=False, stdout=sys.stderr)
    kept = json.loads(file.read_text("utf-8"))
    names = list(kept["seconds"])
    lines = {
        path: {int(line): tuple(names[n] for n in numbers) for line, numbers in known.items()}
        for path, known in kept["lines"].items()
    }
    return CoverageMap(kept["seconds"], lines)


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
        tests = [name for name in self._seconds if name not in self._failed]
        numbers = {name: number for number, name in enumerate(tests)}
        lines: dict[str, dict[int, list[int]]] = defaultdict(dict)
        for measured in data.measured_files():
            path = Path(measured).relative_to(SOURCES).as_posix()
            for line, contexts in data.contexts_by_lineno(measured).items():
                found = sorted(numbers[name] for name in contexts if name in numbers)
                if found:
                    lines[path][line] = found
        kept = {"seconds": {name: self._seconds[name] for name in tests}, "lines": lines}
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(kept), "utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to watch, if this run is to make a map."""
    if file := os.environ.get("MUTANTS_MAP"):
        config.pluginmanager.register(_Watch(Path(file)))
