"""The tree is the architecture: imports point inward."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import omoide

ROOT = Path(omoide.__file__).parent

# Each room may import only from rooms of a lower number; rooms of one number are strangers.
LAYERS = {
    "errors": 0,
    "version": 0,
    "domain": 1,
    "language": 1,
    "ports": 2,
    "prompts": 3,
    "memory": 4,
    "accounts": 4,
    "transfer": 4,
    "versions": 4,
    "worker": 4,
    "digestion": 5,
    "attention": 5,
    "reply": 5,
    "engine": 6,
    "shift": 7,
    "mechanisms": 7,
    "composition": 8,
    "demo": 5,
    "facade": 7,
    "facts": 7,
    "testing": 7,
    "settings": 1,
    "adapters": 7,
    "evals": 9,
    "tuning": 9,
    "bootstrap": 9,
    "weights": 9,
    "__init__": 10,
    "server": 11,
    "cli": 12,
    "__main__": 13,
}
LONGEST = 400
"""Lines of a file."""


def room(module: str) -> str:
    """The first name below `omoide`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports(path: Path) -> set[str]:
    """Rooms that a file imports from, at run time or for types alone."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {room(alias.name) for alias in node.names if alias.name.startswith("omoide")}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("omoide"):
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
        for node in ast.walk(ast.parse(path.read_text())):
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
    root = tmp_path / "room"
    root.mkdir()
    (root / "__init__.py").write_text("from room.one import x\n")
    (root / "one.py").write_text("import os\nfrom room.two import y\n")
    (root / "two.py").write_text("y = 1\n")
    assert circle(modules(root)) == []
    (root / "two.py").write_text(back)
    assert set(circle(modules(root))) == {"room.one", "room.two"}


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
        and path.relative_to(ROOT).parts[0] not in ("adapters", "bootstrap.py", "weights.py")
    ]
    assert wrong == []


def test_the_domain_needs_only_the_standard_library() -> None:
    """The innermost room imports no distribution."""
    import sys

    foreign = set()
    for path in (ROOT / "domain").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                foreign |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                foreign.add((node.module or "").split(".")[0])
    assert foreign - sys.stdlib_module_names == {"omoide"}
