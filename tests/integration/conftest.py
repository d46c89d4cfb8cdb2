"""The memory of the core's unit tests, for longer talks."""

from tests.unit.conftest import make_world, world

__all__ = ["make_world", "world"]
