"""How many examples Hypothesis tries: a test names its own number, the lane scales it."""

from __future__ import annotations

from hypothesis import settings

USUAL = 100
"""Examples of a test that names no number, in `make test-all` and where pytest is called alone."""
LIGHT = 20
"""The same in `make test`; `make test-all` tries the rest (its target `properties`)."""
QUICK = 10
"""The same in `make quick`."""


LONG = 2000
"""The same with `--hypothesis-profile=long`, which tries others on every run."""


def register() -> None:
    """The profiles of the lanes: the same examples on every run, and no deadline, because other
    programs may use the machine too. `--hypothesis-profile=quick` chooses the smallest one."""
    settings.register_profile("omoide", deadline=None, derandomize=True, max_examples=USUAL)
    settings.register_profile("light", settings.get_profile("omoide"), max_examples=LIGHT)
    settings.register_profile("quick", settings.get_profile("omoide"), max_examples=QUICK)
    settings.register_profile(
        "long", settings.get_profile("omoide"), derandomize=False, max_examples=LONG
    )
    settings.load_profile("omoide")


def examples(count: int) -> int:
    """`count` examples in a usual run, fewer in the quick lane, at least three.

    Hypothesis prefers what a test names over the profile, so a fixed number would be tried in
    every lane.
    """
    return max(3, count * (settings.default or settings()).max_examples // USUAL)
