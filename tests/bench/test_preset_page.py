"""The page of the presets."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]


def test_the_page_is_what_the_tool_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run `python tools/preset_table.py` if it is not."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    made = runpy.run_path(str(ROOT / "tools" / "preset_table.py"))["page"]()
    assert made == (ROOT / "docs" / "presets.md").read_text(encoding="utf-8")
