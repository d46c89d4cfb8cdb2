"""Run tests against a change of one module, in a process of its own that sees it changed.

The parent has the libraries imported and nothing of omoide, so that a fork is ready at once."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.mutants.areas import ROOT, SOURCES
from tests.mutants.coverage_map import OPTIONS, CoverageMap
from tests.mutants.mutations import assigned

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from tests.mutants.mutations import Mutant

NEAR_FILES, NEAR_SECONDS = 3, 6.0
"""What is run first: the tests of the files that have most to do with the line."""
ALL_SECONDS = 20.0
"""What is run of all tests that reach the line, of every file the quickest first, if nothing
failed."""
SLOWER = 6.0
"""A run that takes so many times what its tests took, and a minute, hangs: that is noticed too."""
NOT_COLLECTED = 70
"""The exit status of a run in which a test file could not be imported: with `-x` pytest itself
ends with 1 then, as if a test had failed."""
BROKEN = 71
MEMORY = 6 * 2**30
CPU_SECONDS = 40
"""What one run may take of a processor: one that turns in a circle is ended sooner than one that
waits, whose time depends on what else the machine does."""
LIBRARIES = "apsw httpx hypothesis.stateful numpy starlette.testclient uvicorn".split()
"""Imported before the first fork, since most tests need them."""


@dataclass(frozen=True)
class Verdict:
    """What came of one mutant."""

    mutant: Mutant
    outcome: str
    """`noticed`; `hung`; `survived`; `not run`: no test reaches it; `not started`: the tests could
    not be imported with it, so that it says nothing about them; `unclear`: the tests hang or do not
    start without it either."""


class Changed(MetaPathFinder, Loader):
    """Gives the changed module in place of the one on disk."""

    def __init__(self, mutant: Mutant) -> None:
        self._file = SOURCES / mutant.path
        parts = ["omoide", *Path(mutant.path).with_suffix("").parts]
        self._package = parts[-1] == "__init__"
        self._module = ".".join(parts[:-1] if self._package else parts)
        self._source = mutant.applied(self._file.read_bytes())

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Only that module is found here."""
        if fullname != self._module:
            return None
        return importlib.util.spec_from_file_location(
            fullname,
            self._file,
            loader=self,
            submodule_search_locations=[str(self._file.parent)] if self._package else None,
        )

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed source."""
        exec(compile(self._source, str(self._file), "exec"), module.__dict__)  # noqa: S102


def tests_for(mutant: Mutant, known: CoverageMap) -> list[str]:
    """Those that run the line; for a value outside of functions, those that run a line with its
    name; for a function that is called only while its file is imported, those that run any line of
    the file."""
    found = known.covering(mutant.path, mutant.lines)
    of_file = known.lines.get(mutant.path, {})
    if not found and any(line in of_file for line in mutant.lines):
        found = known.covering(mutant.path, of_file)
    names = built_from((SOURCES / mutant.path).read_bytes(), mutant.constants)
    for path, lines in known.lines.items() if names else ():
        text = (SOURCES / path).read_text("utf-8").splitlines()
        named = [n for n in lines if n <= len(text) and _has(text[n - 1], names)]
        found |= known.covering(path, named)
    return sorted(found, key=lambda test: known.seconds[test])


def built_from(source: bytes, names: Sequence[str]) -> set[str]:
    """These names of a file, and those that it builds from them outside of functions, such as a
    statement of SQL from a condition."""
    found = set(names)
    for statement in ast.parse(source).body if names else ():
        used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        if isinstance(statement, ast.Assign | ast.AnnAssign) and used & found:
            found.update(assigned(statement))
    return found


def _has(text: str, names: Iterable[str]) -> bool:
    return any(name in text for name in names)


def nearest(tests: Iterable[str], known: CoverageMap) -> list[str]:
    """The tests of the few files that have most of them, as many as a short time allows."""
    by_file: dict[str, list[str]] = {}
    for test in tests:
        by_file.setdefault(test.split("::")[0], []).append(test)
    everywhere = [test.split("::")[0] for test in known.seconds]
    share = {file: len(found) / everywhere.count(file) for file, found in by_file.items()}
    files = sorted(by_file, key=lambda file: share[file], reverse=True)[:NEAR_FILES]
    return within([test for file in files for test in by_file[file]], known, NEAR_SECONDS)


def files_in_turn(tests: Iterable[str]) -> list[str]:
    """The first test of each file, then the second of each: a line that hundreds of tests run is
    looked at from all sides before the time is over."""
    by_file: dict[str, list[str]] = {}
    for test in tests:
        by_file.setdefault(test.split("::")[0], []).append(test)
    rounds = zip_longest(*by_file.values())
    return [test for row in rounds for test in row if test is not None]


def within(tests: Sequence[str], known: CoverageMap, seconds: float) -> list[str]:
    """The first of them that take so long together, at least one."""
    chosen: list[str] = []
    for test in tests:
        seconds -= known.seconds[test]
        if chosen and seconds < 0:
            break
        chosen.append(test)
    return chosen


def tried(mutant: Mutant, known: CoverageMap) -> Verdict:
    """Run the tests near the change, then all that reach it."""
    tests = tests_for(mutant, known)
    if not tests:
        return Verdict(mutant, "not run")
    near = nearest(tests, known)
    rest = within(files_in_turn([t for t in tests if t not in set(near)]), known, ALL_SECONDS)
    for chosen in (near, rest):
        seconds = sum(known.seconds[test] for test in chosen)
        outcome = run(mutant, chosen, seconds)
        if outcome in ("hung", "not started") and run(None, chosen, seconds) != "survived":
            outcome = "unclear"
        if outcome != "survived":
            break
    return Verdict(mutant, outcome)


def run(mutant: Mutant | None, tests: Sequence[str], seconds: float) -> str:
    """What these tests say to the change, or to none."""
    if not tests:
        return "survived"
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if child == 0:
            _in_child(mutant, tests, Path(folder))
        status = _ended(child, until=time.monotonic() + 60.0 + SLOWER * seconds)
        outcome = "hung" if status is None else outcome_of(os.waitstatus_to_exitcode(status))
        if outcome is None:
            output = (Path(folder) / "output").read_text("utf-8", "replace")
            raise RuntimeError(f"pytest ended with {status}: {output[-2000:]}")
    return outcome


def outcome_of(code: int) -> str | None:
    """What the end of a run says; None where something else went wrong.

    Only a test that fails has noticed anything. A usage error, which a test that is not there any
    more causes, and tests that cannot be imported are none.
    """
    return {
        pytest.ExitCode.OK: "survived",
        pytest.ExitCode.TESTS_FAILED: "noticed",
        pytest.ExitCode.INTERRUPTED: "not started",
        pytest.ExitCode.USAGE_ERROR: "not started",
        pytest.ExitCode.NO_TESTS_COLLECTED: "not started",
        NOT_COLLECTED: "not started",
        -signal.SIGKILL: "hung",
        -signal.SIGSEGV: "noticed",
    }.get(code)


class _Collected:
    """A plug-in of pytest that sees whether all test files could be imported."""

    failed = False

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """One file's."""
        self.failed |= report.failed


def _ended(child: int, *, until: float) -> int | None:
    """The status of a process, or None if it had to be ended."""
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _in_child(mutant: Mutant | None, tests: Sequence[str], folder: Path) -> None:
    """Run pytest and never come back."""
    code = BROKEN
    try:
        os.setsid()
        os.chdir(ROOT)
        output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT)
        for stream in (1, 2):
            os.dup2(output, stream)
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        if mutant is not None:
            sys.meta_path.insert(0, Changed(mutant))
        # The parent has imported plug-ins of pytest, which it warns of.
        options = [*OPTIONS, "-x", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
        collected = _Collected()
        code = pytest.main(
            [*options, "--basetemp", str(folder / "tmp"), *tests], plugins=[collected]
        )
        code = NOT_COLLECTED if collected.failed else code
    except BaseException:  # noqa: BLE001 - the end of a process
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def check_unchanged(known: CoverageMap) -> None:
    """Import what every fork needs, and see that tests pass where nothing is changed."""
    for library in LIBRARIES:
        importlib.import_module(library)
    quick = sorted(known.seconds, key=lambda test: known.seconds[test])
    if run(None, quick[:40], 60.0) != "survived":
        raise RuntimeError("tests fail although nothing was changed: mend them, remove the map")


def all_tried(
    mutants: Sequence[Mutant], known: CoverageMap, *, processes: int
) -> Iterator[Verdict]:
    """All of them, some at a time; `check_unchanged` comes first."""
    with ThreadPoolExecutor(processes) as pool:
        yield from pool.map(lambda mutant: tried(mutant, known), mutants)
