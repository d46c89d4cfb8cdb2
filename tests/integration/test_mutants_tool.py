"""The tool that changes random places of the code: what it draws, and what counts as noticed."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.mutants.mutations import mutants_of
from tests.mutants.trying import built_from, outcome_of

if TYPE_CHECKING:
    from pathlib import Path


def drawn(folder: Path, source: str) -> set[str]:
    """The changes of a source, as the new texts."""
    file = folder / "module.py"
    file.write_text(source, "utf-8")
    return {mutant.new for mutant in mutants_of(file, "module.py")}


@pytest.mark.parametrize(
    "source",
    [
        "def f() -> None:\n    logger.info('%d of %d', 3, count + 1)\n",
        "async def f() -> None:\n    self._logger.warning('late', after=4 > 3)\n",
        "class A:\n    def __repr__(self) -> str:\n        return 'a' if 1 < self.n else ''\n",
        "x: Literal[1, 2]\n",
        "if TYPE_CHECKING:\n    N = 4\n",
        "def f(n: Literal[3]) -> Literal[4]:\n    '''Adds 1 + 1.'''\n",
        "pairs = zip(a, b, strict=True)\n",
        "@dataclass\nclass A:\n    key: str = field(repr=False)\n",
    ],
)
def test_what_nobody_could_notice_is_not_drawn(tmp_path: Path, source: str) -> None:
    """Logs, annotations, docstrings, `__repr__` and checks of what always holds are left alone."""
    assert drawn(tmp_path, source) == set()


def test_a_truth_or_number_is_changed_by_its_value(tmp_path: Path) -> None:
    """None in its place would be the same to most callers."""
    assert drawn(tmp_path, "def f():\n    return False\n") == {"True"}
    assert drawn(tmp_path, "def f():\n    return 0\n") == {"(0 + 1)"}
    assert drawn(tmp_path, "def f():\n    return a\n") == {"None"}


def test_what_a_caller_could_notice_is_drawn(tmp_path: Path) -> None:
    """A lax `zip` made strict raises, and other calls matter."""
    assert drawn(tmp_path, "pairs = zip(a, b, strict=False)\n") == {"True"}
    assert drawn(tmp_path, "def f():\n    save(a > b)\n") == {"pass", "a >= b"}


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        (pytest.ExitCode.OK, "survived"),
        (pytest.ExitCode.TESTS_FAILED, "noticed"),
        (pytest.ExitCode.INTERRUPTED, "not started"),
        (pytest.ExitCode.USAGE_ERROR, "not started"),
        (pytest.ExitCode.NO_TESTS_COLLECTED, "not started"),
        (pytest.ExitCode.INTERNAL_ERROR, None),
        (-signal.SIGKILL, "hung"),
    ],
)
def test_only_a_failed_test_notices(code: int, outcome: str | None) -> None:
    """A test that is not there, or cannot be imported, has not noticed anything."""
    assert outcome_of(code) == outcome


def test_a_constant_counts_with_what_is_built_from_it() -> None:
    """Step by step, in the order of the file."""
    source = b"LIMIT = 3\nOTHER = 4\nSQL = f'SELECT {LIMIT}'\nBOTH: str = SQL + SQL\n"
    assert built_from(source, ["LIMIT"]) == {"LIMIT", "SQL", "BOTH"}
    assert built_from(source, ["OTHER"]) == {"OTHER"}
    assert built_from(source, []) == set()
