"""The memory of the unit tests, for the server."""

from tests.unit.conftest import make_world, world

__all__ = ["make_world", "world"]
