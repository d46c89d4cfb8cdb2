"""Mechanisms of ours keep the shipped contract."""

from __future__ import annotations

import subprocess
import sys

from omoide.mechanisms.registry import BUILT_IN
from omoide.testing.contracts.mechanism import MechanismContract


class TestSearch(MechanismContract):
    """Search by words and vectors."""

    entry, name = BUILT_IN["search"], "search"


class TestBm25(MechanismContract):
    """The baseline by words."""

    entry, name = BUILT_IN["bm25"], "bm25"


class TestContext(MechanismContract):
    """The baseline that has all history."""

    entry, name = BUILT_IN["context"], "context"


def test_stand_ins_need_no_test_library() -> None:
    """`omoide.testing` is for programs too, so it imports neither pytest nor hypothesis."""
    code = "import sys, omoide.testing; print({'pytest', 'hypothesis'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
