"""The memory of the core's unit tests, for the benchmarks too."""

from tests.unit.conftest import make_world, world

__all__ = ["make_world", "world"]
