"""What the tests of tuning need installed."""

from __future__ import annotations

import os
from importlib import import_module

import pytest


def need(*names: str) -> None:
    """Skip a module of tests where one of these is not installed. `make tuning`, which installs
    them, sets NEED_TUNING: there it is an error."""
    for name in names:
        if os.environ.get("NEED_TUNING"):
            import_module(name)
        else:
            pytest.importorskip(name, reason=f"{name} is not installed: run `make tuning`")
