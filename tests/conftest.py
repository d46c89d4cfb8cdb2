"""For all tests: the same dice everywhere, and no deadlines on machines that others use too."""

from __future__ import annotations

import sys

from hypothesis import settings

settings.register_profile("omoide", deadline=None, derandomize=True)
settings.load_profile("omoide")


def pytest_sessionfinish() -> None:
    """Stop what tests have shared, if they did."""
    if postgres := sys.modules.get("tests.postgres"):
        postgres.stop()
