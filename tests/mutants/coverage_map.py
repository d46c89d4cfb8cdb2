"""Which test runs which line, and how long each test takes: found once, kept in a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

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
TOO_SLOW = "Qdrant"
"""The contract of a store runs over this one too, in a third of the time of all tests; the others
run the same lines."""


@dataclass(frozen=True)
class CoverageMap:
    """Tests by the lines they run."""

    seconds: dict[str, float] = field(default_factory=dict)
    """By test."""
    lines: dict[str, dict[int, tuple[str, ...]]] = field(default_factory=dict)
    """By file and line."""

    def covering(self, path: str, lines: Collection[int]) -> set[str]:
        """The tests that run one of the lines."""
        known = self.lines.get(path, {})
        return {test for line in lines for test in known.get(line, ())}

    def __or__(self, other: CoverageMap) -> CoverageMap:
        """Both; what the other knows of a test file counts."""
        files = {test.split("::")[0] for test in other.seconds}
        seconds = {n: s for n, s in self.seconds.items() if n.split("::")[0] not in files}
        lines = {
            path: {
                n: tuple(test for test in tests if test in seconds) for n, tests in known.items()
            }
            for path, known in self.lines.items()
        }
        for path, known in other.lines.items():
            mine = lines.setdefault(path, {})
            for line, tests in known.items():
                mine[line] = mine.get(line, ()) + tests
        return CoverageMap(seconds | other.seconds, lines)

    @classmethod
    def load(cls, file: Path) -> CoverageMap:
        """As it was saved: a test is a number there."""
        kept = json.loads(file.read_text("utf-8"))
        names = list(kept["seconds"])
        lines = {
            path: {int(line): tuple(names[n] for n in found) for line, found in known.items()}
            for path, known in kept["lines"].items()
        }
        return cls(kept["seconds"], lines)

    def save(self, file: Path) -> None:
        """Write it down."""
        numbers = {name: number for number, name in enumerate(self.seconds)}
        lines = {
            path: {line: [numbers[test] for test in tests] for line, tests in known.items()}
            for path, known in self.lines.items()
        }
        file.write_text(json.dumps({"seconds": self.seconds, "lines": lines}), "utf-8")


def coverage_map(file: Path, tests: list[Path], *, processes: int) -> CoverageMap:
    """The map of these test files, as far as they did not change since it was saved; the others are
    run."""
    known = CoverageMap.load(file) if file.exists() else CoverageMap()
    since = file.stat().st_mtime if file.exists() else 0.0
    mapped = {test.split("::")[0] for test in known.seconds}
    changed = [
        test
        for test in tests
        if test.stat().st_mtime > since or test.relative_to(ROOT).as_posix() not in mapped
    ]
    if not changed:
        return known
    file.parent.mkdir(parents=True, exist_ok=True)
    parts = [file.with_suffix(f".{number}") for number in range(min(processes, len(changed)))]
    running = [_watched(part, changed[n :: len(parts)]) for n, part in enumerate(parts)]
    for part, process in zip(parts, running, strict=True):
        process.wait()
        known |= CoverageMap.load(part)
        part.unlink()
    known.save(file)
    return known


def _watched(part: Path, tests: list[Path]) -> subprocess.Popen[bytes]:
    """Run these tests, and have the map written there."""
    command = [sys.executable, "-m", "pytest", *OPTIONS, "-m", WANTED, "-k", f"not {TOO_SLOW}"]
    command += ["-p", "tests.mutants.coverage_map", *map(str, tests)]
    environment = {**os.environ, "MUTANTS_MAP": str(part)}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=sys.stderr)


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
        lines: dict[str, dict[int, tuple[str, ...]]] = {
            Path(measured).relative_to(SOURCES).as_posix(): {
                line: tuple(name for name in contexts if name in seconds)
                for line, contexts in data.contexts_by_lineno(measured).items()
            }
            for measured in data.measured_files()
        }
        CoverageMap(seconds, lines).save(self._file)


def pytest_configure(config: pytest.Config) -> None:
    """Begin to watch, if this run is to make a map."""
    if file := os.environ.get("MUTANTS_MAP"):
        config.pluginmanager.register(_Watch(Path(file)))
