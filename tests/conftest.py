"""For all tests: which lane a test is in, the same examples everywhere, and no deadlines."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

from tests.examples import register

register()

HERE = Path(__file__).parent
HEAVY = ("heavy", "torture", "e2e", "frameworks")
"""Folders whose tests run in `make test-all` alone."""


def in_heavy_folder(path: Path) -> bool:
    """Whether a file or folder is, or lies in, one of those."""
    return path.is_relative_to(HERE) and path.relative_to(HERE).parts[:1] in {
        (name,) for name in HEAVY
    }


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import the heavy folders where their tests would be left out."""
    left_out = config.getoption("markexpr") == "not heavy"
    return True if left_out and in_heavy_folder(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as heavy what lies in those folders, and what names PostgreSQL in its parameters."""
    for item in items:
        if in_heavy_folder(item.path) or "postgres" in item.nodeid.lower():
            item.add_marker(pytest.mark.heavy)


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what the imports have made: it stays to the end."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Stop what tests have shared, if they did."""
    if postgres := sys.modules.get("tests.postgres"):
        postgres.stop()
    if tiny := sys.modules.get("tests.tiny"):
        tiny.stop()
