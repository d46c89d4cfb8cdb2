"""For all tests: the same dice everywhere, and no deadlines on machines that others use too."""

from __future__ import annotations

from hypothesis import settings

from tests.postgres import stop

settings.register_profile("omoide", deadline=None, derandomize=True)
settings.load_profile("omoide")


def pytest_sessionfinish() -> None:
    """Stop what tests have shared."""
    stop()
