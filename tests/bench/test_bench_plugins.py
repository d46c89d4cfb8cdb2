"""Tasks of other packages beside those of omoide-bench."""

from __future__ import annotations

import pytest

from omoide_bench.tasks import TASKS
from tests.unit.test_plugins import site as site  # a fixture


@pytest.mark.usefixtures("site")
def test_a_benchmark_task_is_found() -> None:
    """Beside those of omoide-bench."""
    assert TASKS.keys() >= {"msc", "mine"}
    assert len(TASKS) == len(list(TASKS))
