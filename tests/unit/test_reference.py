"""docs/reference/ is what the code gives."""

from __future__ import annotations

import dataclasses
import runpy
from pathlib import Path

import pytest

from omoide.server.shapes.incoming import INCOMING
from omoide.server.shapes.meanings import MEANINGS
from omoide.settings import Settings

ROOT = Path(__file__).parents[2]
MADE: dict[Path, str] = runpy.run_path(str(ROOT / "tools/reference"))["pages"]()


@pytest.mark.parametrize("page", MADE, ids=lambda page: page.name)
def test_a_page_is_as_the_code_has_it(page: Path) -> None:
    """Run `make reference` if it is not."""
    assert page.read_text(encoding="utf-8") == MADE[page]


def test_no_page_is_left_over() -> None:
    """The folder has no page that nothing makes."""
    assert set((ROOT / "docs/reference").glob("*.md")) == set(MADE)


def test_every_setting_is_explained() -> None:
    """Each has its row, with a meaning."""
    text = MADE[ROOT / "docs/reference/settings.md"]
    rows = {row.split(" | ")[0]: row.split(" | ") for row in text.splitlines()}
    for field in dataclasses.fields(Settings):
        assert len(rows[f"| `OMOIDE_{field.name.upper()}`"][-1]) > 10


def test_every_meaning_is_of_a_field_that_exists() -> None:
    """None is left of a field that was renamed."""
    for shape, meanings in MEANINGS.items():
        assert meanings.keys() <= INCOMING[shape]["properties"].keys()
        for field, meaning in meanings.items():
            assert f"{meaning} |" in MADE[ROOT / "docs/reference/rest.md"], (shape, field)
