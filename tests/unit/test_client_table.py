"""The page about clients says what our own clients and adapters can do, and no more."""

from __future__ import annotations

from .client_table import PAGE, ROOT, between, table


def test_the_table_is_made_from_the_code() -> None:
    """`python -m tests.unit.client_table` writes it anew."""
    assert between(PAGE.read_text("utf-8")) == table()


def test_the_page_names_every_adapter_and_its_example() -> None:
    """None is left out, and none is told of that is not there."""
    page = PAGE.read_text("utf-8")
    modules = {p.stem for p in ROOT.glob("packages/omoide-frameworks/src/omoide_frameworks/*.py")}
    shared = {"__init__", "bridge", "extras", "transcript"}
    assert [m for m in sorted(modules - shared) if f"`omoide_frameworks.{m}`" not in page] == []
    examples = sorted(p.name for p in ROOT.glob("examples/frameworks/*.py"))
    assert [name for name in examples if name not in page] == []
