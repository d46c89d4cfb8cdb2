"""docs/mechanisms.md tells of every mechanism, with a run of each that digests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from omoide.mechanisms.registry import MECHANISMS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "mechanisms.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_is_told_of(name: str) -> None:
    """By its name, and by its paper and cost where it has a section."""
    assert f"`{name}`" in PAGE or f"## {name}\n" in PAGE
    if f"## {name}\n" in PAGE:
        assert MECHANISMS[name].paper in PAGE
        assert f"Model calls: {MECHANISMS[name].calls}." in PAGE


@pytest.mark.parametrize("kept", sorted((DOCS / "mechanisms").glob("*.json")), ids=lambda p: p.stem)
def test_the_page_shows_what_the_runs_gave(kept: Path) -> None:
    """Each sentence, event and topic of a run stands on the page."""
    made = json.loads(kept.read_text(encoding="utf-8"))
    section = PAGE.split(f"## {kept.stem}\n", 1)[1].split("\n## ", 1)[0]
    for text in (*made["memory"], *made["events"], *(topic for topic, _, _ in made["memos"])):
        assert text in section
    assert f"{made['calls']} calls" in section
