"""The terminal: one file a noun."""

from omoide.cli.main import main

__all__ = ["main"]
