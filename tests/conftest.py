"""For all tests: the same dice everywhere, and no deadlines on machines that others use too."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("omoide", deadline=None, derandomize=True)
settings.load_profile("omoide")
