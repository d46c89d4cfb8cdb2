"""Numbers and lists in the docs that the code has too."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from omoide import ports
from omoide.server.app import EXPOSED_HEADERS

DOCS = Path(__file__).parents[2] / "docs"


def test_extending_counts_the_methods_of_a_store() -> None:
    """Those of its sides, and how many sides there are."""
    members = vars(ports.Store).values()
    names = [m.fget.__annotations__["return"] for m in members if isinstance(m, property)]
    methods = [
        name
        for side in names
        for name, _ in inspect.getmembers(getattr(ports, side), inspect.isfunction)
        if not name.startswith("_")
    ]
    page = (DOCS / "extending.md").read_text(encoding="utf-8")
    assert f"has ten sides and {len(methods)} methods" in page
    assert len(names) == 10


def test_the_guide_counts_the_frameworks() -> None:
    """As many as the table of docs/clients.md has rows."""
    clients = (DOCS / "clients.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|[^|]+\| `omoide_frameworks\.\w+` \|", clients, re.MULTILINE)
    assert len(rows) == 9
    assert "nine agent frameworks" in (DOCS / "guides" / "proxy.md").read_text(encoding="utf-8")


def test_clients_has_every_header_of_an_answer() -> None:
    """A table says what each means."""
    clients = (DOCS / "clients.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(X-[\w-]+)` \|", clients, re.MULTILINE)
    assert sorted(listed) == sorted(EXPOSED_HEADERS)
