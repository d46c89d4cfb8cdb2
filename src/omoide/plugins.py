"""Plug-ins: parts of other packages, found by their entry points and loaded when they are named.

A package declares a part in its `pyproject.toml`:

    [project.entry-points."omoide.mechanisms"]
    diary = "my_package:DIARY"

docs/extending.md has a complete example of each kind. Parts that come with omoide cannot be
replaced: a plug-in of the same name is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from omoide.errors import BadInput, BadPlugin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.metadata import EntryPoint

T = TypeVar("T")


class Group(StrEnum):
    """The entry point groups, and what the entry points of each must be."""

    MECHANISMS = "omoide.mechanisms"
    """A `MechanismEntry`; named in `OMOIDE_MECHANISMS`."""
    STORES = "omoide.stores"
    """An async function `(url, settings) -> Store`; the name is the scheme of `OMOIDE_DB`."""
    VECTORS = "omoide.vectors"
    """A function `(url, settings) -> VectorIndex`; named by the scheme of `OMOIDE_VECTORS`."""
    MODELS = "omoide.models"
    """A function `(spec, settings) -> ChatModel`; the name is the scheme of `OMOIDE_MODEL`."""
    EMBEDDERS = "omoide.embedders"
    """A function `(spec, settings) -> Embedder`; the name is that of `OMOIDE_EMBEDDER`, or its
    scheme."""
    LANGUAGES = "omoide.languages"
    """A package with the files of a language; the name is the language's code."""
    COMMANDS = "omoide.commands"
    """A click command; the name is what you type after `omoide` in the terminal."""
    TASKS = "omoide.benchmarks"
    """A task of `omoide bench run`; used by the package omoide-bench."""


def names(group: Group) -> tuple[str, ...]:
    """The names that are installed in a group, sorted; nothing is loaded."""
    return tuple(sorted(_entry_points(group)))


def load(group: Group, name: str, *, known: Iterable[str] = ()) -> Any:  # noqa: ANN401 - each group has its own type
    """Load the part of that name. Raises `BadInput` for an unknown name, listing the ones that
    exist (`known` are those that come with omoide); `BadPlugin` if the part cannot be imported or
    two packages provide it."""
    points = _entry_points(group).get(name)
    if points is None:
        what = group.value.removeprefix("omoide.").removesuffix("s")
        existing = ", ".join(sorted({*known, *_entry_points(group)})) or "none"
        raise BadInput(f"there is no {what} {name!r}; there are: {existing}")
    if len(points) > 1:
        packages = " and ".join(_package(point) for point in points)
        raise BadPlugin(f"{packages} both provide {name!r} ({group.value}): remove one of them")
    [point] = points
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        package = _package(point)
        raise BadPlugin(
            f"{name!r} of the package {package} cannot be loaded: {error}; "
            f"reinstall or remove {package}"
        ) from error


def forget() -> None:
    """Clear the cache, so that the next lookup sees what is installed then."""
    _entry_points.cache_clear()


def scheme(spec: str) -> str:
    """The part before the first `:`, in lower case; all of it if there is none.

    >>> scheme("Redis://localhost"), scheme("diary")
    ('redis', 'diary')
    """
    return spec.strip().partition(":")[0].lower()


class Registry(Mapping[str, T], Generic[T]):
    """Parts by name: those that come with omoide, then plug-ins, each loaded on lookup. A lookup
    raises `KeyError` for an unknown name, and `BadPlugin` for a plug-in that cannot be loaded or is
    not of the required `kind`."""

    def __init__(self, group: Group, *, own: Mapping[str, T], kind: type | None = None) -> None:
        self._group = group
        self._own = own
        self._kind = kind

    def __getitem__(self, name: str) -> T:
        if name in self._own:
            return self._own[name]
        if name not in _entry_points(self._group):
            raise KeyError(name)
        part = load(self._group, name)
        if self._kind is not None and not isinstance(part, self._kind):
            raise BadPlugin(
                f"{name!r} of {self._group.value} must be a {self._kind.__name__}, "
                f"not {type(part).__name__}"
            )
        return cast("T", part)

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in _entry_points(self._group)

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from (name for name in names(self._group) if name not in self._own)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@cache
def _entry_points(group: Group) -> dict[str, tuple[EntryPoint, ...]]:
    by_name: dict[str, tuple[EntryPoint, ...]] = {}
    for point in entry_points(group=group.value):
        by_name[point.name] = (*by_name.get(point.name, ()), point)
    return by_name


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.module
