"""What is built on omoide uses its public API: nothing reaches inside the package.

A name is public if it is in the `__all__` of one of the packages in `PUBLIC`; a public module
without an `__all__` offers what it defines at its top level.
"""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import omoide

if TYPE_CHECKING:
    from collections.abc import Iterator

CORE = Path(omoide.__file__).parent
ROOT = CORE.parent.parent
USERS = ("packages", "benchmarks", "tools", "examples")
PUBLIC = frozenset(
    """omoide omoide.claims omoide.domain omoide.ports omoide.errors omoide.settings omoide.language
    omoide.prompts omoide.mechanisms omoide.mechanisms.summary omoide.mechanisms.memos
    omoide.mechanisms.events omoide.mechanisms.facts omoide.mechanisms.search
    omoide.mechanisms.baselines
    omoide.mechanisms.fused omoide.engine omoide.bootstrap omoide.cli omoide.charts omoide.plugins
    omoide.testing omoide.transfer omoide.demo omoide.server omoide.presets
    omoide.client""".split()
)
INNER = frozenset({"store", "attending", "worker", "iterator"})
"""Parts of a memory that are not for those who use one."""
ALLOWED: frozenset[str] = frozenset()
"""Files that still reach inside, until what they need is public. Only ever to shrink."""


def reaches(tree: ast.AST) -> Iterator[str]:
    """Each name of omoide that a file takes from the inside, as it stands there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (
                alias.name for alias in node.names if _ours(alias.name) and alias.name not in PUBLIC
            )
        elif isinstance(node, ast.ImportFrom) and _ours(node.module or ""):
            yield from (
                f"{node.module}.{alias.name}"
                for alias in node.names
                if not is_public(str(node.module), alias.name)
            )
        elif (
            isinstance(node, ast.Attribute)
            and _called(node.value).endswith("memory")
            and (node.attr in INNER or node.attr.startswith("_"))
        ):
            yield f"{ast.unparse(node.value)}.{node.attr}"


def is_public(module: str, name: str) -> bool:
    """Whether anybody may write `from module import name`."""
    return f"{module}.{name}" in PUBLIC or (module in PUBLIC and name in offered(module))


@cache
def offered(module: str) -> frozenset[str]:
    """The names that a public module offers."""
    tree = ast.parse(_source(module).read_text("utf-8"))
    for node in tree.body:
        if "__all__" in _assigned(node):
            return frozenset(ast.literal_eval(node.value))  # type: ignore[attr-defined]
    if _source(module).name == "__init__.py" and module not in ("omoide.prompts",):
        return frozenset()
    defined = {name for node in tree.body for name in (*_assigned(node), getattr(node, "name", ""))}
    return frozenset(name for name in defined if name and not name.startswith("_"))


def offenders() -> dict[str, list[str]]:
    """The files that reach inside, and for what."""
    found = {}
    for path in sorted(p for user in USERS for p in (ROOT / user).rglob("*.py")):
        if inside := sorted(set(reaches(ast.parse(path.read_text("utf-8"))))):
            found[str(path.relative_to(ROOT))] = inside
    return found


def _ours(module: str) -> bool:
    return module == "omoide" or module.startswith("omoide.")


def _called(node: ast.expr) -> str:
    """The last word of what an attribute is taken from: `memory` of `self.memory`."""
    return getattr(node, "id", getattr(node, "attr", ""))


def _source(module: str) -> Path:
    place = CORE.joinpath(*module.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def _assigned(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def test_every_public_package_is_there() -> None:
    """A package that is called public exists."""
    assert [module for module in sorted(PUBLIC) if not _source(module).is_file()] == []


def test_nothing_built_on_omoide_reaches_inside() -> None:
    """Benchmarks, tuning, tools and examples import public names alone."""
    found = offenders()
    assert {path: names for path, names in found.items() if path not in ALLOWED} == {}


def test_the_list_of_exceptions_holds_no_file_that_needs_none() -> None:
    """A file that was mended leaves the list."""
    assert ALLOWED - offenders().keys() == set()


@pytest.mark.parametrize(
    ("code", "inside"),
    [
        ("from omoide import Settings, open", []),
        ("from omoide import bootstrap", []),
        ("from omoide.errors import BadInput", []),
        ("import omoide.testing", []),
        ("from omoide_bench.suite import x", []),
        ("memory.reply(user)", []),
        ("cache.store", []),
        ("import omoide.engine.memory", ["omoide.engine.memory"]),
        ("from omoide.engine.memory import Memory", ["omoide.engine.memory.Memory"]),
        ("from omoide.errors import TYPE_CHECKING", ["omoide.errors.TYPE_CHECKING"]),
        ("def f():\n from omoide.adapters import x", ["omoide.adapters.x"]),
        ("self.memory.store.turns", ["self.memory.store"]),
        ("memory._owner", ["memory._owner"]),
    ],
)
def test_a_reach_inside_is_seen(code: str, inside: list[str]) -> None:
    """However it is written; what is public or another's is let be."""
    assert list(reaches(ast.parse(code))) == inside


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_can_be_imported(name: str) -> None:
    """Also those that a package imports only when they are first used."""
    module = import_module(name)
    for public in getattr(module, "__all__", ()):
        assert getattr(module, public) is not None, public
