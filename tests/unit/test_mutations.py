"""The changes that the mutation tester makes: each is one, compiles, and keeps its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.mutants.mutations import mutants_of

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = '''"""A module."""

LIMIT = 600


def admitted(items, far=2):
    """Some of them."""
    if not items or len(items) > LIMIT:
        return None
    log.warning("many")
    items.sort()
    return [i + 1 for i in items if i < far and i]


def query():
    return "SELECT 1 FROM t WHERE a = ?"
'''


def test_every_kind_of_change_is_found(tmp_path: Path) -> None:
    """Comparisons, numbers, conditions, calls, results and SQL; not what is only told, and not what
    changes nothing."""
    file = tmp_path / "m.py"
    file.write_text(SOURCE, "utf-8")
    found = mutants_of(file, "m.py")
    changes = {(m.kind, " ".join(m.new.split())) for m in found}
    for kind, new in [
        ("constant", "(600 * 10)"),
        ("constant", "(2 + 1)"),
        ("comparison", "len(items) >= LIMIT"),
        ("and, or", "not items and len(items) > LIMIT"),
        ("not", "(items)"),
        ("call left out", "pass"),
        ("arithmetic", "i - 1"),
        ("SQL", '"SELECT 1 FROM t WHERE a <> ?"'),
        ("result", "None"),
    ]:
        assert (kind, new) in changes
    assert not any("log.warning" in m.old for m in found)
    assert all(m.old != m.new for m in found)
    [limit] = [m for m in found if m.constants]
    assert limit.constants == ("LIMIT",)


def test_a_name_stays_when_other_lines_come(tmp_path: Path) -> None:
    """So that explanations hold, and the sample stays the same."""
    file = tmp_path / "m.py"
    file.write_text(SOURCE, "utf-8")
    before = {m.name for m in mutants_of(file, "m.py")}
    file.write_text(SOURCE.replace('"""A module."""', '"""A module."""\n\nimport os'), "utf-8")
    assert {m.name for m in mutants_of(file, "m.py")} == before
