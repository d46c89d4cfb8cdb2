"""The tree is the architecture: imports point inward."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import omoide

ROOT = Path(omoide.__file__).parent

# Each room may import only from rooms of a lower number; rooms of one number are strangers.
LAYERS = {
    "errors": 0,
    "version": 0,
    "presets": 0,
    "domain": 1,
    "settings": 1,
    "plugins": 1,
    "charts": 1,
    "ports": 2,
    "language": 2,
    "wire": 2,
    "prompts": 3,
    "documents": 3,
    "claims": 4,
    "mechanisms": 5,
    "transfer": 5,
    "engine": 6,
    "demo": 7,
    "testing": 8,
    "adapters": 8,
    "client": 8,
    "bootstrap": 9,
    "__init__": 10,
    "server": 11,
    "cli": 12,
    "__main__": 13,
}
IMPORT = re.compile(
    r"^[ \t]*(import [\w., ]+|from [\w.]+ import (?:\([^)]*\)|[\w, ]+))", re.MULTILINE
)
"""An import statement: to parse whole files takes seconds."""
LONGEST = 400
"""Lines of a file."""


def room(module: str) -> str:
    """The first name below `omoide`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def ours(module: str) -> bool:
    """Whether it is a module of the package omoide, not of another that begins like it."""
    return module == "omoide" or module.startswith("omoide.")


@cache
def statements(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """All imports of a file, wherever they stand in it; read once for all tests."""
    found = (ast.parse(match[1]).body[0] for match in IMPORT.finditer(path.read_text()))
    return tuple(node for node in found if isinstance(node, ast.Import | ast.ImportFrom))


def imports(path: Path) -> set[str]:
    """Rooms that a file imports from, at run time or for types alone."""
    found = set()
    for node in statements(path):
        if isinstance(node, ast.Import):
            found |= {room(alias.name) for alias in node.names if ours(alias.name)}
        elif isinstance(node, ast.ImportFrom) and ours(node.module or ""):
            names = {alias.name for alias in node.names}
            whole = {n if n in LAYERS else "__init__" for n in names}
            found |= whole if node.module == "omoide" else {room(node.module or "")}
    return found


def module(path: Path, root: Path) -> str:
    """The dotted name of a file; a package has the name of its folder."""
    parts = [root.name, *path.relative_to(root).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules(root: Path) -> dict[str, set[str]]:
    """What each module imports from the others, wherever in it and whether for types alone."""
    files = {module(path, root): path for path in root.rglob("*.py")}
    found: dict[str, set[str]] = {}
    for name, path in files.items():
        named = set()
        for node in statements(path):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                within = {f"{node.module}.{alias.name}" for alias in node.names}
                named |= {other if other in files else str(node.module) for other in within}
        found[name] = {other for other in named if other in files} - {name}
    return found


def circle(imported: dict[str, set[str]]) -> list[str]:
    """A way from a module back to itself; nothing if there is none."""
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_every_room_is_known() -> None:
    """A new module at the top has to be given its place here."""
    present = {p.stem for p in ROOT.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert present <= LAYERS.keys()


def test_imports_point_inward() -> None:
    """No file imports from a room further out, nor from a neighbour of the same layer."""
    wrong = []
    for path in ROOT.rglob("*.py"):
        own = path.relative_to(ROOT).parts[0].removesuffix(".py")
        wrong += [
            f"{path.relative_to(ROOT)} imports omoide.{other}"
            for other in imports(path) - {own}
            if LAYERS[other] >= LAYERS[own]
        ]
    assert wrong == []


def test_nothing_is_imported_in_a_circle() -> None:
    """No module needs one that needs it in turn, not even late or for types alone."""
    assert circle(modules(ROOT)) == []


@pytest.mark.parametrize(
    "back",
    [
        "import room.one",
        "from room import one",
        "from room.one import x",
        "def f():\n import room.one",
    ],
)
def test_a_circle_is_seen(tmp_path: Path, back: str) -> None:
    """However the second module of a circle imports the first."""

    def found(case: str, second: str) -> set[str]:
        root = tmp_path / case / "room"
        root.mkdir(parents=True)
        (root / "__init__.py").write_text("from room.one import x\n")
        (root / "one.py").write_text("import os\nfrom room.two import y\n")
        (root / "two.py").write_text(second)
        return set(circle(modules(root)))

    assert found("without", "y = 1\n") == set()
    assert found("with", back) == {"room.one", "room.two"}


def test_no_file_is_long() -> None:
    """A file of more than 400 lines holds more than one thing."""
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for path in ROOT.rglob("*.py")
    }
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


def test_only_the_composition_roots_import_adapters() -> None:
    """Vendors are reached through them alone."""
    wrong = [
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if "adapters" in imports(path)
        and path.relative_to(ROOT).parts[0] not in ("adapters", "bootstrap")
    ]
    assert wrong == []


def test_the_domain_needs_only_the_standard_library() -> None:
    """The innermost room imports no distribution."""
    import sys

    foreign = set()
    for path in (ROOT / "domain").rglob("*.py"):
        for node in statements(path):
            if isinstance(node, ast.Import):
                foreign |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                foreign.add((node.module or "").split(".")[0])
    assert foreign - sys.stdlib_module_names == {"omoide"}


def test_plug_ins_of_ours_use_what_anyone_can() -> None:
    """The package omoide-qdrant needs ports, errors and settings of the core, and nothing below."""
    import omoide_qdrant

    rooms = set()
    for path in Path(omoide_qdrant.__file__).parent.rglob("*.py"):
        rooms |= imports(path)
    assert rooms == {"errors", "ports", "settings"}
